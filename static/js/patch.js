// Puts fragments from the server where they belong, and never moves anything: rows are changed cell by cell and stay where
// they are; what holds the focus waits until it is left; older data is dropped. Decides nothing about what is true.
(() => {
  "use strict";
  const waiting = new Map(); // id -> the fragment that waits for the focus to leave

  const seq = (element) => Number(element.dataset.seq ?? 0);
  const busy = (element) => element.contains(document.activeElement);
  // A control under a pointer that has just moved is about to be pressed.
  let movedAt = 0;
  document.addEventListener("pointermove", () => { movedAt = Date.now(); }, { passive: true });
  const aimed = (cell) => Date.now() - movedAt < 5000 && cell.matches(":hover") && cell.querySelector("a, button, input");

  function painted(element) {
    window.htmx?.process(element);
    element.dispatchEvent(new CustomEvent("cb:painted", { bubbles: true }));
  }
  function row(old, fresh) {
    let later = false;
    [...fresh.cells].forEach((cell, n) => {
      const present = old.cells[n];
      if (present.innerHTML === cell.innerHTML) return;
      if ((busy(present) || aimed(present)) && !fresh.classList.contains("gone")) later = true;
      else present.replaceChildren(...cell.cloneNode(true).childNodes);
    });
    old.className = fresh.className;
    old.dataset.seq = fresh.dataset.seq;
    if (later) wait(old, fresh);
    painted(old);
  }
  function wait(old, fresh) {
    waiting.set(old.id, fresh);
    old.classList.add("waits");
  }
  function whole(old, fresh) {
    if (busy(old)) return wait(old, fresh);
    // What a person opened or chose inside stays opened and chosen.
    old.querySelectorAll("details[open]").forEach(({ id }) => { if (id) fresh.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", ""); });
    old.querySelectorAll("input:checked").forEach(({ name, value }) => fresh.querySelector(`[name="${name}"][value="${value}"]`)?.setAttribute("checked", ""));
    old.replaceWith(fresh);
    painted(fresh);
    if (fresh.dataset.announce && fresh.dataset.announce !== old.dataset.announce) was(fresh, old.dataset.announce);
  }
  /** The verdict changed: the old sentence stays for 10 seconds, struck through, and the new one is said once. */
  function was(verdict, sentence) {
    const line = Object.assign(document.createElement("p"), { className: "was", textContent: sentence });
    verdict.querySelector("h2").after(line);
    setTimeout(() => line.remove(), 10_000);
    document.dispatchEvent(new CustomEvent("cb:say", { detail: verdict.dataset.announce }));
  }
  function append(fresh) {
    const list = document.getElementById(fresh.dataset.append);
    if (!list) return;
    const said = [...list.querySelectorAll("time small")].at(-1), day = fresh.querySelector("time small");
    if (day && day.textContent === said?.textContent) day.remove(); // it heads its first receipt only
    list.append(fresh);
    painted(fresh);
    document.dispatchEvent(new CustomEvent("cb:appended", { detail: list }));
  }
  function put(fresh) {
    const old = document.getElementById(fresh.id);
    if (!old) return fresh.dataset.append ? append(fresh) : undefined;
    if (seq(fresh) < seq(old) || old.outerHTML === fresh.outerHTML) return;
    if (old.matches("tr")) row(old, fresh);
    else whole(old, fresh);
  }

  function flush() {
    const now = [...waiting.values()];
    waiting.clear();
    now.forEach((fresh) => document.getElementById(fresh.id)?.classList.remove("waits"));
    now.forEach(put); // what is still held waits again
  }
  document.addEventListener("focusout", () => setTimeout(flush));
  setInterval(flush, 1000);
  /** Applies an answer of the server: fragments side by side, each with an id. */
  window.cbApply = (html) => {
    const box = document.createElement("template");
    box.innerHTML = html;
    [...box.content.children].forEach(put);
  };
})();

// Forms that are never optimistic: sending, not known whether saved, changed meanwhile; and drafts, kept in this tab.
(() => {
  "use strict";
  const words = document.getElementById("words")?.dataset ?? {};
  const form = (event) => event.detail.elt.closest?.("form.sheet");
  const submit = (sheet) => sheet.querySelector("button[type=submit]");
  const reveal = (part) => { part.hidden = false; part.tabIndex = -1; part.focus(); };

  // -- drafts ---------------------------------------------------------------------------------------------
  const name = (sheet) => `draft ${sheet.dataset.draft}`;
  const fields = (sheet) => [...sheet.elements].filter((field) => field.name && field.type !== "hidden");
  function keep(sheet) {
    const chosen = fields(sheet).filter((field) => field.type !== "radio" || field.checked);
    sessionStorage.setItem(name(sheet), JSON.stringify(chosen.map((field) => [field.name, field.value])));
  }
  function restore(sheet) {
    const draft = JSON.parse(sessionStorage.getItem(name(sheet)) ?? "[]");
    for (const [key, value] of draft)
      for (const field of fields(sheet).filter((one) => one.name === key))
        if (field.type === "radio") field.checked = field.value === value;
        else field.value = value;
  }
  function forget() {
    Object.keys(sessionStorage).filter((key) => key.startsWith("draft ")).forEach((key) => sessionStorage.removeItem(key));
  }
  document.addEventListener("input", (event) => {
    const sheet = event.target.closest("[data-draft]");
    if (sheet) keep(sheet);
  });
  document.addEventListener("submit", (event) => event.target.matches("[data-forget]") && forget());
  if (document.querySelector("[data-forget-now]")) forget();
  document.querySelectorAll("[data-draft]").forEach((sheet) => sheet.querySelector("#errors") ?? restore(sheet));

  // -- sending and its answers ----------------------------------------------------------------------------
  document.addEventListener("htmx:beforeRequest", (event) => {
    const sheet = form(event);
    if (!sheet || event.detail.elt !== sheet) return;
    if (document.documentElement.dataset.offline) return event.preventDefault(); // the bar on top says so
    const button = submit(sheet);
    button.dataset.label = button.innerHTML;
    button.textContent = words.sending;
    sheet.querySelector("[data-lost]").hidden = true;
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const sheet = form(event);
    if (!sheet || event.detail.elt !== sheet) return;
    const button = submit(sheet), status = event.detail.xhr.status;
    if (button?.dataset.label) button.innerHTML = button.dataset.label;
    if (status >= 200 && status < 300) sessionStorage.removeItem(name(sheet));
    else if (status === 0 || status >= 500) reveal(sheet.querySelector("[data-lost]"));
  });
  document.addEventListener("htmx:afterSettle", (event) => { // after htmx has put the focus back
    const errors = document.querySelector(".sheet #errors");
    if (errors) return errors.focus();
    const notice = document.querySelector(".sheet .d-form > .notice:not([hidden])");
    if (notice) return reveal(notice);
    if (event.detail.target.id === "dialog") event.detail.target.querySelectorAll("[data-draft]").forEach(restore);
  });

  // -- it changed while one looked: when the server would now show something else than what this person saw ----------
  function known(sheet) {
    const parts = [...sheet.querySelectorAll("[data-known]")].map((part) => part.cloneNode(true));
    parts.forEach((part) => part.querySelectorAll("time").forEach((time) => { time.textContent = time.dateTime; })); // in any zone
    return parts.map((part) => part.textContent.replace(/\s+/g, " ")).join("|");
  }
  const newer = new WeakMap(); // sheet -> what the server shows now, put in when the person has looked
  function renew(sheet) {
    const fresh = newer.get(sheet) ?? [];
    sheet.querySelectorAll("[data-known]").forEach((part, n) => {
      if (fresh[n]?.localName === part.localName) part.replaceWith(fresh[n]);
      fresh[n]?.dispatchEvent(new CustomEvent("cb:painted", { bubbles: true }));
    });
    newer.delete(sheet);
  }
  async function compare(sheet) {
    const answer = await fetch(sheet.action, { headers: { "HX-Request": "true" } });
    if (!answer.ok || !sheet.isConnected) return;
    const box = document.createElement("template");
    box.innerHTML = await answer.text();
    const now = known(box.content);
    sheet.dataset.saw ??= known(sheet);
    if (now === sheet.dataset.saw) return;
    sheet.dataset.saw = now;
    newer.set(sheet, [...box.content.querySelectorAll("[data-known]")]);
    sheet.querySelector("[data-changed]").hidden = false;
    if (submit(sheet)) submit(sheet).disabled = true;
  }
  document.addEventListener("cb:changed", (event) => {
    const sheet = document.querySelector(`form[data-watches="${CSS.escape(event.detail.job)}"]`);
    if (!sheet || event.detail.seq <= Number(sheet.dataset.seq)) return;
    sheet.dataset.seq = event.detail.seq;
    compare(sheet);
  });
  document.addEventListener("click", (event) => {
    const looked = event.target.closest("[data-looked]");
    if (looked) {
      looked.closest("[data-changed]").hidden = true;
      renew(looked.closest("form"));
      if (submit(looked.closest("form"))) submit(looked.closest("form")).disabled = false;
    }
    event.target.closest("[data-dismiss]")?.parentElement.remove();
  });
  // After an action the focus is where its message stands. A success leaves by itself; an error never does.
  if (document.querySelector("#messages > .notice")) document.getElementById("main").focus({ preventScroll: true });
  setTimeout(() => document.querySelectorAll("#messages > .success").forEach((message) => message.remove()), 8000);
})();

// The keyboard. A letter opens, it never commits. Off in fields and dialogs, and with a modifier.
(() => {
  "use strict";
  const typing = (target) => target.matches("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]");
  const click = (selector) => { const found = (document.querySelector("dialog[open]") ?? document).querySelector(selector); found?.click(); return found; };
  const links = () => [...document.querySelectorAll("#results tbody tr:not(.grp) a.ttl")];
  const row = () => document.querySelector("tr[aria-current]");
  let gone = 0; // when G was pressed

  /** The cursor is the focus: the row whose link holds it. */
  function move(step) {
    const all = links();
    if (!all.length) return click(`[data-key="${step > 0 ? "j" : "k"}"]`);
    const at = all.indexOf(row()?.querySelector("a.ttl"));
    all[Math.max(0, Math.min(all.length - 1, at + step))].focus();
  }
  document.addEventListener("focusin", (event) => {
    const here = event.target.closest("#results tbody tr:not(.grp)");
    if (!here) return;
    row()?.removeAttribute("aria-current");
    here.setAttribute("aria-current", "true");
  });

  // Focus never falls back to nothing: a list that was fetched anew takes it.
  document.addEventListener("htmx:afterSettle", () => {
    if (document.activeElement === document.body) document.querySelector("#results [tabindex]")?.focus();
  });

  const plain = {
    j: () => move(1), ArrowDown: () => row() && move(1), k: () => move(-1), ArrowUp: () => row() && move(-1),
    e: () => (links().length ? row() : document)?.querySelector('[data-key="e"]')?.click(),
    x: () => row()?.querySelector("[name=job]")?.click(), X: () => click("[data-tick-all]"),
    r: () => click('[data-key="r"]') ?? location.reload(),
    p: () => click('[data-do="pause"]'), t: () => click('[data-do="zone"]'),
    y: () => click("[data-copy-link]") ?? row()?.querySelector("a.ttl")?.focus(),
    Y: () => (row() ?? document).querySelector(".copy")?.click(),
    "/": () => document.getElementById("find")?.focus(),
    "?": () => click("#help"),
    g: () => { gone = Date.now(); },
    Escape: () => document.getElementById("back")?.click(),
  };
  const places = { v: "verify", u: "unknown", a: "approvals", j: "jobs", i: "insights" };

  addEventListener("keydown", (event) => {
    const dialog = document.querySelector("dialog[open]");
    const sheet = (event.ctrlKey || event.metaKey) && event.key === "Enter" && event.target.closest("form.sheet");
    if (sheet) { // not what it would do to a link that holds the focus; and by the button, which may be off
      event.preventDefault();
      return void sheet.querySelector("button[type=submit]")?.click();
    }
    const choice = /^[1-3]$/.test(event.key) && (event.altKey || !typing(event.target));
    if (choice && click(`.pick [data-key="${event.key}"]`)) return;
    if (dialog || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (/(^|; )letters=off/.test(document.cookie) && /^\S$/.test(event.key)) return; // WCAG 2.1.4
    const place = Date.now() - gone < 1500 && document.querySelector(`[data-go="${places[event.key] ?? "none"}"]`);
    gone = 0;
    const view = /^[1-9]$/.test(event.key) && document.querySelectorAll(".views a[data-view]")[event.key - 1];
    const action = place ? () => place.click() : view ? () => view.click() : plain[event.key];
    if (!action) return;
    if (event.key !== "Escape") event.preventDefault();
    action();
  });
})();

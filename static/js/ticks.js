// Ticked rows: how many, all of a page at once, and what is ticked stays so from page to page of this tab.
(() => {
  "use strict";
  const key = "ticked", boxes = () => [...document.querySelectorAll("input[name=job][form=ticked]")];
  const kept = () => new Set(JSON.parse(sessionStorage.getItem(key) ?? "[]"));
  function paint() {
    const form = document.getElementById("ticked"), ticked = kept();
    if (!form) return;
    boxes().forEach((box) => { box.checked = ticked.has(box.value); });
    const all = document.querySelector("[data-tick-all]"), says = document.getElementById("ticks");
    if (all) all.checked = boxes().every((box) => box.checked);
    says.dataset.none ??= says.textContent;
    says.textContent = ticked.size ? says.dataset.some.replace("{n}", ticked.size) : says.dataset.none;
    form.querySelectorAll("[type=hidden]").forEach((field) => field.remove());
    const here = new Set(boxes().map((box) => box.value));
    for (const job of ticked) if (!here.has(job)) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "job", value: job }));
  }
  document.addEventListener("change", (event) => {
    const one = event.target.matches("[form=ticked]"), all = event.target.matches("[data-tick-all]");
    if (!one && !all) return;
    if (all) boxes().forEach((box) => { box.checked = event.target.checked; });
    const ticked = kept();
    boxes().forEach((box) => { if (box.checked) ticked.add(box.value); else ticked.delete(box.value); });
    sessionStorage.setItem(key, JSON.stringify([...ticked].slice(0, 500)));
    paint();
  });
  document.addEventListener("submit", (event) => { if (event.target.id === "bulk") sessionStorage.removeItem(key); });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || document.querySelector("dialog[open]") || !kept().size || !document.getElementById("ticked")) return;
    sessionStorage.removeItem(key);
    paint();
  });
  document.addEventListener("htmx:afterSettle", paint);
  addEventListener("pageshow", paint);
  paint();
})();

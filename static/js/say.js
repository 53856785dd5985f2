// What a screen reader is told about live changes: one sentence at most every 10 seconds. And what waits below or behind.
(() => {
  "use strict";
  const words = document.getElementById("words")?.dataset;
  if (!words) return;
  let saidAt = 0, later = 0;

  function say(sentence) {
    clearTimeout(later);
    const rest = saidAt + 10_000 - Date.now();
    if (rest > 0) return void (later = setTimeout(say, rest, sentence));
    saidAt = Date.now();
    document.getElementById("announce").textContent = sentence;
  }
  document.addEventListener("cb:say", (event) => say(event.detail));
  document.addEventListener("cb:painted", (event) => {
    if (event.target.id !== "held" || event.target.hidden) return;
    // "Nothing is waiting" must not stand where something is: in an empty list nothing can move, so it is shown at once.
    if (document.querySelector("#results > .empty")) document.getElementById("show-held").click();
    else say(words.announced.replace("%n", event.target.dataset.count));
  });

  // New receipts slide in where one reads at the end; else a line says that they are there.
  let below = 0;
  const newer = document.getElementById("newer");
  document.addEventListener("cb:appended", (event) => {
    const end = event.detail.getBoundingClientRect().bottom;
    if (end < innerHeight + 120) return;
    newer.hidden = false;
    newer.textContent = words.events.replace("%n", ++below);
  });
  newer?.addEventListener("click", () => { below = 0; newer.hidden = true; });
})();

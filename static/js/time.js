// Times: one's own zone (as the server printed it) or UTC, everywhere at once; and ages, every 30 seconds.
(() => {
  "use strict";
  const words = document.getElementById("words")?.dataset;
  if (!words) return;
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const day = { day: "numeric", month: "short" };
  const shapes = {
    clock, day,
    seconds: { ...clock, second: "2-digit" },
    full: { ...day, year: "numeric", ...clock },
    ms: { ...clock, second: "2-digit", fractionalSecondDigits: 3 },
  };
  const language = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
  const own = new WeakMap();
  let utc = localStorage.getItem("utc") === "1";
  // Ages follow the server's clock, not this machine's.
  const skew = Date.parse(document.getElementById("data-at")?.dateTime) - Date.now() || 0;

  function show(time) {
    const shape = shapes[time.dataset.form];
    if (utc) {
      if (!own.has(time)) own.set(time, time.innerHTML);
      time.textContent = new Intl.DateTimeFormat(language, { ...shape, timeZone: "UTC" }).format(new Date(time.dateTime));
    } else if (own.has(time)) {
      time.innerHTML = own.get(time);
      own.delete(time);
    }
  }
  function showAll(root) {
    root.querySelectorAll("time[data-form]").forEach(show);
    root.querySelectorAll("[data-zone-label]").forEach((label) => {
      label.dataset.own ??= label.textContent;
      label.textContent = utc ? "UTC" : label.dataset.own;
    });
  }

  function ageText(seconds) {
    const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
    if (minutes < 1) return words.sec.replace("%s", Math.floor(seconds));
    const two = (n) => String(n).padStart(2, "0");
    if (hours < 1) return words.min.replace("%m", minutes);
    if (days < 1) return words.hour.replace("%h", hours).replace("%mm", two(minutes % 60)).replace("%m", minutes % 60);
    return words.day.replace("%d", days).replace("%hh", two(hours % 24)).replace("%h", hours % 24);
  }
  function grow(age) {
    const seconds = Math.max(0, (Date.now() + skew - Date.parse(age.dataset.since)) / 1000);
    age.textContent = ageText(seconds);
    const target = Number(age.dataset.target);
    if (!target) return;
    const fuse = age.parentElement.querySelector(".fuse");
    fuse.firstElementChild.setAttribute("width", Math.min(100, (100 * seconds) / target));
    if (seconds >= target) [age, fuse].forEach((part) => { part.classList.remove("near"); part.classList.add("over"); });
  }

  document.addEventListener("click", (event) => {
    if (!event.target.closest('[data-do="zone"]')) return;
    utc = !utc;
    localStorage.setItem("utc", utc ? "1" : "");
    showAll(document);
  });
  document.addEventListener("cb:painted", (event) => showAll(event.target.parentElement ?? document));
  document.addEventListener("htmx:afterSwap", () => showAll(document));
  setInterval(() => document.querySelectorAll("tr:not(.gone) [data-since]").forEach(grow), 30_000);
  if (utc) showAll(document);
})();

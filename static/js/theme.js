// Before the first paint: says that scripts run. Later: the theme, kept in a cookie so that the server paints it right.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");

  function toggle() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const next = root.dataset.theme ? "" : dark ? "light" : "dark"; // the system's own, or its opposite
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    document.cookie = `theme=${next}; path=/; max-age=31536000; samesite=lax`;
  }
  document.addEventListener("click", (event) => event.target.closest('[data-do="theme"]') && toggle());
})();

// Before the first paint: says that scripts run, and tells the server the reader's zone; later the theme. Both are cookies,
// so that the server's next page is right at once.
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");
  const remember = (name, value) => { document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=lax`; };
  remember("zone", Intl.DateTimeFormat().resolvedOptions().timeZone);

  function toggle() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const next = root.dataset.theme ? "" : dark ? "light" : "dark"; // the system's own, or its opposite
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    remember("theme", next);
  }
  document.addEventListener("click", (event) => event.target.closest('[data-do="theme"]') && toggle());
})();

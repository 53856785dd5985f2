// Copying an id, a link, a sentence: and saying so.
(() => {
  "use strict";
  async function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const box = Object.assign(document.createElement("textarea"), { value: text, className: "vh" }); // plain HTTP
    document.body.append(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-link]");
    if (!button) return;
    await copy(button.dataset.copy ?? new URL(button.dataset.copyLink, location).href);
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1500);
    document.getElementById("announce").textContent = document.getElementById("words").dataset.copied;
  });
})();

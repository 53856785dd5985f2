// Dialogs with real addresses: htmx fills #dialog, this opens it and pushes its address; Esc and Back close it.
(() => {
  "use strict";
  const dialog = document.getElementById("dialog"), keys = document.getElementById("keys");
  if (!dialog) return;
  const reloaded = Boolean(history.state?.dialog); // this document is the full page at a dialog's address
  let leaving = false; // the popstate that follows is ours, not a page to restore

  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target !== dialog || dialog.open) return;
    const role = dialog.firstElementChild?.dataset.role;
    if (role) dialog.setAttribute("role", role);
    dialog.showModal();
    history.pushState({ dialog: true }, "", event.detail.pathInfo.requestPath);
  });
  dialog.addEventListener("close", () => {
    dialog.replaceChildren();
    dialog.removeAttribute("role");
    if (!history.state?.dialog) return;
    leaving = true;
    history.back();
  });
  // Capturing, so before htmx's own handler: the page behind the dialog is still there, untouched.
  addEventListener("popstate", (event) => {
    if (leaving || dialog.open) event.stopImmediatePropagation();
    else if (event.state?.dialog || reloaded) location.reload(); // a dialog's address, or away from it: a full page
    if (dialog.open) dialog.close();
    leaving = false;
  }, true);

  addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener && (event.ctrlKey || event.metaKey || event.shiftKey)) event.stopPropagation(); // a new tab, not htmx
    const closer = event.target.closest("dialog [data-close]");
    if (closer) { event.preventDefault(); closer.closest("dialog").close(); }
    if (event.target.closest("#help")) { event.preventDefault(); keys.showModal(); }
  }, true);
  // A dialog that cannot be fetched is still a page.
  for (const failure of ["htmx:sendError", "htmx:timeout", "htmx:responseError"])
    document.addEventListener(failure, (event) => {
      if (event.detail.elt.matches?.("[data-dialog]")) location.href = event.detail.elt.href;
    });
})();

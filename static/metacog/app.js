// Makes the console an app that can be installed, that says so where there is no connection, and takes notices.

/** @type {HTMLLinkElement | null} */
const manifest = document.querySelector("link[rel=manifest]");
// From the button of a notice: the person presses once more, here.
if (location.hash === "#to-decide") {
  /** @type {HTMLElement | null} */ (document.querySelector("#approve button"))?.focus({ preventScroll: true });
}

// A private window, or a browser without them, goes on without.
if (manifest?.dataset.worker) navigator.serviceWorker?.register(manifest.dataset.worker).catch(() => {});

// What is in sight, and for how long: reviews/metrics/review_time.py says what for.
import { byId } from "./page.js";

// By item: for how many milliseconds it was, and the stamp of its first time. Kept as long as the tab, since people
// come back to an item.
export const sights = JSON.parse(sessionStorage.getItem("sights") ?? "{}");
let seen; // the item that was in sight at `seenAt`
let seenAt = 0;

export function keepSight() {
  const now = performance.now();
  if (seen) {
    sights[seen].ms += now - seenAt;
    sessionStorage.setItem("sights", JSON.stringify(sights));
  }
  seenAt = now;
  seen = !document.hidden && byId("desk")?.checkVisibility() ? byId("item")?.dataset.held : undefined;
  if (seen) sights[seen] ??= { ms: 0, shown: byId("approve")?.elements.shown.value };
}
if (!byId("keys")) forgetAll(); // nobody is signed in

// All that this tab keeps but what was typed before its session ended, which is its person's alone.
function forgetAll() {
  const typed = sessionStorage.getItem("unsaved");
  sessionStorage.clear();
  if (typed) sessionStorage.setItem("unsaved", typed);
}
setInterval(keepSight, 1000);
document.addEventListener("visibilitychange", keepSight);
addEventListener("pagehide", keepSight);

document.addEventListener("htmx:configRequest", (event) => {
  keepSight();
  const { elt, parameters, verb } = event.detail;
  if (elt.id === "poll" && !seen) parameters.unseen = 1;
  if (verb === "post" && parameters.shown && seen) {
    parameters.shown = sights[seen].shown ?? parameters.shown;
    parameters.in_sight = Math.round(sights[seen].ms);
  }
});

keepSight();

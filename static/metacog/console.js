// What every page has: time, copying, lists, and what went wrong. The scripts beside this one spare the reload and the
// mouse: every action they take is a link or a form that works without them.
import { announce, byId, complain, main, setText, words } from "./page.js";
import { rounded, serverNow } from "./time.js";
import { isTyped, whatFailed } from "./typed.js";

// -- time: reviews/templatetags/console.py says the same ------------------------------------------

function clock(seconds) {
  if (seconds >= 3600) return rounded(seconds);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function tick() {
  if (document.hidden) return;
  const now = serverNow();
  for (const time of document.querySelectorAll("time.ago")) {
    const seconds = Math.max(0, Math.floor((now - Date.parse(time.dateTime)) / 1000));
    setText(time, words.ago.replace("{time}", rounded(seconds)));
  }
  for (const time of document.querySelectorAll("time.due")) {
    const seconds = Math.trunc((Date.parse(time.dateTime) - now) / 1000);
    time.classList.toggle("late", seconds < 0);
    if (seconds < 0) setText(time, words.over.replace("{time}", rounded(-seconds)));
    else setText(time, words.left.replace("{time}", clock(seconds)));
  }
  for (const countdown of document.querySelectorAll(".countdown")) {
    countdown.until ??= performance.now() + countdown.dataset.seconds * 1000;
    const seconds = Math.ceil((countdown.until - performance.now()) / 1000);
    if (seconds > 0) setText(countdown, words.s.replace("{n}", String(seconds)));
    else for (const part of countdown.parentElement.querySelectorAll("button, button + kbd, .countdown")) part.remove();
  }
}
setInterval(tick, 1000);

// -- copying -----------------------------------------------------------------------------------

// Browsers hand out the clipboard on this machine and over HTTPS only.
document.documentElement.toggleAttribute("data-clipboard", Boolean(navigator.clipboard));

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = byId(button.dataset.copy);
  getSelection().selectAllChildren(source); // what is copied shows, and can be copied by hand where it is refused
  await navigator.clipboard.writeText(source.textContent);
  button.dataset.done = "";
  announce(words.copied);
});

// -- lists and their filters ---------------------------------------------------------------------

function tickAll(form) {
  const boxes = [...form.elements].filter(({ type }) => type === "checkbox");
  const wanted = boxes.some((box) => !box.checked);
  for (const box of boxes) if (box.checked !== wanted) box.click();
}

document.addEventListener("click", ({ target }) => {
  if (target.matches("[data-all]")) tickAll(target.form);
});

for (const choice of document.querySelectorAll(".filters select")) {
  choice.addEventListener("change", () => choice.form.requestSubmit());
}
for (const form of document.querySelectorAll(".filters")) {
  form.addEventListener("formdata", (/** @type {any} */ { formData }) => {
    // What is not chosen does not belong into the address.
    for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
}

document.addEventListener("htmx:beforeOnLoad", (event) => {
  // To sign in leaves the page, and what was typed with it; the queue keeps that.
  if (main || !isTyped() || !event.detail.xhr.getResponseHeader("HX-Redirect")) return;
  event.preventDefault();
  complain(words.signedOut);
});

// -- what went wrong -------------------------------------------------------------------------------

for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(failure, (event) => {
    if (event.detail.elt.id === "poll") {
      byId("offline").hidden = false;
      return setText(byId("offline"), words.offline);
    }
    if (event.detail.elt.id === "edited") return byId("edit-score")?.replaceChildren(); // what it said was of another text
    complain(whatFailed(event.detail));
  });
}

// A request that gave way to another is no error for the browser's console; of what did go wrong the event that follows
// `afterRequest` tells there.
htmx.logger = (_, event, detail) => {
  if (["htmx:sendAbort", "htmx:afterRequest"].includes(event)) delete detail.error;
};

// -- as a page comes -----------------------------------------------------------------------------

// There may be more saved views than a line has room for.
for (const here of document.querySelectorAll(".views [aria-current]")) {
  const line = here.closest(".views");
  line.scrollLeft = here.offsetLeft - line.clientWidth / 3;
}

// What is wrong with a form may stand far below the top, where a page comes up; htmx shows that after this event. A bar
// is always in sight.
function showWhatIsWrong(part) {
  part.querySelector(".page form :is(.wrong, [role=alert]):not(.act *)")?.scrollIntoView({ block: "center" });
}
showWhatIsWrong(document);
document.addEventListener("htmx:afterSettle", (event) => setTimeout(showWhatIsWrong, 0, event.target));

// What an answer says takes the focus by itself (`autofocus`); here what is wrong with a form, wherever it stands.
function focusWhatIsWrong() {
  if (document.activeElement !== document.body) return;
  const wrong = document.querySelector("main [aria-invalid=true]") ?? document.querySelector("main [role=alert]");
  if (wrong) focusOn(wrong);
}
addEventListener("load", focusWhatIsWrong);

function focusOn(element) {
  if (!element.matches("input, select, textarea, button, a[href], summary, [tabindex]")) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

// A part that is drawn anew takes the focus that was in it along, to what it says or to its heading.
let isFocusLost = false;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  isFocusLost = detail.target.id !== "desk" && detail.target.contains(document.activeElement);
});
document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (!isFocusLost || document.activeElement !== document.body) return;
  isFocusLost = false;
  const place = ["[role=alert]", "[role=status]:not(:empty)", "h1, h2, h3", "button, a[href], input, select, textarea"]
    .map((each) => target.querySelector(each)).find((each) => each?.checkVisibility());
  if (place) focusOn(place);
});

// What was there when the page came is not read out by itself.
const unknownFilters = document.querySelector(".messages.unknown");
if (unknownFilters) announce(unknownFilters.textContent);

tick();

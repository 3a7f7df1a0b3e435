// What is typed and not sent, and what would take it away.
import { byId, complain, words } from "./page.js";

export function isChanged(field) {
  if (["checkbox", "radio"].includes(field.type)) return field.checked !== field.defaultChecked;
  if (field.matches("select")) return !(field.selectedOptions[0]?.defaultSelected ?? true);
  return field.value !== field.defaultValue;
}

// What was refused comes back in the field, and is not sent either.
export const isUnsent = (field) => isChanged(field) || "posted" in field.dataset;

export const unsent = () => [...document.querySelectorAll("textarea, fieldset#edited, fieldset#edited :is(input, select)")]
  .filter((field) => (field.matches("fieldset") ? "posted" in field.dataset : isUnsent(field)));
export const isTyped = () => unsent().length > 0;

// What takes away something typed, such as to look at another item: the first press says so, a second of the same key
// or of the mouse does it.
let pressed = ""; // the key, or "" for the mouse
let warned; // what was pressed when it was said
addEventListener("keydown", ({ key }) => { pressed = key; }, true);
addEventListener("pointerdown", () => { pressed = ""; }, true);

export function mayLeave(warning = words.unsent) {
  if (!isTyped() || (warned === pressed && byId("complaint")?.textContent === warning)) return true;
  warned = pressed;
  complain(warning);
  return false;
}

// To another page, too, by whatever way but by sending it: the browser asks. What htmx sends stays on the page.
let isLeft = false;
export const isLeaving = () => isLeft;

// Without being asked: what goes is meant to.
export function leavePage(address) {
  isLeft = true;
  if (address) location.assign(address);
}

addEventListener("submit", (event) => {
  isLeft = !event.defaultPrevented && unsent().every((field) => field.form === event.target);
});
addEventListener("beforeunload", (event) => {
  if (isTyped() && !isLeft) event.preventDefault();
});
addEventListener("pageshow", () => { isLeft = false; });

// What a form would leave behind: what is typed elsewhere, or in an editor that was closed.
export const isUnsentBy = (form) => unsent().some((field) => field.form !== form || field.matches(":disabled"));

// The address may be another than the one the page came with.
for (const form of document.querySelectorAll(".choice")) {
  form.addEventListener("formdata", (/** @type {any} */ { formData }) => formData.set("next", location.pathname + location.search));
}

// Without an answer, and after 500, it may have been decided all the same.
export function whatFailed({ xhr, requestConfig }, isText = isTyped()) {
  if (requestConfig.verb === "get") return words.unshown;
  if (xhr.status >= 400 && xhr.status < 500 && xhr.status !== 429) return words.forbidden;
  return ([429, 503].includes(xhr.status) ? words.failed : words.unknown) + (isText ? words.inField : "");
}

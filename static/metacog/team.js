// The team's page: which tab is shown, on which something is not saved yet, and a warning before that is left. The tabs
// are links to parts of one page, which its style sheet shows, so what was typed on one is there on the next.
import { setText } from "./page.js";

const form = document.getElementById("settings"), told = document.querySelector(".unsaved");
const parts = [...document.querySelectorAll(".part")];
const tabOf = (part) => document.querySelector(`.parts [href="#${part.id}"]`);

// The part stays where the address leads to none of them: to the page's main part, say.
function show() {
  const shown = parts.find((part) => part.checkVisibility());
  for (const part of parts) {
    part.classList.toggle("is-open", part === shown);
    tabOf(part).ariaCurrent = part === shown ? "true" : null;
  }
}
addEventListener("hashchange", show);
addEventListener("pageshow", show); // by when it is known where the address leads

// What was refused is not saved either, so it is compared with what the page showed first.
function isUnsaved(field) {
  const first = form.elements[`initial-${field.name}`];
  return Boolean(first) && (field.type === "checkbox" ? (field.checked ? "True" : "False") : field.value) !== first.value;
}

// A form with a button of its own on one of the tabs, such as a group's.
const isBegun = (other) => [...other.elements].some((field) => field.type === "checkbox" ? field.checked !== field.defaultChecked
  : /^(text|email|url)$/.test(field.type) && field.value !== field.defaultValue);

const unsaved = () => parts.filter((part) => [...form.elements].some((field) => part.contains(field) && isUnsaved(field)));

function mark() {
  const found = unsaved();
  for (const part of parts) tabOf(part).querySelector(".mark:not(.wrong)").hidden = !found.includes(part);
  const names = found.map((part) => part.ariaLabel).join(told.dataset.comma);
  setText(told, names && told.dataset.told.replace("{tabs}", names));
}

let sent = null;
if (form) {
  addEventListener("input", mark);
  addEventListener("submit", (event) => { sent = event.defaultPrevented ? null : event.target; });
  addEventListener("beforeunload", (event) => {
    const others = [...document.querySelectorAll(".part form")].filter((other) => other !== sent);
    if (sent !== form && unsaved().length || others.some(isBegun)) event.preventDefault();
  });
  addEventListener("pageshow", () => {
    sent = null;
    mark(); // a browser may have put back what was typed
  });
  form.addEventListener("formdata", (/** @type {any} */ { formData }) => {
    formData.set("tab", parts.find((part) => part.classList.contains("is-open"))?.id.slice("tab-".length) ?? "");
  });
}

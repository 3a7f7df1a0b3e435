// The policy page: a change says that its preview is under way, a reset fills in its field, a section that is jumped to
// unfolds, a folded rule says what it is, and a draft is left only when the browser has asked.
import { announce } from "./page.js";
import "./rules.js";

const draft = document.getElementById("draft"), preview = document.getElementById("preview");

// From the first key on, and once however many follow: the preview waits for the last of them.
let isUnasked = false, isUntold = false, isEdited = "posted" in draft.dataset;
if (draft.matches("[hx-trigger^=load]")) preview.ariaBusy = "true"; // it comes once the page is there
draft.addEventListener("input", () => {
  isUnasked = isUntold = isEdited = true;
  if (preview.ariaBusy === "true") return;
  preview.ariaBusy = "true";
  announce(document.getElementById("scoring").textContent);
});
draft.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.elt === draft) isUnasked = false;
});
draft.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.elt === draft && !isUnasked) preview.ariaBusy = null;
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target === preview) isUntold = isUnasked;
});

// The preview tells whether there is something to save; as long as it has not, there may be.
let isSent = false;
addEventListener("submit", (event) => { isSent = event.target === draft && !event.defaultPrevented; });
addEventListener("beforeunload", (event) => {
  if (isEdited && !isSent && (isUntold || preview.querySelector(":scope > :is(.is-changed, .bad)"))) event.preventDefault();
});
addEventListener("pageshow", () => { isSent = false; });

function changed(field) {
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-field]");
  const field = button && draft.elements[button.dataset.field];
  if (!field || field instanceof RadioNodeList) return; // the server puts back what is more than one field
  event.preventDefault();
  if (field.type === "checkbox") field.checked = button.dataset.value === "on";
  else field.value = button.dataset.value;
  changed(field);
  field.focus(); // the button goes with the mark
});

function unfold() {
  const part = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const fold = part && part.closest("details");
  if (!fold) return;
  fold.open = true;
  fold.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();

document.addEventListener("click", (event) => {
  const link = event.target.closest(".jumps a, .jump-menu a");
  if (!link) return;
  const menu = link.closest("details");
  if (menu) menu.open = false;
  if (link.hash === location.hash) unfold(); // the address stays, so it tells of nothing
});

// The line of a folded rule is the server's; while the rule is edited, it names what is chosen.
document.addEventListener("input", (event) => {
  const rule = event.target.closest("[data-rule]"), told = rule?.querySelector(".rule-told");
  if (!told) return;
  told.firstChild.textContent = `${rule.querySelector("select").selectedOptions[0].text} · ${rule.querySelector(".tool").value} … `;
  told.lastElementChild.textContent = ""; // what it did comes with the preview
});

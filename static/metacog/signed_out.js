// What was typed about an item comes back: the session ended, and it is kept in this tab until its person has signed in
// again; or what it was decided with was undone, and the editor or the reason is opened.
import { does, state, unsaved } from "./desk.js";
import { edit, editable } from "./editor.js";
import { byId, say } from "./page.js";
import { isUnsent, leavePage } from "./typed.js";

const KEY = "unsaved", KEPT_FOR = 3_600_000; // milliseconds
const { user } = document.body.dataset;

const read = () => JSON.parse(sessionStorage.getItem(KEY) ?? "null");

function add(held, typed) {
  const kept = read() ?? { user, at: Date.now(), items: {} };
  kept.items[held] = { ...kept.items[held], ...typed };
  sessionStorage.setItem(KEY, JSON.stringify(kept));
}

const named = (fieldset) => [...fieldset.elements].filter(({ name }) => name);

// What is typed about the item in sight.
function typedNow() {
  const typed = {}, preset = document.querySelector("#reject [name=preset]:checked"), field = byId("edited");
  if (byId("reason")?.value) typed.reason = byId("reason").value;
  if (preset) typed.preset = preset.value;
  if (byId("comment")?.value) typed.comment = byId("comment").value;
  if (field && !field.disabled) {
    typed.edited = field.matches("textarea") ? field.value
      : named(field).map((each) => [each.name, ["checkbox", "radio"].includes(each.type) ? each.checked : each.value]);
  }
  return typed;
}

function keepTyped() {
  const held = byId("item")?.dataset.held, typed = typedNow();
  if (held && Object.keys(typed).length) add(held, typed);
}

// What is typed, and the reasons of decisions that could not be sent, or came back and were not shown yet.
function keepAll() {
  keepTyped();
  for (const { held, body } of unsaved()) {
    const typed = Object.fromEntries(["preset", "reason"].map((name) => [name, body.get(name)]).filter(([, value]) => value));
    if (Object.keys(typed).length) add(held, typed);
  }
  leavePage();
}

// The first that could not be sent is where to go on.
does("signIn", ({ address, isOne }) => {
  keepAll();
  location.assign(isOne ? address : address.replace("unsaved=decision", "unsaved=decisions"));
});

document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (!event.detail.xhr.getResponseHeader("HX-Redirect")) return;
  if (state().decisions.length) event.preventDefault(); // their own answer leads to the sign-in, and says what was not saved
  else keepAll();
});

function fill(field, value) {
  if (["checkbox", "radio"].includes(field.type)) field.checked = value;
  else field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function fillEdit(edited) {
  const field = byId("edited");
  if (field.matches("textarea")) return fill(field, edited);
  const fields = named(field);
  if (fields.some(({ name }, at) => name !== edited[at]?.[0])) return; // it is edited as JSON, or no longer so
  fields.forEach((each, at) => fill(each, edited[at][1]));
}

function fillReason({ preset: chosen, reason }) {
  const preset = [...document.querySelectorAll("#reject [name=preset]")].find(({ value }) => value === chosen);
  if (preset) preset.checked = true;
  if (reason) fill(byId("reason"), reason);
}

// -- after an undo: not before it is asked for, as it would count as typed and not sent

const sent = new Map(); // by item, what was typed when it was decided

// Before the next item takes its place.
document.addEventListener("submit", ({ target }) => {
  if (target.matches("#approve, #reject")) sent.set(byId("item").dataset.held, typedNow());
}, true);

const sentOfThis = () => sent.get(byId("item")?.dataset.held) ?? {}; // the page of several has no item

document.addEventListener("edit", () => {
  const { edited } = sentOfThis();
  if (edited && !editable().some(isUnsent)) fillEdit(edited);
});

// Its form is always open.
function giveAnswer() {
  const { edited } = sentOfThis();
  if (edited && byId("edited")?.matches(".answer:not([data-posted])") && !editable().some(isUnsent)) fillEdit(edited);
}

document.addEventListener("toggle", ({ target }) => {
  if (target.id !== "rejecting" || !target.open) return;
  const { preset, reason } = typedNow();
  if (!preset && !reason) fillReason(sentOfThis());
}, true);

function giveBack() {
  const kept = read(), held = byId("item")?.dataset.held, typed = kept?.items[held];
  if (kept && (kept.user !== user || Date.now() - kept.at > KEPT_FOR)) return sessionStorage.removeItem(KEY);
  if (!typed) return giveAnswer();
  delete kept.items[held];
  sessionStorage.setItem(KEY, JSON.stringify(kept));
  if (typed.edited && byId("edited")) {
    if (byId("edit")) edit(true); // the form of an answer is always open
    fillEdit(typed.edited);
  }
  if ((typed.preset || typed.reason) && byId("rejecting")) {
    byId("rejecting").open = true;
    fillReason(typed);
  }
  if (typed.comment && byId("comment")) fill(byId("comment"), typed.comment);
  say(document.body.dataset.typedAgain);
}

document.addEventListener("submit", ({ target }) => {
  if (target.querySelector(".out")) sessionStorage.clear(); // whoever signs out leaves nothing
});
document.addEventListener("htmx:afterSwap", ({ detail }) => { if (detail.target.id === "desk") giveBack(); });
giveBack();

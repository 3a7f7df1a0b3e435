// What is opened to decide an item: its editor, and the reason of a rejection.
import { byId } from "./page.js";
import { isChanged } from "./typed.js";

let readAt = 0; // how far down the page was before the editor opened

export function readFromTop() {
  readAt = 0;
  scrollTo(0, readAt);
  if (isEditing()) firstToEdit()?.scrollIntoView({ block: "nearest" }); // a warning may be higher than the screen
}

export function edit(open) {
  const [editor, text, field, button, label] = ["editor", "text", "edited", "edit", "edit-label"].map(byId);
  if (!editor || !button) return;
  editor.hidden = !open;
  field.disabled = !open; // what is out of sight is not sent; of a tool call, a fieldset
  text.hidden = open && !("stays" in text.dataset);
  button.setAttribute("aria-expanded", open);
  label.textContent = open ? label.dataset.open : label.dataset.closed;
  nameApproval();
  if (open) {
    readAt = scrollY;
    if (text.hidden) scrollTo(0, 0);
    editor.dispatchEvent(new Event("edit", { bubbles: true })); // signed_out.js gives back what an undone edit was
    const first = firstToEdit();
    first?.focus({ preventScroll: true });
    if (first?.matches("textarea")) first.setSelectionRange(0, 0);
    first?.scrollIntoView({ block: "nearest" }); // all of an editor may be higher than the screen
  } else {
    button.focus({ preventScroll: true });
    scrollTo(0, readAt);
  }
}

let editorOf; // the item whose editor is on its way

// Of a long text it comes once it is asked for; htmx's promise does not wait where it is asked behind the poll.
function fetchEditor(address) {
  editorOf = byId("item").dataset.held;
  htmx.ajax("GET", address, { source: "#desk", target: "#desk", swap: "innerHTML" });
}

// What was asked for is on the desk.
export function openAsked() {
  if (editorOf === byId("item").dataset.held && isEditing()) edit(true);
  editorOf = undefined;
}

function firstToEdit() {
  const field = byId("edited");
  if (field.matches("textarea")) return field;
  return field.querySelector("[aria-invalid=true]") ?? field.querySelector("textarea, select, input:not([type=hidden])");
}

// The text, or the inputs of a tool call's arguments.
export const editable = () => (byId("edited")?.matches("fieldset") ? [...byId("edited").elements] : [byId("edited")]).filter(Boolean);

export const isEditing = () => byId("editor") && !byId("editor").hidden;

export function nameApproval() {
  const label = byId("approve-label");
  if (!label) return;
  const field = byId("edited");
  const changed = editable().some(isChanged);
  // A warning was about the text as it was sent, and so is its acceptance.
  if (changed) byId("approve").querySelector("[name=accept_risk]")?.remove();
  const isEdited = isEditing() && (changed || "posted" in field.dataset);
  const isAccepted = byId("approve").querySelector("[name=accept_risk]");
  const { anyway, edited, one, plain } = label.dataset;
  label.textContent = isEdited ? (isAccepted ? anyway : edited) : (byId("among").children.length ? one : plain);
}

document.addEventListener("input", (event) => {
  if (!event.target.closest("#edited")) return;
  byId("problem")?.remove(); // it was about what was sent
  nameApproval();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("#edit")) {
    event.preventDefault();
    if (byId("editor")) edit(!isEditing());
    else fetchEditor(event.target.closest("#edit").href);
  }
  for (const open of document.querySelectorAll("details:is(.menu, .reject, .grant)[open]")) {
    if (!open.contains(/** @type {Node} */ (event.target))) open.open = false;
  }
});

// A quick hand stands in the note already.
function focusReason() {
  if (document.activeElement.id !== "reason") document.querySelector("#rejecting[open] [name=preset]")?.focus({ preventScroll: true });
}

// `toggle` does not bubble.
document.addEventListener("toggle", (event) => {
  if (event.target.id === "rejecting") focusReason();
}, true);

export function press(key) {
  const control = document.querySelector(`[data-key="${key}"]`);
  if (control && !control.disabled) control.click();
  return Boolean(control);
}

export function reject() {
  if (press("r")) focusReason(); // at once: `toggle` comes after the keys of a quick hand
}

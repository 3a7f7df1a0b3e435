// Keys: what each of them does, and which wait until the item they are for has been in sight.
import { dispatch, does, state } from "./desk.js";
import { isDecided, isKept, isNote } from "./desk_state.js";
import { edit, isEditing, press, reject } from "./editor.js";
import { keyOf } from "./key_names.js";
import { step } from "./list.js";
import { announce, byId, main, say, setText, words } from "./page.js";
import { isPaletteKey, openPalette } from "./palette.js";
import { decidePicked, pick, picked, unpick } from "./picked.js";
import { pickRow, stepPicked, stepRow } from "./rows.js";

// A box that was ticked with the mouse keeps the focus, and takes no letters.
const isTyping = (target) => target.closest("input:not([type=checkbox], #edited [type=radio]), textarea, select, [contenteditable]");

// Who chose a reason with its number stands in the note, and may have nothing to add.
const isNoteSkipped = (note) => words.keys !== "off" && note.id === "reason" && !note.value
  && Boolean(document.querySelector(".reject[open] [name=preset]:checked"));

// Of what is no decision, as a snooze.
function pressUndo() {
  const button = [...document.querySelectorAll(".undo button")].findLast((each) => each.checkVisibility());
  button?.click();
  return Boolean(button);
}

const KEYS = {
  a: () => decidePicked("approve") || stepPicked("a") || press("a"),
  e: () => press("e"),
  r: () => decidePicked("reject") || stepPicked("r") || reject(),
  u: () => press("u") || pressUndo() || (main && byId("told") && !document.querySelector("#told [disabled]") && say(words.nothingToUndo)),
  p: () => press("p"),
  y: () => press("y"),
  n: () => press("n"),
  x: (isShifted) => (isShifted ? document.querySelector("[data-all]")?.click() : main ? pick() : pickRow()),
  o: () => (main && picked.size ? press("o") : byId("approve-all")?.click()),
  j: () => (main ? step(true) : stepRow(1)),
  k: () => (main ? step(false) : stepRow(-1)),
  g: (isShifted) => (isShifted ? press("g") : awaitPage()),
  "/": () => byId("find")?.focus(),
  "?": () => byId("keys").showModal(),
};

// -- keys that wait: desk_state.js says which, and what becomes of them ---------------------------------------------

let nextTry;

does("act", ({ key, isShifted, isText }) => (isText ? note(key) : actOn(key, isShifted)));
does("showKeys", ({ keys }) => {
  clearTimeout(nextTry);
  if (keys.length) nextTry = setTimeout(() => dispatch({ type: "drain", at: performance.now() }), 20);
  const line = byId("waiting-keys");
  if (!line) return;
  line.hidden = !keys.length;
  line.querySelector("b").textContent = keys
    .map(({ key, isText }) => (key === "Enter" ? "↵" : isText ? key : key.toUpperCase())).join(" ");
});
does("showIgnored", ({ count }) => {
  const line = byId("ignored-keys");
  clearTimeout(line.timer);
  line.timer = setTimeout(() => { line.hidden = true; }, 5000);
  line.hidden = !count;
  setText(line, (count > 1 ? words.ignoredMany : words.ignored).replace("{count}", count));
});

document.addEventListener("pointerdown", () => { if (state().keys.length) dispatch({ type: "dropKeys" }); });

// Whoever types on while another item comes to the front means none of it.
function isIgnored({ key, target, ctrlKey, metaKey, altKey }) {
  if (performance.now() > state().ignoredUntil || isTyping(target) || ctrlKey || metaKey || altKey) return false;
  if (key.length > 1 && key !== "Enter") return false;
  dispatch({ type: "ignore", at: performance.now() });
  return true;
}

const isFormOpen = () => Boolean(document.querySelector("details:is(.reject, .grant, .menu)[open]"));
const isHeldBack = (target) => !isDecided(state()) && (isTyping(target) || isFormOpen());

// As the desk wants to know it.
function told({ key, code, shiftKey, ctrlKey, metaKey, altKey, target }) {
  const isCommand = ctrlKey || metaKey, name = key === "Enter" ? key : keyOf({ key, code, shiftKey });
  const isText = isNote(state(), { key, isCommand });
  return {
    key: isText ? key : name, isText, isShifted: shiftKey, at: performance.now(),
    pressed: {
      key, name, isCommand, isModified: isCommand || altKey, at: performance.now(),
      isKnown: name in KEYS || /^([1-9]|Enter)$/.test(name), isTyping: Boolean(isTyping(target)), isOpen: isFormOpen(),
      isUndoOff: Boolean(document.querySelector("#told [disabled]")),
    },
  };
}

function isKeptBack(event) {
  if (!main || isPageAwaited() || words.keys === "off") return false;
  const { pressed, ...key } = told(event);
  if (!isKept(state(), pressed)) return false;
  dispatch({ type: "key", ...key });
  return true;
}

function note(text) {
  const field = document.activeElement.closest("#edited:is(textarea), #edited :is(textarea, input[type=text])") ?? byId("reason");
  if (!field?.checkVisibility()) return;
  field.focus();
  field.setRangeText(text === "Enter" ? "\n" : text, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// As a key would that is pressed now.
function actOn(key, isShifted) {
  const reason = document.querySelectorAll(".reject[open] [name=preset]")[key - 1];
  if (reason) return choose(reason);
  const form = document.querySelector(".reject[open] form");
  if (key === "Enter") {
    if (form?.querySelector("[name=preset]:checked") || form?.elements.reason?.value) {
      form.requestSubmit(form.querySelector(".sure"));
    } else if (!form && isEditing()) {
      byId("approve").requestSubmit();
    }
  } else if (!document.querySelector("details:is(.reject, .grant)[open]")) {
    KEYS[key]?.(isShifted);
  }
}

function choose(reason) {
  reason.click();
  announce(reason.nextSibling.textContent); // the focus goes elsewhere
  byId("reason").focus(); // what is typed next is a note to it
}

// -- going to a page: g, then its letter -----------------------------------------------------------

const GRANT_AFTER = 600; // milliseconds
let awaited; // until when the letter of a page is waited for

// On a call that can be granted, G alone opens the form.
function awaitPage() {
  awaited = performance.now() + 2000;
  if (document.querySelector("[data-key=g]")) setTimeout(() => isPageAwaited() && grant(), GRANT_AFTER);
}

function grant() {
  awaited = undefined;
  if (!byId("granting").open && !isDecided(state())) press("g");
}

const isPageAwaited = () => Boolean(awaited) && performance.now() < awaited;

function goToPage(key) {
  const isAwaited = isPageAwaited();
  awaited = undefined;
  const page = isAwaited && document.querySelector(`#keys [data-go="${key}"]`);
  if (page) location.assign(page.href);
  return Boolean(page);
}

// -- keydown ---------------------------------------------------------------------------------------

function leave() {
  const open = document.querySelector("details[open]:is(.menu, .reject, .grant)");
  awaited = undefined;
  if (state().keys.length) {
    dispatch({ type: "dropKeys" });
  } else if (open) {
    open.open = false;
    open.querySelector("summary").focus({ preventScroll: true });
  } else if (["find", "comment"].includes(document.activeElement.id)) {
    document.activeElement.blur();
    byId("item-title")?.focus({ preventScroll: true });
  } else if (isEditing()) {
    edit(false);
  } else if (main && picked.size) {
    unpick();
  }
}

let stillDown; // the key that did something: held, it does not write into the field that it opened

document.addEventListener("keydown", (event) => {
  // 229 is what a keyboard that composes (Chinese, Japanese, Korean) reports for its own keys.
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
  if (!event.repeat) stillDown = undefined;
  else if (event.key === stillDown) return event.preventDefault();
  if (document.querySelector("dialog[open]")) return;
  if (isPaletteKey(event)) {
    event.preventDefault();
    return openPalette();
  }
  if (event.key === "Escape") return leave();
  if (isIgnored(event)) return event.preventDefault();
  if (!event.repeat && isKeptBack(event)) {
    stillDown = event.key;
    return event.preventDefault();
  }
  // On a reason, Enter alone: where several are decided, the form's first button is one that decides nothing.
  if (event.key === "Enter" && event.target.closest("fieldset#edited")) {
    // Alone it would press the first button of the form, which approves.
    if (event.ctrlKey || event.metaKey) byId("approve")?.requestSubmit();
    if (event.ctrlKey || event.metaKey || !event.target.matches("textarea")) event.preventDefault();
    return;
  }
  const sends = event.ctrlKey || event.metaKey ? ["edited", "preset", "reason"] : ["preset", isNoteSkipped(event.target) && "reason"];
  if (event.key === "Enter" && sends.includes(event.target.id || event.target.name)) {
    event.preventDefault();
    return event.target.form.requestSubmit(event.target.form.querySelector(".sure"));
  }
  // On a box of a list it would press the first button, which takes a step with all that are ticked.
  if (event.key === "Enter" && event.target.matches("[type=checkbox][form=many]")) return event.preventDefault();
  if (words.keys === "off" || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  const reason = event.target.id !== "reason" && document.querySelectorAll(".reject[open] [name=preset]")[Number(event.key) - 1];
  if (reason) {
    stillDown = event.key;
    choose(reason);
    return event.preventDefault();
  }
  const choices = document.querySelectorAll("#edited .of-choice:has(kbd) [type=radio]");
  const answer = /** @type {HTMLInputElement | undefined} */ (choices[Number(event.key) - 1]);
  if (answer && !isTyping(event.target)) {
    answer.click();
    announce(answer.closest("label").textContent.trim());
    return event.preventDefault();
  }
  // The letters of a quick hand, too, are for the note: its cursor stands on the reasons above it.
  if (event.target.matches(".reject[open] [name=preset]") && /^\S$/u.test(event.key)) return byId("reason").focus();
  if (isHeldBack(event.target)) return;
  const key = keyOf(event);
  if (goToPage(key)) return event.preventDefault();
  const act = KEYS[key];
  if (act) {
    stillDown = event.key;
    act(event.shiftKey);
    event.preventDefault();
  }
});

byId("keys")?.addEventListener("click", (event) => {
  if (event.target === event.currentTarget) event.currentTarget.close();
});

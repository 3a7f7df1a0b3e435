// Keys: what each of them does, and which wait until the item they are for has been in sight.
"use strict";

// A box that was ticked with the mouse keeps the focus, and takes no letters.
const isTyping = (target) => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");

// Who chose a reason with its number stands in the note, and may have nothing to add.
const isNoteSkipped = (note) => words.keys !== "off" && note.id === "reason" && !note.value
  && Boolean(document.querySelector(".reject[open] [name=preset]:checked"));

function press(key) {
  const control = document.querySelector(`[data-key="${key}"]`);
  if (control && !control.disabled) control.click();
  return Boolean(control);
}

function reject() {
  if (press("r")) focusReason(); // at once: `toggle` comes after the keys of a quick hand
}

const KEYS = {
  a: () => decidePicked("approve") || stepPicked("a") || press("a"),
  e: () => press("e"),
  r: () => decidePicked("reject") || stepPicked("r") || reject(),
  u: () => press("u") || (main && byId("told") && !document.querySelector("#told [disabled]") && say(words.nothingToUndo)),
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

const ON_ITEM = "aeryn"; // what these do is done to the item in sight
const AT_ONCE = ["/", "?", "g"];

// What a key says in Latin letters: as typed, and on a layout of another script by where the key lies.
function keyOf(event) {
  if (event.key.length !== 1) return "";
  const key = event.key.toLowerCase();
  if (/^[\x20-\x7e]$/.test(key)) return key;
  if (event.code === "Slash") return event.shiftKey ? "?" : "/";
  return /^Key[A-Z]$/.test(event.code) ? event.code[3].toLowerCase() : key;
}

// -- keys that wait --------------------------------------------------------------------------------

// A key that is pressed before the next item has been in sight for SETTLE is kept, and what follows it; each acts on the
// item that has then come and been in sight so long. Escape, the mouse, and what goes wrong let them go.
const waitingKeys = []; // { key, isShifted, isText }
const MOST_WAITING = 1000; // a slow server and a quick hand: what is dropped would be missing among the decisions
let nextTry;

function keep(event) {
  const isText = isNote(event);
  const key = isText || event.key === "Enter" ? event.key : keyOf(event);
  if (key === "Backspace") {
    if (waitingKeys.at(-1).isText) waitingKeys.pop();
  } else if (key === "u" && !isText && waitingKeys.length && waitingKeys.at(-1).key !== "u") {
    takeBackWaiting();
  } else if (waitingKeys.length < MOST_WAITING) {
    waitingKeys.push({ key, isShifted: event.shiftKey, isText });
  }
  drain();
}

// There is nothing yet to undo; of a rejection or an edit that waits, all goes with its Enter.
function takeBackWaiting() {
  let last = waitingKeys.pop();
  if (last.key !== "Enter" || last.isText) return;
  while (waitingKeys.length && (last.isText || !["r", "e"].includes(last.key))) last = waitingKeys.pop();
}

function drain() {
  clearTimeout(nextTry);
  while (waitingKeys.length && !isSettling()) {
    const { key, isShifted, isText } = waitingKeys.shift();
    if (isText) note(key);
    else actOn(key, isShifted);
  }
  if (waitingKeys.length) nextTry = setTimeout(drain, 20);
  showWaitingKeys();
}

function dropWaitingKeys() {
  waitingKeys.length = 0;
  drain();
}

function showWaitingKeys() {
  const line = byId("waiting-keys");
  if (!line) return;
  line.hidden = !waitingKeys.length;
  line.querySelector("b").textContent = waitingKeys
    .map(({ key, isText }) => (key === "Enter" ? "↵" : isText ? key : key.toUpperCase())).join(" ");
}

document.addEventListener("pointerdown", () => { if (waitingKeys.length) dropWaitingKeys(); });
addEventListener("beforeunload", (event) => { if (waitingKeys.length && !isLeft) event.preventDefault(); });

// Whoever types on while another item comes to the front means none of it: keys count again after a pause.
let ignoredUntil = 0;
const PAUSE = 500; // milliseconds

function ignoreKeys() {
  ignoredUntil = performance.now() + PAUSE;
}

function isIgnored({ key, target, ctrlKey, metaKey, altKey }) {
  if (performance.now() > ignoredUntil || isTyping(target) || ctrlKey || metaKey || altKey) return false;
  if (key.length > 1 && key !== "Enter") return false;
  ignoreKeys();
  return true;
}

function isKept(event) {
  const key = event.key === "Enter" ? event.key : keyOf(event);
  if (!main || isPageAwaited() || words.keys === "off") return false;
  if (isNote(event) || (event.key === "Enter" && begun().length)) return true;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (waitingKeys.length) {
    return !AT_ONCE.includes(key) && (key in KEYS || /^([1-9]|Enter)$/.test(key)) && (isDecided() || !isTyping(event.target));
  }
  if (isHeldBack(event.target)) return false;
  if (key === "u") return isPosting || Boolean(document.querySelector("#told [disabled]")); // it means what is on its way
  return isSettling() && ON_ITEM.includes(key) && key !== "";
}

const isHeldBack = (target) => !isDecided()
  && (isTyping(target) || document.querySelector("details:is(.reject, .grant, .menu)[open]"));

// What the keys that wait begin and do not send: a rejection from its R on, an edit from its E on.
function begun() {
  const from = waitingKeys.findLastIndex(({ key, isText }) => ["r", "e"].includes(key) && !isText);
  const keys = from < 0 ? [] : waitingKeys.slice(from);
  return keys.some(({ key, isText }) => key === "Enter" && !isText) ? [] : keys;
}

// What follows its E, its R or the number of its reason is text.
function isNote({ key, ctrlKey, metaKey }) {
  const keys = begun();
  if (!keys.length || ctrlKey || metaKey) return false;
  const isEdit = keys[0].key === "e";
  if (key === "Enter") return isEdit || keys.at(-1).isText;
  return key === "Backspace" || (key.length === 1 && (isEdit || keys.length > 1 || !/^[1-9]$/.test(key)));
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
  if (!byId("granting").open && !isDecided()) press("g");
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
  if (waitingKeys.length) {
    dropWaitingKeys();
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
  if (!event.repeat && isKept(event)) {
    stillDown = event.key;
    keep(event);
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
  const reason = event.target.id !== "reason" && document.querySelectorAll(".reject[open] [name=preset]")[event.key - 1];
  if (reason) {
    stillDown = event.key;
    choose(reason);
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

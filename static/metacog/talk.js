// Keys for comments, assigning and snoozing, and the list of names behind an @. All of it works without.
import { isWaiting } from "./desk.js";
import { announce, byId, toAnnounce, words } from "./page.js";

// -- keys: keys.js has the same guards --------------------------------------------------------

const isWriting = (target) => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");

// What a key says in Latin letters: as typed, and on a layout of another script by where the key lies.
function letter(event) {
  const key = event.key.toLowerCase();
  if (key.length === 1 && /^[a-z]$/.test(key)) return key;
  return /^[\x20-\x7e]$/.test(key) || !/^Key[A-Z]$/.test(event.code) ? "" : event.code[3].toLowerCase();
}

const ACTS = {
  c: () => {
    const field = byId("comment");
    field?.focus();
    field?.scrollIntoView({ block: "nearest" });
    return Boolean(field);
  },
  i: () => {
    const button = document.querySelector("#talk-state [data-key=i]");
    button?.click();
    return Boolean(button);
  },
  z: () => {
    const snooze = byId("snoozing");
    if (!snooze) return false;
    snooze.open = !snooze.open;
    if (snooze.open) {
      snooze.scrollIntoView({ block: "nearest" });
      snooze.querySelector(".sheet button:not([disabled])")?.focus({ preventScroll: true });
    }
    return true;
  },
};

document.addEventListener("keydown", (event) => {
  // 229 is what a keyboard that composes reports for its own keys.
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && byId("snoozing")?.open) {
    byId("snoozing").open = false;
    byId("snoozing").querySelector("summary").focus();
    return event.preventDefault();
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.id === "comment") {
    event.preventDefault();
    return event.target.form.requestSubmit();
  }
  if (words.keys === "off" || event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1) return;
  if (isWaiting() || isWriting(event.target) || document.querySelector("details:is(.reject, .grant, .menu)[open]")) return;
  if (ACTS[letter(event)]?.()) event.preventDefault();
});

// What was written or assigned is there: the next keys are for the item, and what became of it is heard.
const toItem = () => byId("item-title")?.focus({ preventScroll: true });

document.addEventListener("htmx:afterSettle", ({ detail: { elt, requestConfig, xhr } }) => {
  if (xhr?.status !== 200 || !["say", "assign"].includes(requestConfig?.elt.id)) return;
  if (elt.id === "talk") announce(toAnnounce(elt) || byId("comment-hint").dataset.added);
  else if (elt.id === "talk-state") announce(toAnnounce(elt));
  else return;
  toItem();
});

// After a snooze another item is there, and a message that says of the one before when it comes back.
const said = document.querySelector(".split") && document.querySelector(".messages");
if (said && byId("item-title")) {
  announce(said.innerText);
  toItem();
}

// -- names behind an @ -----------------------------------------------------------------------------

const MOST = 8;
let open; // { field, from, to }: which part of the text a name takes the place of

const list = () => byId("names");
const entries = () => [...(list()?.children ?? [])];

function hide() {
  open = undefined;
  if (!list()) return;
  list().hidden = true;
  list().replaceChildren();
  byId("comment")?.removeAttribute("aria-activedescendant");
}

function choose(entry) {
  for (const each of entries()) each.ariaSelected = String(each === entry);
  byId("comment").setAttribute("aria-activedescendant", entry.id);
  entry.scrollIntoView({ block: "nearest" });
}

function take(name) {
  const { field, from, to } = open;
  field.setRangeText(`@${name} `, from, to, "end");
  hide();
  field.focus();
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function offer(field) {
  const before = field.value.slice(0, field.selectionStart);
  const typed = /(?:^|[^A-Za-z0-9_.+-])[@＠]([\p{L}\p{N}_.+-]*)$/u.exec(before);
  if (!typed) return hide();
  const wanted = typed[1].toLowerCase();
  const found = [...byId(field.dataset.members).options]
    .filter(({ value, text }) => value.toLowerCase().startsWith(wanted) || text.toLowerCase().startsWith(wanted))
    .slice(0, MOST);
  if (!found.length || (found.length === 1 && found[0].value.toLowerCase() === wanted)) return hide();
  open = { field, from: before.length - typed[1].length - 1, to: before.length };
  list().replaceChildren(...found.map(({ value, text }, place) => {
    const entry = document.createElement("li");
    entry.id = `name-${place}`;
    entry.role = "option";
    entry.dataset.name = value;
    const name = document.createElement("b");
    name.textContent = `@${value}`;
    entry.append(name);
    if (text !== value) entry.append(` ${text}`);
    return entry;
  }));
  list().hidden = false;
  choose(entries()[0]);
}

document.addEventListener("input", (/** @type {any} */ { target, isComposing }) => {
  if (target.matches?.("[data-members]") && !isComposing) offer(target);
});

// Before the keys above, and those of keys.js, which would leave the field.
document.addEventListener("keydown", (event) => {
  if (!open || event.target !== open.field || event.isComposing || event.keyCode === 229) return;
  const all = entries();
  const at = all.findIndex((each) => each.ariaSelected === "true");
  const acts = {
    ArrowDown: () => choose(all[(at + 1) % all.length]),
    ArrowUp: () => choose(all[(at + all.length - 1) % all.length]),
    Enter: () => take(all[at].dataset.name),
    Tab: () => take(all[at].dataset.name),
    Escape: hide,
  };
  if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  acts[event.key]();
}, true);

document.addEventListener("mousedown", (event) => {
  const entry = event.target.closest?.("#names [data-name]");
  if (!entry) return;
  event.preventDefault(); // the field keeps the focus
  take(entry.dataset.name);
});

document.addEventListener("focusout", ({ target }) => {
  if (open && target === open.field) hide();
});

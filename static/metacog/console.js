// What spares the reload and the mouse. Every action it takes is a link or a form that works without it.
"use strict";

const words = document.body.dataset;
const main = document.querySelector(".split");
const byId = (id) => document.getElementById(id);
const HEARD = 80; // characters of a text that are read out

// -- saying things -----------------------------------------------------------------------------

function announce(text) {
  byId("live").textContent = "";
  // A change in the same moment as the swap is not read out.
  setTimeout(() => { byId("live").textContent = text; }, 100);
}

const toAnnounce = (part) => [...part.querySelectorAll("[data-announce]")].map((each) => each.innerText).join("\n");

// Whose text it was is heard before it ends.
const beginning = (text) => (text.length > HEARD ? `${text.slice(0, HEARD)}…` : text);

function complain(text) {
  let note = byId("complaint");
  if (!note) {
    note = document.createElement("p");
    note.id = "complaint";
    note.className = "complaint";
    note.setAttribute("role", "alert");
    document.body.append(note);
  }
  setText(note, text);
  clearTimeout(note.timer);
  note.timer = setTimeout(() => note.remove(), 12000);
}

// -- time: reviews/templatetags/console.py says the same ------------------------------------------

function rounded(seconds) {
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= size) return words[unit].replace("{n}", Math.floor(seconds / size));
  }
  return words.s.replace("{n}", seconds);
}

function clock(seconds) {
  if (seconds >= 3600) return rounded(seconds);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

// The server's clock counts, not the device's.
let skew = 0;
addEventListener("htmx:afterRequest", (event) => {
  const date = Date.parse(event.detail.xhr?.getResponseHeader("Date") ?? "");
  if (date && Math.abs(date - Date.now()) > 2000) skew = date - Date.now();
});

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function tick() {
  keepSight();
  if (document.hidden) return;
  const now = Date.now() + skew;
  for (const time of document.querySelectorAll("time.ago")) {
    const seconds = Math.max(0, Math.floor((now - Date.parse(time.dateTime)) / 1000));
    setText(time, words.ago.replace("{time}", rounded(seconds)));
  }
  for (const time of document.querySelectorAll("time.due")) {
    const seconds = Math.trunc((Date.parse(time.dateTime) - now) / 1000);
    time.classList.toggle("late", seconds < 0);
    setText(time, (seconds < 0 ? words.over : words.left).replace("{time}", clock(Math.abs(seconds))));
  }
  for (const countdown of document.querySelectorAll(".countdown")) {
    countdown.until ??= performance.now() + countdown.dataset.seconds * 1000;
    const seconds = Math.ceil((countdown.until - performance.now()) / 1000);
    if (seconds > 0) setText(countdown, words.s.replace("{n}", seconds));
    else for (const part of countdown.parentElement.querySelectorAll("button, button + kbd, .countdown")) part.remove();
  }
}
setInterval(tick, 1000);

// -- what is in sight: reviews/metrics/review_time.py says what for -------------------------------------------------

// By item: for how many milliseconds it was, and the stamp of its first time. Kept as long as the tab, since people
// come back to an item.
const sights = JSON.parse(sessionStorage.getItem("sights") ?? "{}");
let seen; // the item that was in sight at `seenAt`
let seenAt = 0;

function keepSight() {
  const now = performance.now();
  if (seen) {
    sights[seen].ms += now - seenAt;
    sessionStorage.setItem("sights", JSON.stringify(sights));
  }
  seenAt = now;
  seen = !document.hidden && byId("desk")?.checkVisibility() ? byId("item")?.dataset.held : undefined;
  if (seen) sights[seen] ??= { ms: 0, shown: byId("approve")?.elements.shown.value };
}
if (!byId("keys")) sessionStorage.clear(); // nobody is signed in
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

// -- the list ----------------------------------------------------------------------------------

function select(heldId) {
  for (const row of document.querySelectorAll(".row")) {
    const on = row.id === `row-${heldId}`;
    if (!on) row.removeAttribute("aria-current");
    else {
      row.setAttribute("aria-current", "true");
      bringIntoSight(row);
    }
  }
}

// To the middle, so that what comes next is in sight too. The list alone: `scrollIntoView` moves the page with it.
function bringIntoSight(row) {
  const list = row.closest(".rows");
  const [inner, outer] = [row, list].map((each) => each.getBoundingClientRect());
  if (inner.top >= outer.top && inner.bottom <= outer.bottom) return;
  list.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
}

// Rows that come or go above the chosen one leave it where it is. At the top of the list what comes is to be seen.
let chosen; // its id, and how far down it was

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  // With the buttons goes a reason that is being typed; sent, it is given back beside what stands.
  if (event.detail.target.id === "buttons" && unsent().includes(byId("reason"))) return event.preventDefault();
  if (event.detail.target.id !== "rows") return;
  const row = document.querySelector(".row[aria-current]");
  chosen = row && { id: row.id, top: row.getBoundingClientRect().top };
});

function keepInPlace() {
  const row = chosen && byId(chosen.id), list = row?.closest(".rows");
  if (list?.scrollTop) list.scrollTop += row.getBoundingClientRect().top - chosen.top;
}

// On a phone the list gives way to the item: whoever comes back finds it as far down as they left it.
let leftAt; // how far that was

function keepPlace() {
  if (leftAt === undefined) return;
  history.scrollRestoration = "manual";
  sessionStorage.setItem("place", leftAt);
}
addEventListener("popstate", keepPlace);

const place = sessionStorage.getItem("place");
sessionStorage.removeItem("place");
if (place && main?.dataset.view === "list") addEventListener("load", () => scrollTo(0, place));

function step(forward) {
  const rows = [...document.querySelectorAll(".row")];
  const at = rows.findIndex((row) => row.hasAttribute("aria-current"));
  const next = at < 0 ? rows[0] : rows[at + (forward ? 1 : -1)];
  if (next) return next.click();
  const turn = document.querySelector(forward ? ".turn[rel=next]" : ".turn[rel=prev]");
  if (!turn || !mayLeave()) return;
  isLeft = true;
  location.assign((!forward && turn.dataset.last) || turn.href);
}

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

// -- several at once ---------------------------------------------------------------------------

const picked = new Set(); // what is ticked outlives the list, which is drawn anew with every change

document.addEventListener("change", (event) => {
  if (!event.target.matches(".pick input")) return;
  if (event.target.checked) picked.add(event.target.value);
  else picked.delete(event.target.value);
  countPicked();
});

function countPicked() {
  byId("picked").textContent = document.querySelectorAll(".pick :checked").length;
}

function pickAgain() {
  for (const box of document.querySelectorAll(".pick input")) box.checked = picked.has(box.value);
  countPicked();
}

// What one press decided and another took back is selected again, as it was before.
function pickTakenBack() {
  const taken = document.querySelector("#told [data-held]")?.dataset.held ?? "";
  for (const heldId of taken.split(" ").filter(Boolean)) picked.add(heldId);
  pickAgain();
}

function pick() {
  const box = document.querySelector(".entry:has(.row[aria-current]) .pick input");
  if (box) box.click();
}

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
  form.addEventListener("formdata", ({ formData }) => {
    // What is not chosen does not belong into the address.
    for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
}

// -- the item ----------------------------------------------------------------------------------

function edit(open) {
  const [editor, text, field, button, label] = ["editor", "text", "edited", "edit", "edit-label"].map(byId);
  if (!editor || !button) return;
  editor.hidden = !open;
  field.disabled = !open; // what is out of sight is not sent; of a tool call, a fieldset
  text.hidden = open && !("stays" in text.dataset);
  button.setAttribute("aria-expanded", open);
  label.textContent = open ? label.dataset.open : label.dataset.closed;
  nameApproval();
  if (open) {
    const first = field.matches("textarea") ? field : field.querySelector("textarea, select, input:not([type=hidden])");
    first?.focus({ preventScroll: true });
    if (first?.matches("textarea")) first.setSelectionRange(0, 0);
    editor.scrollIntoView({ block: "nearest" });
  } else {
    button.focus();
  }
}

function isChanged(field) {
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.matches("select")) return !(field.selectedOptions[0]?.defaultSelected ?? true);
  return field.value !== field.defaultValue;
}

// The text, or the inputs of a tool call's arguments.
const editable = () => (byId("edited")?.matches("fieldset") ? [...byId("edited").elements] : [byId("edited")]).filter(Boolean);

const isEditing = () => byId("editor") && !byId("editor").hidden;

function nameApproval() {
  const label = byId("approve-label");
  if (!label) return;
  const field = byId("edited");
  const changed = editable().some(isChanged);
  // A warning was about the text as it was sent, and so is its acceptance.
  if (changed) byId("approve").querySelector("[name=accept_risk]")?.remove();
  const isEdited = isEditing() && (changed || "posted" in field.dataset);
  const isAccepted = byId("approve").querySelector("[name=accept_risk]");
  label.textContent = isEdited ? (isAccepted ? label.dataset.anyway : label.dataset.edited) : label.dataset.plain;
}

document.addEventListener("input", (event) => {
  if (event.target.closest("#edited")) nameApproval();
});

document.addEventListener("click", (event) => {
  if (event.target.closest(".back")) keepPlace();
  if (event.target.closest("#edit")) {
    event.preventDefault();
    edit(!isEditing());
  }
  for (const open of document.querySelectorAll("details.menu[open], details.reject[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
});

// A quick hand stands in the note already.
function focusReason() {
  if (document.activeElement.id !== "reason") document.querySelector("#rejecting[open] [name=preset]")?.focus();
}

// `toggle` does not bubble.
document.addEventListener("toggle", (event) => {
  if (event.target.id === "rejecting") focusReason();
}, true);

// -- what htmx does ----------------------------------------------------------------------------

let coming = false; // an item that was chosen in the list is on its way
let onDesk = byId("item")?.dataset.held;
let cameAt = -Infinity; // when that item came in the place of another
let settledAt = 0; // keys that were meant for the item before must not decide this one
const SETTLE = 350;

const isSettling = () => byId("desk")?.ariaBusy === "true" || performance.now() - settledAt < SETTLE;

// What was refused comes back in the field, and is not sent either.
const isUnsent = (field) => isChanged(field) || "posted" in field.dataset;

const unsent = () => [...document.querySelectorAll("textarea, fieldset#edited, fieldset#edited :is(input, select)")]
  .filter((field) => (field.matches("fieldset") ? "posted" in field.dataset : isUnsent(field)));
const isTyped = () => unsent().length > 0;

// What takes away something typed, such as to look at another item: the first press says so, the second does it.
function mayLeave() {
  if (!isTyped() || byId("complaint")?.textContent === words.unsent) return true;
  complain(words.unsent);
  return false;
}

// To another page, too, by whatever way but by sending it: the browser asks. What htmx sends stays on the page.
let isLeft = false;
addEventListener("submit", (event) => {
  isLeft = !event.defaultPrevented && unsent().every((field) => field.form === event.target);
});
addEventListener("beforeunload", (event) => {
  if (isTyped() && !isLeft) event.preventDefault();
});
addEventListener("pageshow", () => { isLeft = false; });

// The address may be another than the one the page came with.
for (const form of document.querySelectorAll(".choice")) {
  form.addEventListener("formdata", ({ formData }) => formData.set("next", location.pathname + location.search));
}

document.addEventListener("htmx:confirm", (event) => {
  const { elt, target } = event.detail;
  if (target.id === "rules") return; // what is typed there is sent, and comes back
  if (target.id !== "desk") {
    const isLost = unsent().some((field) => target.contains(field) && !elt.contains(field));
    if (isLost && !mayLeave()) event.preventDefault();
    return;
  }
  // The second press of a double click was meant for the item before.
  if (elt.closest("#buttons") && performance.now() - cameAt < SETTLE) return event.preventDefault();
  if (elt.matches(".row, .other-editor") && !mayLeave()) return event.preventDefault();
  if (coming) htmx.trigger("#desk", "htmx:abort"); // who goes on need not wait for what was passed by
  if (elt.matches(".row")) select(elt.id.slice("row-".length));
});

document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, target } = event.detail;
  if (elt.id === "poll" && document.hidden) event.preventDefault();
  if (target.id !== "desk") return;
  byId("complaint")?.remove(); // it was about what was tried before
  coming = elt.matches(".row");
  target.ariaBusy = "true";
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.target.id !== "desk") return;
  coming = false;
  byId("desk").ariaBusy = null;
  select(byId("item").dataset.held); // another one was chosen, and did not come
});

document.addEventListener("htmx:beforeOnLoad", (event) => {
  // To sign in leaves the page, and what was typed with it.
  if (!isTyped() || !event.detail.xhr.getResponseHeader("HX-Redirect")) return;
  event.preventDefault();
  complain(words.forbidden);
});

document.addEventListener("htmx:afterSwap", (event) => {
  if (["preview", "edit-score"].includes(event.detail.target.id)) announce(toAnnounce(event.detail.target));
  if (event.detail.target.id !== "desk") return;
  settledAt = performance.now();
  if (main.dataset.view === "list") leftAt = scrollY;
  if (onDesk !== byId("item").dataset.held) cameAt = settledAt;
  onDesk = byId("item").dataset.held;
  main.dataset.view = "item";
  keepSight();
  scrollTo(0, 0);
  if (isEditing()) byId("edited").scrollIntoView({ block: "nearest" }); // a warning may be higher than the screen
  // What was refused is said by its alert; the focus stays in the text or the reason that is to be mended.
  if (!document.querySelector("#desk [role=alert]")) byId("item-title")?.focus({ preventScroll: true });
  select(byId("item").dataset.held);
  const told = document.querySelector("#told [data-announce]");
  if (event.detail.requestConfig.verb === "post") {
    if (told) announce(beginning(told.textContent));
    pickTakenBack();
  }
  nameApproval();
});

// -- the rules of a policy: their order is that of the page ------------------------------------------------------

function moveRule(rule, before) {
  rule.parentElement.insertBefore(rule, before);
  for (const [place, each] of [...rule.parentElement.children].entries()) {
    for (const named of each.querySelectorAll("[aria-label]")) {
      named.ariaLabel = named.ariaLabel.replace(/\d+/, place + 1); // the first number is the rule's
      if (named.title) named.title = named.ariaLabel;
    }
  }
  byId("draft").dispatchEvent(new Event("input", { bubbles: true })); // what it would have done is another
}

function placeOf(rule) {
  const place = [...rule.parentElement.children].indexOf(rule) + 1;
  announce(rule.parentElement.dataset.moved.replace("{place}", place));
}

function showHandles() {
  for (const handle of document.querySelectorAll("[data-handle]")) handle.hidden = false;
}
showHandles();

document.addEventListener("keydown", (event) => {
  const rule = event.target.matches?.("[data-handle]") && event.target.closest("[data-rule]");
  if (!rule || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  const isUp = event.key === "ArrowUp";
  const other = isUp ? rule.previousElementSibling : rule.nextElementSibling;
  if (!other) return;
  moveRule(rule, isUp ? other : other.nextElementSibling);
  event.target.focus();
  placeOf(rule);
});

// By pointer events, which mice, pens and fingers have alike.
document.addEventListener("pointerdown", (event) => {
  const handle = event.target.closest?.("[data-handle]"), rule = handle?.closest("[data-rule]");
  if (!rule || event.button) return;
  event.preventDefault();
  handle.focus();
  handle.setPointerCapture(event.pointerId);
  rule.classList.add("dragged");
  const first = rule.nextElementSibling;
  const drag = ({ clientY }) => {
    const others = [...rule.parentElement.children].filter((each) => each !== rule);
    const below = others.find((each) => {
      const box = each.getBoundingClientRect();
      return clientY < box.top + box.height / 2;
    }) ?? null;
    if (below === rule.nextElementSibling) return;
    rule.parentElement.insertBefore(rule, below);
    if (!handle.hasPointerCapture(event.pointerId)) handle.setPointerCapture(event.pointerId); // to be moved ends it
  };
  const drop = () => {
    document.removeEventListener("pointermove", drag);
    document.removeEventListener("pointerup", drop);
    document.removeEventListener("pointercancel", drop);
    rule.classList.remove("dragged");
    if (rule.nextElementSibling === first) return;
    moveRule(rule, rule.nextElementSibling);
    placeOf(rule);
  };
  document.addEventListener("pointermove", drag);
  document.addEventListener("pointerup", drop);
  document.addEventListener("pointercancel", drop);
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id !== "rules") return;
  showHandles();
  const rules = byId("rules"), wanted = byId(rules.dataset.focus);
  (wanted?.disabled ? null : wanted)?.focus();
  byId("draft").dispatchEvent(new Event("input", { bubbles: true }));
});

document.addEventListener("htmx:oobAfterSwap", (event) => {
  const { target } = event.detail;
  if (target.id === "rows") {
    document.title = `${byId("rows").dataset.title} · metacog`;
    pickAgain();
    keepInPlace();
  }
  if (target.id === "standing") announce(byId("standing").textContent);
  if (target.id === "desk") settledAt = performance.now();
});

document.addEventListener("htmx:afterOnLoad", (event) => {
  if (event.detail.elt.id === "poll" && event.detail.xhr.status < 400) byId("offline").hidden = true;
});

// Without an answer, and after 500, it may have been decided all the same.
function whatFailed({ xhr, requestConfig }) {
  if (requestConfig.verb === "get") return words.unshown;
  if (xhr.status >= 400 && xhr.status < 500 && xhr.status !== 429) return words.forbidden;
  return [429, 503].includes(xhr.status) ? words.failed : words.unknown;
}

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

// -- keys --------------------------------------------------------------------------------------

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

const KEYS = {
  a: () => isSettling() || press("a"),
  e: () => isSettling() || press("e"),
  r: () => {
    if (isSettling() || !press("r")) return;
    focusReason(); // at once: `toggle` comes after the keys of a quick hand
  },
  u: () => press("u"),
  p: () => press("p"),
  y: () => press("y"),
  n: () => press("n"),
  x: (event) => (event.shiftKey ? document.querySelector("[data-all]")?.click() : pick()),
  o: () => picked.size && press("o"),
  j: () => main && step(true),
  k: () => main && step(false),
  "/": () => byId("find")?.focus(),
  "?": () => byId("keys").showModal(),
};

function leave() {
  const open = document.querySelector("details[open]:is(.menu, .reject)");
  if (open) {
    open.open = false;
    open.querySelector("summary").focus();
  } else if (document.activeElement.id === "find") {
    document.activeElement.blur();
    byId("item-title")?.focus({ preventScroll: true });
  } else if (isEditing()) {
    edit(false);
  }
}

// What a key says in Latin letters: as typed, and on a layout of another script by where the key lies.
function keyOf(event) {
  if (event.key.length !== 1) return "";
  const key = event.key.toLowerCase();
  if (/^[\x20-\x7e]$/.test(key)) return key;
  if (event.code === "Slash") return event.shiftKey ? "?" : "/";
  return /^Key[A-Z]$/.test(event.code) ? event.code[3].toLowerCase() : key;
}

let stillDown; // the key that did something: held, it does not write into the field that it opened

document.addEventListener("keydown", (event) => {
  // 229 is what a keyboard that composes (Chinese, Japanese, Korean) reports for its own keys.
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
  if (!event.repeat) stillDown = undefined;
  else if (event.key === stillDown) return event.preventDefault();
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return leave();
  // On a reason, Enter alone: where several are decided, the form's first button is one that decides nothing.
  if (event.key === "Enter" && event.target.closest("fieldset#edited")) {
    // Alone it would press the first button of the form, which approves.
    if (event.ctrlKey || event.metaKey) byId("approve")?.requestSubmit();
    if (event.ctrlKey || event.metaKey || !event.target.matches("textarea")) event.preventDefault();
    return;
  }
  const sends = event.ctrlKey || event.metaKey ? ["edited", "reason"] : ["preset", isNoteSkipped(event.target) && "reason"];
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
    reason.click();
    announce(reason.nextSibling.textContent); // the focus goes elsewhere
    byId("reason").focus(); // what is typed next is a note to it
    return event.preventDefault();
  }
  if (isTyping(event.target) || document.querySelector("details.reject[open], details.menu[open]")) return;
  const act = KEYS[keyOf(event)];
  if (act) {
    stillDown = event.key;
    act(event);
    event.preventDefault();
  }
});

byId("keys")?.addEventListener("click", (event) => {
  if (event.target === event.currentTarget) event.currentTarget.close();
});

// On a phone the sections and the choices are wider than the screen.
for (const here of document.querySelectorAll(":is(.nav, .filters) [aria-current]")) {
  here.closest(".nav, .filters").scrollLeft = here.offsetLeft - innerWidth / 3;
}

// What is wrong with a form may stand far below the top, where a page comes up; htmx shows that after this event.
function showWhatIsWrong(part) {
  part.querySelector(".page form :is(.wrong, [role=alert])")?.scrollIntoView({ block: "center" });
}
showWhatIsWrong(document);
document.addEventListener("htmx:afterSettle", (event) => setTimeout(showWhatIsWrong, 0, event.target));

// A page may come with an item far down its list.
const opened = document.querySelector(".row[aria-current]");
if (opened) bringIntoSight(opened);

// What was there when the page came is not read out by itself.
const messages = document.querySelector(".messages");
if (messages) announce(messages.textContent);

tick();

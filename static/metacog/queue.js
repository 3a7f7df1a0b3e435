// The queue: what is in sight, the list, its selection, and the item beside it.
"use strict";

const main = document.querySelector(".split");

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
if (!byId("keys")) forgetAll(); // nobody is signed in

// All that this tab keeps but what was typed before its session ended, which is its person's alone.
function forgetAll() {
  const typed = sessionStorage.getItem("unsaved");
  sessionStorage.clear();
  if (typed) sessionStorage.setItem("unsaved", typed);
}
setInterval(keepSight, 1000);
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

function unpick() {
  picked.clear();
  pickAgain();
}

// What A and R do while items are selected: they are decided together, or read again to be rejected with a reason. The
// page on which they are read whole says which versions of them are decided.
function decidePicked(verdict) {
  const form = byId("selected");
  if (!form || !picked.size) return false;
  const address = new URL(form.action, location), fields = new FormData(form);
  fields.delete("held");
  for (const [name, value] of fields) address.searchParams.append(name, value);
  for (const heldId of picked) address.searchParams.append("held", heldId);
  if (!mayLeave()) return true;
  isLeft = true;
  if (verdict === "reject") address.searchParams.set("reject", "1");
  if (verdict === "reject" || ![...picked].every(isReadWhole)) {
    location.assign(address);
  } else {
    approveTogether(address);
  }
  return true;
}

// Of a row that stands for one item and cuts nothing off, all was in view.
function isReadWhole(heldId) {
  const row = byId(`row-${heldId}`), clip = row?.querySelector(".clip");
  if (byId("item")?.dataset.held === heldId && !unseenEnds(byId("desk")).length) return true;
  return Boolean(clip) && !row.parentElement.matches(".many") && !/[…•]/.test(clip.textContent) && clip.scrollHeight <= clip.clientHeight + 1;
}

async function approveTogether(address) {
  if (isWaiting()) return;
  wait(true);
  try {
    const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
    const form = page.querySelector("form.together");
    if (form?.querySelectorAll("[name=item]").length !== picked.size) return location.assign(address); // it says why
    const sent = document.importNode(form, true);
    sent.hidden = true;
    document.body.append(sent);
    sent.requestSubmit(sent.querySelector("[name=verdict][value=approve]"));
  } catch {
    complain(words.failed);
  }
  wait(false);
}

// Without a script the bar leads to the page on which the selected items are read; these decide them from here.
for (const verdict of byId("selected") ? ["approve", "reject"] : []) {
  const button = document.createElement("button"), key = document.createElement("kbd");
  button.type = "button";
  button.className = `btn ${verdict === "approve" ? "yes" : "no"}`;
  key.ariaHidden = "true";
  key.textContent = verdict === "approve" ? "A" : "R";
  button.append(verdict === "approve" ? words.approvePicked : words.rejectPicked, " ", key);
  button.setAttribute("aria-keyshortcuts", key.textContent);
  button.addEventListener("click", () => decidePicked(verdict));
  byId("selected").append(button);
}

function pick() {
  const box = document.querySelector(".entry:has(.row[aria-current]) .pick input");
  if (box) box.click();
}

// -- the item ----------------------------------------------------------------------------------

let readAt = 0; // how far down the page was before the editor opened

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
    readAt = scrollY;
    if (text.hidden) scrollTo(0, 0);
    giveBackEdit();
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

function firstToEdit() {
  const field = byId("edited");
  if (field.matches("textarea")) return field;
  return field.querySelector("[aria-invalid=true]") ?? field.querySelector("textarea, select, input:not([type=hidden])");
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
  const { anyway, edited, one, plain } = label.dataset;
  label.textContent = isEdited ? (isAccepted ? anyway : edited) : (byId("among").children.length ? one : plain);
}

document.addEventListener("input", (event) => {
  if (event.target.closest("#edited")) nameApproval();
});

document.addEventListener("click", (event) => {
  if (event.target.closest(".back")) keepPlace();
  if (event.target.closest("#edit")) {
    event.preventDefault();
    if (byId("editor")) edit(!isEditing());
    else fetchEditor(event.target.closest("#edit").href);
  }
  for (const open of document.querySelectorAll("details:is(.menu, .reject, .grant)[open]")) {
    if (!open.contains(event.target)) open.open = false;
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

// -- what htmx does ----------------------------------------------------------------------------

let coming = false; // an item that was chosen in the list is on its way
let isPosted = false; // a decision about what is on the desk is on its way, and waited for
let isPosting = false; // that, or an undo
let chosenMeanwhile; // the row that was chosen while it was
let hadFocus; // before the desk waited: { id, start, end }
let onDesk = byId("item")?.dataset.held;
let cameAt = -Infinity; // when that item was painted in the place of another; until then Infinity
let settledAt = 0; // when what is on the desk was painted there; until then Infinity
let painting; // the frame that is going to
const SETTLE = 150; // milliseconds for which an item has been in sight before a key decides it: keys.js keeps it so long
const DOUBLE_CLICK = 350; // in which the second press of a button was meant for the item before

// What is typed elsewhere, or in an editor that was closed, a form leaves behind.
const isUnsentBy = (form) => unsent().some((field) => field.form !== form || field.matches(":disabled"));

const isWaiting = () => byId("desk")?.ariaBusy === "true";
const isSettling = () => isWaiting() || performance.now() - settledAt < SETTLE;

// What is on the desk is going to leave it: nothing can be typed there, which would go with it.
function wait(isOn) {
  const desk = byId("desk"), focused = document.activeElement;
  const isBusy = isOn || isUndoAwaited();
  if (isBusy && !isWaiting()) hadFocus = { id: focused.id, start: focused.selectionStart, end: focused.selectionEnd };
  desk.ariaBusy = isBusy ? "true" : null;
  for (const part of desk.querySelectorAll(".spread, #buttons")) part.inert = isBusy;
  if (isBusy || !hadFocus) return;
  const field = document.activeElement === document.body && byId(hadFocus.id);
  if (field) field.focus({ preventScroll: true });
  if (field && field.matches("textarea")) field.setSelectionRange(hadFocus.start, hadFocus.end);
  hadFocus = undefined;
}

document.addEventListener("click", (event) => {
  if (event.detail && event.target.closest("#buttons") && performance.now() - cameAt < DOUBLE_CLICK) {
    event.preventDefault();
    event.stopPropagation();
  }
}, true);

document.addEventListener("htmx:confirm", (event) => {
  const { elt, target } = event.detail;
  if (target.id === "rules") return; // what is typed there is sent, and comes back
  if (target.id !== "desk") {
    const isLost = unsent().some((field) => target.contains(field) && !elt.contains(field));
    if (isLost && !mayLeave()) event.preventDefault();
    return;
  }
  if (elt === target) return; // the script goes on
  if (isPosting || isUndoAwaited()) {
    if (elt.matches(".row")) {
      chosenMeanwhile = elt.id;
      select(elt.id.slice("row-".length));
    }
    return event.preventDefault();
  }
  if (elt.closest("#buttons") && (isWaiting() || performance.now() - cameAt < SETTLE)) return event.preventDefault();
  const isEditLeft = elt.id === "approve" && !isEditing() && editable().some(isUnsent);
  if (!isWaiting() && isUnsentBy(elt) && !mayLeave(isEditLeft ? words.unsentEdit : words.unsent)) return event.preventDefault();
  if (elt.id === "approve" && !isWaiting() && !mayApprove(target)) {
    letGo();
    return event.preventDefault();
  }
  if (elt.matches("#approve, #reject") && goOn(elt)) return event.preventDefault();
  if (elt.matches(".row") && openAhead(elt)) event.preventDefault();
});

document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, target } = event.detail;
  if (elt.id === "poll" && document.hidden) event.preventDefault();
  if (byId("desk")?.contains(elt)) event.detail.xhr.about = byId("item")?.dataset.held;
  if (target.id !== "desk") return;
  forgetRefusal();
  coming = elt.matches(".row");
  if (coming) select(elt.id.slice("row-".length));
  isPosted = elt.matches("#approve, #reject");
  isPosting = event.detail.requestConfig.verb === "post";
  wait(true);
  event.detail.xhr.addEventListener("loadend", answered); // its row may be gone by then, and htmx's events with it
});

// What was asked about an item that has left the desk since.
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { target, xhr } = event.detail;
  if (target.id !== "desk" && xhr.about && xhr.about !== byId("item")?.dataset.held) event.preventDefault();
});

function answered({ target: xhr }) {
  const isTaken = xhr.status >= 200 && xhr.status < 400, isDecision = isPosted;
  coming = isPosted = isPosting = false;
  wait(false);
  select(byId("item").dataset.held); // another one was chosen, and did not come
  if (isTaken) goOnWhereChosen() || (isDecision && showReturned());
  else letGo();
  drain();
}

function goOnWhereChosen() {
  const row = byId(chosenMeanwhile);
  chosenMeanwhile = undefined;
  if (!row) return false;
  htmx.process(row); // just drawn, it would else be a link as any
  row.click();
  return true;
}

// What was pressed and chosen meanwhile was meant for what should have followed.
function letGo() {
  chosenMeanwhile = undefined;
  if (waitingKeys.length) ignoreKeys();
  dropWaitingKeys();
}

document.addEventListener("htmx:afterSwap", (event) => {
  if (["preview", "edit-score"].includes(event.detail.target.id)) announce(toAnnounce(event.detail.target));
  if (event.detail.target.id !== "desk") return;
  arrived();
  if (editorOf === byId("item").dataset.held && isEditing()) edit(true);
  editorOf = undefined;
  const told = document.querySelector("#told [data-announce]");
  if (event.detail.requestConfig.verb === "post" && told) announce(beginning(told.textContent));
});

// Nobody has seen what is on the desk before the frame that paints it: a busy machine takes its time.
function awaitPaint() {
  settledAt = Infinity;
  cancelAnimationFrame(painting);
  painting = requestAnimationFrame(() => setTimeout(() => {
    settledAt = performance.now();
    if (cameAt === Infinity) cameAt = settledAt;
  }));
}

// An item is on the desk.
function arrived() {
  leaving = undefined;
  if (onDesk !== byId("item").dataset.held) cameAt = Infinity;
  awaitPaint();
  if (main.dataset.view === "list") leftAt = scrollY;
  onDesk = byId("item").dataset.held;
  main.dataset.view = "item";
  keepSight();
  readAt = 0;
  scrollTo(0, readAt);
  if (isEditing()) firstToEdit()?.scrollIntoView({ block: "nearest" }); // a warning may be higher than the screen
  // What was refused is said by its alert; the focus stays in the text or the reason that is to be mended, if any is.
  if (!document.querySelector("#desk [role=alert]") || !byId("approve")) byId("item-title")?.focus({ preventScroll: true });
  select(byId("item").dataset.held);
  nameApproval();
}

document.addEventListener("htmx:oobAfterSwap", (event) => {
  const { target } = event.detail;
  if (target.id === "rows") {
    document.title = `${byId("rows").dataset.title} · metacog`;
    pickAgain();
    keepInPlace();
  }
  if (target.id === "among") nameApproval();
  if (target.id === "standing") announce(byId("standing").textContent);
  if (target.id === "desk") awaitPaint();
});

document.addEventListener("htmx:afterOnLoad", (event) => {
  if (event.detail.elt.id === "poll" && event.detail.xhr.status < 400) byId("offline").hidden = true;
});

// -- as the page comes -----------------------------------------------------------------------------

// A page may come with an item far down its list.
const opened = document.querySelector(".row[aria-current]");
if (opened) bringIntoSight(opened);

keepSight();

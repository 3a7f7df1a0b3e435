// The queue's desk in the page: what happens there goes to `reduce` (desk_state.js), and what comes of it is done here. The
// next item is fetched while the one before is read, shown as soon as that is decided, and the decision is sent behind.
// To fetch an item is not to look at it: reviews/pages/queue.py writes down who looks at what once it is shown.
import { DOUBLE_CLICK, begin, reduce, undoable } from "./desk_state.js";
import { editable, isEditing, nameApproval, openAsked, readFromTop } from "./editor.js";
import { mayApprove } from "./in_view.js";
import { keepInPlace, select, showItem } from "./list.js";
import { announce, beginning, byId, complain, forgetRefusal, main, toAnnounce, words } from "./page.js";
import { keepSight, sights } from "./sight.js";
import { isLeaving, isTyped, isUnsent, isUnsentBy, mayLeave, unsent, whatFailed } from "./typed.js";

let desk = begin(byId("item")?.dataset.held);

/**
 * What is decided and not answered, and what was told of it, by its number: what the page keeps beside the values.
 * @typedef {object} Recorded
 * @property {string} held
 * @property {FormData} body
 * @property {string} url
 * @property {string} page  its address
 * @property {string} clip  the beginning of its text
 * @property {HTMLElement} [before]  what was told before
 * @property {HTMLElement} told
 * @property {DocumentFragment} [kept]  its item, as it stood
 */
/** @type {Map<number, Recorded>} */
const records = new Map();

export const state = () => desk;
export const isWaiting = () => desk.isBusy;
export const unsaved = () => [...desk.returned.map(({ decision }) => decision), ...desk.decisions].map(({ id }) => records.get(id));

/** `source` is the browser's event or the form that it is about. @param {import("./desk_state.js").Event} event */
export function dispatch(event, source) {
  const { state: next, effects } = reduce(desk, event);
  desk = next;
  for (const effect of effects) EFFECTS[effect.do](effect, source);
}

// What another script does: it knows this one, and this one does not know it.
export function does(name, effect) {
  EFFECTS[name] = effect;
}

const now = () => performance.now();
const headers = () => ({
  ...JSON.parse(document.body.getAttribute("hx-headers")), "HX-Request": "true", "HX-Current-URL": location.href,
});
const limit = () => AbortSignal.timeout(htmx.config.timeout || 30_000); // 0: none, and htmx not begun

// -- what is told ----------------------------------------------------------------------------------

const clipOf = (held) => beginning((byId(`row-${held}`)?.querySelector(".clip") ?? byId("text"))?.textContent.trim() ?? "");

function nothingTold() {
  const told = document.createElement("div");
  told.id = "told";
  told.className = "told";
  return told;
}

function tell(told) {
  if (!told || told.isConnected) return;
  byId("told")?.replaceWith(told);
  htmx.process(told);
}

function toldOf({ body, clip }) {
  const told = nothingTold(), form = document.createElement("form");
  const what = document.createElement("span");
  what.className = "what";
  what.dataset.announce = "";
  what.textContent = words[body.get("verdict") === "reject" ? "rejected" : "approved"].replace("{text}", clip);
  const undo = document.createElement("button"), key = document.createElement("kbd");
  undo.className = "link";
  undo.textContent = words.undo;
  undo.dataset.key = "u";
  undo.setAttribute("aria-keyshortcuts", "U");
  key.ariaHidden = "true";
  key.textContent = "U";
  form.dataset.ahead = "";
  form.append(what, " ", undo, key);
  told.append(form);
  return told;
}

function parsed(html) {
  const part = document.createElement("template");
  part.innerHTML = html;
  return part.content;
}

// What was refused of an item that comes back later.
function whyReturned({ clip }, html) {
  const why = parsed(html).querySelector("[role=alert]")?.textContent.trim().replace(/\s+/g, " ") ?? "";
  return words.returned.replace("{text}", clip).replace("{why}", why);
}

// -- asking the server -----------------------------------------------------------------------------

function addressAfter({ after, without }) {
  const address = new URL(byId("approve").getAttribute("action"), location.href);
  address.pathname = address.pathname.replace(/[^/]+\/decide$/, `${after}/next`);
  for (const each of without) address.searchParams.append("without", each);
  return address;
}

async function fetchNext(address) {
  const answer = await fetch(address, { headers: headers(), signal: limit() });
  if (answer.status !== 200) return null;
  const html = await answer.text(), url = answer.headers.get("HX-Push-Url");
  return { html, url, held: new URL(url, location.href).pathname.split("/").at(-2) };
}

async function look(asked) {
  if (!byId("approve")?.checkVisibility()) return dispatch({ type: "unasked" });
  const next = await fetchNext(addressAfter(asked)).catch(() => null);
  dispatch({ type: "fetched", edition: asked.edition, next });
}

async function post({ id, opened, isLast, isLeaving: isFarewell }) {
  const { body, url } = records.get(id);
  body.set("opened", opened);
  if (isLast) body.set("list", "1");
  const asked = { method: "POST", body, headers: headers(), keepalive: true };
  if (isFarewell) return void fetch(url, asked);
  try {
    const answer = await fetch(url, { ...asked, signal: limit() });
    settle(id, answer.status, answer.headers.get("HX-Redirect"), await answer.text());
  } catch {
    settle(id, 0);
  }
}

function settle(id, status, signIn = null, html = "") {
  const { body } = records.get(id), isRefused = status === 409 || status === 422; // the item as it is now, and why
  const event = { type: /** @type {const} */ ("answered"), id, status, signIn, at: now(), isBegun: isBegun() };
  if (status === 200) return dispatch({ ...event, html, canUndo: Boolean(parsed(html).querySelector("#told [data-key=u]")) });
  if (isRefused) return dispatch({ ...event, html, why: whyReturned(records.get(id), html) });
  dispatch({ ...event, complaint: whatFailed({ xhr: { status }, requestConfig: { verb: "post" } }, Boolean(body.get("reason"))) });
}

// As htmx does after a request, with the events that others wait for.
function swapInto(target, html, swapStyle, verb) {
  const eventInfo = { target, elt: target, requestConfig: { verb } };
  htmx.swap(target, html, { swapStyle, swapDelay: 0, settleDelay: 0 }, { eventInfo });
}

const ONTO_DESK = { source: "#desk", target: "#desk", swap: "innerHTML" };

// -- what is asked of the page ---------------------------------------------------------------------

const isOpen = () => isEditing() || byId("rejecting")?.open || byId("granting")?.open;
const isBegun = () => Boolean(isTyped() || isOpen());

// Only what the server is sure to take, as far as the page knows: an edit may score too high, a grant be too wide.
function isPlain(form) {
  if (isUnsentBy(form)) return false;
  if (form.id === "approve") return !isEditing() && !byId("granting")?.open && !form.querySelector("[name=accept_risk]");
  return Boolean(form.querySelector("[name=preset]:checked") || form.elements.reason.value.trim());
}

let decided = 0; // how many

// What was pressed about the item may be done, unless something typed or not in view stands against it.
function check({ on, held, isFree }, event) {
  const { elt, target } = event.detail;
  const isEditLeft = on === "approve" && !isEditing() && editable().some(isUnsent);
  if (isFree && isUnsentBy(elt) && !mayLeave(isEditLeft ? words.unsentEdit : words.unsent)) return event.preventDefault();
  if (on === "approve" && isFree && !mayApprove(target)) {
    dispatch({ type: "letGo", at: now() });
    return event.preventDefault();
  }
  if (on === "row") dispatch({ type: "open", held }, event);
  else if (on !== "other" && isPlain(elt)) dispatch({ type: "submit", id: (decided += 1) }, event);
}

// -- what is done in the page ----------------------------------------------------------------------

let soon; // htmx tells of a swap several times
let hadFocus; // before the desk waited: { id, start, end }
let held; // what was told, while the desk changes

/** @type {Record<string, (effect: any, source?: any) => void>} */
const EFFECTS = {
  look: (asked) => afterPaint(() => look(asked)),
  lookSoon() {
    clearTimeout(soon);
    soon = setTimeout(() => dispatch({ type: "look" }), 0);
  },
  post,
  showFollowing(asked) {
    const address = addressAfter(asked);
    address.searchParams.set("now", "1");
    htmx.ajax("GET", address.pathname + address.search, ONTO_DESK).catch(() => {}); // its events tell what went wrong
  },
  open({ id }) {
    htmx.ajax("GET", records.get(id).url.replace("/decide", "/"), ONTO_DESK);
  },
  abort: () => htmx.trigger("#desk", "htmx:abort"),
  prevent: (_, event) => event.preventDefault(),
  check,
  record({ id, held: of }, { detail: { elt: form } }) {
    keepSight();
    forgetRefusal();
    const body = new FormData(form);
    if (sights[of]) {
      body.set("shown", sights[of].shown ?? body.get("shown"));
      body.set("in_sight", String(Math.round(sights[of].ms)));
    }
    const clip = clipOf(of), url = form.getAttribute("action");
    records.set(id, { held: of, body, clip, url, page: location.href, before: byId("told"), told: toldOf({ body, clip }) });
  },

  // What is on the desk is going to leave it: nothing can be typed there, which would go with it.
  wait({ isOn }) {
    const part = byId("desk"), focused = document.activeElement;
    if (isOn && part.ariaBusy !== "true") hadFocus = { id: focused.id, start: focused.selectionStart, end: focused.selectionEnd };
    part.ariaBusy = isOn ? "true" : null;
    for (const each of part.querySelectorAll(".spread, #buttons")) each.inert = isOn;
    if (isOn || !hadFocus) return;
    const field = document.activeElement === document.body && byId(hadFocus.id);
    if (field) field.focus({ preventScroll: true });
    if (field && field.matches("textarea")) field.setSelectionRange(hadFocus.start, hadFocus.end);
    hadFocus = undefined;
  },
  show({ html, verb }) {
    swapInto(byId("desk"), html, "innerHTML", verb);
  },
  keep({ id }) {
    tell(nothingTold());
    const record = records.get(id);
    record.kept ??= document.createDocumentFragment();
    record.kept.append(...byId("desk").childNodes);
  },
  putBack({ id }) {
    byId("desk").replaceChildren(records.get(id).kept);
    arrived();
  },
  push({ url }) {
    const { item } = desk;
    afterPaint(() => { if (desk.item === item) history.pushState({ htmx: true }, "", url); });
  },
  pushPage: ({ id }) => history.pushState({ htmx: true }, "", records.get(id).page),

  select: ({ held: of }) => select(of),
  choose({ held: of }) {
    const row = byId(`row-${of}`);
    if (!row) return;
    htmx.process(row); // just drawn, it would else be a link as any
    row.click();
  },
  // In the list, which the server has not drawn anew.
  mark({ decided: all }) {
    for (const each of all) byId(`row-${each}`)?.classList.add("done");
  },
  unmark: ({ held: of }) => byId(`row-${of}`)?.classList.remove("done"),
  // What is on the desk was drawn before that decision: the next look at the list is given all that may have changed.
  lookAnew() {
    document.querySelector("#rows [name=token]").value = "";
  },

  tell: ({ of, before }) => tell(of === undefined ? records.get(before).before : records.get(of).told),
  holdTold() {
    held = byId("told");
    held?.replaceWith(nothingTold());
  },
  giveTold() {
    tell(held);
    held = undefined;
  },
  note({ id, html, isOpened, isTold, isDrawn }) {
    const record = records.get(id), part = document.createElement("template");
    part.innerHTML = html;
    record.told = part.content.querySelector("#told");
    record.told.remove();
    record.kept = undefined;
    if (!isOpened) part.content.querySelector("#among")?.remove();
    if (isTold) tell(record.told);
    if (part.content.querySelector("#rows") && isDrawn) swapInto(byId("poll"), part.innerHTML, "none", "ahead");
  },
  announceTold: ({ of }) => announce(beginning(records.get(of).told.querySelector("[data-announce]")?.textContent ?? "")),
  undo: ({ id }) => records.get(id).told.querySelector("[data-key=u]").click(),
  stopUndo() {
    byId("told").querySelector("button").disabled = true;
  },
  tellUndone({ id }) {
    const what = document.createElement("span");
    what.className = "what taken";
    what.textContent = words.taken.replace("{text}", records.get(id).clip);
    // What was decided before it can be undone next.
    if (!byId("told").querySelector("[data-key=u]")) tell(nothingTold());
    byId("told").prepend(what);
    announce(what.textContent);
  },
  announce: ({ text }) => announce(text),
  complain: ({ text }) => complain(text),
  drain: () => dispatch({ type: "drain", at: now() }),
};

// -- what is on the desk ---------------------------------------------------------------------------

let painting; // the frame that is going to
let behind = []; // what is done once it has: each would have the page laid out once more before

function afterPaint(work) {
  if (painting) behind.push(work);
  else work();
}

function awaitPaint() {
  cancelAnimationFrame(painting);
  painting = requestAnimationFrame(() => setTimeout(() => {
    painting = undefined;
    for (const work of behind.splice(0)) work();
    dispatch({ type: "painted", at: now() });
  }));
}

// What changes the page comes before what has it laid out.
function arrived() {
  awaitPaint();
  afterPaint(keepSight);
  showItem();
  nameApproval();
  select(byId("item").dataset.held);
  readFromTop();
  // What was refused is said by its alert; the focus stays in the text or the reason that is to be mended, if any is, and
  // goes to the first field with an error from a key that was no part of a field.
  if (!document.querySelector("#desk [role=alert]") || !byId("approve")) byId("item-title")?.focus({ preventScroll: true });
  else if (document.activeElement === document.body) document.querySelector("#edited [aria-invalid=true]")?.focus();
}

document.addEventListener("htmx:afterSwap", ({ detail: { target, requestConfig, xhr } }) => {
  if (["preview", "edit-score"].includes(target.id)) announce(toAnnounce(target));
  if (target.id !== "desk") return;
  arrived();
  openAsked();
  const told = document.querySelector("#told [data-announce]");
  if (requestConfig.verb === "post" && told) announce(beginning(told.textContent));
  dispatch({ type: "arrived", item: byId("item").dataset.held, verb: requestConfig.verb, status: xhr?.status });
});

document.addEventListener("htmx:oobAfterSwap", ({ detail: { target } }) => {
  if (target.id === "rows") {
    document.title = `${byId("rows").dataset.title} · metacog`;
    keepInPlace();
    dispatch({ type: "listDrawn" });
  }
  if (target.id === "among") nameApproval();
  if (target.id === "standing") announce(byId("standing").textContent);
  if (target.id === "desk") {
    awaitPaint();
    dispatch({ type: "filled", item: byId("item").dataset.held });
  }
});

// -- what is pressed -------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  if (event.detail && event.target.closest("#buttons") && now() - desk.cameAt < DOUBLE_CLICK) {
    event.preventDefault();
    event.stopPropagation();
  }
}, true);

const kindOf = (elt) => (elt.matches(".row") ? "row" : ["approve", "reject"].includes(elt.id) ? elt.id : "other");
const heldOf = (row) => (row.matches(".row") ? row.id.slice("row-".length) : undefined);

document.addEventListener("htmx:confirm", (event) => {
  const { elt, target } = event.detail;
  if (target.id === "rules") return; // what is typed there is sent, and comes back
  if (target.id !== "desk") {
    const isLost = unsent().some((field) => target.contains(field) && !elt.contains(field));
    if (isLost && !mayLeave()) event.preventDefault();
    return;
  }
  if (elt === target) return; // the script goes on
  dispatch({ type: "press", on: kindOf(elt), held: heldOf(elt), isButton: Boolean(elt.closest("#buttons")), at: now() }, event);
});

// Undo means the last decision.
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-ahead]")) return;
  event.preventDefault();
  if (undoable(desk) && (desk.isBusy || mayLeave())) dispatch({ type: "undo", at: now() });
});

// -- what htmx does --------------------------------------------------------------------------------

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.verb === "post" && detail.target.id === "desk" && desk.decisions.length) {
    detail.parameters.without = desk.decisions.map((each) => each.held);
  }
});

document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, target, xhr, requestConfig } = event.detail;
  // What it would tell is out of date before it comes.
  if (elt.id === "poll" && (document.hidden || desk.decisions.length || desk.isBusy)) event.preventDefault();
  if (byId("desk")?.contains(elt)) xhr.about = byId("item")?.dataset.held;
  if (target.id !== "desk") return;
  forgetRefusal();
  dispatch({ type: "requested", on: kindOf(elt), held: heldOf(elt), verb: requestConfig.verb });
  xhr.addEventListener("loadend", loaded); // its row may be gone by then, and htmx's events with it
});

function loaded({ target: { status } }) {
  const isTaken = status >= 200 && status < 400, hasRow = Boolean(byId(`row-${desk.chosen}`));
  dispatch({ type: "loaded", isTaken, hasRow, at: now() });
}

// What was asked about an item that has left the desk since.
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { target, xhr } = event.detail;
  if (target.id !== "desk" && xhr.about && xhr.about !== byId("item")?.dataset.held) event.preventDefault();
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id === "desk" && detail.shouldSwap) dispatch({ type: "leaving" });
});

// The list changed by others' doing, or by what was sent from another window.
document.addEventListener("htmx:afterOnLoad", ({ detail: { elt, xhr } }) => {
  if (elt.id !== "poll" || xhr.status >= 400) return;
  byId("offline").hidden = true;
  if (xhr.status === 200) dispatch({ type: "listChanged", rows: [...document.querySelectorAll(".row:not(.done, :has(.looking))")].map(heldOf) });
});

addEventListener("pagehide", () => dispatch({ type: "left" }));
addEventListener("beforeunload", (event) => {
  if ((desk.returned.length || desk.keys.length) && !isLeaving()) event.preventDefault();
});

if (main) addEventListener("load", () => dispatch({ type: "look" }));

// The next item without waiting: it is fetched while the one before is read, shown as soon as that is decided, and the
// decision is sent behind. What the server refuses, or does not answer, comes back to the front. To fetch an item is
// not to look at it: reviews/pages/queue.py writes down who looks at what once it is shown.
"use strict";

const DEPTH = 2; // items that are kept
const ahead = []; // what follows, in order: { held, html, url }
const decisions = []; // what was decided and the server has not answered: in order, one is sent at a time
const returned = []; // what came back while something else was being typed: { decision, html, complaint }
let asking = null; // the request for the next of `ahead`
let isEnd = false; // nothing follows, or it could not be fetched; until the list changes
let edition = 0; // of the list: what was asked for before it changed is thrown away
let lastDecided; // whose answer says what was done last
let isSending = false;
let leaving; // the item on the desk that is decided, while the next has yet to come
let shownAgain; // the item that came back and is on the desk

const headers = () => ({
  ...JSON.parse(document.body.getAttribute("hx-headers")), "HX-Request": "true", "HX-Current-URL": location.href,
});
const limit = () => AbortSignal.timeout(htmx.config.timeout || 30_000); // 0: none, and htmx not begun

// -- what follows ----------------------------------------------------------------------------------

function addressAfter(held) {
  const address = new URL(byId("approve").getAttribute("action"), location);
  address.pathname = address.pathname.replace(/[^/]+\/decide$/, `${held}/next`);
  for (const each of [byId("item").dataset.held, ...decisions.map((one) => one.held), ...ahead.map((one) => one.held)]) {
    address.searchParams.append("without", each);
  }
  return address;
}

function lookAhead() {
  if (asking || isEnd || ahead.length >= DEPTH || !byId("approve")?.checkVisibility()) return;
  const asked = edition;
  asking = fetchNext(addressAfter(ahead.at(-1)?.held ?? byId("item").dataset.held))
    .catch(() => null)
    .then((next) => {
      if (asked !== edition) return;
      if (next) ahead.push(next);
      else isEnd = true;
    })
    .finally(() => {
      asking = null;
      lookAhead();
    });
}

async function fetchNext(address) {
  const answer = await fetch(address, { headers: headers(), signal: limit() });
  if (answer.status !== 200) return null;
  const html = await answer.text(), url = answer.headers.get("HX-Push-Url");
  return { html, url, held: new URL(url, location).pathname.split("/").at(-2) };
}

let soon; // htmx tells of a swap several times

function forgetAhead() {
  edition += 1;
  ahead.length = 0;
  isEnd = false;
  clearTimeout(soon);
  soon = setTimeout(lookAhead, 0);
}

// -- going on --------------------------------------------------------------------------------------

// Only what the server is sure to take, as far as the page knows: an edit may score too high, a grant be too wide.
function isPlain(form) {
  if (isUnsentBy(form)) return false;
  if (form.id === "approve") return !isEditing() && !byId("granting")?.open && !form.querySelector("[name=accept_risk]");
  return Boolean(form.querySelector("[name=preset]:checked") || form.elements.reason.value.trim());
}

// Take over the decision that a form makes. False leaves it to htmx, which waits for the answer.
function goOn(form) {
  if (!isPlain(form) || !(ahead.length || asking || decisions.length)) return false; // of those, htmx's would go first
  htmx.trigger("#desk", "htmx:abort"); // a look at the list that is under way would tell of it as it was
  forgetRefusal();
  keepSight();
  const held = byId("item").dataset.held, body = new FormData(form);
  if (sights[held]) {
    body.set("shown", sights[held].shown ?? body.get("shown"));
    body.set("in_sight", Math.round(sights[held].ms));
  }
  const decision = { held, body, url: form.getAttribute("action"), page: location.href, clip: clipOf(held) };
  decision.previous = lastDecided;
  decision.before = byId("told");
  decision.told = toldOf(decision);
  decisions.push(decision);
  lastDecided = decision;
  tell(decision.told);
  markDecided();
  goTo(decision);
  return true;
}

async function goTo(decision) {
  if (!ahead.length && !returned.length) {
    leaving = decision.held;
    wait(true);
    send();
    await asking;
    if (decision.isBack || decision.isUndone || coming || !isOnDesk(decision)) return;
    if (!ahead.length && !returned.length) return fetchShown(decision.held);
  }
  if (!showReturned()) showNext();
  if (!decisions.includes(decision)) lookAnew();
  tell(decision.told); // its answer may have come already
  send(); // with it goes what is shown now
  announce(beginning(decision.told.querySelector("[data-announce]")?.textContent ?? ""));
}

// Nothing is kept: the server shows what follows, if anything does, and says what kept it from doing so.
function fetchShown(held) {
  const address = addressAfter(held), onto = { source: "#desk", target: "#desk", swap: "innerHTML" };
  address.searchParams.set("now", 1);
  htmx.ajax("GET", address.pathname + address.search, onto).catch(() => {}); // its events tell what went wrong
}

function showNext() {
  const next = ahead.shift();
  shownAgain = undefined;
  makeRoom();
  swapDesk(next.html, "ahead");
  history.pushState({ htmx: true }, "", next.url);
  lookAhead();
}

function swapDesk(html, verb) {
  swapInto(byId("desk"), html, "innerHTML", verb);
  wait(false);
  drain();
}

// As htmx does after a request, with the events that others wait for.
function swapInto(target, html, swapStyle, verb) {
  const eventInfo = { target, elt: target, requestConfig: { verb } };
  htmx.swap(target, html, { swapStyle, swapDelay: 0, settleDelay: 0 }, { eventInfo });
}

// Before another item takes its place. What is on its way would be about this one, or take that one's place.
function makeRoom() {
  htmx.trigger("#desk", "htmx:abort");
  keepDecided();
}

// As it stands, with what was typed and chosen in it, until the server has taken it.
function keepDecided() {
  const decision = decisions.find(isOnDesk);
  if (!decision) return;
  tell(nothingTold());
  decision.kept ??= document.createDocumentFragment();
  decision.kept.append(...byId("desk").childNodes);
}

// A row that was chosen and is kept already.
function openAhead(row) {
  if (showReturned(({ decision }) => row.id === `row-${decision.held}`)) return true;
  const at = ahead.findIndex(({ held }) => row.id === `row-${held}`);
  if (at < 0) return false;
  ahead.splice(0, at);
  select(ahead[0].held);
  const told = byId("told");
  tell(nothingTold());
  showNext();
  tell(told);
  return true;
}

// -- what was done ---------------------------------------------------------------------------------

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

// What is on the desk was drawn before that decision: the next look at the list is given all that may have changed.
function lookAnew() {
  document.querySelector("#rows [name=token]").value = "";
}

// In the list, which the server has not drawn anew.
function markDecided() {
  for (const { held } of decisions) byId(`row-${held}`)?.classList.add("done");
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-ahead]")) return;
  event.preventDefault();
  undoAhead();
});

const isUndoAwaited = () => decisions.some(({ isUndone }) => isUndone);

// Undo means the last decision: one that is not sent yet stays here, of one that is on its way the answer is awaited.
function undoAhead() {
  const decision = decisions.at(-1);
  if (!decision || decision !== lastDecided || (!isWaiting() && !mayLeave())) return;
  if (decision.isSent) {
    decision.isUndone = true;
    wait(true);
    byId("told").querySelector("button").disabled = true;
    return;
  }
  decisions.pop();
  comeBack(decision, { isForced: true });
  const what = document.createElement("span");
  what.className = "what taken";
  what.textContent = words.taken.replace("{text}", decision.clip);
  // What was decided before it can be undone next.
  if (!byId("told").querySelector("[data-key=u]")) tell(nothingTold());
  byId("told").prepend(what);
  announce(what.textContent);
}

// -- sending ---------------------------------------------------------------------------------------

async function send() {
  if (isSending) return;
  isSending = true;
  while (decisions.length) {
    const decision = decisions[0];
    await post(decision);
    if (decision.signIn) return signInAgain(decision.signIn);
    decisions.splice(decisions.indexOf(decision), 1);
    settle(decision);
  }
  isSending = false;
}

async function post(decision, isLeaving = false) {
  decision.isSent = true;
  decision.body.set("opened", byId("item")?.dataset.held ?? "");
  if (decisions.length === 1) decision.body.set("list", "1");
  const asked = { method: "POST", body: decision.body, headers: headers(), keepalive: true };
  try {
    const answer = await fetch(decision.url, isLeaving ? asked : { ...asked, signal: limit() });
    decision.status = answer.status;
    decision.signIn = answer.headers.get("HX-Redirect");
    decision.answer = await answer.text();
  } catch {
    decision.status = 0;
  }
}

// Whoever leaves the page has decided all the same.
addEventListener("pagehide", () => {
  for (const decision of decisions) if (!decision.isSent && !decisions[0].signIn) post(decision, true);
});

function settle(decision) {
  const { status, answer } = decision;
  if (status === 200) return noteDone(decision, answer);
  if (status === 409 || status === 422) return comeBack(decision, { html: answer }); // the item as it is now, and why
  const isText = Boolean(decision.body.get("reason"));
  comeBack(decision, { complaint: whatFailed({ xhr: { status }, requestConfig: { verb: "post" } }, isText) });
}

// What was refused of an item that comes back later.
function whyReturned({ clip }, html) {
  const part = document.createElement("template");
  part.innerHTML = html;
  const why = part.content.querySelector("[role=alert]")?.textContent.trim().replace(/\s+/g, " ") ?? "";
  return words.returned.replace("{text}", clip).replace("{why}", why);
}

function noteDone(decision, answer) {
  const part = document.createElement("template");
  part.innerHTML = answer;
  const told = part.content.querySelector("#told");
  told.remove();
  const isOpened = decision.body.get("opened") === byId("item")?.dataset.held;
  if (!isOpened) part.content.querySelector("#among")?.remove();
  decision.told = told;
  if (decision === lastDecided || decision.isUndone) tell(told);
  // A row that was chosen is asked from where it stands: the list is drawn anew by the next look at it.
  if (part.content.querySelector("#rows") && !coming) swapInto(byId("poll"), part.innerHTML, "none", "ahead");
  if (!isOpened) lookAnew();
  markDecided();
  if (!decision.isUndone) return;
  const undo = told.querySelector("[data-key=u]");
  if (undo) return undo.click();
  wait(false);
  goOnWhereChosen();
  drain();
}

// -- coming back -----------------------------------------------------------------------------------

const isOnDesk = ({ held }) => byId("item")?.dataset.held === held;

// What is on the desk is decided, and gives way to the next as soon as that has come: no key is for its fields.
const isDecided = () => isWaiting() && (isPosted || (leaving && isOnDesk({ held: leaving })));

// To the front, unless something is begun or has come back there: then it follows that.
function comeBack(decision, { complaint = "", html, isForced = false }) {
  decision.isBack = true;
  leaving = undefined;
  announce(""); // it was said to be decided
  if (!isForced) letGo();
  byId(`row-${decision.held}`)?.classList.remove("done");
  let before; // what was told before it
  while (lastDecided?.isBack) {
    before = lastDecided.before;
    lastDecided = lastDecided.previous;
  }
  if (isForced || isOnDesk(decision) || !isBegun()) {
    showAgain({ decision, html, complaint });
  } else {
    returned.push({ decision, html, complaint });
    complain(complaint || whyReturned(decision, html));
  }
  tell(lastDecided?.told ?? before);
}

function isBegun() {
  if (isPosting) return true;
  if (decisions.some(isOnDesk)) return false;
  const isOpen = isEditing() || byId("rejecting")?.open || byId("granting")?.open;
  return isTyped() || isOpen || (shownAgain && shownAgain === byId("item")?.dataset.held);
}

function showReturned(which = () => true) {
  const found = returned.find(which);
  if (!found) return false;
  returned.splice(returned.indexOf(found), 1);
  showAgain(found);
  return true;
}

function showAgain({ decision, html, complaint }) {
  const told = byId("told");
  makeRoom();
  if (html) {
    swapDesk(html, "back");
  } else if (decision.kept) {
    byId("desk").replaceChildren(decision.kept);
    arrived();
    wait(false);
    drain();
  } else if (!isOnDesk(decision)) {
    htmx.ajax("GET", decision.url.replace("/decide", "/"), { source: "#desk", target: "#desk", swap: "innerHTML" });
  } else {
    wait(false);
  }
  tell(told);
  if (complaint) complain(complaint);
  shownAgain = decision.held;
  history.pushState({ htmx: true }, "", decision.page);
  forgetAhead();
}

// -- when ------------------------------------------------------------------------------------------

document.addEventListener("htmx:beforeRequest", (event) => {
  // What it would tell is out of date before it comes.
  if (event.detail.elt.id === "poll" && (decisions.length || isWaiting())) event.preventDefault();
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id === "desk" && detail.shouldSwap) keepDecided();
});

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.verb === "post" && detail.target.id === "desk" && decisions.length) {
    detail.parameters.without = decisions.map(({ held }) => held);
  }
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id === "desk" && detail.requestConfig.verb !== "ahead") {
    // The server says what was done last, unless it has yet to hear of that.
    const isTold = detail.requestConfig.verb === "post" && (detail.xhr.status === 200 || !decisions.includes(lastDecided));
    if (isTold) lastDecided = undefined;
    else tell(lastDecided?.told);
    forgetAhead();
  }
});

document.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
  if (detail.target.id === "rows") {
    markDecided();
    select(byId("item")?.dataset.held);
  }
});

// The list changed by others' doing, or by what was sent from another window.
document.addEventListener("htmx:afterOnLoad", ({ detail }) => {
  if (detail.elt.id === "poll" && detail.xhr.status === 200) forgetAhead();
});

addEventListener("beforeunload", (event) => {
  if (returned.length && !isLeft) event.preventDefault();
});

if (main) addEventListener("load", lookAhead);

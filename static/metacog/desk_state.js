// The queue's desk as values, without a page: what is on it, what follows it, what was decided and has no answer yet, and
// the keys that wait. `reduce` says what an event makes of them, and what is then to be done in the page or asked of the
// server: desk.js does that. The table of docs/queue.md names the states; tests/node/desk.test.mjs plays the orders.

export const SETTLE = 150; // milliseconds for which an item has been in sight before a key decides it
export const DOUBLE_CLICK = 350; // in which the second press of a button was meant for the item before
const PAUSE = 500; // after which keys count again when another item came to the front
const DEPTH = 2; // items that are kept
const MOST_WAITING = 1000; // a slow server and a quick hand: what is dropped would be missing among the decisions
const ON_ITEM = "aeryn"; // what these keys do is done to the item in sight
const BEGIN = ["r", "e"]; // what follows these is text
const AT_ONCE = ["/", "?", "g"];

/** @typedef {{ held: string, url: string, html: string, isOld?: boolean }} Kept  What follows, as the server drew it; old: before
 * the list changed. */
/** @typedef {{ key: string, isShifted: boolean, isText: boolean }} Key */
/**
 * What was decided and the server has not answered: in order, one is sent at a time.
 * @typedef {object} Decision
 * @property {number} id
 * @property {string} held
 * @property {boolean} isSent
 * @property {boolean} isUndone  an undo waits for its answer
 * @property {boolean} isKept  the page keeps its item as it stood, with what was typed in it
 * @property {string} opened  the item on the desk when it was sent
 */
/** @typedef {{ decision: Decision, html?: string, complaint?: string }} Returned */
/**
 * @typedef {object} Desk
 * @property {string | undefined} item  on the desk
 * @property {number} cameAt  when it was painted in the place of another; until then Infinity
 * @property {number} settledAt  when what is on the desk was painted there; until then Infinity
 * @property {boolean} isBusy  what is on the desk is going to leave it, and takes no input
 * @property {"" | "row" | "decision" | "post" | "other"} request  what htmx has asked about the desk
 * @property {string | undefined} chosen  the row that was chosen while an answer was waited for
 * @property {Kept[]} ahead  in order: all of them old, or none
 * @property {boolean} isAsking  for the next of them
 * @property {boolean} isEnd  nothing follows, or it could not be fetched; until the list changes
 * @property {number} edition  of the list: what was asked for before it changed is thrown away
 * @property {boolean} isOld  what is on the desk was drawn before the list changed
 * @property {Decision[]} decisions
 * @property {boolean} isSending
 * @property {boolean} isSignedOut
 * @property {{ id: number, isBack: boolean }[]} made  whose telling is on the page, the last at the end
 * @property {Returned[]} returned  what came back while something else was being typed
 * @property {{ id: number, held: string, isAwaited: boolean } | undefined} leaving  decided, while the next has yet to come
 * @property {string | undefined} shownAgain  the item that came back and is on the desk
 * @property {Key[]} keys  that wait for their item
 * @property {number} ignored  approvals beyond the item that comes next, pressed since the last key that waits
 * @property {number} ignoredUntil  when keys count again: whoever typed on as an item came back means none of it
 */
/** @typedef {{ do: string } & Record<string, any>} Effect */
/** @typedef {(name: string, more?: Record<string, any>) => void} Run */
/** @typedef {{ type: keyof typeof EVENTS } & Record<string, any>} Event */

/** @param {string} [item] @returns {Desk} */
export const begin = (item) => ({
  item, cameAt: -Infinity, settledAt: 0, isBusy: false, request: "", chosen: undefined, ahead: [], isAsking: false,
  isEnd: false, edition: 0, isOld: false, decisions: [], isSending: false, isSignedOut: false, made: [], returned: [],
  leaving: undefined, shownAgain: undefined, keys: [], ignored: 0, ignoredUntil: 0,
});

/** @param {Desk} state @param {Event} event @returns {{ state: Desk, effects: Effect[] }} */
export function reduce(state, event) {
  /** @type {Effect[]} */
  const effects = [];
  const desk = {
    ...state, ahead: [...state.ahead], decisions: state.decisions.map((each) => ({ ...each })), returned: [...state.returned],
    made: state.made.map((each) => ({ ...each })), leaving: state.leaving && { ...state.leaving }, keys: [...state.keys],
  };
  EVENTS[event.type](desk, event, (name, more) => effects.push({ ...more, do: name }));
  return { state: desk, effects };
}

// -- what can be asked of a desk -------------------------------------------------------------------

/** @param {Desk} desk */
const isUndoAwaited = (desk) => desk.decisions.some(({ isUndone }) => isUndone);

/** @param {Desk} desk */
const isPosting = ({ request }) => request === "decision" || request === "post";

/** @param {Desk} desk @param {number} at */
const isSettling = (desk, at) => desk.isBusy || at - desk.settledAt < SETTLE;

/** What is on the desk is decided, and gives way to the next as soon as that has come: no key is for its fields.
 * @param {Desk} desk */
export const isDecided = ({ isBusy, request, leaving, item }) => isBusy
  && (request === "decision" || (Boolean(leaving) && leaving?.held === item));

/** What the page shows or has decided already. @param {Desk} desk */
export const known = ({ item, decisions, ahead }) => [...(item ? [item] : []), ...[...decisions, ...ahead].map(({ held }) => held)];

/** The decision that an undo means before it is answered. @param {Desk} desk */
export function undoable({ decisions, made }) {
  const last = decisions.at(-1);
  return last && last.id === made.at(-1)?.id ? last : undefined;
}

/** What the keys that wait begin and do not send: a rejection from its R on, an edit from its E on. @param {Desk} desk */
function begun({ keys }) {
  const from = keys.findLastIndex(({ key, isText }) => BEGIN.includes(key) && !isText);
  const since = from < 0 ? [] : keys.slice(from);
  return since.some(({ key, isText }) => key === "Enter" && !isText) ? [] : since;
}

/** What follows its E, its R or the number of its reason is text.
 * @param {Desk} desk @param {{ key: string, isCommand: boolean }} pressed */
export function isNote(desk, { key, isCommand }) {
  const keys = begun(desk);
  if (!keys.length || isCommand) return false;
  const isEdit = keys[0].key === "e";
  if (key === "Enter") return isEdit || Boolean(keys.at(-1)?.isText);
  return key === "Backspace" || (key.length === 1 && (isEdit || keys.length > 1 || !/^[1-9]$/.test(key)));
}

/**
 * Whether a key waits for its item.
 * @param {Desk} desk
 * @param {{ key: string, name: string, at: number, isCommand: boolean, isModified: boolean, isKnown: boolean,
 *   isTyping: boolean, isOpen: boolean, isUndoOff: boolean }} pressed  `name`: in Latin letters; `isOpen`: a reason is given
 */
export function isKept(desk, pressed) {
  const { key, name, at, isCommand, isModified, isKnown, isTyping, isOpen, isUndoOff } = pressed;
  if (isNote(desk, { key, isCommand }) || (key === "Enter" && begun(desk).length)) return true;
  if (isModified) return false;
  if (desk.keys.length) return !AT_ONCE.includes(name) && isKnown && (isDecided(desk) || !isTyping);
  if (!isDecided(desk) && (isTyping || isOpen)) return false;
  if (name === "u") return isPosting(desk) || isUndoOff; // it means what is on its way
  return isSettling(desk, at) && ON_ITEM.includes(name) && name !== "";
}

// -- what follows ----------------------------------------------------------------------------------

/** @param {Desk} desk */
const fresh = ({ ahead }) => ahead.filter(({ isOld }) => !isOld);

/** What is kept and comes next by the list too: it is good enough until it has been fetched anew.
 * @param {Desk} desk @param {string[]} rows  the items of the list, in order @returns {Kept[]} */
function standing({ item, ahead, decisions }, rows) {
  const at = item ? rows.indexOf(item) : -1;
  const following = at < 0 ? [] : rows.slice(at + 1).filter((row) => !decisions.some(({ held }) => held === row));
  const other = ahead.findIndex(({ held }, number) => held !== following[number]);
  return (other < 0 ? ahead : ahead.slice(0, other)).map((each) => ({ ...each, isOld: true }));
}

/** @param {Desk} desk @param {Run} run */
function lookAhead(desk, run) {
  const ahead = fresh(desk);
  if (desk.isAsking || desk.isEnd || ahead.length >= DEPTH) return;
  desk.isAsking = true;
  run("look", { edition: desk.edition, after: ahead.at(-1)?.held ?? desk.item, without: known({ ...desk, ahead }) });
}

/** @param {Desk} desk @param {Run} run */
function forgetAhead(desk, run) {
  desk.edition += 1;
  desk.ahead = [];
  desk.isEnd = false;
  run("lookSoon");
}

// -- going on --------------------------------------------------------------------------------------

/** @param {Desk} desk @param {boolean} isOn @param {Run} run */
function wait(desk, isOn, run) {
  desk.isBusy = isOn || isUndoAwaited(desk);
  run("wait", { isOn: desk.isBusy });
}

/** @param {Desk} desk @param {string | undefined} item */
function arrive(desk, item) {
  desk.leaving = undefined;
  if (desk.item !== item) desk.cameAt = Infinity;
  desk.settledAt = Infinity;
  desk.item = item;
}

/** The item that is decided, as it stands, until the server has taken it. @param {Desk} desk @param {Run} run */
function keepDecided(desk, run) {
  const decision = desk.decisions.find(({ held }) => held === desk.item);
  if (!decision) return;
  decision.isKept = true;
  run("keep", { id: decision.id });
}

/** Before another item takes its place: what is on its way would be about this one, or take that one's place.
 * @param {Desk} desk @param {Run} run */
function makeRoom(desk, run) {
  run("abort");
  keepDecided(desk, run);
}

/** @param {Desk} desk @param {Run} run */
function showNext(desk, run) {
  const next = /** @type {Kept} */ (desk.ahead.shift());
  desk.shownAgain = undefined;
  makeRoom(desk, run);
  arrive(desk, next.held);
  desk.isOld = Boolean(next.isOld);
  if (desk.isOld) desk.edition += 1; // what is on its way follows the item before
  run("show", { html: next.html, verb: "ahead" });
  wait(desk, false, run);
  run("push", { url: next.url });
  lookAhead(desk, run);
  run("drain");
}

/** @param {Desk} desk @param {Decision} decision @param {Run} run */
function goTo(desk, decision, run) {
  if (desk.ahead.length || desk.returned.length) return goOnto(desk, decision.id, run);
  desk.leaving = { id: decision.id, held: decision.held, isAwaited: true };
  wait(desk, true, run);
  send(desk, run);
  if (!desk.isAsking) goFurther(desk, run);
}

/** What was waited for has come, or nothing is kept: then the server shows what follows. @param {Desk} desk @param {Run} run */
function goFurther(desk, run) {
  if (!desk.leaving?.isAwaited) return;
  const { id, held } = desk.leaving;
  desk.leaving.isAwaited = false;
  if (desk.decisions.find((each) => each.id === id)?.isUndone || desk.request === "row" || desk.item !== held) return;
  if (desk.ahead.length || desk.returned.length) goOnto(desk, id, run);
  else run("showFollowing", { after: held, without: known(desk) });
}

/** @param {Desk} desk @param {number} id @param {Run} run */
function goOnto(desk, id, run) {
  if (!showReturned(desk, run)) showNext(desk, run);
  if (!desk.decisions.some((each) => each.id === id)) run("lookAnew");
  run("tell", { of: id }); // its answer may have come already
  send(desk, run); // with it goes what is shown now
  run("announceTold", { of: id });
}

// -- sending ---------------------------------------------------------------------------------------

/** @param {Desk} desk @param {Run} run */
function send(desk, run) {
  if (desk.isSending || !desk.decisions.length) return;
  desk.isSending = true;
  post(desk, desk.decisions[0], run);
}

/** @param {Desk} desk @param {Decision} decision @param {Run} run @param {boolean} [isLeaving] */
function post(desk, decision, run, isLeaving = false) {
  decision.isSent = true;
  decision.opened = desk.item ?? "";
  run("post", { id: decision.id, opened: decision.opened, isLast: desk.decisions.length === 1, isLeaving });
}

/** @param {Desk} desk @param {Decision} decision @param {Event} event @param {Run} run */
function noteDone(desk, decision, { html, canUndo }, run) {
  const { id, isUndone } = decision, isOpened = Boolean(desk.item) && decision.opened === desk.item;
  // A row that was chosen is asked from where it stands: the list is drawn anew by the next look at it.
  run("note", { id, html, isOpened, isTold: isUndone || desk.made.at(-1)?.id === id, isDrawn: desk.request !== "row" });
  if (!isOpened || desk.isOld) run("lookAnew");
  mark(desk, run);
  if (!isUndone) return;
  if (desk.leaving) desk.leaving.isAwaited = false;
  if (canUndo) return run("undo", { id });
  wait(desk, false, run);
  goOnWhereChosen(desk, true, run);
  run("drain");
}

/** @param {Desk} desk @param {Run} run */
const mark = (desk, run) => run("mark", { decided: desk.decisions.map(({ held }) => held) });

// -- coming back -----------------------------------------------------------------------------------

/** What was pressed and chosen meanwhile was meant for what should have followed.
 * @param {Desk} desk @param {number} at @param {Run} run */
function letGo(desk, at, run) {
  desk.chosen = undefined;
  if (desk.keys.length) desk.ignoredUntil = at + PAUSE;
  desk.keys = [];
  run("showKeys", { keys: desk.keys });
}

/** To the front, unless something is begun or has come back there: then it follows that.
 * @param {Desk} desk @param {Returned} back @param {Record<string, any>} event @param {Run} run */
function comeBack(desk, back, { at, isBegun, isForced = false, why }, run) {
  const { decision } = back;
  desk.leaving = undefined;
  run("announce", { text: "" }); // it was said to be decided
  const isTypedOn = !isForced && desk.keys.length > 0;
  if (!isForced) letGo(desk, at, run);
  run("unmark", { held: decision.held });
  for (const each of desk.made) if (each.id === decision.id) each.isBack = true;
  let before; // what was told before it
  while (desk.made.at(-1)?.isBack) before = desk.made.pop()?.id;
  if (isForced || decision.held === desk.item || !isTakenUp(desk, isBegun)) {
    showAgain(desk, back, run);
    if (isTypedOn && desk.settledAt === Infinity) desk.ignoredUntil = Infinity; // until it is painted, and the pause after that
  } else {
    desk.returned.push(back);
    run("complain", { text: back.complaint || why });
  }
  if (desk.made.length) run("tell", { of: desk.made.at(-1)?.id });
  else if (before !== undefined) run("tell", { before });
}

/** @param {Desk} desk @param {boolean} isBegun  something is typed or opened in the page */
function isTakenUp(desk, isBegun) {
  if (isPosting(desk)) return true;
  if (desk.decisions.some(({ held }) => held === desk.item)) return false;
  return isBegun || Boolean(desk.shownAgain && desk.shownAgain === desk.item);
}

/** @param {Desk} desk @param {Run} run @param {(held: string) => boolean} [isWanted] */
function showReturned(desk, run, isWanted = () => true) {
  const found = desk.returned.find(({ decision }) => isWanted(decision.held));
  if (!found) return false;
  desk.returned = desk.returned.filter((each) => each !== found);
  showAgain(desk, found, run);
  return true;
}

/** @param {Desk} desk @param {Returned} back @param {Run} run */
function showAgain(desk, { decision, html, complaint }, run) {
  const { id, held, isKept: isThere } = decision;
  run("holdTold");
  makeRoom(desk, run);
  if (html || isThere) {
    arrive(desk, held);
    if (html) run("show", { html, verb: "back" });
    else run("putBack", { id });
    wait(desk, false, run);
    run("drain");
  } else if (held !== desk.item) {
    run("open", { id });
  } else {
    wait(desk, false, run);
  }
  run("giveTold");
  if (complaint) run("complain", { text: complaint });
  desk.shownAgain = held;
  run("pushPage", { id });
  forgetAhead(desk, run);
}

/** @param {Desk} desk @param {boolean} hasRow @param {Run} run */
function goOnWhereChosen(desk, hasRow, run) {
  const held = desk.chosen;
  desk.chosen = undefined;
  if (!held || !hasRow) return false;
  run("choose", { held });
  return true;
}

// -- events ----------------------------------------------------------------------------------------

/** @satisfies {Record<string, (desk: Desk, event: any, run: Run) => void>} */
const EVENTS = {
  // The next may be asked for: the page has come, or the list changed a moment ago.
  look: (desk, _, run) => lookAhead(desk, run),

  // There is nothing on the desk that something could follow.
  unasked(desk) {
    desk.isAsking = false;
  },

  fetched(desk, { edition, next }, run) {
    desk.isAsking = false;
    if (edition === desk.edition) {
      desk.ahead = [...fresh(desk), ...(next ? [next] : [])];
      desk.isEnd = !next;
    }
    lookAhead(desk, run);
    goFurther(desk, run);
  },

  // By others' doing, or by what was sent from another window.
  listChanged(desk, { rows = [] }, run) {
    const ahead = standing(desk, rows);
    forgetAhead(desk, run);
    desk.ahead = ahead;
  },

  listDrawn(desk, _, run) {
    mark(desk, run);
    run("select", { held: desk.item });
  },

  // A row, or a form of the item: `on` is row, approve, reject or other.
  press(desk, { on, held, isButton, at }, run) {
    if (isPosting(desk) || isUndoAwaited(desk)) {
      if (on === "row") {
        desk.chosen = held;
        run("select", { held });
      }
      return run("prevent");
    }
    if (isButton && (desk.isBusy || at - desk.cameAt < SETTLE)) return run("prevent");
    run("check", { on, held, isFree: !desk.isBusy });
  },

  // What the server is sure to take, as far as the page knows. Without anything to go on to, htmx sends it and waits.
  submit(desk, { id }, run) {
    if (!desk.item || !(desk.ahead.length || desk.isAsking || desk.decisions.length)) return;
    const decision = { id, held: desk.item, isSent: false, isUndone: false, isKept: false, opened: "" };
    run("prevent");
    run("abort"); // a look at the list that is under way would tell of it as it was
    run("record", { id, held: decision.held });
    desk.decisions.push(decision);
    desk.made.push({ id, isBack: false });
    run("tell", { of: id });
    mark(desk, run);
    goTo(desk, decision, run);
  },

  // A row that was chosen: kept already, or htmx asks for it.
  open(desk, { held }, run) {
    if (showReturned(desk, run, (each) => each === held)) return run("prevent");
    const at = desk.ahead.findIndex((each) => each.held === held);
    if (at < 0) return;
    run("prevent");
    desk.ahead.splice(0, at);
    run("select", { held });
    run("holdTold");
    showNext(desk, run);
    run("giveTold");
  },

  // One that is not sent yet stays here, of one that is on its way the answer is awaited.
  undo(desk, event, run) {
    const decision = undoable(desk);
    if (!decision) return;
    if (decision.isSent) {
      decision.isUndone = true;
      wait(desk, true, run);
      return run("stopUndo");
    }
    desk.decisions.pop();
    comeBack(desk, { decision }, { ...event, isForced: true }, run);
    run("tellUndone", { id: decision.id });
  },

  answered(desk, event, run) {
    const { id, status, signIn, html, complaint } = event;
    if (signIn) {
      desk.isSignedOut = true;
      return run("signIn", { address: signIn, isOne: desk.decisions.length === 1 });
    }
    const decision = /** @type {Decision} */ (desk.decisions.find((each) => each.id === id));
    desk.decisions = desk.decisions.filter((each) => each !== decision);
    if (status === 200) noteDone(desk, decision, event, run);
    else comeBack(desk, { decision, html, complaint }, event, run);
    if (desk.decisions.length) post(desk, desk.decisions[0], run);
    else desk.isSending = false;
  },

  // Whoever leaves the page has decided all the same.
  left(desk, _, run) {
    for (const each of desk.isSignedOut ? [] : desk.decisions) if (!each.isSent) post(desk, each, run, true);
  },

  // htmx asks about the desk, and has an answer or none.
  requested(desk, { on, held, verb }, run) {
    desk.request = on === "row" ? "row" : ["approve", "reject"].includes(on) ? "decision" : verb === "post" ? "post" : "other";
    if (on === "row") run("select", { held });
    wait(desk, true, run);
  },

  loaded(desk, { isTaken, hasRow, at }, run) {
    const isDecision = desk.request === "decision";
    desk.request = "";
    wait(desk, false, run);
    run("select", { held: desk.item }); // another one was chosen, and did not come
    if (!isTaken) letGo(desk, at, run);
    else if (!goOnWhereChosen(desk, hasRow, run) && isDecision) showReturned(desk, run);
    run("drain");
  },

  leaving: (desk, _, run) => keepDecided(desk, run),

  arrived(desk, { item, verb, status }, run) {
    arrive(desk, item);
    if (verb === "ahead") return;
    desk.isOld = false;
    // The server says what was done last, unless it has yet to hear of that.
    const last = desk.made.at(-1);
    if (verb === "post" && (status === 200 || !desk.decisions.some(({ id }) => id === last?.id))) desk.made = [];
    else if (last) run("tell", { of: last.id });
    forgetAhead(desk, run);
  },

  // Nobody has seen what is on the desk before the frame that paints it: a busy machine takes its time.
  filled(desk, { item }) {
    desk.item = item;
    desk.settledAt = Infinity;
  },

  painted(desk, { at }) {
    desk.settledAt = at;
    if (desk.ignoredUntil === Infinity) desk.ignoredUntil = at + PAUSE;
    if (desk.cameAt === Infinity) desk.cameAt = at;
  },

  busy: (desk, { isOn }, run) => wait(desk, isOn, run),

  // A key that is pressed before the next item has been in sight for SETTLE is kept, and what follows it; each acts on the
  // item that has then come and been in sight so long. Escape, the mouse, and what goes wrong let them go. An approval is for
  // the item that comes next and no further: what stands behind that, nobody can have meant, nor what follows what the server may refuse.
  key(desk, { key, isShifted, isText }, run) {
    const last = desk.keys.at(-1);
    const isBeyond = desk.keys.some(isDeciding) || (desk.request === "decision" && !desk.chosen);
    if (key === "a" && !isText && isBeyond) return countIgnored(desk, desk.ignored + 1, run);
    if (key === "u" && !isText && last && desk.ignored) return countIgnored(desk, desk.ignored - 1, run);
    desk.ignored = 0;
    if (key === "Backspace") {
      if (last?.isText) desk.keys.pop();
    } else if (key === "u" && !isText && last && last.key !== "u") {
      takeBack(desk.keys);
    } else if (desk.keys.length < MOST_WAITING) {
      desk.keys.push({ key, isShifted, isText });
    }
    run("drain");
  },

  drain(desk, { at }, run) {
    if (!desk.keys.length || isSettling(desk, at)) return run("showKeys", { keys: desk.keys });
    run("act", desk.keys.shift());
    run("drain");
  },

  dropKeys(desk, _, run) {
    desk.keys = [];
    run("showKeys", { keys: desk.keys });
  },

  letGo: (desk, { at }, run) => letGo(desk, at, run),

  // Whoever types on while another item comes to the front means none of it: keys count again after a pause.
  ignore(desk, { at }) {
    if (desk.ignoredUntil !== Infinity) desk.ignoredUntil = at + PAUSE;
  },
};

/** @param {Key} key */
const isDeciding = ({ key, isText }) => !isText && (key === "a" || key === "Enter");

/** @param {Desk} desk @param {number} count @param {Run} run */
function countIgnored(desk, count, run) {
  desk.ignored = count;
  run("showIgnored", { count });
}

/** There is nothing yet to undo; of a rejection or an edit that waits, all goes with its Enter. @param {Key[]} keys */
function takeBack(keys) {
  let last = keys.pop();
  if (last?.key !== "Enter" || last.isText) return;
  while (keys.length && (last?.isText || !BEGIN.includes(last?.key ?? ""))) last = keys.pop();
}

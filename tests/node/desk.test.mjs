// Orders of answers, played on the desk's values: what was typed or refused is not lost, and what was chosen last stands on
// the desk. tests/browser/queue shows that the page and the server are joined to it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const file = readFileSync(new URL("../../static/metacog/desk_state.js", import.meta.url));
const { SETTLE, begin, isDecided, isKept, known, reduce, undoable } = await import(`data:text/javascript;base64,${file.toString("base64")}`);

const LETTERS = "abcdefgh";
const REFUSED = { status: 409, html: "<refused>", why: "decided by Bob" };
const LOST = { status: 0, html: undefined, complaint: "the result is unknown" };

// A page with the items a, b, c …, of which `a` is on the desk and as many follow as a test has fetched.
class Page {
  desk = begin("a");
  done = []; // every effect, in order
  at = 0; // the browser's clock
  told = []; // what the page tells as done last, once for each time it changed
  isBegun = false; // something is typed or opened
  #id = 0;

  constructor() {
    this.happens("look");
  }

  happens(type, event = {}) {
    const { state, effects } = reduce(this.desk, { type, at: this.at, isBegun: this.isBegun, ...event });
    this.desk = state;
    for (const effect of effects) {
      this.done.push(effect);
      if (effect.do === "drain") this.happens("drain");
      if (effect.do === "lookSoon") this.#isSoon = true;
      if (effect.do === "act") this.act(effect.key);
      if (effect.do === "show") this.shows(effect);
    }
    return effects;
  }

  #isSoon = false;

  shows({ verb }) {
    this.happens("arrived", { item: this.desk.item, verb });
  }

  // What `a` does in the page.
  act(key) {
    if (key === "a") this.decides();
  }

  names = (which) => this.done.filter((each) => each.do === which);
  last = (which) => this.names(which).at(-1);

  // The list was looked at a moment after it changed.
  looks() {
    if (this.#isSoon) this.happens("look");
    this.#isSoon = false;
  }

  // The server answers what was asked for next: with the first item that the page does not know yet.
  fetches(count = 1) {
    for (let n = 0; n < count; n += 1) {
      const { edition, without } = this.last("look");
      const held = [...LETTERS].find((each) => !without.includes(each));
      this.happens("fetched", { edition, next: held ? { held, url: `/${held}/`, html: `<${held}>` } : null });
    }
    return this;
  }

  endsHere() {
    this.happens("fetched", { edition: this.last("look").edition, next: null });
    return this;
  }

  // The browser paints, and time goes by until a key counts.
  settles() {
    this.happens("painted");
    this.at += SETTLE;
    this.happens("drain");
    return this;
  }

  decides() {
    this.happens("press", { on: "approve", isButton: true });
    if (this.last("check") === this.done.at(-1)) this.happens("submit", { id: (this.#id += 1) });
    return this;
  }

  // A row: kept ones are shown, others asked for by htmx.
  chooses(held) {
    const [first] = this.happens("press", { on: "row", held });
    if (first.do === "check" || first.do !== "select") {
      const effects = this.happens("open", { held });
      if (!effects.some((each) => each.do === "prevent")) this.happens("requested", { on: "row", held, verb: "get" });
    }
    return this;
  }

  comes(item, verb = "get", status = 200) {
    this.happens("leaving");
    this.happens("arrived", { item, verb, status });
    this.happens("loaded", { isTaken: true, hasRow: Boolean(this.desk.chosen) });
    return this;
  }

  fails() {
    this.happens("loaded", { isTaken: false, hasRow: false });
    return this;
  }

  answers(answer = {}) {
    const { id } = this.desk.decisions.find(({ isSent }) => isSent);
    this.happens("answered", { id, status: 200, html: "<done>", canUndo: true, ...answer });
    return this;
  }

  presses(...keys) {
    for (const key of keys) {
      const isText = false, pressed = {
        key, name: key, at: this.at, isCommand: false, isModified: false, isKnown: true, isTyping: false, isOpen: false, isUndoOff: false,
      };
      if (isKept(this.desk, pressed)) this.happens("key", { key, isShifted: false, isText });
      else this.act(key);
    }
    return this;
  }
}

const settled = (count = 2) => new Page().fetches(count).settles();
const item = (page) => page.desk.item;

// -- going on --------------------------------------------------------------------------------------

test("what is kept is shown before the server has answered, and the decision is sent with what is shown now", () => {
  const page = settled().decides();
  assert.equal(item(page), "b");
  assert.deepEqual(page.names("post").map(({ id, opened, isLast }) => [id, opened, isLast]), [[1, "b", true]]);
  assert.deepEqual(page.last("tell"), { do: "tell", of: 1 });
  assert.ok(page.names("push").some(({ url }) => url === "/b/"));
});

test("decisions are sent one at a time, in order, and only the last answer brings the list", () => {
  const page = settled().decides().fetches().settles().decides();
  assert.equal(page.names("post").length, 1);
  page.answers();
  assert.deepEqual(page.names("post").map(({ id, isLast }) => [id, isLast]), [[1, true], [2, true]]);
  page.fetches().settles().decides();
  assert.deepEqual(page.desk.decisions.map(({ id }) => id), [2, 3]);
});

test("what is asked for leaves out what the page has, shows or decided", () => {
  const page = settled().decides();
  assert.deepEqual(page.last("look").without, ["b", "a", "c"]);
  assert.deepEqual(known(page.desk), ["b", "a", "c"]);
});

test("without anything to go on to, htmx sends the decision and waits", () => {
  const page = new Page().endsHere().settles();
  page.decides();
  assert.equal(page.names("post").length, 0);
  assert.equal(page.desk.decisions.length, 0);
});

test("what was asked for before the list changed is thrown away", () => {
  const page = settled();
  page.happens("listChanged");
  assert.deepEqual(page.desk.ahead, []);
  page.looks();
  page.happens("fetched", { edition: 0, next: { held: "z", url: "/z/", html: "" } });
  assert.deepEqual(page.desk.ahead, []);
});

test("what comes next by the changed list too is shown at once, and is fetched anew meanwhile", () => {
  const page = settled();
  page.happens("listChanged", { rows: ["a", "b", "z", "c"] });
  assert.deepEqual(known(page.desk), ["a", "b"], "`z` comes before `c` now");
  page.looks();
  assert.deepEqual(page.last("look").without, ["a"]);
  page.decides();
  assert.equal(item(page), "b");
  page.happens("fetched", { edition: 1, next: { held: "b", url: "/b/", html: "<b>" } });
  assert.deepEqual(page.desk.ahead, [], "what was asked for before is not shown twice");
  page.fetches();
  assert.deepEqual(known(page.desk), ["b", "a", "c"]);
  page.answers();
  assert.equal(page.names("lookAnew").length, 1, "what is on the desk may have changed");
});

test("what was kept gives way to what is fetched after the list changed", () => {
  const page = settled();
  page.happens("listChanged", { rows: ["a", "b", "c"] });
  page.looks();
  page.happens("fetched", { edition: 1, next: { held: "b", url: "/b/", html: "<b anew>" } });
  assert.deepEqual(page.desk.ahead.map(({ html }) => html), ["<b anew>"]);
  page.decides().answers();
  assert.equal(page.names("lookAnew").length, 0);
});

test("an item is waited for while it is on its way, and the decision is sent meanwhile", () => {
  const page = new Page().settles().decides();
  assert.equal(item(page), "a");
  assert.ok(page.desk.isBusy && isDecided(page.desk));
  assert.equal(page.names("post").length, 1);
  page.fetches();
  assert.equal(item(page), "b");
  assert.ok(!page.desk.isBusy);
});

test("where nothing could be kept, the server shows what follows, once", () => {
  const page = new Page().settles().decides().endsHere();
  assert.deepEqual(page.last("showFollowing").without, ["a", "a"]);
  page.happens("fetched", { edition: 0, next: null });
  assert.equal(page.names("showFollowing").length, 1);
});

test("whoever leaves the page has decided all the same", () => {
  const page = settled().decides().fetches().settles().decides();
  page.happens("left");
  assert.deepEqual(page.names("post").map(({ id, isLeaving }) => [id, isLeaving]), [[1, false], [2, true]]);
});

// -- orders of answers -----------------------------------------------------------------------------

test("what was chosen while the next item was on its way stays", () => {
  const page = new Page().settles().decides().chooses("d");
  page.comes("d").fetches();
  assert.equal(item(page), "d");
});

test("an item that came by itself does not go on to the next that had been waited for", () => {
  const page = new Page().settles().decides().chooses("d").fetches(); // while the row is on its way
  assert.equal(item(page), "a");
  page.comes("d");
  assert.equal(item(page), "d");
});

test("an item comes back as it stood although the item after it was shown by the server", () => {
  const page = new Page().settles().decides();
  page.happens("listChanged");
  page.fetches(); // of the edition before
  assert.equal(page.names("showFollowing").length, 1);
  page.happens("requested", { on: "other", verb: "get" });
  page.comes("b");
  assert.deepEqual(page.last("tell"), { do: "tell", of: 1 }, "the server does not know of it yet");
  page.answers(LOST);
  assert.equal(item(page), "a");
  assert.deepEqual(page.last("putBack"), { do: "putBack", id: 1 });
  assert.equal(page.last("complain").text, LOST.complaint);
});

test("of two that come back none is told as decided", () => {
  const page = settled().decides().fetches().settles().decides().fetches();
  page.answers(LOST).answers(LOST);
  assert.deepEqual(page.desk.made, []);
  assert.equal(page.last("tell").before, 1, "what was told before the first");
});

test("what came back while another was edited follows its decision", () => {
  const page = settled(2).decides().settles();
  page.isBegun = true;
  page.answers(LOST);
  assert.equal(item(page), "b");
  assert.equal(page.last("complain").text, LOST.complaint);
  page.happens("requested", { on: "approve", verb: "post" });
  page.comes("c", "post");
  assert.equal(item(page), "a");
  assert.deepEqual(page.desk.returned, []);
});

test("what came back waits behind the next decision that is sent behind, too", () => {
  const page = settled(2).decides().fetches().settles();
  page.isBegun = true;
  page.answers(REFUSED);
  page.decides();
  assert.equal(item(page), "a");
  assert.equal(page.last("show").html, REFUSED.html);
});

test("what came back is opened from its row", () => {
  const page = settled().decides().settles();
  page.isBegun = true;
  page.answers(LOST);
  page.chooses("a");
  assert.equal(item(page), "a");
  assert.deepEqual(page.desk.returned, []);
});

test("a refused item says why where another is being read, unless that is decided as well", () => {
  const page = settled().decides().settles();
  page.isBegun = true;
  page.answers(REFUSED);
  assert.equal(page.last("complain").text, REFUSED.why);
  const other = settled().decides().settles();
  other.answers(REFUSED);
  assert.equal(item(other), "a");
  assert.equal(other.last("complain"), undefined, "the item says it");
});

test("a second that is refused follows the one that came back", () => {
  const page = settled().decides().fetches().settles().decides().answers(REFUSED);
  assert.equal(item(page), "a");
  page.answers(REFUSED);
  assert.equal(item(page), "a");
  assert.deepEqual(page.desk.returned.map(({ decision }) => decision.held), ["b"]);
});

test("a waited-for decision is told although the one before it comes back later", () => {
  const page = settled().decides().settles();
  page.happens("requested", { on: "approve", verb: "post" });
  page.comes("b", "post", 422); // a warning about the edit
  assert.deepEqual(page.last("tell"), { do: "tell", of: 1 });
  page.happens("requested", { on: "approve", verb: "post" });
  page.comes("c", "post", 200);
  const told = page.names("tell").length;
  page.answers(LOST);
  assert.equal(item(page), "a");
  assert.equal(page.names("tell").length, told, "what the server told stays");
});

test("no key that waits acts on an item that was refused or did not come", () => {
  const page = settled().chooses("d").presses("a");
  assert.equal(page.desk.keys.length, 1);
  page.fails().settles();
  assert.equal(page.names("act").length, 0);
  assert.ok(page.desk.ignoredUntil > page.at - SETTLE);
  assert.equal(item(page), "a");
});

test("a row does not wait for a look at the list in which a key would decide the item before", () => {
  const page = settled(2).chooses("d").presses("a");
  page.comes("d").settles();
  assert.deepEqual(page.desk.decisions.map(({ held }) => held).concat(page.names("check").map(({ on }) => on)).at(-1), "approve");
  assert.equal(page.names("act").length, 1);
});

test("a row chosen while a decision is waited for is opened after it, unless that fails", () => {
  for (const isTaken of [true, false]) {
    const page = settled();
    page.happens("requested", { on: "approve", verb: "post" });
    page.chooses("d");
    assert.ok(page.done.at(-1).do === "prevent" && page.desk.chosen === "d");
    page.happens("loaded", { isTaken, hasRow: true });
    assert.deepEqual(page.names("choose"), isTaken ? [{ do: "choose", held: "d" }] : []);
    assert.equal(page.desk.chosen, undefined);
  }
});

test("a row that does not come leaves the desk free, although the list was drawn anew", () => {
  const page = settled().decides().settles().chooses("e");
  page.answers();
  assert.equal(page.last("note").isDrawn, false, "it is drawn by the next look");
  page.fails();
  assert.ok(!page.desk.isBusy);
  assert.equal(item(page), "b");
  page.settles().decides();
  assert.equal(item(page), "c");
});

test("a row that is kept is shown at once, with what was told", () => {
  const page = settled().decides().fetches().settles().chooses("d");
  assert.equal(item(page), "d");
  assert.deepEqual(page.done.filter(({ do: name }) => ["holdTold", "show", "giveTold"].includes(name)).slice(-3).map(({ do: name }) => name),
    ["holdTold", "show", "giveTold"]);
});

test("a refused item that is still on the desk stays there although what follows comes after it", () => {
  const page = new Page().settles().decides().endsHere();
  page.happens("requested", { on: "other", verb: "get" });
  const effects = page.answers(REFUSED).done.map(({ do: name }) => name);
  assert.ok(effects.lastIndexOf("abort") < effects.lastIndexOf("show"), "what is on its way is given up");
  page.fails();
  assert.equal(item(page), "a");
  assert.ok(!page.desk.isBusy);
});

// -- undo ------------------------------------------------------------------------------------------

test("undo of a decision that is not sent yet keeps it here", () => {
  const page = settled().decides().fetches().settles().decides();
  page.happens("undo");
  assert.equal(item(page), "b");
  assert.deepEqual(page.desk.decisions.map(({ held }) => held), ["a"]);
  assert.equal(page.last("tellUndone").id, 2);
  page.answers();
  assert.equal(page.names("post").length, 1);
});

test("undo of a decision that is on its way awaits its answer", () => {
  const page = settled().decides().settles();
  page.happens("undo");
  assert.ok(page.desk.isBusy);
  page.happens("undo");
  page.answers();
  assert.deepEqual(page.names("undo"), [{ do: "undo", id: 1 }]);
});

test("undo while the next item is on its way does not go on to it", () => {
  const page = new Page().settles().decides();
  page.happens("undo");
  page.answers();
  page.fetches();
  assert.equal(item(page), "a");
});

test("a row chosen while an undo waits is opened after it", () => {
  const page = settled().decides().settles();
  page.happens("undo");
  page.chooses("d").presses("a");
  assert.equal(page.desk.chosen, "d");
  page.answers();
  page.happens("requested", { on: "other", verb: "post" });
  page.comes("a", "post");
  assert.deepEqual(page.last("choose"), { do: "choose", held: "d" });
  page.chooses("d").comes("d").settles();
  assert.equal(page.last("check").on, "approve", "the key was for that row");
});

test("a row chosen while an undo waits that cannot be undone any more is opened as well", () => {
  const page = settled().decides().settles();
  page.happens("undo");
  page.chooses("d");
  page.answers({ canUndo: false });
  assert.ok(!page.desk.isBusy);
  assert.deepEqual(page.last("choose"), { do: "choose", held: "d" });
});

test("undo means a decision that is waited for, and waits with it", () => {
  const page = settled();
  page.happens("requested", { on: "approve", verb: "post" });
  page.presses("u");
  assert.deepEqual(page.desk.keys.map(({ key }) => key), ["u"]);
  page.comes("b", "post").settles();
  assert.deepEqual(page.names("act").map(({ key }) => key), ["u"]);
});

test("an older decision is not told by an item that was opened meanwhile", () => {
  const page = settled().decides().answers().fetches().settles().decides();
  page.chooses("f").comes("f");
  assert.deepEqual(page.last("tell"), { do: "tell", of: 2 });
  assert.equal(undoable(page.desk).id, 2);
});

test("what the server has told is undone by the server", () => {
  const page = settled().decides().answers();
  assert.equal(undoable(page.desk), undefined);
});

// -- sessions --------------------------------------------------------------------------------------

test("who was signed out is led to the sign-in, and nothing more is sent", () => {
  const page = settled().decides().fetches().settles().decides();
  page.answers({ signIn: "/sign-in/?unsaved=decision" });
  assert.deepEqual(page.last("signIn"), { do: "signIn", address: "/sign-in/?unsaved=decision", isOne: false });
  page.happens("left");
  assert.equal(page.names("post").length, 1);
});

// -- keys that wait --------------------------------------------------------------------------------

test("a key waits until its item has been in sight", () => {
  const page = settled(2).presses("a", "a", "j");
  assert.equal(item(page), "b");
  assert.deepEqual(page.last("showKeys").keys.map(({ key }) => key), ["a", "j"]);
  page.settles();
  assert.equal(item(page), "c");
  page.settles();
  assert.deepEqual(page.desk.decisions.map(({ held }) => held), ["a", "b"]);
  assert.deepEqual(page.names("act").map(({ key }) => key), ["a", "j"]);
  assert.deepEqual(page.last("showKeys").keys, []);
});

test("an approval is kept for the item that comes next and no further, which is told", () => {
  const page = settled(2).presses("a", "a", "a", "a");
  assert.deepEqual(page.desk.keys.map(({ key }) => key), ["a"]);
  assert.deepEqual(page.names("showIgnored").map(({ count }) => count), [1, 2]);
  page.happens("painted"); // it is in sight, and its approval waits on
  page.presses("a");
  page.settles();
  assert.equal(item(page), "c");
  page.fetches().settles();
  assert.deepEqual(page.desk.decisions.map(({ held }) => held), ["a", "b"]);
  page.presses("a");
  assert.deepEqual(page.desk.decisions.map(({ held }) => held), ["a", "b", "c"], "that one was in sight");
});

test("no approval waits behind an answer or an edit that is on its way, unless a row was chosen for it", () => {
  const page = settled();
  page.happens("requested", { on: "approve", verb: "post" });
  page.presses("a");
  assert.deepEqual([page.desk.keys, page.last("showIgnored").count], [[], 1]);
  page.chooses("d").presses("a");
  assert.deepEqual(page.desk.keys.map(({ key }) => key), ["a"]);
});

test("no approval waits behind a rejection or an edit that waits, and a rejection waits behind an approval", () => {
  const reject = [["r"], ["1"], ["Enter"]], edit = [["e"], ["x", true], ["Enter"]];
  const kept = (...keys) => typed(settled().decides(), ...keys);
  assert.equal(kept(...reject, ["a"]), "r1Enter");
  assert.equal(kept(...edit, ["a"]), "exEnter");
  assert.equal(kept(["r"], ["1"], ["a", true]), "r1a", "a letter of its note");
  assert.equal(kept(["a"], ...reject, ["a"], ...reject), "ar1Enterr1Enter");
  assert.equal(kept(["u"], ["a"], ["a"]), "ua");
});

test("an undo takes back first what was ignored, so that what waits is not lost by it", () => {
  const page = settled().decides();
  assert.equal(typed(page, ["a"], ["a"], ["a"], ["u"]), "a");
  assert.equal(page.last("showIgnored").count, 1);
  assert.equal(typed(page, ["u"]), "a");
  assert.equal(typed(page, ["u"]), "");
  assert.equal(typed(page, ["a"], ["a"], ["j"], ["u"]), "a", "of the last key");
  assert.equal(typed(page, ["u"]), "");
});

test("no key decides an item that was not painted yet, however long it takes", () => {
  const page = settled(2).decides();
  page.at += 10 * SETTLE;
  page.presses("a");
  page.happens("drain");
  assert.equal(item(page), "b");
  page.settles();
  assert.equal(item(page), "c");
});

test("a click counts from the paint of its item on", () => {
  const page = settled().decides();
  page.at += 10 * SETTLE;
  page.decides();
  assert.equal(item(page), "b", "it was not painted");
  page.happens("painted");
  page.at += SETTLE - 1;
  page.decides();
  assert.equal(item(page), "b", "it was painted a moment ago");
  page.at += 1;
  page.decides();
  assert.equal(item(page), "c");
});

test("while an undo waits nothing is pressed", () => {
  const page = settled().decides().settles();
  page.happens("undo");
  assert.deepEqual(page.happens("press", { on: "approve", isButton: true }), [{ do: "prevent" }]);
});

function typed(page, ...keys) {
  for (const [key, isText = false] of keys) page.happens("key", { key, isShifted: false, isText });
  return page.desk.keys.map(({ key }) => key).join("");
}
const text = (word) => [...word].map((key) => [key, true]);

test("an undo takes back what waits, a rejection or an edit as a whole", () => {
  const page = settled().decides();
  assert.equal(typed(page, ["a"], ["u"]), "");
  assert.equal(typed(page, ["a"], ["r"], ["1"], ...text("no"), ["Enter"], ["u"]), "a");
  assert.equal(typed(page, ["e"], ...text("xy"), ["Backspace"], ["Enter"]), "aexEnter");
  assert.equal(typed(page, ["u"], ["u"], ["u"], ["u"]), "uu", "nothing is left, and it means what was decided");
});

test("what follows E, R or the number of a reason is text until it is sent", () => {
  const page = settled().decides();
  const is = (key, isCommand = false) => isKept(page.desk, {
    key, name: key, at: page.at, isCommand, isModified: isCommand, isKnown: false, isTyping: false, isOpen: false, isUndoOff: false,
  });
  typed(page, ["r"]);
  assert.deepEqual([is("2"), is("ü"), is("x", true)], [false, true, false]);
  typed(page, ["2"]);
  assert.deepEqual([is("2"), is("Backspace"), is("Enter", true)], [true, true, true]);
  typed(page, ["Enter"]);
  assert.equal(is("ü"), false);
});

test("keys count although the decided item is still in sight, and none is for its fields", () => {
  const page = new Page().settles().decides();
  const pressed = { key: "a", name: "a", at: page.at, isCommand: false, isModified: false, isKnown: true, isTyping: true, isOpen: true, isUndoOff: false };
  assert.ok(isKept(page.desk, pressed));
  page.answers();
  assert.ok(isKept(page.desk, pressed));
  assert.ok(!isKept(settled().desk, pressed), "else they are typed");
});

test("Escape and what goes wrong drop the keys that wait; after the latter none counts for a while", () => {
  const page = settled().decides().presses("a");
  page.happens("dropKeys");
  assert.deepEqual([page.desk.keys, page.desk.ignoredUntil], [[], 0]);
  page.presses("a").answers(REFUSED);
  assert.deepEqual(page.desk.keys, []);
  assert.ok(page.desk.ignoredUntil > page.at);
});

// -- what is asked of the page, in full ------------------------------------------------------------

const asked = (effects) => effects.map(({ do: name, ...more }) => [name, ...Object.values(more).map((each) => JSON.stringify(each))].join(" "));

test("a decision that is sent behind asks this of the page, in this order", () => {
  const page = settled(), effects = page.happens("submit", { id: 1 });
  assert.deepEqual(asked(effects), [
    "prevent", "abort", 'record 1 "a"', "tell 1", 'mark ["a"]', "abort", "keep 1", 'show "<b>" "ahead"', "wait false", 'push "/b/"',
    'look 0 "c" ["b","a","c"]', "drain", "tell 1", 'post 1 "b" true false', "announceTold 1",
  ]);
  assert.deepEqual(asked(page.happens("answered", { id: 1, status: 200, html: "<done>", canUndo: true })), [
    'note 1 "<done>" true true true', "mark []",
  ]);
});

test("a refused item that comes back asks this of the page, in this order", () => {
  const wanted = (back) => ['announce ""', "showKeys []", 'unmark "a"', "holdTold", "abort", ...back, "giveTold"];
  const end = ["pushPage 1", "lookSoon", "tell 1"].map((each) => each.replace("tell 1", "tell 1"));
  const cases = {
    refused: [settled().decides(), REFUSED, ['show "<refused>" "back"', "wait false", "drain"]],
    lost: [settled().decides(), LOST, ["putBack 1", "wait false", "drain"]],
    here: [new Page().settles().decides(), LOST, ["wait false"]],
  };
  for (const [name, [page, answer, back]] of Object.entries(cases)) {
    const complained = answer.complaint ? [`complain "${answer.complaint}"`] : [];
    const effects = asked(page.happens("answered", { id: 1, ...answer }));
    assert.deepEqual(effects, [...wanted(back), ...complained, ...end], name);
    assert.deepEqual([page.desk.decisions, page.desk.isBusy, page.desk.shownAgain, page.desk.isSending], [[], false, "a", false], name);
  }
});

test("an item that the page has not kept is asked for again", () => {
  const page = settled().decides().fetches().settles();
  page.happens("filled", { item: "d" }); // by a look at the list
  page.desk = { ...page.desk, decisions: page.desk.decisions.map((each) => ({ ...each, isKept: false })) };
  assert.ok(asked(page.happens("answered", { id: 1, ...LOST })).includes("open 1"));
});

test("a look at the list marks what is decided, and an item that fills the desk is not painted yet", () => {
  const page = settled().decides();
  assert.deepEqual(asked(page.happens("listDrawn")), ['mark ["a"]', 'select "b"']);
  page.settles().happens("filled", { item: "d" });
  assert.equal(item(page), "d");
  page.decides();
  page.presses("a");
  assert.equal(page.desk.keys.length, 1);
});

test("keys that act at once, are modified, or are typed in a field, wait for nothing", () => {
  const page = settled().decides();
  const is = (key, more = {}) => isKept(page.desk, {
    key, name: key, at: page.at, isCommand: false, isModified: false, isKnown: true, isTyping: false, isOpen: false, isUndoOff: false, ...more,
  });
  assert.deepEqual([is("a"), is("a", { isModified: true }), is("a", { isTyping: true }), is("a", { isOpen: true }), is("j")], [true, false, false, false, false]);
  assert.deepEqual([is("u"), is("u", { isUndoOff: true })], [false, true]);
  page.presses("a");
  assert.deepEqual([is("j"), is("?"), is("q", { isKnown: false }), is("j", { isTyping: true })], [true, false, false, false]);
});

test("the pause after an item came back counts from its paint on, however long that takes", () => {
  const page = new Page().settles().decides().presses("r").answers(REFUSED);
  page.at += 10_000;
  page.happens("ignore"); // a key, as each that comes meanwhile
  assert.equal(page.desk.ignoredUntil, Infinity);
  page.happens("painted");
  assert.ok(page.desk.ignoredUntil > page.at && page.desk.ignoredUntil < page.at + 1000);
});

test("whoever types on after a refusal puts off when keys count", () => {
  const page = settled();
  page.at = 1000;
  page.happens("ignore");
  assert.ok(page.desk.ignoredUntil > 1000);
});

test("the list may have more to follow once it has changed", () => {
  const page = new Page().endsHere();
  assert.ok(page.desk.isEnd);
  page.happens("listChanged");
  page.looks();
  assert.ok(page.desk.isAsking);
  page.happens("unasked");
  assert.ok(!page.desk.isAsking);
});

test("what is being decided by htmx is not given another item, and the item that is decided gives way", () => {
  const page = settled().decides().settles();
  page.happens("requested", { on: "other", verb: "post" });
  page.answers(LOST);
  assert.equal(item(page), "b");
  const other = settled(1).decides().settles().decides(); // `b` waits for what follows it, with something typed
  other.isBegun = true;
  other.answers(LOST);
  assert.equal(item(other), "a");
});

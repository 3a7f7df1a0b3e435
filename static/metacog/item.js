// What an item's page does beside deciding: its text raw, the changes of an edit word by word, a reason typed at once.
import { byId } from "./page.js";

// -- raw text: the box works by itself; this keeps the choice for the tab, and gives it a key ---------------------

function keepRaw() {
  const box = byId("show-raw");
  if (box) box.checked = sessionStorage.getItem("raw") === "1";
}

document.addEventListener("change", ({ target }) => {
  if (target.id === "show-raw") sessionStorage.setItem("raw", target.checked ? "1" : "");
});

const isField = (target) => target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
const isPlain = ({ ctrlKey, metaKey, altKey, isComposing, repeat }) => !(ctrlKey || metaKey || altKey || isComposing || repeat);

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "m" || !isPlain(event) || event.keyCode === 229 || event.defaultPrevented) return;
  if (document.body.dataset.keys === "off" || isField(event.target)) return;
  if (document.querySelector("dialog[open], details:is(.reject, .grant, .menu)[open]")) return;
  byId("show-raw")?.click();
});

// -- a reason: what is no number of a preset is the note ----------------------------------------------------------

document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (!target.matches?.(".reject[open] [name=preset], .reject[open] > summary")) return;
  const isLetter = key.length === 1 && key !== " " && !(key >= "1" && key <= "9");
  // A keyboard that composes reports its keys as `Process`: the note is where it can begin.
  if (isPlain(event) ? isLetter : event.isComposing || event.keyCode === 229) byId("reason")?.focus();
}, true);

// In a note Enter begins a line; without one it sends the reason.
document.addEventListener("input", ({ target }) => {
  const key = target.id === "reason" && byId("reject-key");
  if (key) key.textContent = target.value ? "Ctrl Enter" : "Enter";
});

// -- a grant: what the form's choices let pass, in a sentence --------------------------------------------------

const CODE = /(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/gsu; // as in Markdown: reviews/presentation/phrases.py

function sayGrant() {
  const sheet = byId("granting")?.querySelector(".sheet");
  if (!sheet) return;
  const chosen = (name) => sheet.querySelector(`[name=${name}]:checked`)?.dataset.words;
  const uses = sheet.querySelector("[name=grant_uses]"), most = uses.value.trim();
  const often = most && (most === "1" ? uses.dataset.one : uses.dataset.more.replace("{n}", Number(most).toLocaleString()));
  const until = sheet.querySelector("[name=grant_until]").selectedOptions[0].text.trim();
  const said = [chosen("grant_match"), chosen("grant_scope"), until, often].filter(Boolean);
  const sentence = said.join(sheet.querySelector(".words").dataset.comma), parts = [];
  let at = 0;
  for (const match of sentence.matchAll(CODE)) {
    const code = document.createElement("code");
    code.append(...visible(match[2].trim()));
    parts.push(sentence.slice(at, match.index), code);
    at = match.index + match[0].length;
  }
  byId("grant-words").replaceChildren(...parts, sentence.slice(at));
}

document.addEventListener("input", ({ target }) => {
  if (target.closest("#granting")) sayGrant();
});

// Whoever opens the form means it: the box is there for those without script. `toggle` does not bubble.
document.addEventListener("toggle", ({ target }) => {
  if (target.id !== "granting") return;
  byId("grant").checked = target.open;
  if (target.open) target.querySelector("[name=grant_match]:checked")?.focus({ preventScroll: true });
}, true);

// -- the changes of an edit: reviews/presentation/reading/word_changes.py says the same ---------------------------

const WORD = /\s+|[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\p{P}\p{S}\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+|[\p{P}\p{S}]/gu;
const HIDDEN = /[\p{Cc}\p{Cf}\u00ad]/u;
const MOST = 1_000_000; // pairs of words
const AROUND = 60; // characters that are shown beside a change

// Which words both have, in order: the longest such row.
function stretches(before, after) {
  let start = 0, tail = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  const least = Math.min(before.length, after.length) - start;
  while (tail < least && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const [old, fresh] = [before, after].map((words) => words.slice(start, words.length - tail));
  const found = [["same", before.slice(0, start)]];
  if (old.length * fresh.length > MOST) found.push(["del", old], ["ins", fresh]);
  else found.push(...middle(old, fresh));
  found.push(["same", before.slice(before.length - tail)]);
  return found.filter(([, words]) => words.length).map(([kind, words]) => [kind, words.join("")]);
}

function middle(old, fresh) {
  const width = fresh.length + 1;
  const most = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      most[i * width + j] = old[i] === fresh[j]
        ? most[(i + 1) * width + j + 1] + 1
        : Math.max(most[(i + 1) * width + j], most[i * width + j + 1]);
    }
  }
  const found = [];
  let i = 0, j = 0;
  while (i < old.length || j < fresh.length) {
    const same = [], gone = [], come = [];
    while (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      same.push(old[i]);
      i += 1;
      j += 1;
    }
    while ((i < old.length || j < fresh.length) && !(i < old.length && j < fresh.length && old[i] === fresh[j])) {
      const isGone = j === fresh.length || (i < old.length && most[(i + 1) * width + j] >= most[i * width + j + 1]);
      if (isGone) {
        gone.push(old[i]);
        i += 1;
      } else {
        come.push(fresh[j]);
        j += 1;
      }
    }
    found.push(["same", same], ["del", gone], ["ins", come]);
  }
  return found;
}

function around(text, isFirst, isLast) {
  const before = isFirst ? 0 : AROUND, after = isLast ? 0 : AROUND;
  if (text.length <= before + after + AROUND) return text;
  return `${text.slice(0, before)} … ${text.slice(text.length - after)}`;
}

// What cannot be seen is named, as everywhere.
function* visible(text) {
  let kept = "";
  for (const character of text) {
    if (!HIDDEN.test(character) || "\n\t".includes(character)) {
      kept += character;
      continue;
    }
    yield kept;
    kept = "";
    const named = document.createElement("span");
    named.className = "hid";
    named.textContent = `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    yield named;
  }
  yield kept;
}

/** @param {string[]} stretch */
function change([kind, text], at, all) {
  if (kind === "same") return [...visible(around(text, at === 0, at === all.length - 1))];
  const part = document.createElement(kind);
  part.append(...visible(text));
  return [part];
}

function showChanges() {
  const field = byId("edited"), part = byId("word-changes");
  if (!part || !field) return;
  const original = byId("original").value;
  part.hidden = field.value === original;
  const found = part.hidden ? [] : stretches(original.match(WORD) ?? [], field.value.match(WORD) ?? []);
  part.querySelector(".changed").replaceChildren(...found.flatMap(change));
}

let isDue = false; // once a frame, however fast somebody types
document.addEventListener("input", ({ target }) => {
  if (target.id !== "edited" || isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    showChanges();
  });
});

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id !== "desk") return;
  keepRaw();
  showChanges();
});
document.addEventListener("htmx:oobAfterSwap", (event) => {
  if (event.detail.target.id === "desk") keepRaw();
});
keepRaw();
showChanges();

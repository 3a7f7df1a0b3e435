// The command palette: pages, what can be done on this page, settings, and what the server finds.
import { reject } from "./editor.js";
import { keyOf } from "./key_names.js";
import { byId, setText } from "./page.js";

const palette = byId("palette");
const SHOWN = 40; // options at most
let found; // the request under way
let soonest; // when to ask

export const isPaletteKey = (event) => Boolean(palette) && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
  && keyOf(event) === "k";

// The words of a control, without its key.
function nameOf(control) {
  const copy = control.cloneNode(true);
  for (const part of copy.querySelectorAll("kbd, .unseen, .countdown")) part.remove();
  return copy.textContent.trim().replace(/\s+/g, " ");
}

function option(text, { href = undefined, control = undefined, keys = "", of = "" }) {
  const made = document.createElement("div"), what = document.createElement("span");
  made.role = "option";
  made.ariaSelected = "false";
  what.className = "what";
  what.textContent = text;
  made.append(what);
  for (const [name, told] of [["quiet small", of], ["keystrokes", keys]]) {
    if (!told) continue;
    const part = document.createElement("span");
    part.className = name;
    part.textContent = told;
    made.append(" ", part);
  }
  if (href) made.dataset.href = href;
  made.control = control;
  return made;
}

const OPTIONS = {
  // Whatever has a key on this page, and is there to be pressed: what decides first.
  actions: () => [...document.querySelectorAll("main [data-key]")]
    .filter((control) => !control.disabled && control.checkVisibility())
    .sort((one, other) => Number(Boolean(other.closest("#buttons"))) - Number(Boolean(one.closest("#buttons"))))
    .map((control) => option(nameOf(control), { control, keys: control.dataset.key.toUpperCase() })),
  pages: () => [...document.querySelectorAll("#keys [data-go]")].map((page) => option(nameOf(page), {
    href: page.href, keys: page.dataset.go && `G ${page.dataset.go.toUpperCase()}`,
  })),
  settings: () => [...document.querySelectorAll(".menu .choice button:not([aria-pressed])")].map((control) => option(
    nameOf(control), { control, of: nameOf(control.form.querySelector("span")) },
  )),
};

const groups = () => [...palette.querySelectorAll("[data-of]")];
const options = () => [...palette.querySelectorAll("[role=option]")].filter((each) => !each.hidden);
const chosenOption = () => palette.querySelector("[aria-selected=true]");

export function openPalette() {
  for (const group of groups()) group.replaceChildren(...(OPTIONS[group.dataset.of]?.() ?? []));
  const field = byId("palette-q");
  field.value = "";
  palette.showModal();
  field.focus();
  narrow();
}

// All words stand in it, in whatever order. What the server found has them too, once it was asked for these.
function narrow(isFound = false) {
  const wanted = byId("palette-q").value.toLowerCase().split(/\s+/).filter(Boolean);
  let left = SHOWN;
  for (const group of groups()) {
    for (const each of group.children) {
      const text = each.textContent.toLowerCase();
      each.hidden = isFound && group.dataset.of === "found" ? false : left <= 0 || !wanted.every((word) => text.includes(word));
      if (group.dataset.of === "settings" && !wanted.length) each.hidden = true;
      if (!each.hidden) left -= 1;
    }
    group.hidden = ![...group.children].some((each) => !each.hidden);
  }
  for (const [place, each] of options().entries()) each.id = `option-${place}`;
  markOption(options()[0]);
}

function markOption(one) {
  const field = byId("palette-q");
  if (chosenOption()) chosenOption().ariaSelected = "false";
  if (one) {
    one.ariaSelected = "true";
    one.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", one.id);
  } else {
    field.removeAttribute("aria-activedescendant");
  }
  const count = options().length, line = byId("palette-count");
  setText(line, count > 1 ? line.dataset.some.replace("{n}", count) : count ? line.dataset.one : line.dataset.none);
}

// -- what the server finds -------------------------------------------------------------------------

async function find() {
  const query = byId("palette-q").value.trim(), group = palette.querySelector("[data-of=found]");
  found?.abort();
  found = new AbortController();
  if (!query) {
    group.replaceChildren();
    return narrow();
  }
  try {
    const address = `${palette.dataset.url}?q=${encodeURIComponent(query)}`;
    const answer = await fetch(address, { signal: found.signal, headers: { "HX-Request": "true" } });
    const part = document.createElement("template");
    part.innerHTML = answer.status === 200 ? await answer.text() : "";
    const everything = option(palette.dataset.everything.replace("{query}", () => query), {
      href: `${palette.dataset.search}?q=${encodeURIComponent(query)}`,
    });
    group.replaceChildren(...part.content.querySelectorAll("[role=option]"), everything);
    const before = chosenOption(), isKept = before?.isConnected && !before.hidden;
    narrow(true);
    if (isKept && !before.hidden) markOption(before);
  } catch (/** @type {any} */ error) {
    if (error.name !== "AbortError") group.replaceChildren();
  }
}

// -- choosing --------------------------------------------------------------------------------------

function take(one) {
  if (!one) return;
  palette.close();
  if (one.dataset.href) location.assign(one.dataset.href);
  else if (one.control.matches(".reject > summary")) reject();
  else one.control.click();
}

const MOVES = {
  ArrowDown: (at, count) => (at + 1) % count,
  ArrowUp: (at, count) => (at - 1 + count) % count,
  PageDown: (at, count) => Math.min(at + 8, count - 1),
  PageUp: (at) => Math.max(at - 8, 0),
};

palette?.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229) return;
  const shown = options(), move = MOVES[event.key];
  if (move && shown.length) {
    event.preventDefault();
    markOption(shown[move(shown.indexOf(chosenOption()), shown.length)]);
  } else if (event.key === "Enter") {
    event.preventDefault();
    take(chosenOption());
  } else if (isPaletteKey(event)) {
    event.preventDefault();
    palette.close();
  }
});

palette?.addEventListener("input", () => {
  narrow();
  clearTimeout(soonest);
  soonest = setTimeout(find, 150);
});

palette?.addEventListener("click", (event) => {
  if (event.target === palette) palette.close();
  take(event.target.closest("[role=option]"));
});

palette?.addEventListener("pointermove", (event) => {
  const one = event.target.closest("[role=option]");
  if (one && one !== chosenOption()) markOption(one);
});

palette?.addEventListener("close", () => found?.abort());

for (const button of document.querySelectorAll("[data-palette]")) {
  button.hidden = !palette;
  button.addEventListener("click", openPalette);
}

// The queue's list: which row is chosen, where it stands, and going on from row to row.
import { byId, main } from "./page.js";
import { leavePage, mayLeave, unsent } from "./typed.js";

export function select(heldId) {
  for (const row of document.querySelectorAll(".row[aria-current]")) row.removeAttribute("aria-current");
  const row = byId(`row-${heldId}`);
  row?.setAttribute("aria-current", "true");
  if (row) bringIntoSight(row);
}

// Why a row comes first, once somebody points at its rank or comes to it: to say it of each would cost the whole list.
async function sayWhy(rank) {
  const address = rank?.dataset.why;
  if (!address) return;
  delete rank.dataset.why;
  const answer = await fetch(address);
  if (answer.status !== 200) return;
  rank.title = await answer.text();
  rank.previousElementSibling.setAttribute("aria-description", rank.title);
}

document.addEventListener("pointerover", ({ target }) => sayWhy(target.closest?.("[data-why]")));
document.addEventListener("focusin", ({ target }) => {
  if (target.matches(".row")) sayWhy(target.parentElement.querySelector("[data-why]"));
});

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

export function keepInPlace() {
  const row = chosen && byId(chosen.id), list = row?.closest(".rows");
  if (list?.scrollTop) list.scrollTop += row.getBoundingClientRect().top - chosen.top;
}

// On a phone the list gives way to the item: whoever comes back finds it as far down as they left it.
let leftAt; // how far that was

function keepPlace() {
  if (leftAt === undefined) return;
  history.scrollRestoration = "manual";
  sessionStorage.setItem("place", String(leftAt));
}
addEventListener("popstate", keepPlace);
document.addEventListener("click", ({ target }) => { if (target.closest(".back")) keepPlace(); });

export function showItem() {
  if (main.dataset.view === "list") leftAt = scrollY;
  main.dataset.view = "item";
}

const place = sessionStorage.getItem("place");
sessionStorage.removeItem("place");
if (place && main?.dataset.view === "list") addEventListener("load", () => scrollTo(0, Number(place)));

export function step(forward) {
  const rows = [...document.querySelectorAll(".row")];
  const at = rows.findIndex((row) => row.hasAttribute("aria-current"));
  const next = at < 0 ? rows[0] : rows[at + (forward ? 1 : -1)];
  if (next) return next.click();
  const turn = document.querySelector(forward ? ".turn[rel=next]" : ".turn[rel=prev]");
  if (!turn || !mayLeave()) return;
  leavePage((!forward && turn.dataset.last) || turn.href);
}

// A page may come with an item far down its list.
const opened = document.querySelector(".row[aria-current]");
if (opened) bringIntoSight(opened);

// Lists: J and K go from row to row, Enter opens, X selects where several can be dealt with at once.
import { setText } from "./page.js";
import { mayLeave } from "./typed.js";

// A list names itself with data-list; its rows are what stands in it.
const rowsHere = () => [...document.querySelectorAll("[data-list] > *")].filter((row) => row.checkVisibility());

// What of a row takes the focus: its first link or fold, else the row itself.
function handleOf(row) {
  const handle = [...row.querySelectorAll("a[href], summary")].find((each) => each.checkVisibility());
  if (!handle && row.tabIndex < 0) row.tabIndex = -1;
  return handle ?? row;
}

export function stepRow(by) {
  const rows = rowsHere();
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = at < 0 ? rows.find((each) => each.matches(".aimed")) ?? rows.at(by > 0 ? 0 : -1) : rows[at + by];
  if (row) return standAt(row);
  const turn = document.querySelector(by > 0 ? "a[rel=next]" : "a[rel=prev]");
  if (at >= 0 && turn && mayLeave()) turn.click();
}

function standAt(row) {
  handleOf(row).focus({ preventScroll: true, focusVisible: true });
  row.scrollIntoView({ block: "nearest" });
}

// How many are selected, in the bar that deals with them.
function countSelected() {
  for (const line of document.querySelectorAll("[data-picked]")) {
    const count = [...line.closest("form").elements].filter(({ type, checked }) => type === "checkbox" && checked).length;
    setText(line, count ? line.dataset.picked.replace("{n}", count) : "");
  }
}
document.addEventListener("change", countSelected);
document.addEventListener("htmx:afterSettle", countSelected);
countSelected(); // a page that comes back keeps what was ticked

const boxOf = (row) => row?.querySelector("input[type=checkbox]");

export function pickRow() {
  boxOf(document.activeElement.closest("[data-list] > *"))?.click();
}

// What A and R do where rows are selected: the bar's first step, or the one that dismisses.
export function stepPicked(key) {
  if (!rowsHere().some((row) => boxOf(row)?.checked)) return false;
  const button = document.querySelector(`.bulk [name=step]${key === "a" ? ":not([value=dismiss]):not(.unseen)" : "[value=dismiss]:not(.unseen)"}`);
  button?.click();
  return Boolean(button);
}

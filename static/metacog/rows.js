// Lists: J and K go from row to row, Enter opens, X selects where several can be dealt with at once.
"use strict";

// A list names itself with data-list; its rows are what stands in it. Some lists stand in a part that is folded away.
const rowsHere = () => [...document.querySelectorAll("[data-list] > *")].filter((row) => handleOf(row)?.checkVisibility());

// What of a row takes the focus: its first link, else the row itself.
function handleOf(row) {
  const link = row.querySelector("a[href]");
  if (!link && row.tabIndex < 0) row.tabIndex = -1;
  return link ?? row;
}

function stepRow(by) {
  const rows = rowsHere();
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[at < 0 ? (by > 0 ? 0 : -1) : at + by];
  if (row) return standAt(row);
  const turn = document.querySelector(by > 0 ? "a[rel=next]" : "a[rel=prev]");
  if (at >= 0 && turn && mayLeave()) turn.click();
}

function standAt(row) {
  const handle = handleOf(row);
  handle.focus({ preventScroll: true, focusVisible: true });
  row.scrollIntoView({ block: "nearest" });
}

function pickRow() {
  const row = document.activeElement.closest("[data-list] > *");
  row?.querySelector("input[type=checkbox]")?.click();
}

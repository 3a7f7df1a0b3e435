// What was in view: an area that is cut says how much more it has, and an approval asks once while the end of a text or
// an argument was never in sight. Without a script nothing is cut (in_view.css), and the buttons stand behind it all.
import { beginning, byId, say, setText, words } from "./page.js";

// -- areas that are cut ----------------------------------------------------------------------------

const AREAS = "pre.code, .answered, .changed, .says, .clipped, .md .scroll, .editor textarea";
const FEW = 3; // lines that are not worth a fold
const sized = new ResizeObserver((entries) => entries.forEach(({ target }) => markEdge(target)));

// How many lines are below what is shown, a line that is cut among them.
export function linesBelow(area) {
  const style = getComputedStyle(area);
  const left = area.scrollHeight - area.clientHeight - area.scrollTop - parseFloat(style.paddingBottom);
  return Math.ceil((left - 1) / (parseFloat(style.lineHeight) || 1.5 * parseFloat(style.fontSize)));
}

// Of a table that goes sideways.
function columnsBeside(area) {
  const { right } = area.getBoundingClientRect();
  return [...area.querySelectorAll("tr:first-child > *")].filter((cell) => cell.getBoundingClientRect().right > right + 1).length;
}

function markEdge(area) {
  if (!area.isConnected || !area.checkVisibility()) return;
  const isCut = area.scrollHeight > area.clientHeight + 1 && getComputedStyle(area).overflowY !== "visible";
  if (isCut && !area.scrollTop && linesBelow(area) <= FEW && !area.matches(".scroll, textarea, .whole-shown")) return showOn(area);
  const lines = isCut ? Math.max(0, linesBelow(area)) : 0, columns = isCut ? 0 : columnsBeside(area);
  if (!isCut && !columns && !area.edge) return;
  if (!area.edge?.isConnected) {
    area.edge = document.createElement("button");
    area.edge.type = "button";
    area.edge.className = "edge";
    area.edge.addEventListener("click", () => showOn(area));
    area.after(area.edge);
  }
  area.edge.hidden = !isCut && !columns;
  area.classList.toggle("cut", lines + columns > 0);
  setText(area.edge, lines ? counted("lines", lines) : columns ? counted("columns", columns) : words.areaEnd);
}

const counted = (what, n) => words[n === 1 ? `${what}One` : what].replace("{n}", n.toLocaleString(document.documentElement.lang));

// A page further; a text as a whole, so that the page scrolls instead of it.
function showOn(area) {
  if (area.matches(".scroll, textarea")) area.scrollBy({ left: area.clientWidth * 0.8, top: area.clientHeight * 0.8 });
  else area.classList.add("whole-shown");
  markEdge(area);
}

// -- ends ------------------------------------------------------------------------------------------

const inView = new WeakSet(); // the ends that were in sight
const askedAbout = new WeakSet(); // and those that were asked about
const BAR = 64; // pixels at the bottom, which the buttons cover
const sight = new IntersectionObserver(note, { rootMargin: `0px 0px -${BAR}px` });

function note(entries) {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    inView.add(target);
    sight.unobserve(target);
  }
}

export function unseenEnds(part) {
  note(sight.takeRecords());
  return [...part.querySelectorAll(".end")].filter((end) => !inView.has(end) && !isInSight(end) && !isOtherLayout(end));
}

// Of a command that is shown laid out or as sent, the end of the other; behind an editor, too.
function isOtherLayout(end) {
  const layout = end.closest(".laid, .sent");
  return layout && getComputedStyle(layout).display === "none";
}

// Now: a quick hand is ahead of what the browser tells.
function isInSight(end) {
  if (!end.checkVisibility()) return false;
  const { top, bottom } = end.getBoundingClientRect(), area = end.closest(AREAS)?.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight - BAR && (!area || (top >= area.top && bottom <= area.bottom));
}

// Whether what `part` shows may be approved: the first time not, while an end was never in sight; that is shown then.
export function mayApprove(part) {
  const ends = unseenEnds(part);
  if (!ends.length || ends.every((end) => askedAbout.has(end))) return true;
  ends.forEach((end) => askedAbout.add(end));
  for (let fold = ends[0].closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  ends[0].scrollIntoView({ block: "center" });
  say(toldOfEnds(ends));
  return false;
}

function toldOfEnds(ends) {
  const named = [...new Set(ends.map((end) => end.dataset.end))].filter(Boolean);
  if (!named.length) return words.endOfText;
  const more = named.length > 3 ? ` ${words.andMore.replace("{n}", String(named.length - 3))}` : "";
  const quoted = named.slice(0, 3).map((name) => `${words.opening}${beginning(name)}${words.closing}`);
  return words.endOf.replace("{what}", quoted.join(words.comma) + more);
}

// Several items, or the one of a mail: each that is going to be approved.
document.addEventListener("submit", (event) => {
  if (event.target.id === "approve" || event.submitter?.value !== "approve" || event.target.hidden) return;
  const items = [...event.target.querySelectorAll("article")];
  const parts = items.length ? items.filter((item) => item.querySelector("[name=item]:checked")) : [document];
  const holder = parts.find((part) => !mayApprove(part));
  if (holder) event.preventDefault();
}, true);

// -- when ------------------------------------------------------------------------------------------

let drawn = { of: undefined, ends: [] }; // the item on the page, and its ends

function discover() {
  const of = byId("item")?.dataset.held, ends = [...document.querySelectorAll(".end")];
  if (of === drawn.of) ends.forEach((end, at) => takeOver(end, drawn.ends[at]));
  drawn = { of, ends };
  for (const area of document.querySelectorAll(AREAS)) sized.observe(area);
  for (const end of ends) if (!inView.has(end)) sight.observe(end);
}

// What was read stays read when the server draws the item again, as it does behind an editor whose edit it refused.
function takeOver(end, before) {
  if (!before || end.dataset.end !== before.dataset.end || whole(end) !== whole(before)) return;
  for (const noted of [inView, askedAbout]) if (noted.has(before)) noted.add(end);
}

const whole = (end) => end.parentElement?.textContent;

for (const event of ["htmx:afterSwap", "htmx:oobAfterSwap", "htmx:afterSettle"]) document.addEventListener(event, discover);
document.addEventListener("scroll", ({ target }) => { if (target.edge) markEdge(target); }, { capture: true, passive: true });
document.addEventListener("input", ({ target }) => { if (target.matches("textarea")) markEdge(target); });
document.addEventListener("toggle", ({ target }) => target.querySelectorAll?.(AREAS).forEach(markEdge), true);
discover();

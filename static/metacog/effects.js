// Effects of a tool call: what is pointed at, or focused, in their list is lit where it stands in the arguments, and the
// other way round. A press goes there, and unfolds it.

const CALL = "[data-call]", PLACED = "[data-effects]";
const places = (part) => part.dataset.effects.split(" ").filter(Boolean);

function light(target, isLit) {
  const part = target.closest?.(PLACED), call = part?.closest(CALL);
  if (!call) return;
  const wanted = new Set(places(part));
  for (const each of call.querySelectorAll(PLACED)) {
    // A word of a sentence does not light the whole of it, only what is in the arguments, and the other way round.
    const isOther = each.matches(".fx") !== part.matches(".fx");
    if (isOther && places(each).some((place) => wanted.has(place))) (seenInsteadOf(each) ?? each).classList.toggle("lit", isLit);
  }
}

// What is folded is lit where it can be unfolded.
const seenInsteadOf = (part) => part.closest("details:not([open])")?.querySelector("summary");

for (const [begin, end] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
  document.addEventListener(begin, ({ target }) => light(target, true));
  document.addEventListener(end, ({ target }) => light(target, false));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.(".effect a[data-effects]"), call = link?.closest(CALL);
  if (!call) return;
  event.preventDefault();
  const wanted = new Set(places(link));
  const found = [...call.querySelectorAll(".fx")].filter((each) => places(each).some((place) => wanted.has(place)));
  const mark = found.find((each) => each.checkVisibility()) ?? found[0];
  for (let fold = mark?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  (mark ?? document.getElementById(link.hash.slice(1)))?.scrollIntoView({ block: "center", behavior: "instant" });
});

// The rules of a policy: their order is that of the page.
import { announce, byId } from "./page.js";

function moveRule(rule, before) {
  rule.parentElement.insertBefore(rule, before);
  for (const [place, each] of [...rule.parentElement.children].entries()) {
    for (const named of each.querySelectorAll("[aria-label]")) {
      named.ariaLabel = named.ariaLabel.replace(/\d+/, place + 1); // the first number is the rule's
      if (named.title) named.title = named.ariaLabel;
    }
  }
  byId("draft").dispatchEvent(new Event("input", { bubbles: true })); // what it would have done is another
}

function placeOf(rule) {
  const place = [...rule.parentElement.children].indexOf(rule) + 1;
  announce(rule.parentElement.dataset.moved.replace("{place}", place));
}

function showHandles() {
  for (const handle of document.querySelectorAll("[data-handle]")) handle.hidden = false;
}
showHandles();

document.addEventListener("keydown", (event) => {
  const rule = event.target.matches?.("[data-handle]") && event.target.closest("[data-rule]");
  if (!rule || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  const isUp = event.key === "ArrowUp";
  const other = isUp ? rule.previousElementSibling : rule.nextElementSibling;
  if (!other) return;
  moveRule(rule, isUp ? other : other.nextElementSibling);
  event.target.focus();
  placeOf(rule);
});

// By pointer events, which mice, pens and fingers have alike.
document.addEventListener("pointerdown", (event) => {
  const handle = event.target.closest?.("[data-handle]"), rule = handle?.closest("[data-rule]");
  if (!rule || event.button) return;
  event.preventDefault();
  handle.focus();
  handle.setPointerCapture(event.pointerId);
  rule.classList.add("dragged");
  const first = rule.nextElementSibling;
  const drag = ({ clientY }) => {
    const others = [...rule.parentElement.children].filter((each) => each !== rule);
    const below = others.find((each) => {
      const box = each.getBoundingClientRect();
      return clientY < box.top + box.height / 2;
    }) ?? null;
    if (below === rule.nextElementSibling) return;
    rule.parentElement.insertBefore(rule, below);
    if (!handle.hasPointerCapture(event.pointerId)) handle.setPointerCapture(event.pointerId); // to be moved ends it
  };
  const drop = () => {
    document.removeEventListener("pointermove", drag);
    document.removeEventListener("pointerup", drop);
    document.removeEventListener("pointercancel", drop);
    rule.classList.remove("dragged");
    if (rule.nextElementSibling === first) return;
    moveRule(rule, rule.nextElementSibling);
    placeOf(rule);
  };
  document.addEventListener("pointermove", drag);
  document.addEventListener("pointerup", drop);
  document.addEventListener("pointercancel", drop);
});

// What is typed into fields that are about to be drawn anew would go with them: until the answer is there, they wait.
document.addEventListener("htmx:beforeRequest", ({ detail: { target } }) => {
  if (target.matches("fieldset")) target.inert = true;
});
document.addEventListener("htmx:afterRequest", ({ detail: { target, requestConfig } }) => {
  if (!target.matches("fieldset")) return;
  target.inert = false; // it is there still if the request failed
  if (document.activeElement === document.body) byId(requestConfig.elt.id)?.focus();
});

// A preview that is under way tells of the rules as they stood; the next one is asked for once the new ones are there.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id === "rules") htmx.trigger("#draft", "htmx:abort");
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id !== "rules") return;
  showHandles();
  const rules = byId("rules"), wanted = byId(rules.dataset.focus);
  (wanted?.disabled ? null : wanted)?.focus();
  byId("draft").dispatchEvent(new Event("input", { bubbles: true }));
});

// What is corrected is looked at anew, and its error comes beside it: the field was drawn with the one before.
document.addEventListener("input", ({ target }) => {
  const line = target.closest?.(".rule-line");
  for (const field of line?.querySelectorAll("[aria-invalid]") ?? []) field.removeAttribute("aria-invalid");
});

// Several items at once: what is ticked in the queue's list, and deciding it.
import { dispatch, isWaiting } from "./desk.js";
import { unseenEnds } from "./in_view.js";
import { byId, complain, setText, words } from "./page.js";
import { leavePage, mayLeave } from "./typed.js";

export const picked = new Set(); // what is ticked outlives the list, which is drawn anew with every change

document.addEventListener("change", (event) => {
  if (!event.target.matches(".pick input")) return;
  if (event.target.checked) picked.add(event.target.value);
  else picked.delete(event.target.value);
  countPicked();
});

function countPicked() {
  setText(byId("picked"), document.querySelectorAll(".pick :checked").length);
}

function pickAgain() {
  for (const box of document.querySelectorAll(".pick input")) box.checked = picked.has(box.value);
  countPicked();
}

export function unpick() {
  picked.clear();
  pickAgain();
}

// What A and R do while items are selected: they are decided together, or read again to be rejected with a reason. The
// page on which they are read whole says which versions of them are decided.
export function decidePicked(verdict) {
  const form = byId("selected");
  if (!form || !picked.size) return false;
  const address = new URL(form.action, location.href), fields = new FormData(form);
  fields.delete("held");
  for (const [name, value] of fields) address.searchParams.append(name, String(value));
  for (const heldId of picked) address.searchParams.append("held", heldId);
  if (!mayLeave()) return true;
  leavePage();
  if (verdict === "reject") address.searchParams.set("reject", "1");
  if (verdict === "reject" || ![...picked].every(isReadWhole)) {
    location.assign(address);
  } else {
    approveTogether(address);
  }
  return true;
}

// Of a row that stands for one item and cuts nothing off, all was in view.
function isReadWhole(heldId) {
  const row = byId(`row-${heldId}`), clip = row?.querySelector(".clip");
  if (byId("item")?.dataset.held === heldId && !unseenEnds(byId("desk")).length) return true;
  return Boolean(clip) && !row.parentElement.matches(".many") && !/[…•]/.test(clip.textContent) && clip.scrollHeight <= clip.clientHeight + 1;
}

async function approveTogether(address) {
  if (isWaiting()) return;
  dispatch({ type: "busy", isOn: true });
  try {
    const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
    const form = page.querySelector("form.together");
    if (form?.querySelectorAll("[name=item]").length !== picked.size) return location.assign(address); // it says why
    const sent = document.importNode(form, true);
    sent.hidden = true;
    document.body.append(sent);
    sent.requestSubmit(sent.querySelector("[name=verdict][value=approve]"));
  } catch {
    complain(words.failed);
  }
  dispatch({ type: "busy", isOn: false });
}

// Without a script the bar leads to the page on which the selected items are read; these decide them from here.
for (const verdict of byId("selected") ? ["approve", "reject"] : []) {
  const button = document.createElement("button"), key = document.createElement("kbd");
  button.type = "button";
  button.className = `btn ${verdict === "approve" ? "yes" : "no"}`;
  key.ariaHidden = "true";
  key.textContent = verdict === "approve" ? "A" : "R";
  button.append(verdict === "approve" ? words.approvePicked : words.rejectPicked, " ", key);
  button.setAttribute("aria-keyshortcuts", key.textContent);
  button.addEventListener("click", () => decidePicked(verdict));
  byId("selected").append(button);
}

export function pick() {
  const box = document.querySelector(".entry:has(.row[aria-current]) .pick input");
  if (box) box.click();
}

document.addEventListener("htmx:oobAfterSwap", ({ detail }) => { if (detail.target.id === "rows") pickAgain(); });

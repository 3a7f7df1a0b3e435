// Keeps the times of the queue's rows true while the page is open; reviews/presentation/phrases.py says the same.
import { setText } from "./page.js";
import { rounded, serverNow } from "./time.js";

const list = document.querySelector(".list").dataset;

function told(time, now) {
  const left = Math.trunc((Date.parse(time.dateTime) - now) / 1000);
  const said = rounded(Math.abs(left));
  if (time.matches(".target")) return (left < 0 ? list.overdue : list.due).replace("{time}", said);
  return left > 0 ? list.expires.replace("{time}", said) : list.expired;
}

function tick() {
  if (document.hidden) return;
  const now = serverNow();
  for (const time of document.querySelectorAll("time.limit")) {
    setText(time, told(time, now));
    if (time.dataset.late) time.classList.toggle("late", now >= Date.parse(time.dataset.late));
  }
}
setInterval(tick, 1000);
tick();

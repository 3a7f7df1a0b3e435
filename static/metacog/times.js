// Keeps the times of the queue's rows true while the page is open; reviews/presentation/phrases.py says the same.
"use strict";

(() => {
  const words = document.body.dataset;
  const list = document.querySelector(".list").dataset;
  const sizes = [["d", 86400], ["h", 3600], ["min", 60], ["s", 0]];

  function rounded(seconds) {
    const [unit, size] = sizes.find(([, each]) => seconds >= each);
    return words[unit].replace("{n}", size ? Math.floor(seconds / size) : seconds);
  }

  function told(time, now) {
    const left = Math.trunc((Date.parse(time.dateTime) - now) / 1000);
    const said = rounded(Math.abs(left));
    if (time.matches(".target")) return (left < 0 ? list.overdue : list.due).replace("{time}", said);
    return left > 0 ? list.expires.replace("{time}", said) : list.expired;
  }

  // The server's clock counts, not the device's.
  let skew = 0;
  addEventListener("htmx:afterRequest", (event) => {
    const date = Date.parse(event.detail.xhr?.getResponseHeader("Date") ?? "");
    if (date && Math.abs(date - Date.now()) > 2000) skew = date - Date.now();
  });

  function tick() {
    if (document.hidden) return;
    const now = Date.now() + skew;
    for (const time of document.querySelectorAll("time.limit")) {
      const text = told(time, now);
      if (time.textContent !== text) time.textContent = text;
      if (time.dataset.late) time.classList.toggle("late", now >= Date.parse(time.dataset.late));
    }
  }
  setInterval(tick, 1000);
  tick();
})();

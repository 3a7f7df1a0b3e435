// Durations in words, by the server's clock: reviews/templatetags/console.py and reviews/presentation/phrases.py say the
// same.
import { words } from "./page.js";

/** @type {[string, number][]} */
const UNITS = [["d", 86400], ["h", 3600], ["min", 60]];

export function rounded(seconds) {
  for (const [unit, size] of UNITS) {
    if (seconds >= size) return words[unit].replace("{n}", String(Math.floor(seconds / size)));
  }
  return words.s.replace("{n}", String(seconds));
}

// The server's clock counts, not the device's.
let skew = 0;
addEventListener("htmx:afterRequest", (event) => {
  const date = Date.parse(event.detail.xhr?.getResponseHeader("Date") ?? "");
  if (date && Math.abs(date - Date.now()) > 2000) skew = date - Date.now();
});

export const serverNow = () => Date.now() + skew;

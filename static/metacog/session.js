// A session that is open: what comes new is told, and kept in sight where the reader stands at the end.
import { announce, byId, words } from "./page.js";

const MOST = 60; // items that may still change, and are asked after; the server takes no more

const poll = byId("poll"), line = byId("line");

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.elt !== poll) return;
  const open = detail.parameters.getAll ? detail.parameters.getAll("open") : [detail.parameters.open].flat();
  detail.parameters.open = open.join(" ").split(" ").slice(-MOST).join(" ");
});

let before, wasAtEnd;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.requestConfig?.elt !== poll) return;
  before = line.childElementCount;
  wasAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.elt !== poll || before === undefined) return;
  const more = line.childElementCount - before;
  before = undefined;
  if (more <= 0) return;
  announce(words.posts.replace("{n}", String(more)));
  if (wasAtEnd) byId("foot").scrollIntoView({ block: "end" });
});

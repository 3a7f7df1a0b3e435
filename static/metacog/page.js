// What every script of a page asks for: its parts by name, its words, and saying things.

export const words = document.body.dataset;
/** @returns {any} */
export const byId = (id) => document.getElementById(id);
/** @type {HTMLElement | null} */
export const main = document.querySelector(".split"); // the queue's
const HEARD = 80; // characters of a text that are read out

// -- saying things -----------------------------------------------------------------------------

let saying;
export function announce(text) {
  byId("live").textContent = "";
  // A change in the same moment as the swap is not read out; htmx tells of one swap once for each element that came.
  clearTimeout(saying);
  saying = setTimeout(() => { byId("live").textContent = text; }, 100);
}

export const toAnnounce = (part) => [...part.querySelectorAll("[data-announce]")].map((each) => each.innerText).join("\n");

// Whose text it was is heard before it ends.
export const beginning = (text) => (text.length > HEARD ? `${text.slice(0, HEARD)}…` : text);

export function complain(text) {
  let note = byId("complaint");
  if (!note) {
    note = document.createElement("p");
    note.id = "complaint";
    note.className = "complaint";
    note.setAttribute("role", "alert");
    document.body.append(note);
  }
  setText(note, text);
  clearTimeout(note.timer);
  note.timer = setTimeout(() => note.remove(), 12000);
}

// What was said about what was tried before.
export function forgetRefusal() {
  byId("complaint")?.remove();
  document.querySelector("#stopped [role=alert]")?.remove();
}

// What a key could not do, for whoever looks as well.
export function say(text) {
  let note = byId("notice");
  if (!note) {
    note = document.createElement("p");
    note.id = "notice";
    note.className = "complaint plain";
    document.body.append(note);
  }
  setText(note, text);
  announce(text);
  clearTimeout(note.timer);
  note.timer = setTimeout(() => note.remove(), 5000);
}

// It gives way to what is done next.
for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, () => byId("notice")?.remove(), true);

export function setText(element, text) {
  if (element.textContent !== String(text)) element.textContent = text;
}

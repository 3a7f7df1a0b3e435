// What a key says on other layouts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const file = readFileSync(new URL("../../static/metacog/key_names.js", import.meta.url));
const { keyOf } = await import(`data:text/javascript;base64,${file.toString("base64")}`);

const ROWS = [
  // [layout, key, code, with Shift, what it says]
  ["Russian", "о", "KeyJ", false, "j"], ["Russian", "л", "KeyK", false, "k"], ["Russian", "ф", "KeyA", false, "a"],
  ["Greek", "ξ", "KeyJ", false, "j"], ["Greek", "α", "KeyA", false, "a"], ["Greek", "ά", "Semicolon", false, "ά"],
  ["Hebrew", "ח", "KeyJ", false, "j"], ["Hebrew", "ש", "KeyA", false, "a"], ["Hebrew", "ף", "Semicolon", false, "ף"],
  ["Dvorak: what is typed counts, not where it lies", "j", "KeyC", false, "j"], ["Dvorak", "h", "KeyJ", false, "h"],
  ["Arabic: a letter lies where the slash does", "ظ", "Slash", false, "/"], ["Arabic", "؟", "Slash", true, "?"],
  ["German", "?", "Minus", true, "?"], ["English", "A", "KeyA", true, "a"], ["any", "Enter", "Enter", false, ""],
];

test("a key goes by its letter, and on a layout of another script by its place", () => {
  for (const [layout, key, code, shiftKey, said] of ROWS) assert.equal(keyOf({ key, code, shiftKey }), said, `${layout}: ${key}`);
});

// What a key says in Latin letters: as typed, and on a layout of another script by where the key lies.
export function keyOf(event) {
  if (event.key.length !== 1) return "";
  const key = event.key.toLowerCase();
  if (/^[\x20-\x7e]$/.test(key)) return key;
  if (event.code === "Slash") return event.shiftKey ? "?" : "/";
  return /^Key[A-Z]$/.test(event.code) ? event.code[3].toLowerCase() : key;
}

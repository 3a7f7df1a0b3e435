// The parts of a long page are folded on phones; without this they stand open one below the other.

const parts = document.querySelectorAll("details.foldable");
const fold = (isOpen) => parts.forEach((part) => (part.open = isOpen));

/** Open the part that the address names. */
function openNamed() {
  const named = document.getElementById(location.hash.slice(1));
  const part = named?.closest("details.foldable") ?? named?.querySelector("details.foldable");
  if (!part) return;
  part.open = true;
  named.scrollIntoView();
}

if (matchMedia("(max-width: 520px)").matches) {
  fold(false);
  openNamed();
  addEventListener("hashchange", openNamed);
  addEventListener("beforeprint", () => fold(true));
}

// Review depth: the range moves the mark on the curve, and the sentence says what is found there.
const range = document.querySelector("[data-look]")
if (range) {
  const rows = [...document.querySelectorAll("[data-row]")]
  const mark = document.querySelector("[data-mark]")
  const told = document.querySelector("[data-told]")
  range.addEventListener("input", () => {
    const row = rows[Number(range.value)]
    mark.setAttribute("cx", row.dataset.x)
    mark.setAttribute("cy", row.dataset.y)
    range.setAttribute("aria-valuetext", `${row.dataset.share}%`)
    told.textContent = row.dataset.told
  })
}

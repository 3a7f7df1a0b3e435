// Review depth: whoever drags the point along the curve, or moves the range, is told what is found there. The budget of
// the form above follows, and with it its preview; nothing counts before it is saved.
for (const section of document.querySelectorAll(".how-far")) {
  const rows = [...section.querySelectorAll("[data-row]")]
  const range = section.querySelector("[data-look]")
  const mark = section.querySelector("[data-mark]")
  const told = section.querySelector("[data-told]")
  /** @type {SVGSVGElement} */
  const curve = section.querySelector("[data-curve]")
  const budget = document.getElementById(section.dataset.budget)

  const choose = () => {
    const row = rows[Number(range.value)]
    mark.setAttribute("cx", row.dataset.x)
    mark.setAttribute("cy", row.dataset.y)
    range.setAttribute("aria-valuetext", `${row.dataset.share}%`)
    told.textContent = row.dataset.told
    if (budget && !budget.disabled && row.dataset.items) {
      budget.value = row.dataset.items
      budget.dispatchEvent(new Event("input", { bubbles: true }))
    }
  }
  const drag = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(curve.getScreenCTM().inverse()).x
    const away = rows.map((row) => Math.abs(Number(row.dataset.x) - at))
    const nearest = String(away.indexOf(Math.min(...away)))
    if (nearest !== range.value) {
      range.value = nearest
      choose()
    }
  }
  range.addEventListener("input", choose)
  curve.addEventListener("pointerdown", (event) => {
    event.preventDefault()
    curve.setPointerCapture(event.pointerId)
    drag(event)
  })
  curve.addEventListener("pointermove", (event) => {
    if (curve.hasPointerCapture(event.pointerId)) drag(event)
  })
}

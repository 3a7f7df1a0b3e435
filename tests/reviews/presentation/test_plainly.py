"""Intervals one hover away."""

from __future__ import annotations

from reviews.presentation.statistics.plainly import plainly
from tests.tables import table

MARK = '<abbr class="aside" tabindex="0" title="{}">±</abbr>'


@table(
    ("told", "shown", "aside"),
    [
        ("It fell (95% CI 1–2%).", "It fell{}.", "95% CI 1–2%"),
        ("Clear (50%, 95% CI 44–57%, n = 224); no.", "Clear (50%){}; no.", "95% CI 44–57%, n = 224"),
        ("變化（50%，95% CI 44–57%）。", "變化（50%）{}。", "95% CI 44–57%"),
        ("5 points, 95% CI 1–9%", "5 points, {}", "95% CI 1–9%"),
        ("<b> & co. (95% CI <1%)", "&lt;b&gt; &amp; co.{}", "95% CI &lt;1%"),
        ("No interval (n = 3).", "No interval (n = 3).", ""),
    ],
)
def test_a_sentence_keeps_its_words_and_hides_its_intervals(told: str, shown: str, aside: str) -> None:
    assert plainly(told) == shown.format(MARK.format(aside))

"""Reasons that people typed, grouped."""

from __future__ import annotations

from metacog.heuristics.ranking.told import grouped
from tests.tables import table


@table(
    ("reasons", "groups"),
    [
        (
            ["promises a date", "Promised a date.", "wrong order", "it promises a date!"],
            {"promises a date": 3, "wrong order": 1},
        ),
        (["Order 17 is wrong", "wrong order", "WRONG  ORDER"], {"wrong order": 3}),
        (["承諾了日期", "承諾日期", "數字不對"], {"承諾日期": 2, "數字不對": 1}),
        (["no source given", "no tests were run"], {"no source given": 1, "no tests were run": 1}),
        (["", "…", "the"], {}),
    ],
)  # fmt: skip
def test_reasons_of_the_same_words_are_one(reasons: list[str], groups: dict[str, int]) -> None:
    found = grouped(reasons)
    assert {each.name: len(each.places) for each in found} == groups
    places = [place for each in found for place in each.places]
    assert len(places) == len(set(places)) == sum(groups.values())

"""Canonical JSON: the examples of RFC 8785, and whole numbers that no double holds."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.text.canonical_json import canonical
from tests.tables import table

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-(2.0**53), 2.0**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@table(
    ("value", "written"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (1e21, "1e+21"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (333333333.3333332, "333333333.3333332"),
        (-1.5, "-1.5"),
        (100.0, "100"),
        (9007199254740993, "9007199254740993"),
        ({"€": 1, "\r": 2, "\ufb33": 3, "1": 4, "😀": 5, "\x80": 6, "ö": 7},
         '{"\\r":2,"1":4,"\x80":6,"ö":7,"€":1,"😀":5,"\ufb33":3}'),
        ([56, {"d": True, "10": None, "1": []}], '[56,{"1":[],"10":null,"d":true}]'),
        ("€$\x0f\nA'B\"\\\\\"/", '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'),
    ],
)  # fmt: skip
def test_it_is_written_as_the_standard_has_it(value: Any, written: str) -> None:
    assert canonical(value) == written


@given(JSON)
def test_it_means_what_it_was_made_of(value: Any) -> None:
    assert canonical(json.loads(canonical(value))) == canonical(value)
    assert json.loads(canonical(value)) == value

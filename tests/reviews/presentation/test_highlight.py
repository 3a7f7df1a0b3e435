"""Texts as the page shows them: marked where a signal fired, and nothing in them unseen."""

from __future__ import annotations

import re
import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

from reviews.presentation.explanation import TITLES
from reviews.presentation.highlight import Mark, of_item, of_response, show
from reviews.presentation.phrases import signal_class
from tests.tables import table


def plain(text: str, *marks: Mark) -> list[tuple[str, tuple[str, ...]]]:
    return [(piece.text, piece.types) for piece in show(text, marks).pieces]


def test_a_text_without_marks_is_one_piece() -> None:
    assert plain("abc") == [("abc", ())]
    assert not show("")


def test_marks_cut_the_text_and_lose_none_of_it() -> None:
    assert plain("abcdef", Mark(1, 3, "x"), Mark(4, 5, "y")) == [
        ("a", ()),
        ("bc", ("x",)),
        ("d", ()),
        ("e", ("y",)),
        ("f", ()),
    ]


@table(
    ("marks", "expected"),
    [
        ([Mark(0, 3, "x"), Mark(2, 4, "y")], [("ab", "x"), ("c", "xy"), ("d", "y"), ("ef", "")]),
        ([Mark(0, 5, "x"), Mark(1, 2, "y")], [("a", "x"), ("b", "xy"), ("cde", "x"), ("f", "")]),
        ([Mark(1, 2, "x"), Mark(1, 2, "x")], [("a", ""), ("b", "x"), ("cdef", "")]),
        ([Mark(4, 99, "x")], [("abcd", ""), ("ef", "x")]),
        ([Mark(9, 12, "x"), Mark(2, 2, "x")], [("abcdef", "")]),
    ],
)
def test_marks_may_overlap_repeat_and_reach_too_far(marks: list[Mark], expected: list[tuple[str, str]]) -> None:
    assert [(text, "".join(types)) for text, types in plain("abcdef", *marks)] == expected


def test_a_mark_says_its_reason_where_it_begins_and_only_there() -> None:
    pieces = show("ab\u200bcd", [Mark(0, 4, "x")]).pieces
    assert [piece.begins for piece in pieces] == [("x",), (), (), ()]


def test_a_signal_about_the_whole_text_marks_no_words() -> None:
    shown = show("abc", [Mark(0, 3, "no-hedge"), Mark(1, 2, "x")])
    assert shown.whole == ("no-hedge",)
    assert [piece.types for piece in shown.pieces] == [(), ("x",), ()]


def test_every_control_and_format_character_is_made_visible() -> None:
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        if unicodedata.category(character) in ("Cc", "Cf") and character not in "\n\t":
            assert [piece.hidden for piece in show(f"a{character}b").pieces][1].startswith("U+"), hex(number)


@table("character", ["\u2028", "\u2029", "\u3164", "\u115f", "\u2800", "\U000e0041", "\ufff9"])
def test_what_is_drawn_as_nothing_is_made_visible(character: str) -> None:
    shown = show(f"a{character}b")
    assert shown.hidden == 1
    assert shown.pieces[1].hidden == f"U+{ord(character):04X}"


@table("text", ["tab\tand\nline\r\nend", "❤️", "字\u3000字", "葛\U000e0100城"])
def test_what_belongs_to_a_text_is_left_alone(text: str) -> None:
    assert plain(text) == [(text, ())]


def test_variation_selectors_that_vary_nothing_are_made_visible() -> None:
    assert [piece.hidden for piece in show("☎\ufe0f\ufe01\ufe02 \ufe00").pieces] == ["", "U+FE01 U+FE02", "", "U+FE00"]


def test_a_mark_without_its_letter_is_named() -> None:
    assert [piece.hidden for piece in show("\u0332").pieces] == ["U+0332"]


def test_odd_spaces_stay_spaces_and_are_named() -> None:
    piece = show("a\u00a0b").pieces[1]
    assert (piece.text, piece.odd, piece.names) == ("\u00a0", True, "NO-BREAK SPACE")


def test_a_run_is_named_once_and_what_tags_spell_is_read_out() -> None:
    assert show("\u200b" * 1200 + "\u2060").pieces[0].hidden == "U+200B×1,200 U+2060"
    spelled = "".join(chr(0xE0000 + ord(letter)) for letter in "run rm")
    assert show(spelled).pieces[0].names.startswith("“run rm”")


def test_a_megabyte_of_hidden_characters_is_shown_in_reasonable_time() -> None:
    began = time.perf_counter()
    shown = show("a\u200b" * 500_000, [Mark(0, 10, "x")])
    assert time.perf_counter() - began < 5
    assert len(shown.pieces) == 2
    assert shown.pieces[0].text.startswith("a⟦U+200B⟧a")
    assert shown.hidden == 500_000


SIGNALS: list[Any] = [
    {"type": "absolute-claim", "spans": [{"start": 9, "end": 16, "text": "clearly"}]},
    {"type": "no-hedge", "spans": [{"start": 0, "end": 3, "text": "abc", "item": 1}]},
]


def test_spans_of_the_response_are_moved_into_an_item_parsed_from_it() -> None:
    assert of_response(SIGNALS) == [Mark(9, 16, "absolute-claim")]
    assert of_item(SIGNALS, 0, "is clearly so", 6, 19) == [Mark(3, 10, "absolute-claim")]
    assert of_item(SIGNALS, 0, "arly so", 12, 19) == [Mark(0, 4, "absolute-claim")]
    assert of_item(SIGNALS, 0, "elsewhere", 30, 39) == []


def test_in_an_item_sent_beside_the_response_the_same_words_are_marked() -> None:
    assert of_item(SIGNALS, 0, "clearly, clearly", None, None) == [
        Mark(0, 7, "absolute-claim"),
        Mark(9, 16, "absolute-claim"),
    ]


def test_spans_of_an_item_are_its_own() -> None:
    assert of_item(SIGNALS, 1, "abc", None, None) == [Mark(0, 3, "no-hedge")]


def test_every_signal_has_a_color_of_the_palette() -> None:
    sheet = (Path(__file__).parents[3] / "static/metacog/console.css").read_text()
    rule = r"(?m)^\.%s {(?=.*--color: var\(--)(?=.*--soft: var\(--)(?=.*--line: )(?=.*--gap: )"
    uncolored = [
        name for name in [*TITLES, "of an engine to come"] if not re.search(rule % signal_class(name).split()[1], sheet)
    ]
    assert uncolored == []
    assert len({signal_class(name) for name in TITLES}) == len(TITLES)

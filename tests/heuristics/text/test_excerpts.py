"""Excerpts quote what is said, not the markup around it."""

from __future__ import annotations

import time

from metacog.heuristics.text.excerpts import without_tags
from tests.tables import table


@table(
    ("text", "quoted"),
    [
        ("It is done.", "It is done."),
        ("<kuro:chat>It is done.</kuro:chat>", "It is done."),
        ('<chat to="a>b">One.</chat><kuro:TASK  due="2m">Two</kuro:TASK> [ASK]and[/ASK]', "One. Two and"),
        ('[SCHEDULE next="2m"] Later.', "Later."),
        ("The [task] is [ask] me", "The [task] is [ask] me"),
        ("a <b>bold</b> <chatter> 1 < 2", "a <b>bold</b> <chatter> 1 < 2"),
        ("Write `<kuro:chat>` like\n```\n<kuro:chat>x</kuro:chat>\n```\n<kuro:chat>so</kuro:chat>.",
         "Write `<kuro:chat>` like\n```\n<kuro:chat>x</kuro:chat>\n```\nso."),
        ('Well. <kuro:remember topic="約束" conf…', "Well."),
        ("A <chat is never closed", "A <chat is never closed"),
        ('<kuro:schedule next="2m"/>', '<kuro:schedule next="2m"/>'),
        ("", ""),
    ],
)  # fmt: skip
def test_it_quotes_what_is_said(text: str, quoted: str) -> None:
    assert without_tags(text) == quoted


@table("text", ["<chat " * 50_000, "[task " * 50_000, "<chat>x</chat>" * 20_000])
def test_many_tags_make_it_no_slower(text: str) -> None:
    started = time.process_time()
    without_tags(text)
    assert time.process_time() - started < 5

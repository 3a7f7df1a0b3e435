"""What is found in what is remembered, and what answers a request for more steps, in English and Chinese."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.memory.recall import (
    TERMS,
    Ranked,
    answers,
    asked,
    counted,
    in_common,
    needed,
    places,
    rank,
    readable,
)
from tests.tables import table

MEMORIES = (
    "TSMC's revenue in Q3 2025 was NT$989.9 billion.",
    "TSMC's revenue in Q2 2025 was NT$933.8 billion.",
    "The deploy caches the settings for five minutes.",
    "台積電 2025 年 Q3 營收為 9899 億元。",
    "鸿海 2025 年 Q3 营收为 20573 亿元。",
    "退款在三個工作天內處理。",
)


def find(words: tuple[str, ...], memories: tuple[str, ...] = MEMORIES, most: int | None = None) -> list[Ranked]:
    terms = [counted(text) for text in memories]
    postings = [
        (number, term, times, found.total()) for number, found in enumerate(terms) for term, times in found.items()
    ]
    mean = sum(found.total() for found in terms) / len(terms)
    read = [each for each in postings if each[1] in words]
    return rank(words, frequencies(postings), read, len(terms), mean, most=most)


def frequencies(postings: list[tuple[int, str, int, int]]) -> Counter[str]:
    return Counter(term for _, term, _, _ in postings)


@table(
    ("query", "best"),
    [
        ("revenue of TSMC in Q3", 0),
        ("tsmc q2 revenue", 1),
        ("how long are settings cached", 2),
        ("caching a setting", 2),
        ("台積電營收", 3),
        ("台积电营收", 3),  # simplified finds traditional
        ("鴻海營收", 4),  # and the other way round
        ("退款要多久", 5),
        ("ＴＳＭＣ revenue Q3", 0),
    ],
)
def test_it_finds_the_best_first(query: str, best: int) -> None:
    assert find(asked(query))[0].number == best


@table("query", ["", "the of and", "的了是", "refund", "退稅", "!?", "x"])
def test_it_finds_nothing_where_no_word_is_shared(query: str) -> None:
    assert find(asked(query)) == []


def test_of_equals_the_later_comes_first_and_a_rare_word_counts_more() -> None:
    alike = ("the cache", "a cache", "the cache")
    assert [each.number for each in find(("cach",), alike)] == [2, 1, 0]
    assert find(("cach",), alike, most=2) == find(("cach",), alike)[:2]
    found = find(("log", "zeppelin"), ("log", "log", "log", "zeppelin"))
    assert found[0].number == 3
    assert found[0].share > 0.5 > found[1].share


def test_a_repeated_word_counts_more_and_a_long_text_less() -> None:
    assert [each.number for each in find(("cach",), ("cache cache", "cache miss"))] == [0, 1]
    assert [each.number for each in find(("cach",), ("cache miss of the third shard", "cache miss"))] == [1, 0]


def test_it_reads_the_rarest_words_and_no_more_than_it_can() -> None:
    assert readable({"the": 9_999, "cach": 1, "rare": 1}) == ["cach", "rare"]
    assert readable({"the": 9_999, "cach": 1}) == ["cach", "the"]
    assert readable({"the": 90_000}) == ["the"]


@given(st.permutations(range(len(MEMORIES))))
def test_the_order_of_postings_changes_nothing(order: list[int]) -> None:
    words = asked("TSMC 台積電 Q3 2025 revenue 營收")
    postings = [(n, term, 1, 9) for n in order for term in counted(MEMORIES[n]) if term in words]
    straight = sorted(postings, key=lambda each: each[0])
    assert rank(words, frequencies(postings), postings, 6, 9.0) == rank(words, frequencies(postings), straight, 6, 9.0)


@table(
    ("reason", "is_answered"),
    [
        ("Need TSMC Q3 2025 revenue to settle the main point", True),
        ("目前缺乏台積電 Q3 營收數據，此為核心論據", True),
        ("我还没有台积电 2025 Q3 的营收资料", True),
        ("Need TSMC Q4 2025 revenue to settle the main point", False),  # another quarter
        ("目前缺乏台積電 Q1 營收數據", False),
        ("Need Samsung Q3 2025 revenue", False),  # another company
        ("目前缺乏聯電 Q3 營收數據", False),
        ("Need TSMC Q3 2025 gross margin and capital spending", False),  # other figures
        ("Need TSMC", False),  # one word is no question
        ("I need more time to think", False),
        ("需要更多時間", False),
    ],
)
def test_a_memory_answers_a_reason_when_it_holds_all_that_is_named(reason: str, is_answered: bool) -> None:
    assert any(answers(reason, found) for found in find(needed(reason))) is is_answered


@table(
    ("text", "said", "count"),
    [
        ("The ledger answers the gateway.", "ledger gateway", 2),
        ("The ledger, and the LEDGERS again.", "ledger gateway", 1),  # one word twice
        ("The gate is another way.", "ledger gateway", 0),
        ("帳本連線逾時", "帳本連線", 2),  # four characters in a row
        ("帳本和連線", "帳本連線", 2),
        ("帳本，帳本", "帳本連線", 1),
        ("帳本的 ledger", "ledger 帳本", 2),
        ("連線逾", "連線逾", 1),  # three are one word and a half
        ("帳", "帳 本", 0),  # one alone is none
        ("连线", "連線", 1),
        ("", "ledger", 0),
        ("ledger", "", 0),
    ],
)
def test_it_counts_the_words_in_common(text: str, said: str, count: int) -> None:
    assert in_common(text, asked(said)) == count


def test_it_shows_where_a_text_has_what_was_asked() -> None:
    text = "在台積電\u200b的財報裡：Caches, caching."
    assert [text[start:end] for start, end in places(text, asked("台积电 財報 cached"))] == [
        "台積電", "財報", "Caches", "caching",
    ]  # fmt: skip


@given(st.text(max_size=300))
def test_whatever_the_text_every_place_holds_something_and_none_overlap(text: str) -> None:
    found = places(text, counted(text))
    assert all(start < end <= len(text) for start, end in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    assert bool(found) == bool(counted(text))


def test_the_terms_are_those_of_their_version() -> None:
    """What is remembered is kept under its terms: other terms of the same words are another version."""
    endings = ("", "s", "es", "ed", "ing", "er", "ness")
    stems = ("deploy", "cach", "test", "plan", "run", "process", "class", "fall", "feed", "tri", "use", "ms", "café")
    words = [stem + ending for stem in stems for ending in endings]
    said = "The x of it isn't in v1.2 at 10:30, José's 台積電的第三季營收為 9899 億元，快取已清空。"
    made = json.dumps([sorted(counted(text).items()) for text in (*words, said)], ensure_ascii=False)
    digest = hashlib.sha256(made.encode()).hexdigest()[:16]
    assert (TERMS, digest) == (1, "3c0c6b7b9b6d0a4c"), (
        "The stemmer, or what else makes terms, has changed: raise TERMS in text/words.py by "
        "one (the worker then indexes every memory anew, docs/memory.md), and write the version and the digest here."
    )

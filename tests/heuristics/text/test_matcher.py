"""One automaton finds what the seed's expressions and `includes` find, with the library and apart from it."""

import gc
import itertools
import re
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.text import matcher
from metacog.heuristics.text.matcher import (
    ABSOLUTE,
    CONCLUSION,
    HEDGE,
    REASONING,
    SOURCE,
    TERMS,
    Matcher,
    occurrences,
)
from tests.tables import table

# So many entries may end at one place without being searched for apart from the library: as it is, and none at all.
LIMITS = (matcher.MANY_ENDINGS, 0)


@pytest.fixture(params=LIMITS, ids=["library", "apart"])
def limit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matcher, "MANY_ENDINGS", request.param)


automata = pytest.mark.usefixtures("limit")
ALL = [term for terms in TERMS for term in terms]


@table("entries", [[b"a" * length for length in range(1, 10)], [b"a\0b"]])
def test_it_searches_apart_for_what_the_library_reads_too_often_or_not_whole(entries: list[bytes]) -> None:
    for others in ([], [b"other"]):
        automaton = matcher.automaton_of([*others, *entries], 0)
        assert [entry - len(others) for entry in sorted(automaton.apart)] == [*range(len(entries))]
        found = automaton.search(entries[-1].upper() + b" Other")
        assert [(end, entry) for _, end, entry in found] == [
            *((len(entry), len(others) + number) for number, entry in enumerate(entries)),
            *((len(entries[-1] + b" other"), number) for number, _ in enumerate(others)),
        ]


def test_each_entry_ends_with_others() -> None:
    entries = [b"c", b"abc", b"b", b"bc", b"xc", b"cb"]
    found = {entries[number]: [entries[other] for other in chain] for number, chain in matcher.endings(entries)}
    assert found == {
        b"c": [b"c"],
        b"abc": [b"c", b"bc", b"abc"],
        b"b": [b"b"],
        b"bc": [b"c", b"bc"],
        b"xc": [b"c", b"xc"],
        b"cb": [b"b", b"cb"],
    }


@table("terms", TERMS)
def test_no_term_of_a_list_overlaps_another(terms: tuple[str, ...]) -> None:
    """Else counting all occurrences would not be what `match(/…/g)` counts."""
    for one, other in itertools.product(terms, repeat=2):
        one, other = one.lower(), other.lower()
        assert one == other or one not in other
        assert not any(one.endswith(other[:length]) for length in range(1, len(other)) if length < len(one))


@automata
@table(("which", "terms"), list(enumerate(TERMS)))
def test_it_finds_every_term_in_either_case_and_glued_into_words(which: int, terms: tuple[str, ...]) -> None:
    for term in terms:
        for written in (term, term.upper(), term.lower(), term.title()):
            found = Matcher().find(f"ab😀{written}字c")
            assert found is not None
            assert found.spans(found.terms[which]) == [(3, 3 + len(term))]


@automata
@table(
    "text",
    [
        "",
        "定一",
        "clear",
        "I\u00a0think",
        "m\u0131ght",
        "m\u0130ght",
        "ob\u200bviously",
        "I thin\u212a",
        "\u017fource",
        "来源",
    ],
)
def test_it_folds_nothing_but_ascii_in_terms(text: str) -> None:
    found = Matcher().find(text)
    assert found is None or not any(found.terms)


@automata
def test_it_finds_terms_that_lie_in_each_other() -> None:
    found = Matcher().find("不可能")
    assert found is not None
    assert found.spans(found.terms[ABSOLUTE]) == [(0, 3)]
    assert found.spans(found.terms[HEDGE]) == [(1, 3)]


@automata
@table(
    ("keywords", "text", "first"),
    [
        (["b", "a"], "a b", 0),
        (["x", "a", "b"], "b a", 1),
        (["abc", "bc", "c"], "abc", 0),
        (["c", "bc", "abc"], "abc", 0),
        (["x", "bc", "c"], "abc", 1),
        (["x", "c", "bc"], "abc", 1),
        (["不可能的", "可能"], "不可能", 1),
        (["可能"], "MAYBE 可能", 0),
        (["clearly not"], "it is CLEARLY NOT so", 0),
        (["a"], "b", None),
        ([], "a", None),
    ],
)
def test_it_gives_the_first_keyword_by_rank_not_by_place(keywords: list[str], text: str, first: int | None) -> None:
    found = Matcher(keywords).find(text)
    assert (found.keyword if found else None) == first


@automata
@table(
    ("keyword", "text"),
    [
        ("STRASSE", "straße STRASSE"),
        ("kelvin", "\u212aELVIN"),
        ("\u212aelvin", "kelvin"),
        ("é", "É"),
        ("ΟΔΟΣ", "οδοσ ΟΔΟΣ"),
        ("οδος", "ΟΔΟΣ"),
        ("ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"),
        ("i\u0307stanbul", "İSTANBUL"),
        ("İ", "i\u0307"),
        ("i", "İ"),
        ("ａ", "Ａ"),
        ("𐐨", "𐐀"),
        ("ǆ", "ǅ"),
        ("ⅰ", "Ⅰ"),
        ("clearly \u212a", "CLEARLY K"),
    ],
)
def test_it_folds_keywords_as_javascripts_lower_case_does(keyword: str, text: str) -> None:
    found = Matcher([keyword]).find(f"不 {text}")
    assert found is not None
    assert found.keyword == 0
    assert occurrences(keyword, text, 9)


@automata
@table(("keyword", "text"), [("οδοσ", "ΟΔΟΣ"), ("ı", "I"), ("ſ", "S"), ("strasse", "straße"), ("ß", "SS"), ("ﬀ", "ff")])
def test_it_folds_keywords_no_further(keyword: str, text: str) -> None:
    found = Matcher([keyword]).find(f"不 {text}")
    assert found is None or found.keyword is None


def test_only_two_capitals_beyond_ascii_have_ascii_in_their_small_letters() -> None:
    """On this rests that a text without them needs no second search."""
    found = [
        character
        for character in map(chr, range(0x80, 0x20000))  # there are no letters of two cases beyond
        if any(small.isascii() for small in character.lower())
    ]
    assert found == ["\u0130", "\u212a"]


def test_lowering_brings_no_letter_without_case() -> None:
    """On this rests that keywords without such letters are found where only ASCII was folded."""
    brought = {small for code in range(0x80, 0x20000) if (lower := chr(code).lower()) != chr(code) for small in lower}
    assert [small for small in brought if not small.isascii() and not matcher._has_case_beyond_ascii(small)] == []


def test_only_one_capital_grows() -> None:
    """On this rests the way from the place of a keyword back to the text."""
    assert [chr(code) for code in range(0x20000) if len(chr(code).lower()) != 1] == ["\u0130"]


@table(
    ("keyword", "text", "places"),
    [
        ("aa", "aaaaa", [(0, 2), (2, 4)]),
        ("b", "İb", [(1, 2)]),
        ("i", "aİb", [(1, 2)]),
        ("\u0307", "aİb", [(1, 2)]),
        ("\u0307b", "aİb", [(1, 3)]),
        ("ai", "aİb", [(0, 2)]),
        ("i\u0307", "İİ i\u0307", [(0, 1), (1, 2), (3, 5)]),
        ("x", "İİxİx", [(2, 3), (4, 5)]),
        ("\u0307i", "İİİİ", [(0, 2), (2, 3), (3, 4)]),
        ("xi", "xİ xİ", [(0, 2), (3, 5)]),
        ("😀", "😀İ😀", [(0, 1), (2, 3)]),
    ],
)
def test_it_shows_where_a_keyword_stands_in_the_text_as_sent(
    keyword: str, text: str, places: list[tuple[int, int]]
) -> None:
    assert occurrences(keyword, text, 9) == places


def test_it_shows_no_more_places_than_asked() -> None:
    assert occurrences("a", "a" * 100, 3) == [(0, 1), (1, 2), (2, 3)]


@automata
@table("shift", range(12))
def test_it_misses_nothing_where_two_windows_meet(shift: int) -> None:
    filler = "字" * 17 + "." * shift
    text = (filler + "不可能 clearly 可能 because " + filler + "KEY word ") * 5
    found = Matcher(["none", "key word", "word"], window=64).find(text)
    assert found is not None
    assert found.keyword == 1
    for which, terms in ((ABSOLUTE, "不可能|clearly"), (HEDGE, "可能"), (REASONING, "because")):
        assert found.spans(found.terms[which]) == [match.span() for match in re.finditer(terms, text)]


def test_it_searches_twice_where_terms_and_keywords_fold_differently() -> None:
    text = "thin\u212a clearly İ"
    found = Matcher(["think"]).find(text)
    assert found is not None
    assert found.keyword == 0
    assert found.spans(found.terms[ABSOLUTE]) == [(6, 13)]
    assert not found.terms[HEDGE]  # "I think" would be one


@automata
@table(
    ("keyword", "text", "occurs"),
    [
        ("API 限制", "這個 api 限制", True),
        ("乁", "乁", True),
        ("乁", "乡", False),
        ("敬請", "恭敬請坐", True),
        ("一N", "不一N", True),
        ("一N", "不一n", True),
        ("限制😀", "限制😀", True),
        ("é限", "É限", True),
        ("a\0b", "x A\0B", True),
        ("a\0b", "x a", False),
        ("a\0b", "x a\0c", False),
        (r"c.*\d+(", r"C.*\D+(", True),
        (r"c.*\d+(", "cc1(", False),
    ],
)
def test_it_takes_keywords_to_the_letter(keyword: str, text: str, occurs: bool) -> None:
    for written in (text, text + "字" * 300, "字" * 300 + text):
        found = Matcher(["none", keyword]).find(written)
        assert (found is not None and found.keyword == 1) is occurs


@automata
def test_it_finds_a_term_each_time_and_finds_it_where_it_is_a_keyword_too() -> None:
    found = Matcher(["none", "clearly", "early"]).find("clearly " * 3)
    assert found is not None
    assert found.terms[ABSOLUTE] == [(0, 7), (8, 15), (16, 23)]
    assert found.keyword == 1


@automata
def test_threads_share_a_matcher() -> None:
    shared = Matcher([f"mistake {number}." for number in range(200)])
    texts = [f"Clearly MISTAKE {number}. " + "所以 " * number for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(shared.find, texts * 20))
    assert [one and one.keyword for one in found] == list(range(40)) * 20
    assert [one and len(one.terms[CONCLUSION]) for one in found] == list(range(40)) * 20


pieces = st.sampled_from(
    [*ALL, *map(str.upper, ALL), *"aAkKsSiI定一可能不 .乁乡䅁慡", "\u212a", "İ", "ſ", "ı", "Σ", "😀", "é", "É"]
)
texts = st.lists(pieces, max_size=25).map("".join)
words = st.lists(pieces, min_size=1, max_size=3).map("".join)


@given(texts, st.lists(words, max_size=5))
def test_it_finds_what_expressions_find(text: str, keywords: list[str]) -> None:
    for limit in (*LIMITS, 1):
        with mock.patch.object(matcher, "MANY_ENDINGS", limit):
            found = Matcher(keywords).find(text) or matcher.Found(text)
        for which, terms in enumerate(TERMS):
            expression = re.compile("|".join(terms), re.IGNORECASE | re.ASCII)
            assert list(found.spans(found.terms[which])) == [match.span() for match in expression.finditer(text)]
        first = next((n for n, word in enumerate(keywords) if word.lower() in text.lower()), None)
        assert found.keyword == first


def test_it_finds_the_same_with_many_entries_as_with_few() -> None:
    """From 5,000 entries on they are compiled in parts."""
    # Read backwards, these stand between the English terms and the Chinese ones: two parts hold those.
    keywords = [f"mistake {number}z" for number in range(6_000)]
    found = Matcher(keywords).find("一定, clearly MISTAKE 1999z and mistake 77z, 不可能, clearly。")
    assert found is not None
    assert found.keyword == 77
    assert list(found.spans(found.terms[ABSOLUTE])) == [(0, 2), (4, 11), (43, 46), (48, 55)]


@automata
def test_it_keeps_little_of_a_flood() -> None:
    nested = Matcher(["a" * length for length in range(20, 0, -1)])
    tracemalloc.start()
    found = nested.find("a" * 20_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found is not None
    assert found.keyword == 0
    assert peak < 30_000_000


@automata
def test_a_matcher_that_is_no_longer_wanted_leaves_nothing() -> None:
    """Each change of a pattern brings another one."""

    def left_by(builds: int) -> int:
        for _ in range(builds):
            Matcher([f"mistake {number}." for number in range(500)]).find("mistake 7.")
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = left_by(1)
        assert left_by(2) - before < 20_000  # one alone is 30 000
    finally:
        tracemalloc.stop()


def test_the_lists_are_numbered_as_they_are_named() -> None:
    names = {ABSOLUTE: "clearly", SOURCE: "source", HEDGE: "maybe", CONCLUSION: "therefore", REASONING: "because"}
    assert all(term in TERMS[which] for which, term in names.items())

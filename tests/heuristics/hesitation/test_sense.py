"""A reading is the same however it is searched and however long the text, and leads back to the text as sent."""

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.hesitation.given import Given
from metacog.heuristics.hesitation.sense import Reader, Reading, marks_of
from metacog.heuristics.text import matcher
from metacog.heuristics.text.shadow import Shadow, fold, is_blank
from tests.tables import table

KEYWORDS = ["none", "key word", "重試", "word"]
MARKS = marks_of()
READERS = []
for limit in (matcher.MANY_ENDINGS, 1, 0):  # entries that may end at one place in the library
    with mock.patch.object(matcher, "MANY_ENDINGS", limit):
        READERS.append((Reader(KEYWORDS), Reader(KEYWORDS, window=64)))


def summary(reading: Reading) -> dict[str, object]:
    names = ("claims", "hedges", "conclusions", "reasons", "facts", "keyword")
    return {name: getattr(reading, name) for name in names}


@table("shift", range(12))
def test_it_misses_nothing_where_two_windows_meet(shift: int) -> None:
    filler = "字" * 17 + "." * shift + " "
    text = (filler + "不可能 clearly 也許 because \u200b" + filler + "KEY word 12% ") * 5
    for readers in READERS:
        whole, parted = (reader.read(text, MARKS) for reader in readers)
        assert summary(parted) == summary(whole)
        assert (whole.keyword, len(whole.claims), len(whole.hedges), len(whole.facts)) == (1, 10, 5, 5)


pieces = st.sampled_from(
    [
        *"aA定一可能不 .\n?[1]",
        "不可能",
        "clearly",
        "maybe",
        "key word",
        "word",
        "重试",
        "所以",
        "12%",
        "\u200b",
        "é",
        "http://x.org",
        "`",
    ]
)
texts = st.lists(pieces, max_size=25).map("".join)


@given(texts)
def test_all_ways_to_search_read_alike(text: str) -> None:
    first, *others = [summary(reader.read(text, MARKS)) for readers in READERS for reader in readers]
    assert all(other == first for other in others)


@given(st.lists(st.sampled_from([*"aBＡ顯İ\u200b😀é ", "A long stretch of ASCII"]), max_size=20).map("".join))
def test_a_text_folds_character_by_character(text: str) -> None:
    assert fold(text) == "".join(map(fold, text))
    assert Shadow(text).text == "".join(Shadow(character).text for character in text)


@given(st.text(st.sampled_from("aＡ顯\u200b\u2060😀é\ufe0f"), max_size=20))
def test_every_place_in_the_shadow_reads_as_what_was_sent(text: str) -> None:
    shadow = Shadow(text)
    for start in range(len(shadow.text)):
        for end in range(start + 1, len(shadow.text) + 1):
            first, last = shadow.place(start, end)
            assert Shadow(text[first:last]).text == shadow.text[start:end]
            assert Shadow(text[first]).text  # nothing hidden at its edges
            assert Shadow(text[last - 1]).text


@table(
    ("text", "folded"),
    [
        ("ABC İ", "abc i"),
        ("ＡＢＣ１２３：？", "abc123:?"),
        ("資料庫後來", "资料库后来"),
        ("аррlе", "apple"),
        ("𝐜𝒍𝓮𝖺𝗋", "clear"),
        ("ΟΔΟΣ οδος", "oδoσ oδoσ"),
        ("don’t", "don't"),
        ("😀𠮷。", "😀𠮷。"),
    ],
)
def test_it_folds_character_by_character(text: str, folded: str) -> None:
    assert fold(text) == folded
    assert fold(folded) == folded


@table(
    ("text", "blank"),
    [
        *[(text, True) for text in ("", " ", "\r\n", "\u3000", "\u200b", " \u2060\ufeff ", "\u3164", "\U000e0020")],
        *[(text, False) for text in ("x", "\u200bx", "字", ".", "😀", "0")],
    ],
)
def test_what_shows_nothing_is_blank(text: str, blank: bool) -> None:
    assert is_blank(text) is blank


LEFT_OUT = {
    "It is not clearly right.": [("negated", "clearly")],
    "Is it clearly right?": [("asked", "clearly")],
    "Mail clearly@example.org today.": [("in a name", "clearly")],
    "State it ​clearly.": [("claims nothing", "clearly")],
    "說這不可能是錯誤的。": [("not meant", "不可能")],
    "Therefore, the answer is 4.": [("goes on", "the answer")],
    "[2026年2月16日] done": [("a marker", "2026")],
    "As of 5 May 2024 it holds.": [("as of", "5 May 2024")],
    "It costs $5, or does it?": [("asked", "$5")],
    "It is not 100% cotton.": [("not all", "100")],
    "1 km = 1000 m": [("a definition", "1"), ("checked", "1000 m")],
    "A right angle has 90 degrees.": [("an angle", "90 degrees")],
    "If it weighs 40 kg, call.": [("supposed", "40 kg")],
    "3 kg + 4 kg = 7 kg": [("checked", "3 kg"), ("checked", "4 kg"), ("checked", "7 kg")],
    "45 + 32 = 77. It is 77°.": [("a result", "77°")],
}


def test_it_names_the_guard_that_left_something_out() -> None:
    readings = {text: Reader().read(text, MARKS, Given(("nothing",))) for text in LEFT_OUT}
    found = {
        text: [(name, text[slice(*place)]) for name, place in reading.left_out] for text, reading in readings.items()
    }
    assert found == LEFT_OUT

"""What nobody sees in a text: held against Unicode's own properties, and alike for the engine and the console."""

import re
import sys
import unicodedata

from metacog.heuristics import Scorer
from metacog.heuristics.text.hidden import HIDES, MARKS
from metacog.heuristics.text.shadow import Shadow, suspects
from reviews.presentation.highlight import show
from tests.tables import table

AWARE = Scorer(profile="aware")
CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
# Default_Ignorable_Code_Point, as Unicode's DerivedCoreProperties.txt gives it.
IGNORABLE = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
DRAWN_AS_NOTHING = {"\u2028", "\u2029", "\u2800", "\U00016fe4", "\U0001d159"}
FORMAT_SINCE_UNICODE_15 = {chr(code) for code in range(0x13430, 0x13440)}
DIACRITICS = ((0x300, 0x370), (0x483, 0x48A), (0x1AB0, 0x1B00), (0x1DC0, 0x1E00), (0x20D0, 0x2100), (0xFE20, 0xFE30))


def test_everything_hides_that_unicode_draws_as_nothing_and_nothing_else() -> None:
    unseen = {each for each in CHARACTERS if unicodedata.category(each) in ("Cc", "Cf")} - {*"\t\n\r"}
    unseen |= {chr(code) for first, last in IGNORABLE for code in range(first, last + 1)}
    assert set(re.findall(f"[{HIDES}]", "".join(CHARACTERS))) == unseen | DRAWN_AS_NOTHING | FORMAT_SINCE_UNICODE_15


def test_a_mark_hides_a_letter_where_it_composes_with_none() -> None:
    composed = [unicodedata.normalize("NFD", character) for character in CHARACTERS]
    writing = {mark for parts in composed if parts[0].isalpha() for mark in parts[1:]}
    changed = {each for each, parts in zip(CHARACTERS, composed, strict=True) if parts != each}
    marks = {chr(code) for first, end in DIACRITICS for code in range(first, end)} - {*"\u034f\u20e0\u20e3"}  # emoji's
    assert set(re.findall(f"[{MARKS}]", "".join(CHARACTERS))) == marks - writing - changed


def test_whatever_hides_between_letters_is_told_shown_and_read_over() -> None:
    for character in re.findall(f"[{HIDES}]", "".join(CHARACTERS)):
        text = f"cle{character}arly"
        assert suspects(text, 9) == [(3, 4)], hex(ord(character))
        assert [piece.hidden for piece in show(text).pieces] == ["", f"U+{ord(character):04X}", ""]
        assert Shadow(text).text == "clearly"


def signals(text: str) -> dict[str, list[str]]:
    return {signal.type: [span.text for span in signal.spans] for signal in AWARE.hesitate(text, []).signals}


UNDERLINED = "".join(f"{letter}\u0332" for letter in "clearly")
STRUCK = "".join(f"{letter}\u0336" for letter in "clearly")
ACUTE = "".join(f"{letter}\u0301" for letter in "clearly")
ZALGO = "".join(f"{letter}\u0301\u0330\u0308" for letter in "clearly")
HIDDEN = [
    *("It is cle\u2800arly so.", "It is cle\u00adarly so.", "It is cle\x08arly so.", "It is cl\u3164ea\uffa0rly so."),
    *(f"It is {UNDERLINED} so.", f"It is {STRUCK} so.", f"It is {ZALGO} so.", "It is c\u20ddl\u20ddearly so."),
    *("It is cle\u200darly so.", "It is cle\u200carly so.", "It is cl\ufe0fearly so.", "👩\u200d It is clearly so."),
    *(
        "葛\U000e0100\U000e0101城 It is clearly so.",
        "😀\U000e0041\U000e0042 It is clearly so.",
        "\u2067It is clearly so.",
    ),
    "می\u200c\u200c\u200c\u200cخواهم: it is clearly so.",
    f"It is {ACUTE} so.",
    "It is cl\u030ce\u0341arly so; b\u0301v\u0301.",
    "這一\u0301定\u0301是快取, clearly.",
    "It is clearly ж\u0301\u0302\u0303\u0304.",
]
WRITING = [
    *(
        "👩\u200d👩\u200d👧 👩🏽\u200d💻 ❤️\u200d🔥",
        "🏳️\u200d🌈 🏴\u200d☠️",
        "1️⃣ #️⃣ ☎︎ ™️",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    ),
    *(
        "می\u200cخواهم",
        "क\u094d\u200dष",
        "ക\u0d4d\u200d",
        "ไทย\u200bไทย",
        "ᠮᠣᠩᠭᠣᠯ\u180e\u1820",
        "葛\U000e0100城",
        "⠓⠊\u2800⠓⠊",
    ),
    *(
        "Cafe\u0301, Vie\u0323\u0302t Nam, ru\u0308\u0301n",
        "देवनागरी",
        "مَرْحَبًا",
        "שָׁלוֹם",
        "ที่นี่",
        "ᾳ\u0313\u0301",
        "t\u0361s n\u0329",
    ),
    *(unicodedata.normalize("NFD", "Là, c'est l'été à Montréal."), unicodedata.normalize("NFD", "Šíříš žluťoučký kůň")),
    *(
        unicodedata.normalize("NFD", "Nguyễn ướt thuở"),
        "за\u0301мок",
        "ọ\u0300rẹ\u0301",
        "g\u0303uarani",
        "x\u0304 0.3\u0307",
    ),
]


@table(
    "text, keyword, types",
    [
        ("The build is c\u0301l\u0301e\u0301a\u0301r\u0301l\u0301y\u0301 green", "", ["absolute-claim", "hidden-text"]),
        ("o\u0301bvi\u0301o\u0301usly", "", ["absolute-claim"]),
        ("顯\u0301然\u0301是快取", "", ["absolute-claim", "hidden-text"]),
        ("cléarly the cache", "", []),
        ("a z\u0301e\u0301bra", "zebra", ["error-pattern"]),
        # An accent is part of a keyword, however either is written.
        ("le re\u0301sume\u0301", "résumé", ["error-pattern"]),
        ("le résumé", "re\u0301sume\u0301", ["error-pattern"]),
        ("le resume", "résumé", []),
        ("schön", "schon", []),
    ],
)
def test_a_letter_and_its_mark_are_read_as_one(text: str, keyword: str, types: list[str]) -> None:
    patterns = [{"id": "ep", "keywords": [keyword], "description": ""}] if keyword else []
    found = Scorer(patterns, profile="aware").hesitate(text, []).signals
    assert sorted(signal.type for signal in found) == types
    for signal in found:
        for span in signal.spans:
            assert text[span.start : span.end] == span.text
            if signal.type != "hidden-text":  # all of what is shown, its last mark too
                assert not unicodedata.combining(text[span.end : span.end + 1] or " ")


@table("text", HIDDEN)
def test_what_hides_is_told_by_the_engine_and_shown_by_the_console_at_the_same_places(text: str) -> None:
    said = signals(text)
    assert said["absolute-claim"]
    assert said["hidden-text"]
    shown = show(text)
    assert "".join(piece.text for piece in shown.pieces) == text
    assert [piece.text for piece in shown.pieces if piece.hidden] == said["hidden-text"]


@table("text", WRITING)
def test_what_writing_needs_is_writing(text: str) -> None:
    assert "hidden-text" not in signals(text)
    assert [(piece.text, piece.hidden) for piece in show(text).pieces] == [(text, "")]

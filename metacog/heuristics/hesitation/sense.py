"""Read a text with sense: whole words, no negations, questions, code or quotations, and citations near claims.

What the `aware` profile sees. It goes by the findings on real texts: 不一定 claims nothing, *resource* is no source.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from ..lexicon import LANGUAGES, MARKS
from ..signals import SPECS
from ..text.markdown import LATIN, without_emphasis
from ..text.matcher import WINDOW, automaton_of, endings
from ..text.shadow import Shadow, fold, without_accents
from ..text.spans import Place
from ..text.tags import code_spans
from ..text.words import SENTENCE_END
from .calculation import Checked, added_up, checked, is_worked_out
from .given import NOTHING, OPENING_QUOTES, Given

ABSOLUTE, HEDGE, CONCLUSION, REASONING, CITATION, PLAIN, MONTH, ATTRIBUTION, REPORTING = range(9)
_LISTS = {
    "ABSOLUTE": ABSOLUTE,
    "HEDGE": HEDGE,
    "CONCLUSION": CONCLUSION,
    "REASONING": REASONING,
    "CITATION": CITATION,
    "PLAIN": PLAIN,
    "MONTHS": MONTH,
    "ATTRIBUTION": ATTRIBUTION,
    "REPORTING": REPORTING,
}
# Of a signal that goes by words alone: by number, its type. A word that stands in a list above, too, is only there.
_SIGNALS = dict(enumerate(SPECS, len(_LISTS)))
# In every language.
_CITATIONS = ("[", "http://", "https://")
# Terms, and numbers, of one text that are looked at: more say nothing new, and a flood shall cost little.
MAX_TERMS = 2_000
_NONE = 2**62
MAX_MASKS = 10_000  # stretches of one kind that are masked
# Characters before a term in which it may be negated, and after it in which its sentence is looked for.
_BEFORE, _AFTER = 48, 300


def _any(name: str) -> str:
    return "|".join(getattr(language, name) for language in LANGUAGES)


def _opened_by_its_own(expression: str) -> str:
    """Look first for the Chinese characters of an expression, if it has any: one of them opens it. Twice as quick."""
    own = "".join(sorted(sign for sign in set(expression) if sign >= "\u3400"))
    return f"(?=[{own}])(?:{expression})" if own else expression


_NEGATED = re.compile(rf"(?:{'|'.join(_opened_by_its_own(language.NEGATED) for language in LANGUAGES)})\Z")
_NOT_CITED = re.compile(_any("NOT_CITED"))
_ASKING = "".join(language.ASKING for language in LANGUAGES)
# A paragraph ends at an empty line, and before an entry of a list or a heading.
_PARAGRAPH_END = re.compile(r"\n[ \t\r]*+(?:\n|(?=[-*+•]\s|[0-9]{1,3}[.)、]\s|\#))")
# The last is an index: array[1] = 2, rows[1].name.
_NOTE = re.compile(r"\[\^?[1-9][0-9]{0,2}\](?!\(| ?=|\.[a-z_])")
# Right before it: an index of what stands there. One letter is a name, as is what has an underscore.
_INDEXED = re.compile(rf"(?:{_any('INDEXED')}|(?<!{LATIN})[a-z]|[a-z]\w*_\w*|_\w+)\Z")
_ADDRESS = re.compile(r"""(?:https?://|www\.)[^\s<>"'()\[\]。,、」』]*""")
# On this machine, or no page that says anything: to sign in at, to buy, to load.
_NO_SOURCE = re.compile(
    r"https?://(?:localhost|127\.|0\.0\.0\.0|$)"
    r"|[^?#]*(?:/(?:log-?in|sign-?in|sign-?up|register|checkout|cart)/?|\.(?:git|zip|tgz|gz|exe|dmg|msi|apk|deb|rpm|whl|sh))"
    r"[.!:;]?(?:[?#]|\Z)"
)
_NAVIGATION = re.compile(rf"(?:{_any('NAVIGATION')})\Z")
_NAVIGATION_BEHIND = re.compile(_any("NAVIGATION_BEHIND"))
_NAMED_SOURCE = re.compile(rf"(?:{_any('NAMED_SOURCE')})\Z")
_GIVEN_SOURCE = re.compile(_any("GIVEN_SOURCE"))
_GIVEN_WORDS = tuple(word for language in LANGUAGES for word in language.GIVEN_WORDS)  # one stands in each of these
# A conclusion's sentence goes on behind a colon, and says at some length why.
_THREE_WORDS = r"[a-z]\W++[a-z]++\W++[a-z]"
_REASON_FOLLOWS = re.compile(
    r"(?=[^.!?。\n:]{4,200}+(?<!\s):)"  # first: a sentence may have no end
    rf"(?=[^.!?。\n:]*(?:{_THREE_WORDS}|[一-鿿]{{4}}))[^.!?。\n:]{{4,200}}(?<!\s)(?P<colon>:)\s?"
    rf"(?=[^.!?。\n:]*(?:{_THREE_WORDS}|[一-鿿]{{5}}))"
)
_NO_REASON = re.compile(rf"(?:{_any('NO_REASON')})\s?\Z")
_DAYS_ON = [(re.compile(expression), days) for language in LANGUAGES for expression, days in language.DAYS_ON]
_ENTRY_BEFORE = re.compile(r"(?:\A|\n)[ \t]*([0-9]{1,3})[.)、]\s[^\n]*\Z")
_ENTRY_BEHIND = re.compile(r"[.)]\s+\S")
_PICTURE = re.compile(r"!\[[^\[\]\n]{0,200}\]\(\Z")
_QUOTED = re.compile(
    r'"[^"\n]{1,400}"|“[^“”\n]{1,400}”|「[^「」\n]{1,400}」|『[^『』\n]{1,400}』|«[^«»\n]{1,400}»'
    r"|(?<=《)[^《》\n]{1,60}(?=》)"
)
# Opened with no letter before and no blank behind, and by no word that has lost its beginning ('90s); within it
# apostrophes stand between letters.
_QUOTED_ONCE = re.compile(
    rf"'(?<!{LATIN}')(?![\s']|{_any('ELIDED')})"
    rf"[^'\n]{{1,200}}+(?:(?<={LATIN})'(?={LATIN})[^'\n]{{1,200}}+)*+(?<!\s)'(?!{LATIN})"
)
_NAMED = re.compile(r"@|[.][a-z]")  # behind a word that is part of an address or a file's name
_QUOTED_LINE = re.compile(r"^[ \t]*+>[^\n]*", re.MULTILINE)
_TAG = re.compile(r"</?[a-z][a-z0-9:.-]{0,40}(?:\s[^<>\n]{0,400})?/?>")
_PICTURE_TEXT = re.compile(r"(?<=!\[)[^\[\]\n]{1,200}(?=\]\()")
_ELEMENT = re.compile(r"<(/?)(code|pre|kbd|samp|blockquote|q)\b[^<>]{0,200}>")
_MASK = "\0"
_QUOTING = re.compile(rf"(?:{_any('QUOTING')})\Z")
_NOT_QUOTING = re.compile(rf"(?:{_any('NOT_QUOTING')}|{_MASK}[^.!?。\n]{{0,32}})\Z")  # code says nothing
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
# Every digit as 0, and all else as a blank.
_DIGITS = bytes(ord("0") if chr(code).isdecimal() else 32 for code in range(128)) + b" " * 128
_FIGURE = re.compile(rf"\s?(?:[%‰°℃℉]|(?=[^\W\d_])(?:{_any('UNITS')})(?![a-z]))")
_UNIT_OF = re.compile(r"s?\s?(?:\([a-z]{1,6}\))?\s?(?:=|等于|equals)")  # 1 km = …, 1公斤(kg)等于…
# Of a right angle, a triangle or a circle: what they are.
_RIGHT_ANGLE = re.compile(r"(?:90|180|360)\s?(?:degrees|°|度)")
_ANGLE = re.compile(_any("ANGLE"))
_NOT_FIGURE = re.compile(_any("NOT_FIGURE"))
_MONEY = re.compile(r"[$€£¥]\s?\Z")
_FORMULA = re.compile(r"[\^\\$_{]|[a-z](?![a-z])(?<![kmb])")  # behind what looks like money: $2x+3$, $343^7$
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+")
_YEAR = re.compile(r"(?:1[0-9]|20)[0-9]{2}(?![0-9a-z])")
_BEFORE_YEAR = re.compile(rf"(?:{_any('BEFORE_YEAR')})\Z")
_DATE = re.compile(
    r"[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}(?![0-9t\]]| ?[0-9]{2}:)"
    r"|(?<=\()(?:1[0-9]|20)[0-9]{2}\s?[-–—~]\s?(?:1[0-9]|20)[0-9]{2}(?=\))"
    r"|[0-9]{1,4}\s?年(?:代|\s?[0-9]{1,2}\s?月(?:\s?[0-9]{1,2}\s?[日号])?)?|[0-9]{1,2}\s?月\s?[0-9]{1,2}\s?[日号]"
)
_AUTHOR = re.compile(r"\((?:[a-z][a-z .&'-]{1,60},\s|[一-鿿·]{2,8},\s?)\Z")
_DAY_BEFORE = re.compile(r"(?<![0-9.,])[0-9]{1,2}(?:st|nd|rd|th)?\s(?:of\s)?\Z")
_DAY_AFTER = re.compile(r"\s[0-9]{1,4}\b")
_TOTAL = re.compile(rf"(?:{_any('TOTAL')})[^.!?。\n]*\Z")
_BEFORE_AS_OF = (" ", "(", "至", "到", "止")  # what it ends with
_AS_OF = re.compile(rf"(?:{_any('AS_OF')})\Z")
_NAME, _LONE_NAME = (re.compile(rf"(?:{_any(name)})\s?\Z") for name in ("NAME", "LONE_NAME"))
_SUPPOSED = re.compile(
    rf"(?:{_any('SUPPOSED')})(?:(?!{_any('CONCLUDED')})(?:[^,;:.!?。\n]|(?<=[0-9])[.,](?=[0-9]))){{0,40}}\Z"
)
# What stands before and behind a claim that is none of the agent's.
_NOT_MEANT = tuple(
    (re.compile(rf"(?:{before})[^.!?。\n]*\Z"), re.compile(behind))
    for language in LANGUAGES
    for before, behind in language.NOT_MEANT
)
_UNCLAIMED = re.compile(_any("UNCLAIMED"))
_UNCLAIMED_BEHIND = re.compile(_any("UNCLAIMED_BEHIND"))
_CONDITIONS, _SAYING, _SAID = (
    [word for language in LANGUAGES for word in getattr(language, name)] for name in ("CONDITIONS", "SAYING", "SAID")
)
_HANGING = re.compile(rf"\b(?:{'|'.join(_CONDITIONS)}|(?:{'|'.join(_SAYING)}) (?:{'|'.join(_SAID)}))\b[^,;:.!?。\n]*\Z")
_HANGING_ON = {word.split()[-1] for word in (*_CONDITIONS, *_SAYING)}
_SAME = ("", " ", ",", ", ", ":", ": ")  # between two words for one conclusion: "Therefore, the answer is", 所以答案是


class Reading:
    """What a text says, once read with sense. Places are code points of the text as sent, in order."""

    __slots__ = (
        *("_shadow", "claims", "conclusions", "facts", "hedges", "hides", "keyword", "left_out", "plain", "reasons"),
        *("text", "words", "wrong_sums"),
    )

    def __init__(self, text: str, shadow: Shadow) -> None:
        self.text = text
        self._shadow = shadow
        self.plain = shadow.text  # without emphasis and accents, where there are any
        self.keyword: int | None = None  # the first that occurs, by its place in the list that was given
        self.claims: list[Place] = []  # absolute ones, without a citation near
        self.hedges: list[Place] = []
        self.conclusions: list[Place] = []
        self.reasons: list[Place] = []
        self.facts: list[Place] = []  # figures, dates, names and quotations, without a citation near
        self.wrong_sums: list[tuple[Place, str]] = []  # the figure, and what it says and should say
        self.words: dict[str, list[Place]] = {}  # of signals that go by words alone, by type
        self.left_out: list[tuple[str, Place]] = []  # what a guard took for none of these, and its name
        self.hides = shadow.hides

    def occurrences(self, keyword: str, limit: int) -> list[Place]:
        """Find where a keyword stands, `limit` at most."""
        wanted = Shadow(keyword).text
        places: list[Place] = []
        for text in dict.fromkeys((self._shadow.text, self.plain)):
            start = text.find(wanted)
            while start >= 0 and len(places) < limit:
                end = start + len(wanted)
                if _stands_alone(text, start, end):
                    places.append(self._shadow.place(start, end))
                start = text.find(wanted, end)
        return sorted({*places})


def _is_wordy(character: str) -> bool:
    """Tell letters and digits of scripts that put spaces between words."""
    return (character.isalnum() and character < "\u0590") or character == "_"


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not (
        (start > 0 and _is_wordy(text[start]) and _is_wordy(text[start - 1]))
        or (end < len(text) and _is_wordy(text[end - 1]) and _is_wordy(text[end]))
    )


_WORDY_ASCII = bytes(byte < 0x80 and _is_wordy(chr(byte)) for byte in range(0x100))


# Both are given a text with a line end behind it, which is also what stands before its start: at -1.
def _is_wordy_before(closed: bytes, at: int) -> bool:
    if closed[at - 1] < 0x80:
        return bool(_WORDY_ASCII[closed[at - 1]])
    # Wordy letters beyond ASCII have two bytes; the last two of any longer character decode to nothing.
    return any(map(_is_wordy, closed[max(0, at - 2) : at].decode(errors="ignore")[-1:]))


def _is_wordy_after(closed: bytes, at: int) -> bool:
    if closed[at] < 0x80:
        return bool(_WORDY_ASCII[closed[at]])
    return any(map(_is_wordy, closed[at : at + 2].decode(errors="ignore")[:1]))


class _Entry(NamedTuple):
    """What it means that an entry was found: it may stand for all entries it ends with, too. Many mean the same."""

    opens: bool  # with a letter, which one before it would make part of a longer word
    closes: bool
    terms: tuple[tuple[int, int], ...]  # what it is itself: bytes and list
    inner_terms: tuple[tuple[int, int], ...]  # of what it ends with
    inner_rank: int

    @classmethod
    def of(cls, word: str, ending: Mapping[str, int], ranks: Mapping[str, int], lists: Mapping[str, int]) -> "_Entry":
        inner_rank, inner_terms = _NONE, []
        for other, length in ending.items():
            if other != word and not (_is_wordy(other[0]) and _is_wordy(word[-len(other) - 1])):
                inner_rank = min(inner_rank, ranks.get(other, _NONE))
                if other in lists:
                    inner_terms.append((length, lists[other]))
        terms = ((ending[word], lists[word]),) if word in lists else ()
        return cls(_is_wordy(word[0]), _is_wordy(word[-1]), terms, tuple(inner_terms), inner_rank)


class Marks(NamedTuple):
    """Our own marks, as they read in the shadow of a text."""

    expression: re.Pattern[str]
    signs: tuple[str, ...]  # one of them opens every mark
    heads: tuple[str, ...]  # one of them stands in every mark

    def spans(self, text: str) -> list[Place]:
        has = text.__contains__
        return _spans(self.expression, text) if any(map(has, self.signs)) and any(map(has, self.heads)) else []


class Reader:
    """Reads any number of texts, from any number of threads; nothing in it changes once it is built."""

    __slots__ = ("_best", "_closes", "_entries", "_lengths", "_overlap", "_ranks", "_search", "_window", "_worth")

    def __init__(self, keywords: Sequence[str] = (), window: int = WINDOW) -> None:
        """Build from keywords in order of rank; one in which everything is hidden is never found."""
        ranks: dict[str, int] = {}
        for rank, keyword in enumerate(keywords):
            ranks.setdefault(Shadow(keyword).text, rank)
        ranks.pop("", None)
        lists = dict.fromkeys(_CITATIONS, CITATION)
        own = {signal.upper().replace("-", "_"): which for which, signal in _SIGNALS.items()}
        for name, which in (own | _LISTS).items():
            lists |= {fold(word): which for language in LANGUAGES for word in getattr(language, name, ())}
        words = list(dict.fromkeys([*lists, *ranks]))
        written = [word.encode() for word in words]
        self._search, apart, _ = automaton_of(written, len(written))
        self._window = window
        self._lengths = list(map(len, written))
        self._overlap = max(self._lengths) - 1
        alike: dict[_Entry, _Entry] = {}

        def meaning(number: int, chain: Sequence[int]) -> _Entry:
            entry = _Entry.of(words[number], {words[other]: self._lengths[other] for other in chain}, ranks, lists)
            return alike.setdefault(entry, entry)

        self._entries = [meaning(number, (number,)) for number in range(len(words))]
        for number, chain in endings(written) if apart else ():
            if number in apart:
                self._entries[number] = meaning(number, chain)
        self._closes = bytes(entry.closes for entry in self._entries)
        self._ranks = [ranks.get(word, _NONE) for word in words]
        # The best rank that finding an entry can bring; and with terms, which are wanted whatever the rank.
        self._best = [min(entry.inner_rank, rank) for entry, rank in zip(self._entries, self._ranks, strict=True)]
        self._worth = [
            -1 if entry.terms or entry.inner_terms else best
            for entry, best in zip(self._entries, self._best, strict=True)
        ]

    def read(self, text: str, marks: Marks, given: Given = NOTHING, most: int = MAX_TERMS) -> Reading:
        """Read a text in which the `marks` are ours and say nothing, and what was `given` is no fact of its own.

        `most` terms, numbers and quotations are looked at.
        """
        shadow = Shadow(text)
        reading = Reading(text, shadow)
        terms, best = self._find(shadow.encoded, most)
        prose, quotations = _prose(shadow, marks, most)
        encoded = shadow.encoded
        plain = without_emphasis(prose) if "_" in prose else prose
        if shadow.is_marked:
            plain = without_accents(plain)
        if plain != prose:
            reading.plain = prose = plain
            encoded = plain.encode("utf-8", "surrogatepass")
            terms, other = self._find(encoded, most)
            best = min(best, other)
        if best != _NONE:
            reading.keyword = best
        _Sorting(reading, shadow, prose, quotations, given, most).sort(_in_characters(encoded, terms))
        return reading

    def _find(self, folded: bytes, most: int) -> tuple[list[tuple[int, int, int]], int]:
        """Find start, end (bytes) and list of each term that stands alone, and the best keyword's rank."""
        terms: list[tuple[int, int, int]] = []
        best = _NONE
        worth, closes, closed = self._worth, self._closes, folded + b"\n"
        for at in range(0, len(folded), self._window):
            offset = max(0, at - self._overlap)
            for _, end, number in self._search(folded[offset : at + self._window]):
                # A flood has a finding a character: these two lines decide how long it takes.
                if worth[number] >= best or (closes[number] and _WORDY_ASCII[closed[offset + end]]):
                    continue
                entry = self._entries[number]
                last = offset + end
                if last <= at or (entry.closes and _is_wordy_after(closed, last)):
                    continue
                best = min(best, entry.inner_rank)
                for length, which in entry.inner_terms:
                    terms.append((last - length, last, which))
                if not (entry.opens and _is_wordy_before(closed, last - self._lengths[number])):
                    best = min(best, self._ranks[number])
                    for length, which in entry.terms:
                        terms.append((last - length, last, which))
                if len(terms) >= most:
                    worth = self._best
        return terms[:most], best


def _in_characters(folded: bytes, terms: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Put terms in order of their starts, the longer first, in code points."""
    terms.sort(key=lambda term: (term[0], -term[1]))
    if folded.isascii():
        return terms
    counted = []
    at = point = 0
    for start, end, which in terms:
        point += len(folded[at:start].decode())
        at = start
        counted.append((point, point + len(folded[start:end].decode()), which))
    return counted


def _prose(shadow: Shadow, marks: Marks, most: int) -> tuple[str, list[Place]]:
    """Mask code, tags, our own marks and what is quoted; give the quotations that somebody is made to say."""
    text = shadow.text
    text = _masked(text, code_spans(shadow.as_sent))
    if "<" in text:
        if "</" in text:
            text = _masked(text, _elements(text))
        if "<!--" in text:
            text = _masked(text, _comments(text))
        text = _masked(text, _spans(_TAG, text))
    if "![" in text:
        text = _masked(text, _spans(_PICTURE_TEXT, text))
    text = _masked(text, marks.spans(text))
    quotations: list[Place] = []
    for expression, signs in ((_QUOTED, OPENING_QUOTES), (_QUOTED_ONCE, "'")):
        if any(map(text.__contains__, signs)) and (quoted := _spans(expression, text)):
            quotations += [
                (start, end)
                for start, end in islice(quoted, most)
                if _QUOTING.search(text, max(0, start - _BEFORE), start)
                and not _NOT_QUOTING.search(text, max(0, start - _BEFORE), start)
            ]
            text = _masked(text, quoted)
    if ">" in text:
        text = _masked(text, _spans(_QUOTED_LINE, text))
    return text, quotations


def _numbers(text: str) -> Iterator[Place]:
    """Find numbers; what lies between them is skipped faster than by searching for the expression."""
    if not any(map(text.__contains__, "0123456789")):
        return
    digits = text.encode("ascii", "replace").translate(_DIGITS)
    at = digits.find(b"0")
    while at >= 0:
        number = _NUMBER.match(text, at)
        assert number
        yield number.span()
        at = digits.find(b"0", number.end())


def _spans(expression: re.Pattern[str], text: str) -> list[Place]:
    return [match.span() for match in islice(expression.finditer(text), MAX_MASKS)]


def _elements(text: str) -> list[Place]:
    """Find what stands between HTML tags that mark code or a quotation, up to the first that closes the first."""
    found: list[Place] = []
    opened: re.Match[str] | None = None
    for tag in islice(_ELEMENT.finditer(text), 2 * MAX_MASKS):
        if opened is None:
            opened = None if tag[1] else tag
        elif tag[1] and tag[2] == opened[2]:
            found.append((opened.start(), tag.end()))
            opened = None
    return found


def _comments(text: str) -> list[Place]:
    """Find HTML comments; what nobody closes is none, and costs one look at the rest."""
    found: list[Place] = []
    end = 0
    while len(found) < MAX_MASKS and (start := text.find("<!--", end)) >= 0 and (close := text.find("-->", start)) >= 0:
        end = close + len("-->")
        found.append((start, end))
    return found


def _masked(text: str, spans: Sequence[Place]) -> str:
    if not spans:
        return text
    pieces = []
    at = 0
    for start, end in spans:
        pieces += [text[at:start], _MASK * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


class _Sorting:
    """Sorts the terms and numbers of one text by what they mean where they stand."""

    def __init__(
        self, reading: Reading, shadow: Shadow, prose: str, quotations: list[Place], given: Given, most: int
    ) -> None:
        self.reading = reading
        self.most = most
        self.shadow = shadow
        self.prose = prose
        self.citations: list[int] = []
        self.claims: list[Place] = []
        self.facts = quotations
        self.given = given
        self.results = dict[str, int]()  # where figures first stand behind a sign of equality
        self.checked: list[Place] = []  # calculations and conversions that are right
        self.added_up: set[Place] = set()
        self.concluded = (-9, -9)  # the last conclusion

    def sort(self, terms: Iterable[tuple[int, int, int]]) -> None:
        prose, reading = self.prose, self.reading
        kept = {HEDGE: reading.hedges, REASONING: reading.reasons, CONCLUSION: reading.conclusions}
        covered = 0
        for start, end, which in terms:
            if end <= covered:  # a term within a longer one is that longer one only
                continue
            covered = end
            if prose[start] == _MASK:
                continue
            if which == CITATION:
                covered = self._cite(start, end)
            elif which in _FACTS:
                if (fact := self._fact(start, end, which)) and not self._is_left_out(_ASKED, start, end):
                    self.facts.append(fact)
            elif which != PLAIN and not self._is_left_out(_GUARDS.get(which, _CLAIM), start, end):
                if which == ABSOLUTE:
                    self.claims.append((start, end))
                elif which in _SIGNALS:
                    reading.words.setdefault(_SIGNALS[which], []).append(self.shadow.place(start, end))
                else:
                    kept[which].append(self.shadow.place(start, end))
                if which == CONCLUSION:
                    self.concluded = start, end
        covered = 0
        for start, end in islice(_numbers(prose), self.most):
            if start >= covered:
                covered = self._count(start, end)
        if covered:
            self._check()
        if self.claims and self.given.asks_to_compose:
            self.claims = []
        if (self.claims or self.facts) and not self.given.asks_to_invent:
            self._leave_out_what_has_a_source()

    def _is_left_out(self, guards: "Sequence[_Guard]", start: int, end: int) -> bool:
        """Ask guards in order; the first that holds is taken down."""
        for name, holds in guards:
            if holds(self, start, end):
                self.reading.left_out.append((name, self.shadow.place(start, end)))
                return True
        return False

    def _goes_on(self, start: int, end: int) -> bool:
        """Tell whether a word concludes what the one right before it does, in other words."""
        prose, before = self.prose, self.concluded
        if start > before[1] + 2:
            return False
        between = prose[before[1] : start]
        # In Chinese a blank parts sentences.
        is_beside = between in _SAME and (between != " " or prose[start].isascii())
        return is_beside and prose[slice(*before)] != prose[start:end]

    def _is_negated(self, start: int, end: int) -> bool:
        while self.prose[start - 1 : start] == "*":  # not **definitely**
            start -= 1
        return _NEGATED.search(self.prose, max(0, start - _BEFORE), start) is not None

    def _claims_nothing(self, start: int, end: int) -> bool:
        """Tell whether a word claims nothing as it is used: "state it clearly", "whenever it is clearly so"."""
        prose = self.prose
        if _UNCLAIMED.match(prose, start):
            return True
        if prose[start] >= "\x80":
            return False
        word_before = prose.rfind(" ", max(0, start - 16), max(0, start - 1)) + 1
        behind = _UNCLAIMED_BEHIND.match(prose, word_before)
        if behind is not None and behind.end() >= end:
            return True
        first = max(0, start - _BEFORE)
        if _HANGING_ON.isdisjoint(prose[first:start].split()):  # spares the search
            return False
        return _HANGING.search(prose, first, start) is not None

    def _is_not_meant(self, start: int, end: int) -> bool:
        """Tell whether a claim is somebody's mistake ("it is not true that …", 說…是錯誤的), or only what is asked."""
        prose, first = self.prose, max(0, start - 2 * _BEFORE)
        return any(behind.match(prose, end) and before.search(prose, first, start) for before, behind in _NOT_MEANT)

    def _is_reasoned(self, start: int, end: int) -> bool:
        """Tell whether a conclusion's sentence gives its reason behind a colon: "Therefore … : the plan shows …"."""
        reason = _REASON_FOLLOWS.match(self.prose, end)
        return reason is not None and not _NO_REASON.search(self.prose, end, reason.start("colon"))

    def _is_in_a_name(self, start: int, end: int) -> bool:
        prose = self.prose
        if prose[start - 1 : start] in ("@", "/", "$") or prose[max(0, start - 3) : start] in (" --", "\n--", "--"):
            return True
        return prose[end : end + 1] in ("@", ".") and _NAMED.match(prose, end) is not None

    def _is_asked(self, start: int, end: int) -> bool:
        last = SENTENCE_END.search(self.prose, end, end + _AFTER)
        at = last.start() if last else min(end + _AFTER, len(self.prose))
        return (last is not None and last.group() == "?") or self.prose[at - 1] in _ASKING

    def _cite(self, start: int, end: int) -> int:
        """Take a citation down, if it is one; give where it ends."""
        prose = self.prose
        if prose[start] == "[":
            note = _NOTE.match(prose, start)
            if note and not _INDEXED.search(prose, max(0, start - 24), start):
                self.citations.append(start)
            return note.end() if note else end
        if address := _ADDRESS.match(prose, start):
            picture = prose[start - 1 : start] == "(" and _PICTURE.search(prose, max(0, start - 204), start)
            if not (picture or _NO_SOURCE.match(address.group()) or self._is_to_press_on(start, address.end())):
                self.citations.append(start)
            return address.end()
        if not _NOT_CITED.match(prose, end) and not self._is_negated(start, end):
            self.citations.append(start)
        return end

    def _fact(self, start: int, end: int, which: int) -> Place | None:
        """Give where the date or the saying stands that a word belongs to, if it does."""
        if which == MONTH:
            before = _DAY_BEFORE.search(self.prose, max(0, start - _BEFORE), start)
            after = _DAY_AFTER.match(self.prose, end)
            if not after and (not before or self.shadow.as_sent[start].islower()):  # "step 3 may", "the 2 august men"
                return None
            first, last = before.start() if before else start, after.end() if after else end
            return None if self._is_left_out(_GUARDS[which], first, last) else (first, last)
        if which == REPORTING:
            return self._saying(start, end)
        if prose_before := _NAMED_SOURCE.search(self.prose, max(0, start - 24), start):
            self.citations.append(prose_before.start())
            return None
        return None if self._is_left_out(_GUARDS[which], start, end) else (start, end)

    def _saying(self, start: int, end: int) -> Place | None:
        """Give where the name stands, with the verb, that somebody is said to have said something by."""
        prose, first = self.prose, max(0, start - _BEFORE)
        word = prose[start:end]
        verb = word.removesuffix(" that").rstrip(":")
        # Capitals tell a name, and the characters of Chinese are told in simplified ones.
        text = self.shadow.as_sent if word.isascii() else prose
        name = _NAME.search(text, first, start)
        if name is None and (" " in word or verb != word):
            name = _LONE_NAME.search(text, first, start)
        return (name.start(), start + len(verb)) if name else None

    def _is_to_press_on(self, start: int, end: int) -> bool:
        before = _NAVIGATION.search(self.prose, max(0, start - _BEFORE), start)
        return before is not None or _NAVIGATION_BEHIND.match(self.prose, end) is not None

    def _count(self, start: int, end: int) -> int:
        """Take a number down, if it is a figure or a date that somebody could look up; give where it ends."""
        prose = self.prose
        before = prose[start - 1 : start]
        if before and (_is_wordy(before) or before in "-/.:#第"):
            return end
        if _YEAR.match(prose, start) and _AUTHOR.search(prose, max(0, start - 64), start):
            self.citations.append(start)
            return end
        for find, of_number, of_all in _FIGURES:
            if place := find(self, start, end):
                if self._is_left_out(of_number, start, end):
                    return end
                if not self._is_left_out(of_all, *place):
                    self.facts.append(place)
                return place[1]
        return end

    def _date(self, start: int, end: int) -> Place | None:
        date = _DATE.match(self.prose, start)
        return date and date.span()

    def _money(self, start: int, end: int) -> Place | None:
        money = _MONEY.search(self.prose, max(0, start - 2), start)
        return (money.start(), end) if money and not _FORMULA.match(self.prose, end) else None

    def _figure(self, start: int, end: int) -> Place | None:
        figure = _FIGURE.match(self.prose, end)
        return (start, figure.end()) if figure else None

    def _bare_number(self, start: int, end: int) -> Place | None:
        """Take a large number, and a year behind what leads to one."""
        prose = self.prose
        is_year = _YEAR.match(prose, start) and _BEFORE_YEAR.search(prose, max(0, start - 12), start)
        return (start, end) if is_year or _GROUPED.match(prose, start) else None

    def _is_defined(self, start: int, end: int) -> bool:
        """Tell whether a number is that of "1 km = …"."""
        figure = _FIGURE.match(self.prose, end) if self.prose[start:end] == "1" else None
        return figure is not None and _UNIT_OF.match(self.prose, figure.end()) is not None

    def _is_an_angle(self, start: int, end: int) -> bool:
        prose = self.prose
        return bool(_RIGHT_ANGLE.fullmatch(prose, start, end) and _ANGLE.search(prose, max(0, start - _BEFORE), start))

    def _check(self) -> None:
        """Take down what is worked out before the reader: it has its source there if it is right."""
        for one in checked(self.prose, self.most):
            if not one.made:
                self.checked.append((one.start, one.end))
            elif not self._is_left_out(_SUM, one.start, one.end):
                self.reading.wrong_sums.append((self.shadow.place(*one.figure), self._wrong(one)))

    def _wrong(self, one: Checked) -> str:
        sent = self.shadow.as_sent
        made = one.made + sent[one.unit : one.figure[1]]
        parts = f"{sent[slice(*one.of)]} makes" if one.of else "the parts make"
        return f"says {sent[slice(*one.figure)]}; {parts} {made}"

    def _is_in_a_style_sheet(self, start: int, end: int) -> bool:
        """Tell whether a place lies in one that is not marked as code."""
        if self.prose[end : end + 1] != ";":
            return False
        first = max(0, start - _AFTER)
        return self.prose.rfind("{", first, start) > self.prose.rfind("}", first, start)

    def _named_sources(self) -> Iterator[re.Match[str] | None]:
        """Look for what names a source around each word for one: to search the whole text takes ten times as long."""
        prose = self.prose
        for word in _GIVEN_WORDS:
            at = prose.find(word)
            while at >= 0:
                yield _GIVEN_SOURCE.search(prose, max(0, at - _BEFORE), at + 2 * _BEFORE)
                at = prose.find(word, at + len(word))

    def _lacking(self) -> list[Place]:
        """Give the facts that were not given, and are nowhere only supposed, or worked out."""
        places = sorted(self.facts)
        facts = [self.shadow.text[slice(*place)] for place in places]
        lacking = self.given.lacks(facts)
        if not lacking:
            return []
        made = added_up(facts, lacking, lambda number: self._is_total(places[number][0]))
        self.added_up = {places[number] for number in made}
        explained = {facts[number] for number in lacking if self._is_left_out(_EXPLAINED, *places[number])}
        return [places[number] for number in lacking if facts[number] not in explained]

    def _is_checked(self, start: int, end: int) -> bool:
        return any(first <= start and end <= last for first, last in self.checked)

    def _is_a_result(self, start: int, end: int) -> bool:
        """Tell whether a figure comes out of a calculation elsewhere, without its unit: "45 + 32 = 77. It is 77°F"."""
        prose = self.prose
        number = _NUMBER.search(prose, start, end)
        if not number or len(number.group()) < 2:
            return False
        at = self._result_at(number.group())
        result = _NUMBER.match(prose, at + 2) if at >= 0 else None
        return result is not None and result.group() == number.group() and is_worked_out(prose, *result.span())

    def _result_at(self, figure: str) -> int:
        """Find once where a figure first stands behind a sign of equality; -1 where it does not."""
        if figure not in self.results:
            self.results[figure] = self.prose.find(f"= {figure}")
        return self.results[figure]

    def _is_total(self, start: int) -> bool:
        return _TOTAL.search(self.prose, max(0, start - 80), start) is not None

    def _is_as_of(self, start: int, end: int) -> bool:
        prose = self.prose
        if prose[start - 1 : start] not in _BEFORE_AS_OF:  # spares the search
            return False
        return _AS_OF.search(prose, max(0, start - _BEFORE), start) is not None

    def _is_an_entry(self, start: int, end: int) -> bool:
        """Tell whether a day is the number of the next entry in a list on one line: "1. Hey June 2. Daydream"."""
        number = _NUMBER.search(self.prose, start, end)
        if not number or not _ENTRY_BEHIND.match(self.prose, end):
            return False
        first = _ENTRY_BEFORE.search(self.prose, max(0, start - 10 * _BEFORE), start)
        return first is not None and int(first[1]) < int(number.group().partition(".")[0].replace(",", ""))

    def _is_counted_on(self, start: int, end: int) -> bool:
        """Tell whether a day is so many days from one that was given, as its sentence says: "the next day, May 21"."""
        fact, before = self.shadow.text[start:end], self.prose[max(0, start - 2 * _BEFORE) : start]
        around = re.split(r"[.!?。\n](?=\s|\Z)|。", before)[-1] + self.prose[end : end + _BEFORE].partition("\n")[0]
        return any(
            self.given.holds_day_before(fact, days * (_number_of(found[1]) if found.re.groups else 1))
            for expression, days in _DAYS_ON
            for found in expression.finditer(around)
        )

    def _is_supposed(self, start: int, end: int) -> bool:
        return _SUPPOSED.search(self.prose, max(0, start - _BEFORE), start) is not None

    def _leave_out_what_has_a_source(self) -> None:
        """Keep the claims and facts in whose paragraph nothing is cited, and of the facts those that were not given."""
        ends: list[int] = []
        named = {found.span() for found in islice(self._named_sources(), self.most) if found}
        self.citations += [start for start, end in named if not self._is_negated(start, end)]
        if self.citations:
            ends = [paragraph.end() for paragraph in _PARAGRAPH_END.finditer(self.prose)]
        cited = {bisect_right(ends, place) for place in self.citations}
        facts = self._lacking() if self.facts else []
        for found, kept in ((self.claims, self.reading.claims), (facts, self.reading.facts)):
            kept += [self.shadow.place(*place) for place in found if bisect_right(ends, place[0]) not in cited]


_Guard = tuple[str, Callable[[_Sorting, int, int], bool]]
# By name, what takes a term or a number for nothing where it stands; in order, the first that holds is taken down.
_ASKED: tuple[_Guard, ...] = (("asked", _Sorting._is_asked),)
_CLAIM: tuple[_Guard, ...] = (("negated", _Sorting._is_negated), *_ASKED, ("in a name", _Sorting._is_in_a_name))
_GUARDS: dict[int, tuple[_Guard, ...]] = {
    HEDGE: (),
    REASONING: (),
    ABSOLUTE: (*_CLAIM, ("claims nothing", _Sorting._claims_nothing), ("not meant", _Sorting._is_not_meant)),
    CONCLUSION: (*_CLAIM, ("goes on", _Sorting._goes_on), ("reasoned", _Sorting._is_reasoned)),
    MONTH: (("as of", _Sorting._is_as_of), ("an entry", _Sorting._is_an_entry)),
    ATTRIBUTION: (("negated", _Sorting._is_negated),),
}
_SUM: tuple[_Guard, ...] = (("negated", _Sorting._is_negated), *_ASKED, ("not meant", _Sorting._is_not_meant))
_FACTS = (MONTH, ATTRIBUTION, REPORTING)
# What a number may be, the first that it is; and the guards of the number alone, then those of all that belongs to it.
_FIGURES: tuple[tuple[Callable[[_Sorting, int, int], Place | None], tuple[_Guard, ...], tuple[_Guard, ...]], ...] = (
    (
        _Sorting._date,
        (("a marker", lambda sorting, start, end: sorting.prose[start - 1 : start] == "["),),  # of a trail or a log
        (("as of", _Sorting._is_as_of), *_ASKED),
    ),
    (_Sorting._money, (), _ASKED),
    (
        _Sorting._figure,
        (
            ("no figure", lambda sorting, start, end: _NOT_FIGURE.match(sorting.prose, end) is not None),
            ("not all", lambda sorting, *place: sorting.prose[slice(*place)] == "100" and sorting._is_negated(*place)),
            ("a definition", _Sorting._is_defined),
        ),
        (("an angle", _Sorting._is_an_angle), ("in a style sheet", _Sorting._is_in_a_style_sheet), *_ASKED),
    ),
    (_Sorting._bare_number, (), _ASKED),
)
# What explains a figure that was not given.
_EXPLAINED: tuple[_Guard, ...] = (
    ("added up", lambda sorting, *place: place in sorting.added_up),
    ("checked", _Sorting._is_checked),
    ("supposed", _Sorting._is_supposed),
    ("worked out", lambda sorting, start, end: is_worked_out(sorting.prose, start, end)),
    ("a result", _Sorting._is_a_result),
    ("counted on", _Sorting._is_counted_on),
)


def _number_of(written: str) -> int:
    """Give the number that is written in digits or, up to ten, as a word."""
    return int(written) if written.isdecimal() else _NUMERALS[written]


_NUMERALS = {
    word: number
    for words in ("one two three four five six seven eight nine ten", "一 二 三 四 五 六 七 八 九 十")
    for number, word in enumerate(words.split(), 1)
} | {"两": 2}


def marks_of(*wordings: str) -> Marks:
    """Know our own marks: `wordings` beside those of all languages."""
    ours = [*wordings, *(wording for marks in MARKS.values() for wording in marks.values())]
    folded = list(filter(None, dict.fromkeys(Shadow(wording).text for wording in ours)))
    expression = "|".join(re.escape(wording).replace(r"\{score\}", "[0-9]+") for wording in folded)
    heads = [wording.partition("{score}")[0] for wording in folded]
    return Marks(re.compile(expression), tuple(dict.fromkeys(head[:1] for head in heads)), tuple(heads))

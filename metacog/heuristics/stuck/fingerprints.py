"""What stays the same when something comes again: signatures of errors and outputs, fingerprints of passages."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from ..lexicon import LANGUAGES, either, machines
from ..text.spans import Place
from ..text.words import lowered

PASSAGE_TOKENS = 16
MAX_READ = 32_768  # code points of a text; the rest is not looked at
MAX_ERROR = 4_096
MAX_ERRORS = 65_536  # code points of all errors of a step

# Colours and titles of a terminal.
_TERMINAL = re.compile(r"\x1b(?:\[[0-9;?]*[a-zA-Z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-Za-z])")
_UUID = r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
_ADDRESS = (
    rf"0x[0-9a-f]+|{_UUID}|\b[0-9a-f]{{12,64}}\b"
    # What a cluster makes up behind a name: web-7d9f8c6b5-x2k4q, agent-x2k4q.
    r"|(?<=[a-z0-9])-(?:(?=[a-z]{0,9}\d)[a-z0-9]{8,10}-[a-z0-9]{5}|(?=[a-z]{1,4}\d|\d{1,4}[a-z])[a-z0-9]{5})(?![\w-])"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_DATE = rf"\b(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{{0,6}},? )?(?:{_MONTH}\.? \d{{1,2}}|\d{{1,2}} {_MONTH})\b"
_CODES = either(language.STUCK.codes for language in LANGUAGES)
_ERROR_NOISE = re.compile(
    # A code says which error it is: ORA-00942, TS2304, exit code 137, HTTP 404, (1045, "Access denied …").
    rf"(?P<code>\b(?!{machines.COUNTERS})[A-Z]{{1,6}}[-_]?\d{{3,6}}\b"
    rf"|(?i:(?:{_CODES})\W{{0,3}}-?\d[0-9a-z]{{0,9}}\b)|(?<=\()\d{{3,5}}(?=, ?['\"])"
    r"|(?i:\b(?:returned|responded with|got|gave) [45]\d\d\b))"
    rf"|(?i:(?P<address>{_ADDRESS}|(?<![a-z0-9])(?=[a-f]{{0,10}}\d)(?=\d{{0,10}}[a-f])[0-9a-f]{{4,11}}(?![a-z0-9])"
    r"|(?<![a-z0-9])(?=(?:[a-z]{0,20}\d){3})(?=\d{0,20}[a-z])[a-z0-9]{10,})"
    rf"|(?P<time>{_DATE})"
    r"|(?P<host>(?<=://)[a-z][\w.-]*)"
    r"|(?P<path>(?<!:/)(?:\b[a-z]:)?(?:[\\/][\w.@+-]+){2,}[\\/]?|\b[\w@+-]{1,64}+(?:/[\w.@+-]+)+)"
    r"|(?P<number>\d+(?:[.,:]\d+)*))"
)
_TEMPORARY = re.compile(r"[\\/](?:tmp|temp|var[\\/]folders)[\\/]", re.IGNORECASE)
_BARE_ERROR = re.compile(r"[\w.]+(?:error|exception|warning)|.*:")
_OUTPUT_NOISE = re.compile(
    rf"(?P<address>{_ADDRESS})"
    r"|(?P<time>\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:z| ?[+-]\d\d:?\d\d)?|\b\d\d?:\d\d:\d\d(?:[.,]\d+)?"
    rf"|{_DATE}|{either(language.STUCK.durations for language in LANGUAGES)})"
    r"|(?P<path>/(?:tmp|var/tmp|var/folders)/[\w./@+-]+)"
)


def normalise_error(error: str) -> str:
    """Give what stays the same when an error comes again: numbers, folders, addresses and dates are stood for.

    Codes and the names of files stay: another one is another error. "" where only the kind of error is said
    ("AssertionError", "…, treated as error:"): that may be any.
    """
    plain = " ".join(_TERMINAL.sub("", error[:MAX_ERROR]).split())
    return "" if _BARE_ERROR.fullmatch(plain.lower()) else _ERROR_NOISE.sub(_stand_in, plain).lower()


def _stand_in(match: re.Match[str]) -> str:
    kind, found = match.lastgroup, match[0]
    if kind == "code":
        return found
    if kind == "host":
        return re.sub(r"\d+", "<number>", found)
    if kind == "path" and not _TEMPORARY.search(found):
        name = re.split(r"[\\/]", found.rstrip("\\/"))[-1]
        return f"<path>{_ERROR_NOISE.sub(_stand_in, name)}"
    return f"<{kind}>"


def normalised_errors(errors: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give each error with what stays the same of it, until MAX_ERRORS code points are read."""
    read = 0
    for error in errors:
        read += min(len(error), MAX_ERROR)
        if read > MAX_ERRORS:
            return
        yield error, normalise_error(error)


def normalise_output(output: str) -> str:
    """Stand for the times, addresses and temporary paths of an output; its counts stay, since they tell progress."""
    plain = squeeze(_TERMINAL.sub("", output[:MAX_READ]))
    return _OUTPUT_NOISE.sub(lambda match: f"<{match.lastgroup}>", plain)


def squeeze(text: str) -> str:
    """Put in small letters, with one blank between words."""
    return " ".join(text.lower().split())


def digest(signature: str) -> str:
    """Give 48 bits of SHA-256 in hex: enough to tell the few signatures of one problem apart."""
    return hashlib.sha256(signature.encode()).hexdigest()[:12]


class Print(NamedTuple):
    """The hash of 16 tokens in a row, and the number of the first."""

    print: int
    token: int


_TOKEN = re.compile(r"[a-z0-9_]+|[\u3400-\u9fff]")
_CONTRACTED = re.compile(r"(?:[A-Za-z]+['’])*\Z")  # what belongs to a token that follows it: the I' of I'm


def prints(text: str) -> list[Print]:
    """Fingerprint a text: 16 tokens from each token that a hash picks, about every fourth.

    The text itself picks, so a passage gives the same prints wherever it stands. A token is a word or a
    Chinese character.
    """
    tokens = _TOKEN.findall(lowered(text[:MAX_READ]))
    return [
        Print(crc32(" ".join(tokens[number : number + PASSAGE_TOKENS]).encode()), number)
        for number, token in enumerate(tokens[: 1 - PASSAGE_TOKENS])
        if crc32(token.encode()) % 4 == 0
    ]


def passages(text: str, found: Sequence[Print]) -> Iterator[tuple[int, Place]]:
    """Join those prints of a text that overlap: the length in tokens, and the place, of each passage."""
    runs: list[tuple[int, int]] = []
    for _, token in found:
        if runs and token <= runs[-1][1]:
            runs[-1] = runs[-1][0], token + PASSAGE_TOKENS
        else:
            runs.append((token, token + PASSAGE_TOKENS))
    if runs:
        places = [match.span() for match in _TOKEN.finditer(lowered(text[:MAX_READ]))]
        for first, end in runs:
            start = places[first][0]
            before = _CONTRACTED.search(text, max(0, start - 16), start)
            yield end - first, (before.start() if before else start, places[end - 1][1])

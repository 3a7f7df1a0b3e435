"""What stays the same when something comes again: signatures of errors and outputs, fingerprints of passages."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from .speech import Place, fold

PASSAGE_TOKENS = 16
MAX_READ = 32_768  # code points of a text; the rest is not looked at
MAX_ERROR = 4_096
MAX_ERRORS = 65_536  # code points of all errors of a step

_ADDRESS = r"0x[0-9a-f]+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{12,64}\b"
_ERROR_NOISE = re.compile(
    rf"(?P<address>{_ADDRESS})"
    r"|(?P<path>(?:[a-z]:)?(?:[\\/][\w.@+-]+){2,}[\\/]?|\b[\w@+-]{1,64}+(?:/[\w.@+-]+)+)"
    r"|(?P<number>\d+(?:[.,:]\d+)*)"
)
_BARE_ERROR = re.compile(r"[\w.]+(?:error|exception|warning)|.*:")
_OUTPUT_NOISE = re.compile(
    rf"(?P<address>{_ADDRESS})"
    r"|(?P<time>\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|secs|seconds?|minutes?)\b)"
    r"|(?P<path>/(?:tmp|var/tmp)/[\w./@+-]+)"
)


def normalise_error(error: str) -> str:
    """Give what stays the same when an error comes again: numbers, paths and addresses are stood for.

    "" where only the kind of error is said ("AssertionError", "…, treated as error:"): that may be any.
    """
    squeezed = squeeze(error[:MAX_ERROR])
    return "" if _BARE_ERROR.fullmatch(squeezed) else _ERROR_NOISE.sub(lambda match: f"<{match.lastgroup}>", squeezed)


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
    return _OUTPUT_NOISE.sub(lambda match: f"<{match.lastgroup}>", squeeze(output[:MAX_READ]))


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
    tokens = _TOKEN.findall(fold(text[:MAX_READ]))
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
        places = [match.span() for match in _TOKEN.finditer(fold(text[:MAX_READ]))]
        for first, end in runs:
            start = places[first][0]
            before = _CONTRACTED.search(text, max(0, start - 16), start)
            yield end - first, (before.start() if before else start, places[end - 1][1])

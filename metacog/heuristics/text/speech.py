"""What a text says in its author's own words: code and quotations blanked, phrases found as whole words."""

import re
from collections.abc import Iterable

from .spans import Place

# No two alternatives read the same character twice in vain: each stops at the next sign that opens it.
_CODE = re.compile(
    r"^[ \t]*(?:(`{3,})|(~{3,}))(?s:.*?)(?:^[ \t]*(?(1)\1|\2)|\Z)"  # a fence, to its end or the text's
    r"|`[^`\n]+`",
    re.MULTILINE,
)
_QUOTED = re.compile(
    r"^[ \t]*(?:>|＞).*$"  # a quoted reply
    r"|^(?:On .{4,80} wrote|在.{4,60}(?:寫道|写道)|.{2,40}(?:說|说)?於.{4,40}寫道)[:：].*$"
    r'|"[^"\n]*"|“[^“”\n]*”|「[^「」\n]*」|『[^『』\n]*』|«[^«»\n]*»|《[^《》\n]*》'
    r"|(?<!\w)['‘](?:[^'‘’\n]|(?<=\w)['’](?=\w)){2,200}['’](?!\w)",  # 'I'm stuck'; folded, ’ is '
    re.MULTILINE,
)
# What a tool has written, as harnesses wrap it up and send it for a message; where that was cut, to the text's end.
_OUTPUT = re.compile(
    r"^<(output|returncode|exit_code|stdout|stderr|observation|tool_(?:output|result|response)"
    r"|function_(?:results?|response))(?: [^<>\n]{0,200})?>(?s:.*?)(?:</\1>|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_NOT_A_BREAK = re.compile(r"[^\n]")


def own_words(text: str) -> str:
    """Blank fenced and inline code, quotations and quoted replies; every other character keeps its place."""
    if any(sign in text for sign in ("`", "~~~")):
        text = _CODE.sub(_blank, text)
    return _QUOTED.sub(_blank, text)


def persons_words(message: str) -> str:
    """Blank in a message, beside what `own_words` blanks, the output of tools: nobody says it."""
    return own_words(_OUTPUT.sub(_blank, message))


def _blank(match: re.Match[str]) -> str:
    return _NOT_A_BREAK.sub(" ", match[0])


def find_phrases(folded: str, phrases: Iterable[str], limit: int = 16) -> list[Place]:
    """Find folded phrases in a folded text, in order; Latin ones as whole words only, `limit` of each at most."""
    places = []
    for phrase in phrases:
        start = folded.find(phrase)
        found = 0
        while start >= 0 and found < limit:
            end = start + len(phrase)
            if not (_joins(folded, start) or _joins(folded, end)):
                places.append((start, end))
                found += 1
            start = folded.find(phrase, end)
    return sorted(places)


def _joins(text: str, at: int) -> bool:
    """Tell whether one Latin word runs over this place."""
    before, after = text[at - 1 : at], text[at : at + 1]
    return before.isascii() and after.isascii() and before.isalnum() and after.isalnum()

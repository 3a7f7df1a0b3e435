"""What Markdown says with blanks and underscores: code that is indented, and emphasis."""

import re

Place = tuple[int, int]

MAX_INDENTED = 10_000  # lines of indented code that are found

# A letter or digit of a script that puts spaces between words, or an underscore.
LATIN = r"[^\W\u0590-\U0010ffff]"
# Opened and closed by runs of the same length, with no word outside; within words an underscore is part of a name. What
# one try has read none reads again.
_EMPHASIS = re.compile(
    rf"_(?<!{LATIN}_)(_{{0,2}})(?=[^\s_])"
    rf"([^_\n]{{1,200}}+(?:(?<={LATIN})_++(?={LATIN})[^_\n]{{1,200}}+)*+)(?<!\s)_\1(?!{LATIN})"
)
_INDENT = r"(?: {4}| {0,3}\t)"
_INDENTED_FIRST, _INDENTED = re.compile(_INDENT), re.compile(rf"\n[ \t\r]*+\n{_INDENT}")
# An entry of a list, or a note: up to where its text begins.
_ENTRY = re.compile(
    r"[ \t]*(?:(?:[-*+•]|[0-9]{1,3}[.)]|\[\^[^\]\n]{1,32}\]:)[ \t]+|[0-9一二三四五六七八九十]{1,3}、[ \t]*)"
)


def without_emphasis(text: str) -> str:
    """Put an asterisk for each underscore that marks emphasis: unlike those, it is no letter."""
    return _EMPHASIS.sub(_with_asterisks, text)


def _with_asterisks(match: re.Match[str]) -> str:
    marks = "*" * (1 + len(match[1]))
    return f"{marks}{match[2]}{marks}"


def indented_code(text: str, as_sent: str) -> list[Place]:
    """Find lines that stand four blanks or a tab in, behind an empty one, beyond where a list's text begins.

    `as_sent` is the text before it was folded: the ideographic blanks that open a paragraph are none.
    """
    if not (_INDENTED_FIRST.match(text) or _INDENTED.search(text)):
        return []
    spans: list[Place] = []
    margin = at = 0
    is_after_blank, is_code = True, False
    for line in text.split("\n"):
        start, at = at, at + len(line) + 1
        shown = line.strip()
        if not shown:
            is_after_blank = True
            continue
        blanks = line[: line.index(shown[0])]
        indent = len(blanks.expandtabs(4)) if blanks else 0
        is_code = (is_after_blank or is_code) and indent >= margin + 4
        if is_code:
            if "\u3000" not in as_sent[start : start + indent] and len(spans) < MAX_INDENTED:
                spans.append((start, start + len(line)))
        elif entry := _ENTRY.match(line):
            margin = len(entry.group().expandtabs(4))
        elif is_after_blank and not indent:
            margin = 0
        is_after_blank = False
    return spans

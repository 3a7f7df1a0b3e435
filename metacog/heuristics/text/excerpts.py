"""Quote what a response says, without the markup of its tags (their syntax is that of `tags`)."""

import re

from .tags import KINDS, code_spans

_KIND = "(?:" + "|".join(KINDS) + ")"
# Up to the tag's end, quoted values skipped; at the end of a text that was cut, to where it was cut.
_ANGLES = re.compile(
    rf"""</?(?:[\w.-]++:)?{_KIND}(?=[\s/>])(?:[^<>=]++|=\s*+"[^"<]*+"|=\s*+'[^'<]*+'|=)*+(?:>|(?<=…)\Z)""",
    re.IGNORECASE | re.ASCII,
)
_BRACKETS = re.compile(
    rf"""\[(/?)({_KIND})(?=[\s\]])((?:[^\[\]=]++|=\s*+"[^"\[]*+"|=\s*+'[^'\[]*+'|=)*+)(?:\]|(?<=…)\Z)""",
    re.IGNORECASE | re.ASCII,
)


def without_tags(text: str) -> str:
    """Return what a text says, for an excerpt: without the heads and closings of tags, but those in code.

    A bracket is a tag where it has attributes or its kind is closed somewhere, since [task] may be a word. What holds
    nothing but tags stays as it is.
    """
    heads = [found.span() for found in _ANGLES.finditer(text)] if "<" in text else []
    if "[" in text:
        found = list(_BRACKETS.finditer(text))
        closed = {each[2].lower() for each in found if each[1]}
        heads += [each.span() for each in found if each[2].lower() in closed or "=" in each[3]]
    if not heads:
        return text
    code = code_spans(text)
    parts, at = [], 0
    for start, end in sorted(heads):
        if not any(first <= start < last for first, last in code):
            parts.append(text[at:start])
            at = end
    parts.append(text[at:])
    return _joined(parts) or text


def _joined(parts: list[str]) -> str:
    """Join what stood between tags; two words that only a tag parted stay two."""
    joined = ""
    for part in parts:
        touches = joined and part and not joined[-1].isspace() and part[0].isalnum()
        joined += f" {part}" if touches else part
    return joined.strip()

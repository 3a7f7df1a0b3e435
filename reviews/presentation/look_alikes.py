"""Say of names and hosts which of their letters look like others."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext, gettext_lazy, pgettext

from metacog.heuristics.tool_calls.look_alikes import LookAlike, hosts, look_alike
from metacog.heuristics.tool_calls.secrets import leaves, masked_text
from reviews.presentation.highlight import LOOK_ALIKE, Mark, Shown, show

MOST = 4  # letters that are named
# The others are called as in Unicode.
_SCRIPTS = {
    "Latin": gettext_lazy("Latin"),
    "Cyrillic": gettext_lazy("Cyrillic"),
    "Greek": gettext_lazy("Greek"),
    "Armenian": gettext_lazy("Armenian"),
    "Hebrew": gettext_lazy("Hebrew"),
    "Arabic": gettext_lazy("Arabic"),
    "Han": gettext_lazy("Chinese"),
    "Hiragana": gettext_lazy("Hiragana"),
    "Katakana": gettext_lazy("Katakana"),
    "Hangul": gettext_lazy("Hangul"),
}


def name_shown(name: str) -> Shown:
    """Return a name with the letters marked that look like others."""
    found = look_alike(name)
    odd = found.letters if found else ()
    return show(name, [Mark(at, at + 1, LOOK_ALIKE) for at, each in enumerate(name) if each in odd])


def of_name(name: str) -> str:
    """Return what is to be known of a name's letters; "" of a name that is what it looks like."""
    found = look_alike(name)
    return _told(found) if found else ""


def of_hosts(text: str) -> list[str]:
    """Return a sentence for each host in a text that may be taken for another or is written in punycode."""
    sentences = []
    for host in hosts(text):
        told = str(show(host.written))
        if host.decoded != host.written:
            told = gettext("%(host)s reads %(decoded)s") % {"host": told, "decoded": show(host.decoded)}
        if host.look_alike:
            told += gettext(": ") + _told(host.look_alike)
        sentences.append(told)
    return sentences


def row_mark(name: str, beginning: str) -> str:
    """Return the first of what is to be known of a tool call's name, its arguments' names and hosts, for a list.

    `beginning` is how an item's text begins: of a call the name or the arguments' JSON.
    """
    if told := of_name(name):
        return told
    if beginning.isascii() and "xn--" not in beginning:
        return ""
    keys = (part for leaf in leaves(beginning.removeprefix(name).lstrip()) for part in leaf.path) if name else ()
    names = map(of_name, {part: None for part in keys if isinstance(part, str)})
    return next(filter(None, names), "") or next(iter(of_hosts(masked_text(beginning))), "")


def first_mark(calls: Iterable[tuple[str, str]], excerpt: str) -> str:
    """Return the same of some tool calls, each with its name and how its text begins, and of a text that is shown."""
    return next(filter(None, (row_mark(*each) for each in (*calls, ("", excerpt)))), "")


def why_not_matched(name: str) -> str:
    """Say that rules for the name that this one looks like do not match it; "" where it looks like no other."""
    found = look_alike(name)
    if not found or not found.reads_as:
        return ""
    told = gettext("Rules for “%(other)s” did not match: the name is not “%(other)s” (%(why)s).")
    return told % {"other": found.reads_as, "why": _told(found)}


def _told(found: LookAlike) -> str:
    letters = pgettext("list", ", ").join(
        gettext("%(letter)s is U+%(code)s") % {"letter": each, "code": f"{ord(each):04X}"}
        for each in found.letters[:MOST]
    )
    if len(found.letters) > MOST:
        letters += " " + gettext("and %(n)s more") % {"n": len(found.letters) - MOST}
    if len(found.scripts) > 1:
        first, *others, last = map(_script, found.scripts)
        listed = pgettext("list", ", ").join([first, *others])
        scripts = gettext("%(first)s and %(last)s") % {"first": listed, "last": last}
        return gettext("mixed scripts: %(scripts)s: %(letters)s") % {"scripts": scripts, "letters": letters}
    return gettext("look-alike letters: %(letters)s") % {"letters": letters}


def _script(name: str) -> str:
    return str(_SCRIPTS.get(name, name))

"""Say in what near-duplicates differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.utils.translation import gettext, ngettext, pgettext

from metacog.heuristics.alike.differences import Column

MOST = 3  # arguments that are named


def in_words(columns: Sequence[Column]) -> str:
    """Return in what items differ, as a short sentence; "identical" where they do in nothing that was looked at."""
    if not columns:
        return gettext("identical")
    return gettext("they differ in %(what)s") % {"what": _places(columns)}


def from_this(columns: Sequence[Column]) -> str:
    """Return in what another item differs from the one that is open, which it is a near-duplicate of."""
    return gettext("differs in %(what)s") % {"what": _places(columns)} if columns else gettext("identical")


def _places(columns: Sequence[Column]) -> str:
    """Name the places."""
    names = [_argument(each) for each in columns if each.kind in ("argument", "type")]
    if names:
        told = names[:MOST]
        if len(names) > MOST:
            told.append(gettext("%(n)s more") % {"n": len(names) - MOST})
    else:
        told = [counted(kind, count) for kind, count in Counter(each.kind for each in columns).items()]
    return pgettext("list", ", ").join(told)


def _argument(column: Column) -> str:
    name = column.name or gettext("the arguments")
    return gettext("type of %(name)s") % {"name": name} if column.kind == "type" else name


def counted(kind: str, count: int) -> str:
    """Name so many places of a kind in a text."""
    n = {"n": count}
    match kind:
        case "number":
            return ngettext("the number", "%(n)s numbers", count) % n
        case "date":
            return ngettext("the date", "%(n)s dates", count) % n
        case "url":
            return ngettext("the web address", "%(n)s web addresses", count) % n
        case "mail":
            return ngettext("the email address", "%(n)s email addresses", count) % n
        case "id":
            return ngettext("the ID", "%(n)s IDs", count) % n
        case "quote":
            return ngettext("the quoted name", "%(n)s quoted names", count) % n
        case "blanks":
            return gettext("spaces and line breaks")
        case "rest":
            return gettext("what follows the beginning")
    return gettext("the text")


def headings(columns: Sequence[Column]) -> list[str]:
    """Return what stands above each column of differing values."""
    named = {
        "number": gettext("Number"),
        "date": gettext("Date"),
        "url": gettext("Web address"),
        "mail": gettext("Email address"),
        "id": gettext("ID"),
        "quote": gettext("Quoted name"),
        "text": gettext("Text"),
    }
    many = Counter(each.kind for each in columns)
    seen: Counter[str] = Counter()
    told = []
    for each in columns:
        seen[each.kind] += 1
        if each.kind in ("argument", "type"):
            told.append(each.name or gettext("Arguments"))
        else:
            told.append(named[each.kind] + (f" {seen[each.kind]}" if many[each.kind] > 1 else ""))
    return told

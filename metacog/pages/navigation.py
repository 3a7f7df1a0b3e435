"""The pages of the console as people reach them: seven entries, and the pages below each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy, trans_real


class Page(NamedTuple):
    """A page of the navigation."""

    name: str  # of its address
    title: str | Promise
    counts: Sequence[str] = ()  # what of `to_do` waits there
    below: Sequence[str] = ()  # names of the addresses that belong to it: its rows, its forms
    key: str = ""  # the letter that goes there after G


class Entry(NamedTuple):
    """An entry of the navigation: it leads to the first of its pages."""

    title: str | Promise
    pages: Sequence[Page]


ENTRIES: Sequence[Entry] = (
    Entry(
        _("Queue"),
        (
            Page(
                "queue",
                _("Held items"),
                ("queue",),
                ("item", "together", "decide-together", "queue-changes", "decide", "undo"),
                key="q",
            ),
            Page("extensions", _("Extension requests"), ("extensions",), ("extension", "extension-answer"), key="e"),
            Page("stuck", _("Stuck problems"), ("stuck",), ("problem",), key="s"),
            Page("grants", _("Grants"), (), ("grant-withdraw", "grant-restore"), key="g"),
            Page("my-day", _("My day"), key="y"),
        ),
    ),
    Entry(_("To do"), (Page("to-do", _("To do"), ("to_do",), key="t"),)),
    Entry(_("Responses"), (Page("responses", _("Responses"), (), ("response",), key="r"),)),
    Entry(
        _("Knowledge"),
        (
            Page(
                "patterns",
                _("Error patterns"),
                (),
                ("pattern", "pattern-new", "patterns-decide", "patterns-merge", "import-patterns"),
                key="p",
            ),
            Page("lessons", _("Lessons"), (), ("lesson", "lesson-new", "import-lessons"), key="l"),
            Page("memories", _("Memory"), (), ("memory", "memory-new", "memory-edit", "memory-settle"), key="m"),
            Page("threads", _("Threads"), (), ("thread", "thread-new", "thread-step", "import-threads"), key="h"),
            Page("reflections", _("Reflections"), (), ("reflection",), key="f"),
            Page("research-list", _("Research"), (), ("research",), key="n"),
        ),
    ),
    Entry(
        _("Statistics"),
        (
            Page("statistics", _("Statistics"), key="i"),
            Page("learned-risk", _("Learned risk"), (), ("learned-risk-choose",), key="x"),
            Page("weekly-report", _("Weekly report"), (), ("weekly-report-send",), key="j"),
            Page("review-time", _("Review time"), key="v"),
            Page("spot-checks", _("Spot checks"), key="k"),
            Page("corrections", _("Corrections"), key="c"),
        ),
    ),
    Entry(
        _("Agents"),
        (
            Page(
                "agents",
                _("Agents"),
                (),
                (
                    "agent",
                    "agent-new",
                    "policy",
                    "agent-context",
                    "agent-confirm",
                    "agent-pause",
                    "agent-rotate",
                    "agent-handcard",
                    "agent-day",
                    "session",
                ),
                key="a",
            ),
            Page("deliveries", pgettext_lazy("webhooks", "Deliveries"), key="w"),
            Page("log-imports", _("Log imports"), (), ("log-import", "log-item"), key="b"),
        ),
    ),
    Entry(
        _("Team"),
        (
            Page(
                "team",
                _("Team"),
                (),
                (
                    "team-settings",
                    "team-rules",
                    "asking",
                    "webhook",
                    "webhook-new",
                    "member-confirm",
                    "webhook-confirm",
                    "webhook-step",
                    "member-add",
                    "member-link",
                    "group-save",
                    "chat",
                    "team-second-factor",
                    "member-token-revoke",
                ),
                key="d",
            ),
            Page("audit", _("Audit log"), key="u"),
        ),
    ),
)
# Parts of pages, which the palette finds by what stands there.
PARTS: Sequence[tuple[str, str, str | Promise]] = (
    ("queue", "?state=decided", _("Decided items")),
    ("team", "?tab=people", _("Team: members, roles, groups, second factor")),
    ("team", "?tab=deciding", _("Team: decision target, rules, who is asked, rota")),
    ("team", "?tab=notices", _("Team: email, Slack, Telegram, notices")),
    ("team", "?tab=webhooks", _("Team: webhooks")),
    ("team", "?tab=data", _("Team: retention, export")),
    ("preferences", "#told", _("Preferences: email notices")),
    ("preferences", "#devices", _("Preferences: notices on devices, quiet hours")),
    ("security", "", _("Preferences: passkeys, authenticator app, sessions")),
)
_PLACES = {
    name: (number, page.name)
    for number, entry in enumerate(ENTRIES)
    for page in entry.pages
    for name in (page.name, *page.below)
}  # of each address: its entry, and which page of that


class Link(NamedTuple):
    """What the navigation shows of an entry or a page."""

    name: str
    title: str | Promise
    waiting: int
    current: str  # what `aria-current` says: "page" of the page itself, "true" of what it belongs to
    pages: Sequence[Link] = ()  # of an entry: those below it that it does not name itself

    @property
    def is_counted(self) -> bool:
        """Say whether a number stands beside it; what the script brings up to date is there at 0 as well."""
        return bool(self.waiting) or self.name in ("queue", "to-do")

    @property
    def url(self) -> str:
        return _address(self.name)


@cache
def _address(name: str) -> str:
    """Return the address of a page without arguments; each page asks for thirty of them."""
    return reverse(name)


@lru_cache(maxsize=8)
def _titled(_catalog: object) -> Sequence[Entry]:
    """Return the entries with their titles in the language that is active: a page says forty, and compares them."""
    return [
        Entry(str(entry.title), [page._replace(title=str(page.title)) for page in entry.pages]) for entry in ENTRIES
    ]


def entries(name: str, to_do: Mapping[str, int]) -> list[Link]:
    """Return the entries, each with the pages below it, seen from the page of that address."""
    here, _page = _PLACES.get(name, (None, ""))
    return [
        Link(
            entry.pages[0].name,
            entry.title,
            sum(_waiting(each, to_do) for each in entry.pages),
            "" if number != here else "page" if name == entry.pages[0].name else "true",
            _pages([page for page in entry.pages if page.title != entry.title], name, to_do),
        )
        for number, entry in enumerate(_titled(trans_real.catalog()))
    ]


def tabs(name: str, to_do: Mapping[str, int]) -> list[Link]:
    """Return the pages beside the one of that address; none where it has none."""
    here, _page = _PLACES.get(name, (None, ""))
    pages = [] if here is None else _titled(trans_real.catalog())[here].pages
    return _pages(pages, name, to_do) if len(pages) > 1 else []


def _pages(pages: Sequence[Page], name: str, to_do: Mapping[str, int]) -> list[Link]:
    _entry, page = _PLACES.get(name, (None, ""))
    return [
        Link(
            each.name,
            each.title,
            _waiting(each, to_do),
            "" if each.name != page else "page" if name == page else "true",
        )
        for each in pages
    ]


def by_key() -> list[tuple[str, str, str | Promise]]:
    """Return the letter, the address and the title of every page: for the keys; without a letter, for the palette."""
    found = [(page.key, reverse(page.name), page.title) for entry in ENTRIES for page in entry.pages]
    found += [("", _address(name) + more, title) for name, more, title in PARTS]
    return [*found, ("o", reverse("preferences"), _("Preferences"))]


def _waiting(page: Page, to_do: Mapping[str, int]) -> int:
    return sum(to_do.get(count, 0) for count in page.counts)

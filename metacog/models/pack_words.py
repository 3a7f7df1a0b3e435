"""What packs say of themselves, for translation, and the order in which people are shown them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext

from metacog.heuristics.tool_calls.pack import Pack, packs

ORDER = ("everything-asks", "coding", "coding-careful", "read-only", "operations", "database", "support", "mail")
FOR_CODING = ("coding", "coding-careful")  # the calls of Claude Code and Codex
WORDS = (
    gettext_noop("Coding"),
    gettext_noop(
        "Deletes outside the workspace or of whole source folders, git push and other publishing, "
        "sending data, secrets, sudo, new packages, and what cannot be read."
    ),
    gettext_noop(
        "Reading, writing in the workspace and /tmp, the project's own code, tests and packages, local "
        "git, plain downloads."
    ),
    gettext_noop("cannot be read for certain"),
    gettext_noop("deletes a whole machine or home folder"),
    gettext_noop("cannot be undone"),
    gettext_noop("changes who may do what"),
    gettext_noop("reads or passes on a secret"),
    gettext_noop("moves money"),
    gettext_noop("publishes, or pushes to a shared place"),
    gettext_noop("sends something out"),
    gettext_noop("fetches something and runs code in one go"),
    gettext_noop("fetches from an address that may carry data out"),
    gettext_noop("fetches from a machine's own settings"),
    gettext_noop("installs something that the project does not list"),
    gettext_noop("writes outside the workspace"),
    gettext_noop("writes what git or an agent runs by itself"),
    gettext_noop("changes what a pipeline or an install runs or may do"),
    gettext_noop("writes what fetches something and runs it"),
    gettext_noop("deletes outside the workspace"),
    gettext_noop("deletes a database or a dump of one"),
    gettext_noop("deletes more than build outputs, temporary files and single files"),
    gettext_noop("runs something outside the workspace"),
    gettext_noop("changes something that is no file"),
    gettext_noop("changes something that is no file, or runs something elsewhere"),
    gettext_noop("reads, writes in the workspace, runs the project's code, fetches plain addresses"),
    gettext_noop("anything else"),
    gettext_noop("Coding, careful"),
    gettext_noop(
        "What `coding` asks about, and every download, every install, deletes of source files, and "
        "changes to dependencies, pipelines and containers."
    ),
    gettext_noop("Reading, writing source in the workspace and /tmp, the project's own code and tests, local git."),
    gettext_noop("fetches from the network"),
    gettext_noop("installs something"),
    gettext_noop("writes what git, an agent or a pipeline runs by itself"),
    gettext_noop("changes what the project depends on"),
    gettext_noop("deletes more than build outputs and temporary files"),
    gettext_noop("reads, writes in the workspace, runs the project's code"),
    gettext_noop("Read only"),
    gettext_noop("Everything but reading: writing, deleting, running code, the network."),
    gettext_noop("Reading files, tables and settings that hold no secrets."),
    gettext_noop("deletes"),
    gettext_noop("writes"),
    gettext_noop("installs"),
    gettext_noop("runs code"),
    gettext_noop("only reads"),
    gettext_noop("Operations"),
    gettext_noop("Every change to clouds, clusters, containers, databases and money, and secrets."),
    gettext_noop("Looking: list, describe, logs, metrics, plans, dry runs, SELECT."),
    gettext_noop("deletes or ends something"),
    gettext_noop("changes something"),
    gettext_noop("runs code or a command elsewhere"),
    gettext_noop("only reads and fetches"),
    gettext_noop("Database"),
    gettext_noop("Every change to rows, tables and rights, and statements with functions that do more than compute."),
    gettext_noop("SELECT, SHOW, EXPLAIN on tables that hold no passwords or keys."),
    gettext_noop("drops or empties, or changes all rows of a table"),
    gettext_noop("deletes rows"),
    gettext_noop("grants or takes rights"),
    gettext_noop("reads accounts, keys or passwords"),
    gettext_noop("reads tables of accounts, keys or passwords"),
    gettext_noop("inserts or updates rows, or changes a table"),
    gettext_noop("installs an extension or package"),
    gettext_noop("only reads tables"),
    gettext_noop("Customer support"),
    gettext_noop("Refunds, orders and bookings, messages to customers, deletes, and changes of a customer's data."),
    gettext_noop("Looking up customers, orders and articles, and internal notes and tags."),
    gettext_noop("moves money, or changes an order or booking"),
    gettext_noop("deletes or cancels"),
    gettext_noop("changes what an account may do"),
    gettext_noop("writes to a customer or anybody else"),
    gettext_noop("keeps notes and tags that customers do not see"),
    gettext_noop("changes a customer's data"),
    gettext_noop("only looks things up"),
    gettext_noop("Mail"),
    gettext_noop("Sending, forwarding, deleting, forwarding rules, links."),
    gettext_noop("Reading and searching mail and calendar, drafts, labels, archiving."),
    gettext_noop("changes forwarding, filters or who may read"),
    gettext_noop("deletes mail"),
    gettext_noop("saves a draft, which nobody gets"),
    gettext_noop("sends or forwards mail"),
    gettext_noop("fetches what an email links to"),
    gettext_noop("sorts mail: labels, stars, archive, read or unread"),
    gettext_noop("only reads mail and calendar"),
    gettext_noop("Everything asks"),
    gettext_noop("Every tool call, sorted by what it would do."),
    gettext_noop("Nothing."),
    gettext_noop("reads"),
    gettext_noop("every call is looked at"),
)  # fmt: skip


class ShownPack:
    """A pack as people read it."""

    def __init__(self, pack: Pack) -> None:
        self.name, self.version, self.rules = pack.name, pack.version, len(pack.rules)
        self.title, self._asks, self._passes = (gettext_lazy(text) for text in (pack.title, pack.asks, pack.passes))

    @property
    def asks(self) -> str:
        return _with_code(str(self._asks))

    @property
    def passes(self) -> str:
        return _with_code(str(self._passes))


def _with_code(text: str) -> str:
    """Give HTML in which what stands between backticks is code."""
    parts = text.split("`")
    parts[1::2] = [format_html("<code>{}</code>", part) for part in parts[1::2]]
    return format_html_join("", "{}", ((part,) for part in parts))


def shown() -> Sequence[ShownPack]:
    """Give all packs in the order of ORDER."""
    return [ShownPack(packs()[name]) for name in ORDER]


def in_force(given: Iterable[Mapping[str, Any]]) -> Sequence[ShownPack]:
    """Give a policy's packs in their order, without what this release does not know."""
    return [ShownPack(packs()[name]) for each in given if (name := each["name"]) in packs()]


def title_of(name: str) -> str:
    """Name a pack in the reader's language, or as it is written where this release does not know it."""
    return gettext(packs()[name].title) if name in packs() else name


def reason_of(rule: Mapping[str, Any]) -> str:
    """Give a rule's reason: a pack's in the reader's language, anybody else's as it was written; "" of none."""
    reason = str(rule.get("reason") or "")
    return translated(reason) if "pack" in rule else reason


def translated(reason: str) -> str:
    """Say a pack's own words in the reader's language."""
    words = plain(reason)
    return gettext(words) if words in WORDS else reason


def plain(reason: str) -> str:
    """Say a pack's own words as its pages do, in English; packs keep older ones, which are part of what agents get."""
    words = reason.replace(" outside of the ", " outside the ")
    return words if words in WORDS else reason


def in_words(given: Iterable[Mapping[str, Any]]) -> str:
    """Name a policy's packs with their folders: "Coding (/srv/app), Customer support"; "" of none."""
    told = []
    for each in given:
        title, folder = title_of(str(each.get("name"))), each.get("workspace")
        told.append(gettext("%(pack)s (%(folder)s)") % {"pack": title, "folder": folder} if folder else title)
    return pgettext("list", ", ").join(told)

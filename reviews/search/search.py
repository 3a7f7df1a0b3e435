"""Find what a person may see: by the beginning of an id, by session, by words. Bounded, and alike on both databases.

Words are looked for in the newest rows of each kind, here and not by the database: LIKE knows no capitals but those of
ASCII on SQLite, a body may write Chinese as escapes, and an index of all words would cost the webhook too much.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Model, QuerySet, TextChoices
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from metacog.db.ids import new_id
from metacog.heuristics.text.excerpts import said
from metacog.heuristics.tool_calls.secrets import masked, masked_call
from metacog.models import Agent, Team
from patterns.models import ErrorPattern, Lesson, Memory, Problem, ThoughtThread
from reviews.models import AgentResponse, HeldItem
from reviews.search.folded import Folded, Word
from reviews.search.newest import newest

SHOWN = 5  # of each kind
NEWEST = 500  # of each kind are looked through for words
MAX_QUERY = 100
CLIP = 160  # characters that are shown, from shortly before the first word
MOST_CHARACTERS = 8_000_000  # of each kind: the longest would take seconds

Row = dict[str, Any]


class Hit(NamedTuple):
    """One row that was found."""

    url: str
    text: Sequence[tuple[str, bool]]  # in pieces: whether it is one of the words that were looked for
    of: str  # whose it is
    session: str
    state: str | Promise
    at: datetime


class Group(NamedTuple):
    """What was found of one kind."""

    title: str | Promise
    hits: Sequence[Hit]
    has_more: bool
    list_name: str  # the page of all of them, where that has a search of its own
    nameless: str | Promise


@dataclass(frozen=True)
class Kind:
    """What can be found: rows of `model` by the fields `texts`, out of which `text` makes what is read."""

    title: str | Promise
    model: type[Model]
    prefix: str  # of its ids
    page: str  # the name of a row's page
    texts: tuple[str, ...]
    text: Callable[[Row], str]
    key: str = "public_id"  # what the address of a row's page takes
    team: str = "agent__team"
    of: str = "agent__name"
    at: str = "created_at"
    states: type[TextChoices] | None = None
    exact: str = ""  # a field by which the oldest rows are found, too
    session: str = ""  # a field of `texts` that is told beside the text
    nameless: str | Promise = ""  # what stands for an empty text, where that is not an erased one
    list_name: str = ""

    def by_id(self, teams: Sequence[int], beginning: str) -> list[Hit]:
        # Between two ids of full length: whatever the collation, both databases have an index for that.
        last = beginning.ljust(len(new_id(self.prefix)), "z")
        rows = self._seen(teams).filter(public_id__gte=beginning, public_id__lte=last, public_id__startswith=beginning)
        return self._hits(rows.order_by("-public_id")[: SHOWN + 1], [beginning], teams)  # along their index

    def by_words(self, teams: Sequence[int], query: str) -> list[Hit]:
        words, found = [Word(word) for word in Folded(query).text.split()], set[int]()
        if not words:  # nothing of it shows
            return []
        if self.exact:
            found.update(self._seen(teams).filter(**{self.exact: query}).values_list("pk", flat=True)[: SHOWN + 1])
        for row in self._newest(teams, words):
            if len(found) > SHOWN:
                break
            if _holds(self.text(row), words):
                found.add(row["pk"])
        rows = self._seen(teams).filter(pk__in=found)
        return self._hits(rows, [word.folded for word in words], teams) if found else []

    def _newest(self, teams: Sequence[int], words: Sequence[Word]) -> Iterable[Row]:
        rows = self._seen(teams).values("pk", *self.texts)
        if self.model is AgentResponse:
            pks = newest(AgentResponse.objects.all(), Agent.objects.filter(team__in=teams), NEWEST)
            return _may_hold(_bounded(rows.filter(pk__in=pks), ("body",)), words)
        return _bounded(rows[:NEWEST], self.texts)

    def _seen(self, teams: Sequence[int]) -> QuerySet[Any, Any]:
        return self.model._default_manager.filter(**{f"{self.team}__in": teams}).order_by("-pk")

    def _hits(self, rows: QuerySet[Any, Any], words: Sequence[str], teams: Sequence[int]) -> list[Hit]:
        hits = []
        team = f"{self.team}__name"
        of = (self.of, team) if len(teams) > 1 and self.of != team else (self.of,)  # names of agents are of one team
        state = ("state",) if self.states else ()
        for row in rows.values("public_id", self.key, *of, self.at, *self.texts, *state):
            session = row[self.session] if self.session else ""
            whole = self.text(row | {self.session: ""} if session else row)
            text = said(whole)
            if words[0] not in Folded(text).text:  # it stands in a tag
                text = whole
            start = max(0, _first(text, words[0]) - CLIP // 4)
            clip = ("…" if start else "") + text[start : start + CLIP] + ("…" if len(text) > start + CLIP else "")
            label = self.states(row["state"]).label if self.states else ""
            url, quoted = reverse(self.page, args=[row[self.key]]), _in_pieces(clip, words)
            hits.append(Hit(url, quoted, " · ".join(row[name] for name in of), session, label, row[self.at]))
        return hits


def _first(text: str, word: str) -> int:
    """Tell where the first place of a folded word begins; 0 where there is none."""
    folded = Folded(text)
    at = folded.text.find(word)
    return folded.place(at, at + len(word))[0] if at >= 0 else 0


def _in_pieces(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """Cut a text where one of the folded words stands."""
    longest_first = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    folded, last, pieces = Folded(text), 0, list[tuple[str, bool]]()
    for found in re.finditer(longest_first, folded.text):
        start, end = folded.place(*found.span())
        start = max(start, last)  # two words may be written with one character
        pieces += [(text[last:start], False), (text[start:end], True)]
        last = max(last, end)
    return [(piece, is_word) for piece, is_word in (*pieces, (text[last:], False)) if piece]


def _bounded(rows: QuerySet[Any, Row], texts: Sequence[str]) -> Iterator[Row]:
    """Read the rows piece by piece, up to MOST_CHARACTERS."""
    characters = 0
    for row in rows.iterator(chunk_size=100):
        characters += sum(len(str(row[name] or "")) for name in texts)
        if characters > MOST_CHARACTERS:
            return
        yield row


def _holds(text: str, words: Sequence[Word]) -> bool:
    if not all(word.may_be_in(text) for word in words):
        return False
    folded = Folded(text).text
    return all(word.folded in folded for word in words)


def _may_hold(rows: Iterable[Row], words: Sequence[Word]) -> Iterator[Row]:
    """Leave out the responses whose raw body shows that they lack a word."""
    letters = [word for word in words if word.folded.isalnum()]  # JSON writes signs in other ways
    for row in rows:
        if "\\u" in row["body"] or all(word.may_be_in(row["body"]) for word in letters):
            yield row


def _lines(*names: str) -> Callable[[Row], str]:
    return lambda row: "\n".join(row[name] for name in names if row[name])


def _of_response(row: Row) -> str:
    if not row["body"]:  # erased
        return ""
    body = json.loads(row["body"])
    texts = [body["response"]]
    for item in body.get("items") or ():
        if "name" in item:
            texts += [f"{item['name']} {json.dumps(masked(item['arguments']), ensure_ascii=False)}"]
            texts += [item.get("description") or "", *_attributes(masked(item.get("metadata") or {}))]
            continue
        texts += [item["text"]] if item["text"] not in body["response"] else []
        texts += _attributes(item.get("attributes") or {})  # those of tags stand in the response
    return "\n".join((*texts, body.get("user_message") or ""))


def _of_held(row: Row) -> str:
    text = masked_call(row["text"]) if row["kind"] == HeldItem.Kind.TOOL_CALL else row["text"]
    return "\n".join((text, *_attributes(row["attributes"]), *_attributes(masked(row["metadata"]))))


def _attributes(attributes: dict[str, Any]) -> list[str]:
    written = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in attributes.items()
    }
    return [f"{name}: {value}" for name, value in written.items()]


def _of_pattern(row: Row) -> str:
    return "\n".join((row["description"], *row["keywords"]))


_PROBLEM, _THREAD, _MEMORY = ("key", "session"), ("title", "slug", "next", "notes"), ("text", "topic", "source")
KINDS = (
    Kind(
        _("Held"), HeldItem, "held", "item", ("kind", "text", "attributes", "metadata"), _of_held,
        team="team", at="held_at", states=HeldItem.State,
    ),
    Kind(
        _("Responses"), AgentResponse, "resp", "response", ("body",), _of_response,
        at="received_at", exact="session",
    ),
    Kind(
        _("Problems"), Problem, "prob", "problem", _PROBLEM, _lines(*_PROBLEM),
        at="touched_at", exact="key", session="session", nameless=_("A problem without a name"),
    ),
    Kind(
        _("Patterns"), ErrorPattern, "ep", "pattern", ("description", "keywords"), _of_pattern,
        key="pk", team="team", of="team__name", states=ErrorPattern.State, exact="public_id", list_name="patterns",
    ),
    Kind(
        _("Threads"), ThoughtThread, "thr", "thread", _THREAD, _lines(*_THREAD),
        states=ThoughtThread.State,
    ),
    Kind(
        _("Memory"), Memory, "mem", "memory", _MEMORY, _lines(*_MEMORY),
        team="team", of="team__name", states=Memory.State, list_name="memories",
    ),
    Kind(
        _("Lessons"), Lesson, "les", "lesson", ("text",), _lines("text"),
        team="team", of="team__name", states=Lesson.State,
    ),
    Kind(
        _("Agents"), Agent, "agt", "agent", ("name",), _lines("name"),
        team="team", of="team__name",
    ),
)  # fmt: skip


def search(teams: QuerySet[Team], query: str) -> list[Group]:
    """Return what was found of each kind, the newest first; kinds of which there is nothing are left out."""
    seen = list(teams.values_list("pk", flat=True))
    by_prefix = {kind.prefix: kind for kind in KINDS}
    named = by_prefix.get(query.partition("_")[0]) if "_" in query else None
    groups = []
    for kind in [named] if named else KINDS:
        if hits := kind.by_id(seen, query) if named else kind.by_words(seen, query):
            groups.append(Group(kind.title, hits[:SHOWN], len(hits) > SHOWN, kind.list_name, kind.nameless))
    return groups

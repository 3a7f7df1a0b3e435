"""What can be found: of each kind its rows, what of them is read and searched, and how they are told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Model, QuerySet, TextChoices
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from metacog.db.ids import new_id
from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.tool_calls.effect_bits import bits_of, names_in
from metacog.heuristics.tool_calls.secrets import line, masked, masked_call, masked_effects, masked_text
from metacog.models import Agent
from patterns.models import ErrorPattern, Lesson, Memory, Problem, ThoughtThread, ThreadStep
from reviews.models import AgentResponse, Decision, DecisionVerdict, HeldItem
from reviews.search.excerpts import excerpt
from reviews.search.folded import Folded
from reviews.search.index import Document, labelled
from reviews.search.words import MOST_CHARACTERS

CALL = 2_000  # characters of a tool call's text that are looked at for letters that look like others
Row = dict[str, Any]


class Hit(NamedTuple):
    """One row that was found."""

    pk: int
    public_id: str
    url: str
    text: Sequence[tuple[str, bool]]  # in pieces: whether it is one of the words that were looked for
    whole: str  # all of its text
    of: str  # whose it is
    session: str
    agent: str  # the public id of whose session it is
    state: str | Promise
    state_value: str
    at: datetime
    calls: Sequence[tuple[str, str]]  # tools' names, each with how the call's text begins, secrets masked
    tool: Sequence[tuple[str, bool]] = ()  # a held call's name in pieces; `text` then are its arguments
    effects: int = 0  # of such a call, as bits
    alike: int = 1  # near-duplicates of a held item that it stands for, with itself


@dataclass(frozen=True)
class Kind:
    """What can be found: rows of `model` by the fields `texts`, out of which `text` makes what is read."""

    name: str  # in addresses
    title: str | Promise
    model: type[Model]
    prefix: str  # of its ids
    page: str  # the name of a row's page
    texts: tuple[str, ...]
    text: Callable[[Row], str]
    key: str = "public_id"  # what the address of a row's page takes
    team: str = "agent__team"
    agent: str = "agent"  # none: its rows belong to no agent
    of: str = "agent__name"
    at: str = "created_at"  # told
    since: str = "created_at"  # by which they are in order; never changed
    states: type[TextChoices] | None = None
    session: str = ""  # a field that is told beside the text
    nameless: str | Promise = ""  # what stands for an empty text, where that is not an erased one
    list_name: str = ""
    labels: Callable[[Row], list[str]] = lambda row: []
    calls: Callable[[Row], list[tuple[str, str]]] = lambda row: []  # tools' names and the texts of their calls
    more: Callable[[list[Row]], None] = lambda rows: None  # reads what else belongs to rows, into their "more"

    def seen(self, teams: Sequence[int] | None) -> QuerySet[Any, Any]:
        """Return the rows of these teams; of all, without any."""
        rows = self.model._default_manager.all()
        return rows if teams is None else rows.filter(**{f"{self.team}__in": teams})

    def documents(self, keys: Iterable[int]) -> list[Document]:
        """Read what is searched of some rows, as they are now; what is gone is left out."""
        names = {self.team, self.since, *self.texts, *filter(None, (self.agent, self.session))}
        names |= {"state"} if self.states else set()
        rows = list(self.seen(None).filter(pk__in=list(keys)).values("pk", *names))
        self.more(rows)
        return [self._document(row) for row in rows]

    def _document(self, row: Row) -> Document:
        session = row[self.session] if self.session else ""
        lines = [self.text(row), session, *row.get("more", ())]
        text = masked_text("\n".join(lines))[:MOST_CHARACTERS].replace("\0", " ")
        return Document(
            kind=self.prefix,
            row_id=row["pk"],
            at=row[self.since],
            team=row[self.team],
            agent=row[self.agent] if self.agent else None,
            session=session,
            state=row["state"] if self.states else "",
            labels=labelled(dict.fromkeys(label_of(label) for label in self.labels(row))),
            text=_storable(Folded(text).text),
        )

    def of_id(self, beginning: str, teams: Sequence[int] | None, most: int) -> list[int]:
        """Return the keys of the rows whose ids begin so, the latest id first."""
        # Between two ids of full length: whatever the collation, both databases have an index for that.
        last = beginning.ljust(len(new_id(self.prefix)), "z")
        rows = self.seen(teams).filter(public_id__gte=beginning, public_id__lte=last, public_id__startswith=beginning)
        return list(rows.order_by("-public_id").values_list("pk", flat=True)[:most])  # along their index

    def hits(
        self, keys: Sequence[int], words: Sequence[str], teams: Sequence[int] | None, *, with_team: bool
    ) -> list[Hit]:
        """Tell of rows, in the order of `keys`, with what stands around the first of the folded `words`."""
        team = f"{self.team}__name"
        of = (self.of, team) if with_team and self.of != team else (self.of,)  # names of agents are of one team
        names = {self.key, *of, self.at, *self.texts}
        names |= {self.session, f"{self.agent}__public_id"} if self.session else set()
        names |= {"state"} if self.states else set()
        rows = list(self.seen(teams).filter(pk__in=list(keys)).values("pk", "public_id", *names))
        self.more(rows)
        by_key = {row["pk"]: hit for row in rows if _is_told(hit := self._hit(row, of, words), row, words)}
        return [by_key[key] for key in keys if key in by_key]

    def _hit(self, row: Row, of: Sequence[str], words: Sequence[str]) -> Hit:
        whole = masked_text("\n".join((self.text(row), *row.get("more", ()))))
        tool = row.get("call__name") or ""
        arguments = line(tool, canonical(row["call__arguments"])) if tool else ""
        return Hit(
            pk=row["pk"],
            public_id=row["public_id"],
            url=reverse(self.page, args=[row[self.key]]),
            text=excerpt(arguments if _has_first(words, f"{tool} {arguments}") and arguments else whole, words),
            whole=whole,
            of=" · ".join(row[name] for name in of if row[name]),
            session=row[self.session] if self.session else "",
            agent=row[f"{self.agent}__public_id"] if self.session else "",
            state=self.states(row["state"]).label if self.states else "",
            state_value=row["state"] if self.states else "",
            at=row[self.at],
            calls=[(name, text[:CALL]) for name, text in self.calls(row)],
            tool=excerpt(tool, words) if tool else (),
            effects=row.get("effect_bits") or 0,
        )


def _has_first(words: Sequence[str], text: str) -> bool:
    return not words or words[0] in Folded(text).text


def _is_told(hit: Hit, row: Row, words: Sequence[str]) -> bool:
    """Tell whether the words stand in what is told of a row: its text may be indexed with what is a secret by now."""
    folded = Folded(f"{hit.whole}\n{hit.session}\n{hit.public_id}").text
    return all(word in folded for word in words)


def label_of(label: str) -> str:
    """Return a label as it is stored and asked for."""
    return _storable(Folded(label.replace("\0", " ")).text)


def _storable(text: str) -> str:
    """Replace halves of characters, which JSON may name and no database takes."""
    return text.encode("utf-8", "replace").decode()


def _lines(*names: str) -> Callable[[Row], str]:
    return lambda row: "\n".join(row[name] for name in names if row[name])


def _of_response(row: Row) -> str:
    if not row["body"]:  # erased
        return ""
    body = masked(json.loads(row["body"]))
    texts = [body["response"]]
    for answer in _answers_to_calls(row):
        texts += _effects(answer["effects"], answer["arguments"])
    for item in body.get("items") or ():
        if "name" in item:
            texts += [_call(item)]
            texts += [item.get("description") or ""]
        else:
            texts += [item["text"]] if item["text"] not in body["response"] else []
            texts += _attributes(item.get("attributes") or {})  # those of tags stand in the response
        texts += _attributes(item.get("metadata") or {})
    texts += _attributes(body.get("metadata") or {})
    return "\n".join(filter(None, (*texts, body.get("user_message"))))


def _call(item: Mapping[str, Any]) -> str:
    return f"{item['name']} {json.dumps(item['arguments'], ensure_ascii=False)}"


def _calls_of_response(row: Row) -> list[tuple[str, str]]:
    items = json.loads(row["body"]).get("items") or () if row["body"] else ()
    return [(item["name"], _call(masked(item))) for item in items if "name" in item]


def _labels_of_response(row: Row) -> list[str]:
    body = json.loads(row["body"]) if row["body"] else {}
    labels = _labels_of(body.get("metadata"))
    for item in body.get("items") or ():
        labels += _labels_of(item.get("metadata"))
        labels += [tool_label(item["name"])] if "name" in item else []
    found = (name for each in _answers_to_calls(row) for name in names_in(bits_of(each["effects"])))
    return [*labels, *map(effect_label, found)]


def _answers_to_calls(row: Row) -> list[dict[str, Any]]:
    """Return the verdict's items of tool calls of which it says what they would do."""
    if not row["body"] or '"effects"' not in row["verdict"]:
        return []
    return [item for item in json.loads(row["verdict"])["items"] if item.get("effects")]


def _of_held(row: Row) -> str:
    text = masked_call(row["text"]) if row["kind"] == HeldItem.Kind.TOOL_CALL else row["text"]
    effects = _effects(row["call__effects"] or (), row["call__arguments"])
    return "\n".join((text, *effects, *_attributes(row["attributes"]), *_attributes(masked(row["metadata"]))))


def _calls_of_held(row: Row) -> list[tuple[str, str]]:
    return [(row["call__name"], masked_call(row["text"]))] if row["call__name"] else []


def _labels_of_held(row: Row) -> list[str]:
    labels = [*_labels_of(row["metadata"]), *([tool_label(row["call__name"])] if row["call__name"] else [])]
    return labels + [effect_label(name) for name in names_in(row["effect_bits"] or 0)]


def _effects(effects: Sequence[Mapping[str, Any]], arguments: Any) -> list[str]:
    """Return what a call would do, a line for each effect: `effect:delete /srv/other`."""
    told = (
        f"{effect_label(each['effect'])} {each['object'] or ''}".rstrip() for each in masked_effects(effects, arguments)
    )
    return list(dict.fromkeys(told))


def _read_decisions(rows: list[Row]) -> None:
    """Add what was said in decisions: reasons, and what was made of the texts."""
    decided = Decision.objects.filter(held__in=[row["pk"] for row in rows]).order_by("pk")
    said: dict[int, list[str]] = {}
    for held, verdict, reason, text, arguments in decided.values_list("held", "verdict", "reason", "text", "arguments"):
        lines = said.setdefault(held, [])
        lines += [reason] if reason else []
        if verdict == DecisionVerdict.EDIT:  # else it is the item's own
            lines += [text] if text else []
            lines += [json.dumps(masked(arguments), ensure_ascii=False)] if arguments is not None else []
    for row in rows:
        row["more"] = said.get(row["pk"], ())


def _read_steps(rows: list[Row]) -> None:
    """Add the entries of threads."""
    steps = ThreadStep.objects.filter(thread__in=[row["pk"] for row in rows]).exclude(text="").order_by("pk")
    said: dict[int, list[str]] = {}
    for thread, text in steps.values_list("thread", "text"):
        said.setdefault(thread, []).append(text)
    for row in rows:
        row["more"] = said.get(row["pk"], ())


def _attributes(attributes: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_plain(value)}" for name, value in attributes.items()]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _labels_of(metadata: Mapping[str, Any] | None) -> list[str]:
    return [metadata_label(f"{name}={_plain(value)}") for name, value in masked(metadata or {}).items()]


def effect_label(name: str) -> str:
    return f"effect:{name}"


def tool_label(name: str) -> str:
    return f"tool:{name}"


def metadata_label(pair: str) -> str:
    """Return the label of a `name=value` of metadata."""
    return f"meta:{pair}"


def _of_pattern(row: Row) -> str:
    # An id that was imported is words; one of ours is found as an id, and says nothing to who reads it.
    own = () if row["public_id"].startswith("ep_") else (row["public_id"],)
    return "\n".join((row["description"], *row["keywords"], *own))


_PROBLEM, _THREAD, _MEMORY = ("key",), ("title", "slug", "next", "notes"), ("text", "topic", "source")
_HELD = (
    *("kind", "text", "attributes", "metadata", "response__session", "effect_bits"),
    *("call__name", "call__arguments", "call__effects"),
)
KINDS = (
    Kind(
        "held", _("Held"), HeldItem, "held", "item", _HELD, _of_held,
        team="team", at="held_at", since="held_at", states=HeldItem.State, session="response__session",
        labels=_labels_of_held, calls=_calls_of_held, more=_read_decisions,
    ),
    Kind(
        "responses", _("Responses"), AgentResponse, "resp", "response", ("body", "verdict"), _of_response,
        at="received_at", since="received_at", session="session", labels=_labels_of_response,
        calls=_calls_of_response,
    ),
    Kind(
        "problems", _("Problems"), Problem, "prob", "problem", _PROBLEM, _lines(*_PROBLEM),
        at="touched_at", since="began_at", session="session", nameless=_("A problem without a name"),
    ),
    Kind(
        "patterns", _("Patterns"), ErrorPattern, "ep", "pattern", ("description", "keywords", "public_id"), _of_pattern,
        key="pk", team="team", agent="", of="team__name", states=ErrorPattern.State, list_name="patterns",
    ),
    Kind(
        "threads", _("Threads"), ThoughtThread, "thr", "thread", _THREAD, _lines(*_THREAD),
        states=ThoughtThread.State, more=_read_steps,
    ),
    Kind(
        "memory", _("Memory"), Memory, "mem", "memory", _MEMORY, _lines(*_MEMORY),
        team="team", of="team__name", states=Memory.State, list_name="memories",
    ),
    Kind(
        "lessons", _("Lessons"), Lesson, "les", "lesson", ("text",), _lines("text"),
        team="team", of="team__name", states=Lesson.State,
    ),
    Kind(
        "agents", _("Agents"), Agent, "agt", "agent", ("name",), _lines("name"),
        team="team", agent="id", of="team__name",
    ),
)  # fmt: skip
BY_NAME = {kind.name: kind for kind in KINDS}
BY_PREFIX = {kind.prefix: kind for kind in KINDS}

"""A tool's name read as verb and noun: what a tool of that name does.

Which words are verbs, and which nouns say more (`grant_role` gives privileges, `create_payout` moves money), is data:
`names.json`, with its sources.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..effect import KINDS, Kind

MAX_NAME = 255
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SERVER = re.compile(r"(?:.*(?:__|::|[/:#]))?", re.DOTALL)  # mcp__github__list_issues, github:list_issues
_MCP = ("mcp", "functions", "tool", "tools")


class _Verb(NamedTuple):
    effects: tuple[Kind, ...]
    strength: str  # "only": never a noun, what follows it is its object; "usual"; "weak": as often a noun

    @property
    def is_harmless(self) -> bool:
        return set(self.effects) <= {"read", "fetch"}


class _Noun(NamedTuple):
    effects: tuple[Kind, ...]
    of: frozenset[str]  # the effects of a verb with which it counts
    verbs: frozenset[str]  # the only verbs with which it counts, where there are any
    anywhere: frozenset[str]
    head: frozenset[str]  # counts as the last word only


class _Words(NamedTuple):
    verbs: Mapping[str, _Verb]
    nouns: Sequence[_Noun]
    phrases: Mapping[tuple[str, str], str]
    facts: frozenset[str]  # what a name without a verb reads, where it ends so
    weak_facts: frozenset[str]  # the same, after known things only: `stock_price`, but not `bump_price`
    things: frozenset[str]
    crud: frozenset[str]  # what reads wherever it stands: `pods_list`, `github_get_issue`
    modifiers: frozenset[str]
    joins: frozenset[str]
    generic: frozenset[str]


@dataclass(frozen=True, slots=True)
class Named:
    """What a name says. `is_clear`: a verb was found. `is_generic`: an argument says what is done (`manage_…`)."""

    server: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    effects: tuple[Kind, ...] = ()
    verb: str = ""
    is_clear: bool = False
    is_generic: bool = False


@cache
def _words() -> _Words:
    data: dict[str, Any] = json.loads(Path(__file__).with_name("names.json").read_bytes())
    return _Words(
        verbs={
            word: _Verb(tuple(verb["effects"]), strength)
            for verb in data["verbs"]
            for strength in ("only", "usual", "weak")
            for word in verb[strength].split()
        },
        nouns=[
            _Noun(
                tuple(noun["effects"]), *(frozenset(noun[part].split()) for part in ("of", "verbs", "anywhere", "head"))
            )
            for noun in data["nouns"]
        ],
        phrases={
            (first, second): word for phrase, word in data["phrases"].items() for first, second in [phrase.split()]
        },
        **{name: frozenset(data[name].split()) for name in _Words._fields[3:]},
    )


def split(name: str) -> tuple[str, ...]:
    """Give the words of a name in small letters: `listUsers`, `list-users`, `stripe.refunds.create`."""
    found = [word.lower() for word in _WORD.findall(name)]
    phrases, words = _words().phrases, list[str]()
    for word in found:
        if words and (phrase := phrases.get((words[-1], word))):
            words[-1] = phrase
        else:
            words.append(word)
    return tuple(words)


@lru_cache(maxsize=4096)
def named(name: str) -> Named:
    """Read a tool's name; one that cannot be read whole is not clear."""
    if len(name) > MAX_NAME:
        return Named()
    own = name[_SERVER.match(name).end() :]  # type: ignore[union-attr]  # it matches the empty text, too
    server = tuple(word for word in split(name[: len(name) - len(own)]) if word not in _MCP)
    words = split(own)
    if words[:1] == ("mcp",):
        words = words[1:]
    verb, effects = _read(words)
    known = _words()
    if words and (words[0] in known.generic or (not effects and not known.generic.isdisjoint(words))):
        return Named(server, words, is_generic=True)
    return Named(server, words, effects, verb, bool(effects) and name.isascii())


def _read(words: Sequence[str]) -> tuple[str, tuple[Kind, ...]]:
    """Give the verb and what it does to the nouns; () where no verb is found."""
    first, found = "", set[Kind]()
    for part in _parts(words):
        at = _verb_at(part)
        if at is not None:
            first = first or part[at]
            found |= _effects(part, at)
        elif not found and _is_fact(part):
            found.add("read")
    return first, tuple(kind for kind in KINDS if kind in found)


def _parts(words: Sequence[str]) -> list[Sequence[str]]:
    """Cut `search_and_replace` where another verb is joined."""
    known, parts, begin = _words(), list[Sequence[str]](), 0
    for at, word in enumerate(words[1:-1], start=1):
        if word in known.joins and _verb(words[at + 1]):
            parts.append(words[begin:at])
            begin = at + 1
    return [*parts, words[begin:]]


@lru_cache(maxsize=4096)
def _verb(word: str) -> _Verb | None:
    """Look a verb up; `recreate` and `unresolve` do what the verb in them does."""
    verbs = _words().verbs
    if (verb := verbs.get(word)) is not None:
        return verb
    for prefix in ("re", "un", "de", "dis", "auto"):
        inner = verbs.get(word.removeprefix(prefix)) if word.startswith(prefix) else None
        if inner is not None and inner.strength != "weak" and len(word) > len(prefix) + 3:
            return inner if prefix == "re" or not inner.is_harmless else None
    return None


def _verb_at(words: Sequence[str]) -> int | None:
    known = _words()
    weak = None
    for at, word in enumerate(words):
        verb = _verb(word)
        if verb is None:
            continue
        is_after_things = all(before in known.things or before in known.modifiers for before in words[:at])
        if verb.is_harmless and not is_after_things and word not in known.crud:
            continue  # `decrease_replica_count`: who knows what the word in front is
        if verb.strength != "weak":
            return at
        weak = at if weak is None else weak
    if weak is not None and words[-1] in known.facts and len(words) > weak + 1:
        return None  # `order_status`, `build_logs`
    return weak


def _is_fact(words: Sequence[str]) -> bool:
    """Tell whether a name without a verb says what is looked up: `zone_details`, `stock_price`, `asset_by_id`."""
    known = _words()
    if not words:
        return False
    if words[-1] in known.facts:
        return True
    is_known = all(word in known.things or word in known.facts or word in known.weak_facts for word in words[:-1])
    if words[-1] in known.weak_facts:
        return is_known
    return "by" in words[1:-1] and words[0] in known.things


def _effects(words: Sequence[str], at: int) -> set[Kind]:
    known = _words()
    verb = _verb(words[at])
    assert verb
    found = set(verb.effects)
    rest = words[at + 1 :]
    others = [other for word in (rest[-1:] if verb.is_harmless else rest) if (other := _strong(word))]
    if verb.is_harmless:
        if verb.strength != "only":
            is_of_many = bool(rest) and (rest[-1].endswith("s") or rest[-1] in known.facts)
            if len(rest) > 1 and not is_of_many and (following := _strong(rest[0])):
                others.append(following)  # `list_remove_member`: the list is what it is done to
            found.update(kind for other in others for kind in other.effects)
    else:
        found.update(kind for other in others for kind in other.effects if kind not in ("read", "fetch"))
    nouns = [_singular(word) for word in words if word != words[at]]
    head = nouns[-1] if nouns else ""
    for noun in known.nouns:
        if noun.verbs and words[at] not in noun.verbs:
            continue
        if noun.of & found and (not noun.anywhere.isdisjoint(nouns) or head in noun.head):
            found.update(noun.effects)
    return found


def _strong(word: str) -> _Verb | None:
    verb = _words().verbs.get(word)
    return verb if verb and verb.strength != "weak" else None


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word

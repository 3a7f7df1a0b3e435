"""What a ranker sees of a text that was decided on: its words, those of the question, and facts about it.

Words and runs of two of them, and of Chinese runs of one to three characters, are hashed into `BUCKETS` numbers
(Weinberger et al. 2009, "Feature Hashing for Large Scale Multitask Learning"): no vocabulary is kept, so a model is
small and holds no text. Each counts once, however often it occurs, and all of a text together have the length 1.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from struct import pack, unpack
from typing import Any, NamedTuple
from zlib import crc32

from ..effects.calls.shape import place_of
from ..effects.effect import Effect
from ..text.shadow import fold
from ..text.spans import Place
from ..text.tags import TOOL_CALL
from ..wire.assessment import EffectPart
from .around import Post, around, log, values_given, values_in

BUCKETS = 65_536
READ = 2_000  # characters of a text, and of a question
QUESTION = 0.5  # the length of a question's words beside 1 of the text's
_HAN = re.compile("[\u3400-\u9fff]")
_WORD = re.compile("[\u3400-\u9fff]|[^\\W\u3400-\u9fff]+")
_WORD_OR_SIGN = re.compile(f"{_WORD.pattern}|\\S")  # models of a format before 5 know signs, too
_OF_HAN = 1 << 16  # set in the hash of a Chinese character
_LOW, _HANS = (int.from_bytes(pack("<I", each) * READ, "little") for each in (0xFFFF, _OF_HAN))
_IN_QUESTION = 0x5BD1
_MOST_HASHES = 65_536
_WHERE = {True: " inside", False: " outside", None: ""}
_MOST_FACTS = 64  # of one kind about one text: tools and names of arguments, or effects


class Seen(NamedTuple):
    """One text as numbers."""

    text: Sequence[int]  # buckets, each once
    question: Sequence[int]
    facts: Mapping[str, float]


class Called(NamedTuple):
    """A tool call in a text: its name and arguments, and its effects as its verdict has them."""

    name: str
    arguments: Any
    effects: Iterable[EffectPart] = ()


def see(text: str, question: str, facts: Mapping[str, float], *, signs: bool = False) -> Seen:
    """Return what a ranker sees of a text; `facts` as `facts_of` gives them, `signs` as its model has `reads_signs`."""
    asked = [bucket ^ _IN_QUESTION for bucket in _buckets(_hashes(question, signs=signs))] if question else []
    # Two bytes each: 20,000 decisions are kept at a time. An array takes a list at twice the speed of a set.
    return Seen(array("H", [*_buckets(_hashes(text, signs=signs))]), array("H", asked), facts)


class _Hashes(dict[str, int]):
    """The hashes of tokens, each made once; thread-safe, since a dictionary's steps are."""

    def __missing__(self, token: str) -> int:
        if len(self) >= _MOST_HASHES:
            self.clear()
        found = self[token] = crc32(token.encode()) & 0xFFFF | (_OF_HAN if _HAN.match(token) else 0)
        return found


_hash_of = _Hashes().__getitem__


def _hashes(text: str, *, signs: bool) -> list[int]:
    return [*map(_hash_of, (_WORD_OR_SIGN if signs else _WORD).findall(fold(text[:READ])))]


def _buckets(hashes: Sequence[int]) -> set[int]:
    """Return the numbers of tokens and of runs of them; `runs` has the same one by one.

    All tokens are one whole number, 32 bits each, the first the lowest: one operation of it is that of every token, and
    takes a fifth of the time. Odd factors, so that none is lost; the last token begins no run of two.
    """
    layout, size = f"<{len(hashes)}I", 4 * len(hashes)
    first = int.from_bytes(pack(layout, *hashes), "little")
    second, one = first >> 32, first & _LOW
    found = [one.to_bytes(size, "little"), (31 * first + second & _LOW).to_bytes(size, "little")[:-4]]
    if first & _HANS:
        third = second >> 32
        of_han = ((first & second & third & _HANS) >> 16) * 0xFFFF
        found.append((1009 * first + 37 * second + third & of_han | one & ~of_han).to_bytes(size, "little"))
    lanes = b"".join(found)
    return set(unpack(f"<{len(lanes) // 4}I", lanes))


def runs(text: str, *, signs: bool = False) -> Iterator[tuple[int, Sequence[Place]]]:
    """Give each bucket of a text at its first occurrence, with the places of the tokens that it is made of."""
    folded = fold(text[:READ])
    places = [match.span() for match in (_WORD_OR_SIGN if signs else _WORD).finditer(folded)]
    hashes = [_hash_of(folded[start:end]) for start, end in places]
    found = [(each & 0xFFFF, at, 1) for at, each in enumerate(hashes)]
    found += [(31 * first + second & 0xFFFF, at, 2) for at, (first, second) in enumerate(pairwise(hashes))]
    threes = enumerate(zip(hashes, hashes[1:], hashes[2:], strict=False))
    found += [(1009 * a + 37 * b + c & 0xFFFF, at, 3) for at, (a, b, c) in threes if a & b & c & _OF_HAN]
    seen = set()
    for bucket, at, size in found:
        if bucket not in seen:
            seen.add(bucket)
            yield bucket, places[at : at + size]


# -- facts -------------------------------------------------------------------------------------------------------


def facts_of(
    text: str,
    question: str | None,
    verdict: Mapping[str, Any],
    *,
    turns: int = 0,
    kind: str = "",
    agent: str = "",
    calls: Sequence[Called] = (),
) -> dict[str, float]:
    """Return the facts about one text: names with numbers, most of them from 0 to 1.

    `turns` is how many responses its session had before, `calls` are the tool calls in it. Of the response's `verdict`
    hesitation, quality, confidence and stuck are read, as far as they are there. A fact that is added here gets a model
    a new `FORMAT`.
    """
    length = log(len(text), 8)
    facts = {"length": length, "length-squared": round(length * length, 4), "turns": log(turns, 4)}
    if question:
        facts["question-length"] = log(len(question), 8)
    if kind:
        facts[f"kind:{kind}"] = 1.0
    if agent:
        facts[f"agent:{agent}"] = 1.0
    hesitation, quality, confidence, stuck = (
        verdict.get(part) for part in ("hesitation", "quality", "confidence", "stuck")
    )
    if hesitation:
        facts["score"] = hesitation["score"] / 100
        facts.update((f"signal:{signal['type']}", 1.0) for signal in hesitation["signals"])
    if quality:
        facts["quality"] = quality["score"]
        facts.update((f"flag:{flag}", 1.0) for flag in quality["flags"])
    if confidence:
        facts[f"confidence:{confidence['level']}"] = 1.0
    if stuck:
        facts["stuck"] = min(1.0, stuck["points"] / 10)
    told = [*islice(_named(calls), _MOST_FACTS), *islice(_effects(calls), _MOST_FACTS)]
    if kind == TOOL_CALL:  # beside words a call is one thing among others, and its values say nothing of them
        told += islice(_given(calls), _MOST_FACTS)
    facts.update(dict.fromkeys(told, 1.0))
    return facts


def facts_in(
    post: Post,
    text: str,
    *,
    kind: str = "",
    calls: Sequence[Called] = (),
    metadata: Mapping[str, Any] | None = None,
    beside: Mapping[str, int] | None = None,
) -> dict[str, float]:
    """Return the facts about one text of a post: `facts_of`, those of its metadata, and what was around it.

    `metadata` is the item's own, `beside` counts the other items by kind.
    """
    body = post.body
    facts = facts_of(
        text, body.get("user_message"), post.verdict, turns=post.turns, kind=kind, agent=post.agent, calls=calls
    )
    facts.update(around(post, text, beside or {}))
    known = {**(body.get("metadata") or {}), **(metadata or {})}
    facts.update((value.fact, 1.0) for value in values_in(known))
    return facts


def _named(calls: Iterable[Called]) -> Iterator[str]:
    for tool, arguments, _ in calls:
        yield f"tool:{tool}"
        if isinstance(arguments, Mapping):
            yield from (f"argument:{tool}/{key}" for key in arguments)


def _given(calls: Iterable[Called]) -> Iterator[str]:
    for tool, arguments, _ in calls:
        yield from (value.given_to(tool) for value in values_given(arguments) if value.value)


def _effects(calls: Iterable[Called]) -> Iterator[str]:
    """Name what calls would do: "effect:delete", "effect:delete path outside", and where, as `object_fact` does."""
    for part in (part for call in calls for part in call.effects):
        yield f"effect:{part['effect']}"
        if of := part.get("of"):
            yield f"effect:{part['effect']} {of}{_WHERE[part['inside']]}"
            if not part["inside"]:
                yield object_fact(part)


def object_fact(part: EffectPart) -> str:
    """Name an effect by the place of its object: the folder, host or domain, else itself; hashed, as words are."""
    return f"object:{part['effect']} {crc32(place_in(part).encode('utf-8', 'replace')):08x}"


def place_in(part: EffectPart) -> str:
    """Say where the object of an effect is, as a shape has it."""
    try:
        return place_of(Effect(**part))
    except ValueError:  # no address, though it is called one
        return part["object"] or ""

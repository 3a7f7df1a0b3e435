"""Thought threads: what an agent pursues over days (seed 001, "組件一：Thought Thread").

Threads are plain values here; where they are kept, and who may change them, is the caller's.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from itertools import islice
from typing import Literal, NamedTuple

from ..text import words
from ..text.spans import Place, Span, spans_of
from ..text.timesense import ago, day_of
from ..tool_calls.secret_shapes import secret_places
from ..tool_calls.secrets import masked_text

Status = Literal["active", "paused", "resolved"]

MAX_ACTIVE = 3  # seed 001: 認知負荷限制
LAST_STEPS = 3  # of the trail, in the section
STREAK = 3  # cycles on one topic that suggest a thread
MAX_READ = 65_536
MAX_SPANS = 64
_MIN_WORDS, _MIN_SHARE = 2, 0.6  # of a title, that recognise a thread without its name


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a trail. `extra` is what stands behind the date in its brackets."""

    text: str
    on: date | None = None
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Thread:
    """A direction of thought. The trail is in its order, oldest first."""

    title: str
    slug: str
    status: Status = "active"
    created: date | None = None
    last_touched: date | None = None
    touches: int = 0
    trail: tuple[Step, ...] = ()
    next: str = ""
    notes: str = ""  # what a file says besides, as it was


def slug_of(title: str) -> str:
    """Make a slug of letters and digits of any script, at most 100 characters: 約束與湧現的實踐, thread-2.

    In small letters a secret has lost what it is known by: of a title that holds one the slug is made of the rest, and
    of a digest that tells it from a title with another.
    """
    whole, shown = whole_slug_of(title), masked_text(title)
    if shown == title:
        return whole
    return f"{whole_slug_of(shown)[: words.MAX_SLUG - 9].strip('-')}-{sha256(whole.encode()).hexdigest()[:8]}"


def whole_slug_of(title: str) -> str:
    """Make a slug as former releases did, which left no secret out."""
    return words.slug(title) or "thread"


def shown_slug(slug: str, title: str) -> str:
    """Return a thread's slug as people may read it: one of former releases may have its title's secret in it."""
    secrets = (words.slug(title[start:end]) for start, end in secret_places(title))
    return slug_of(title) if any(secret in slug for secret in secrets if secret) else masked_text(slug)


_PLURAL = re.compile(r"(?<=[a-z]{2}[^\Wsu])s\Z")  # not of "process", "status"


def stamped(step: Step, last: date | None, mark: str = "") -> str:
    """Write an entry behind its day, without the year where that follows from the `last` touch."""
    if step.on is None:
        return step.text
    month, day = f"{step.on:%m}", f"{step.on:%d}"
    written = f"{month}-{day}" if last and day_of(month, day, None, last) == step.on else step.on.isoformat()
    return f"[{' '.join(filter(None, (written, step.extra, mark)))}] {step.text}"


def threads_section(threads: Iterable[Thread], today: date | None = None) -> str:
    """Give the `<threads>` section of the next prompt: the active threads' meta, last three steps and next.

    At most three threads, those touched last; "" without any. With `today`, each day says how long ago it was.
    """
    active = [thread for thread in threads if thread.status == "active"]
    active.sort(key=lambda thread: thread.last_touched or date.min, reverse=True)
    if not active:
        return ""
    return "<threads>\n" + "\n---\n".join(_summary(thread, today) for thread in active[:MAX_ACTIVE]) + "\n</threads>"


def _summary(thread: Thread, today: date | None) -> str:
    lines = [f"Thread: {thread.title} (Status: {thread.status}, Touches: {thread.touches})"]
    if thread.trail:
        lines.append("Trail:")
    for step in thread.trail[-LAST_STEPS:]:
        mark = f"⟨{ago(step.on, today)}⟩" if step.on and today else ""
        lines.append(f"- {stamped(step, thread.last_touched, mark)}")
    if thread.next:
        lines.append(f"Next: {thread.next}")
    return "\n".join(lines)


def shortened(text: str, most: int) -> str:
    """Cut a text behind `most` characters, and say in it how many were cut."""
    return text if len(text) <= most else f"{text[:most]} ⟨{len(text) - most:,} more characters cut⟩"


class Recognition(NamedTuple):
    """The thread a response pursues, and what tells it."""

    slug: str
    by: Literal["name", "words"]
    spans: tuple[Span, ...]


def recognise_thread(response: str, threads: Iterable[Thread]) -> Recognition | None:
    """Recognise the active thread a response refers to: by its slug or title, else by most of its title's words.

    The most often named wins, then the largest share of words, then the first given. A name of a single word, or of
    less than four Chinese characters, is an everyday word as well and has to come twice,
    in quotation marks, or behind the word "thread".
    """
    read = response[:MAX_READ]
    folded = words.fold_signs(read)
    spaced = ""  # this and the parts are made when first wanted: most responses are about something else
    parts: list[str] = []
    best: tuple[int, float] = (0, 0.0)
    recognised = None
    for thread in threads:
        if thread.status != "active":
            continue
        named = _named(thread, folded)
        terms = words.terms(words.tokens(words.fold_signs(thread.title)))
        found = [term for term in terms if all(word in folded for word in term.split())]
        if len(found) >= (_MIN_WORDS if named else max(_MIN_WORDS, _MIN_SHARE * len(terms))):
            spaced = spaced or words.spaced(words.tokens(folded))
            found = [term for term in found if term in spaced]
            if len(found) == _MIN_WORDS and not named:
                # Two everyday words far apart are about something else.
                parts = parts or [words.spaced(words.tokens(part)) for part in _PARTS.split(folded)]
                found = found if any(all(term in part for term in found) for part in parts) else []
        share = len(found) / len(terms) if len(found) >= _MIN_WORDS else 0.0
        rank = (len(named), share if named or share >= _MIN_SHARE else 0.0)
        if rank > best:
            best = rank
            places = named or [words.place_of(term, folded) for term in found]
            recognised = Recognition(thread.slug, "name" if named else "words", spans_of(read, places))
    return recognised


_PARTS = re.compile(f"{words.SENTENCE_END.pattern}|;")


def _named(thread: Thread, folded: str) -> list[Place]:
    places: list[Place] = []
    names = (thread.slug, thread.title, whole_slug_of(thread.title))
    for name in dict.fromkeys(map(words.fold_signs, names)):
        if name not in folded or not (tokens := words.tokens(name)):  # signs alone name nothing
            continue
        pattern = rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])"
        found = [match.span() for match in islice(re.finditer(pattern, folded), MAX_SPANS)]
        telling = len(tokens) >= (4 if words.script_of(name, least=0) == "han" else 2)
        if telling or len(found) >= 2 or any(_is_pointed_out(folded, place) for place in found):
            places += found
    return sorted(places)


_QUOTES = dict(zip('"“「『《', '"”」』》', strict=True))
_CALLED_A_THREAD = re.compile(r"(?:\bthread|思路|线索)[\s:]*[\"“「『《]?$")


def _is_pointed_out(folded: str, place: Place) -> bool:
    """Tell whether a name stands in quotation marks of its own, or behind the word "thread"."""
    start, end = place
    before, after = folded[max(0, start - 12) : start], folded[end : end + 1]
    is_quoted = bool(after) and _QUOTES.get(before[-1:]) == after and before[-2:-1] != "="  # not in a tag
    return is_quoted or _CALLED_A_THREAD.search(before) is not None


class Streak(NamedTuple):
    """A topic of the last so many cycles."""

    topic: str
    cycles: int


def topic_streak(cycles: Sequence[Iterable[str]], threads: Iterable[Thread] = ()) -> Streak | None:
    """Find the topic of the last three cycles or more that has no thread yet; the longest, then the first named.

    `cycles` are the topics of each cycle, oldest first (seed 001, Phase 3).
    """
    if not cycles:
        return None
    threads = list(threads)
    known = {_topic(name) for thread in threads for name in (thread.slug, thread.title)}
    titles = [words.spaced(words.tokens(words.fold_signs(thread.title))) for thread in threads]
    pursued = [{_topic(topic) for topic in topics} for topics in reversed(cycles)]
    longest: Streak | None = None
    for topic in cycles[-1]:
        same = _topic(topic)
        count = next((number for number, topics in enumerate(pursued) if same not in topics), len(pursued))
        if same in known or count < max(STREAK, longest.cycles + 1 if longest else 0):
            continue
        # "gateway timeouts" has its thread in "Timeouts in the gateway"; "gateway" alone may be something else.
        terms = words.terms(words.tokens(words.fold_signs(topic)))
        if len(terms) < _MIN_WORDS or not any(all(term in title for term in terms) for title in titles):
            longest = Streak(topic, count)
    return longest


def _topic(name: str) -> str:
    """Give what makes two names one topic: small letters, hyphens or blanks, either Chinese script, one or many."""
    return "-".join(_PLURAL.sub("", word) for word in words.tokens(words.fold_signs(slug_of(name))))


def within_budget(entries: Sequence[str], budget: int) -> list[str]:
    """Keep the newest entries that fit into `budget` characters as lines, in their order: oldest first.

    Nothing older than the first that does not fit is kept (seed 001, Phase 3: older entries are left out first).
    """
    kept: list[str] = []
    for entry in reversed(entries):
        budget -= len(entry) + bool(kept)  # a line break between two
        if budget < 0:
            break
        kept.append(entry)
    return kept[::-1]

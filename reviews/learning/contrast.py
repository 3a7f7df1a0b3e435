"""Propose the phrases that a team's rejected texts have and its approved ones have not (demand L4, findings.md).

What counts as rejected: what a person rejected as wrong or without evidence, or for no preset reason; the sentence that
an edit took out; a spot check that should have been held; a response that its user's next message corrected. As
approved: what a person approved, and what a spot check found fine. What was undone, expired, decided by an agent, said
with a tool call or erased counts for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Left, Length
from django.utils import timezone
from pydantic_core import from_json

from metacog.heuristics.ranking import contrast, told
from metacog.heuristics.ranking.contrast import (
    MIN_SESSIONS,
    MOST_CHARACTERS,
    MOST_TEXTS,
    DecidedText,
    Phrase,
    Texts,
    Tried,
)
from metacog.heuristics.text.shadow import Shadow
from metacog.heuristics.tool_calls.secrets import masked_text
from metacog.models import Agent, Team
from patterns.models import ErrorPattern, keyword_problems
from patterns.patterns import lifecycle
from patterns.patterns.lifecycle import digest
from reviews.isolation import by_itself, in_turn
from reviews.learning import reason_groups, retiring, sweep
from reviews.learning.extract import in_words, sentence_changed, sentence_with
from reviews.models import (
    AgentResponse,
    ContrastLook,
    CorrectedResponse,
    Decision,
    DecisionVerdict,
    HeldItem,
    PatternOrigin,
    ProposalEvidence,
    Sample,
)
from reviews.records import reasons

Kind, State = PatternOrigin.Kind, ErrorPattern.State

A_TEXT = timedelta(seconds=1)  # from one look to the next, for each text: what costs about a millisecond
MOST_RESPONSES = 1_000  # the newest spot checks, and the newest corrections
MOST_EDITED = 16_384  # characters of a text that was edited
MOST_ORIGINS = 100  # of one pattern
LEAST_TOLD = 2  # rejections that gave a reason which a proposal names
MOST_VALUE = 60  # characters of a metadata value that groups texts
TURN_SECONDS = 20.0  # in which a run begins with teams

_NEVER = datetime(2000, 1, 1, tzinfo=UTC)
_VALUES = (str, int, float, bool)
_UNDO = timedelta(days=1)  # by so much a decision may be released after it was made; the index is by when it was made


@dataclass(frozen=True)
class Judged:
    """A text that was rejected or approved: by what, when, and where it was said."""

    at: datetime
    row: str  # the public id of the decision, of the spot check, or of the response that brought the correction
    text: str
    session: str  # of its agent; where it has none, what only its response has
    rejected: bool
    agent: int
    response: int
    held: int | None = None
    told: str = ""  # a person's own words
    asked: str = ""  # by the user, of what was rejected
    known: Mapping[str, str] = field(default_factory=dict)  # of its metadata

    def as_decided(self) -> DecidedText:
        known = {"agent": str(self.agent), **self.known}
        return DecidedText(self.text, f"{self.agent} {self.session}", self.rejected, self.asked, known)


def look_due(now: datetime) -> int:
    """Look at the teams with new decisions, in turn; return how many patterns are new."""
    began, made = monotonic(), 0
    looks = {look.team_id: look for look in ContrastLook.objects.all()}
    never = ContrastLook(at=_NEVER, texts=0)
    for team in in_turn("contrast", Team.objects.all()):
        with by_itself("No contrasts looked for in %s", team.pk):
            if _is_due(team, looks.get(team.pk, never), now):
                made += look(team, now)
        if monotonic() - began > TURN_SECONDS:
            break
    return made


def _is_due(team: Team, last: ContrastLook, now: datetime) -> bool:
    if last.reasons is None and last.texts:  # erased since
        return now - last.at >= last.texts * A_TEXT
    if last.at > now:  # a clock that was wrong for a while may have gone on
        return True
    if now - last.at < last.texts * A_TEXT:
        return False
    proposals = ErrorPattern.objects.filter(team=team, state=State.PROPOSED)
    counted = proposals.values_list("keywords", "evidence__keywords_sha256", "evidence__matched")
    # Without what its like say it was counted by a release that did not ask them.
    if any(base is None or counted_of != digest(keywords) for keywords, counted_of, base in counted):
        return True
    since = last.at
    decided = _decisions(team).filter(released_at__gt=since, decided_at__gt=since - _UNDO)
    judged, corrected = _samples(team).filter(judged_at__gt=since), _corrections(team).filter(at__gt=since)
    news = decided, retiring.calls_decided(team, since), judged, corrected
    return any(rows.exists() for rows in news)


# -- what counts -------------------------------------------------------------------------------------------------


def judged(team: Team) -> list[Judged]:
    """Return what was rejected and approved in a team, the oldest first, and of much only the newest."""
    corrected = list(_of_responses_corrected(team))
    wrong = {each.response for each in corrected}  # whoever let these pass did not know yet
    others = (each for rows in (_decided(team), _sampled(team)) for each in rows)
    found = corrected + [each for each in others if each.rejected or each.response not in wrong]
    return sorted(found, key=lambda each: (each.at, each.row))[-MOST_TEXTS:]


def _decisions(team: Team) -> QuerySet[Decision]:
    return Decision.objects.filter(
        held__team=team,
        held__response__erased_at=None,
        person__isnull=False,
        by=Decision.By.PERSON,
        verdict__in=(DecisionVerdict.APPROVE, DecisionVerdict.EDIT, DecisionVerdict.REJECT),
        released_at__isnull=False,
        undone_at=None,
    ).exclude(Q(held__kind__in=HeldItem.NO_WORDS) | Q(held__text=""))


def _samples(team: Team) -> QuerySet[Sample]:
    return Sample.objects.filter(agent__team=team, response__erased_at=None).exclude(verdict="")


def _corrections(team: Team) -> QuerySet[CorrectedResponse]:
    return CorrectedResponse.objects.filter(team=team, response__erased_at=None)


def _decided(team: Team) -> Iterator[Judged]:
    rows = _decisions(team).order_by("-decided_at", "-pk").annotate(said=Left("held__text", MOST_CHARACTERS))
    fields = "pk", "public_id", "verdict", "reason", "decided_at", "agent", "held", "held__response", "held__metadata"
    found = list(rows.values_list(*fields, "held__response__session", "said")[:MOST_TEXTS])
    changed = _changed([pk for pk, _id, verdict, *_rest in found if verdict == DecisionVerdict.EDIT])
    asked = _asked({row[7] for row in found if row[2] != DecisionVerdict.APPROVE})
    for pk, public_id, verdict, reason, at, agent, held, response, metadata, session, text in found:
        told = ""
        if verdict == DecisionVerdict.REJECT:
            preset, told = reasons.parse(masked_text(reason))
            if preset and preset not in reasons.ABOUT_TRUTH:
                continue
        elif verdict == DecisionVerdict.EDIT:
            text = changed.get(pk, "")
            if not text:
                continue
        session = session or f"response {response}"  # its items are one witness
        is_wrong, said = verdict != DecisionVerdict.APPROVE, asked.get(response, "")
        about = held, told, said, _known(metadata)
        yield Judged(at, public_id, masked_text(text), session, is_wrong, agent, response, *about)


def _known(metadata: Mapping[str, Any] | None) -> dict[str, str]:
    """Return what of metadata may group texts: short values, each under its key."""
    found = {f"metadata {name}": str(value) for name, value in (metadata or {}).items() if isinstance(value, _VALUES)}
    return {name: value for name, value in found.items() if len(value) <= MOST_VALUE}


def _asked(responses: Collection[int]) -> dict[int, str]:
    """Return what users had said before these responses, as far as it is read."""
    rows = AgentResponse.objects.filter(pk__in=responses).order_by().values_list("pk", "body")
    bodies = ((pk, from_json(body)) for pk, body in rows.iterator(chunk_size=20))
    return {pk: (body.get("user_message") or "")[:MOST_CHARACTERS] for pk, body in bodies}


def _changed(edits: Collection[int]) -> dict[int, str]:
    """Return the sentence that each of these edits took out or changed, where it was one and not all of them."""
    rows = Decision.objects.annotate(size=Length("held__text"), length=Length("text"))
    short = rows.filter(pk__in=edits, size__lte=MOST_EDITED, length__lte=MOST_EDITED).order_by()
    texts = short.values_list("pk", "held__text", "text").iterator(chunk_size=20)
    return {pk: sentence_changed(text, edited)[0] for pk, text, edited in texts if edited}


def _sampled(team: Team) -> Iterator[Judged]:
    missed = Case(When(verdict=Sample.Finding.MISSED, then=True), default=False)
    return _of_responses(_samples(team).annotate(when=F("judged_at"), row=F("public_id"), rejected=missed))


def _of_responses_corrected(team: Team) -> Iterator[Judged]:
    return _of_responses(_corrections(team).annotate(when=F("at"), row=F("by__public_id"), rejected=Value(True)))


def _of_responses(rows: QuerySet[Any]) -> Iterator[Judged]:
    """Give whole responses, the newest first; as values, for two rows that know each other live on for a while."""
    fields = (f"response__{name}" for name in ("agent", "pk", "session", "body"))
    newest = rows.order_by("-when", "-pk").values_list("when", "row", "rejected", *fields)[:MOST_RESPONSES]
    for at, row, rejected, agent, response, session, body in newest.iterator(chunk_size=20):
        posted: dict[str, Any] = from_json(body)
        said = masked_text(posted["response"][:MOST_CHARACTERS])
        asked, known = (posted.get("user_message") or "")[:MOST_CHARACTERS], _known(posted.get("metadata"))
        where = session or f"response {response}"
        yield Judged(at, row, said, where, rejected, agent, response, asked=asked, known=known)


# -- a look ------------------------------------------------------------------------------------------------------


def look(team: Team, now: datetime) -> int:
    """Compare what was rejected with what was approved, and propose; return how many patterns are new."""
    decided = _Look.of(team)
    rows, texts, found = decided
    made, telling = 0, reason_groups.found(team, rows, texts)
    with transaction.atomic(durable=True):
        sweep.lock(team)
        known = _patterns(team)
        agents = Agent.objects.in_bulk({rows[phrase.rejected[-1]].agent for phrase in found})
        for phrase in found:
            origins = _unerased([rows[place] for place in phrase.rejected])
            if len({(each.agent, each.session) for each in origins}) < MIN_SESSIONS or keyword_problems([phrase.text]):
                continue
            same = _same(texts, known, phrase)
            if same and same.state == State.RETIRED:
                continue
            if same is None and sum(each.state == State.PROPOSED for each in known) >= sweep.MAX_PROPOSALS:
                continue
            if same:
                pattern = ErrorPattern.objects.get(pk=same.pk)
            else:
                agent = agents[origins[-1].agent]
                description = in_words(Kind.CONTRAST, phrase.text, agent, _most_told(origins))
                pattern = sweep.add(team, [phrase.text], description, ErrorPattern.Source.CORRECTION)
                known.append(_Known(pattern.pk, State.PROPOSED, _read(pattern.keywords)))
                made += 1
            _teach(pattern, phrase, origins, is_new=same is None)
        _count(team, decided, now)
        kept = {"at": now, "texts": len(rows), "reasons": telling, "retiring": retiring.found(team, now)}
        ContrastLook.objects.update_or_create(team=team, defaults=kept)
    return made


class _Look(NamedTuple):
    """What a team decided, and the phrases that contrast in it."""

    rows: Sequence[Judged]
    texts: Texts
    phrases: Sequence[Phrase]

    @classmethod
    def of(cls, team: Team) -> _Look:
        rows = judged(team)
        texts = Texts([each.as_decided() for each in rows])
        return cls(rows, texts, contrast.find(texts).phrases)


class _Known(NamedTuple):
    """A pattern that the team has, or has turned down; its keywords as texts are read."""

    pk: int
    state: str
    keywords: list[str]


def _read(keywords: Sequence[str]) -> list[str]:
    return [Shadow(keyword).text for keyword in keywords]


def _patterns(team: Team) -> list[_Known]:
    rows = ErrorPattern.objects.filter(team=team).exclude(state=State.RETIRED, dismissed_because="").order_by("pk")
    return [_Known(pk, state, _read(words)) for pk, state, words in rows.values_list("pk", "state", "keywords")]


def _same(texts: Texts, known: Sequence[_Known], phrase: Phrase) -> _Known | None:
    """Return the pattern that matches the same texts as a phrase: one that was dismissed, else the oldest.

    One that matches what was approved, too, is another: the phrase says better what was wrong.
    """
    held = texts.holding(_read([phrase.text]))
    covering = (each for each in known if texts.cover(each.keywords, phrase.rejected))
    found = [each for each in covering if contrast.alike(texts.holding(each.keywords), held)]
    return min(found, key=lambda each: (each.state != State.RETIRED, each.pk), default=None)


def _most_told(origins: Sequence[Judged]) -> str:
    """Return the reason that people gave most often, where at least half of all that gave one gave that: else none."""
    reasons_told = [each.told for each in origins if each.told]
    groups = told.grouped(reasons_told)
    if not groups or 2 * len(groups[0].places) < max(len(reasons_told), 2 * LEAST_TOLD):
        return ""
    return groups[0].name


def _unerased(origins: Sequence[Judged]) -> list[Judged]:
    """Leave out what was erased since it was read; whoever erases the rest waits for the quotes of it."""
    read = AgentResponse.objects.filter(pk__in={each.response for each in origins}, erased_at=None)
    stored = set(read.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    return [each for each in origins if each.response in stored]


def _teach(pattern: ErrorPattern, phrase: Phrase, origins: Sequence[Judged], *, is_new: bool) -> None:
    """Add to what taught a pattern; what it was taught by before stays."""
    rows = PatternOrigin.objects.filter(pattern=pattern)
    before = set() if is_new else set(rows.values_list("row", flat=True))
    fresh = list({each.row: each for each in origins if each.row not in before}.values())
    room = MOST_ORIGINS - len(before)
    if room <= 0 or not fresh:
        return
    PatternOrigin.objects.bulk_create(
        PatternOrigin(
            pattern=pattern,
            kind=Kind.CONTRAST,
            row=each.row,
            response_id=each.response,
            held_id=each.held,
            evidence=sweep.quotes(sentence_with(phrase.text, each.text), each.told),
        )
        for each in fresh[-room:]
    )
    sweep.tell(pattern, is_new=is_new, kind=Kind.CONTRAST, row=fresh[-1].row, rejections=len(fresh))


# -- evidence ----------------------------------------------------------------------------------------------------


def count(team: Team, among: Collection[int]) -> None:
    """Count the evidence of these proposals, by their keys, at once: as a look does."""
    decided = _Look.of(team)
    with transaction.atomic():
        sweep.lock(team)
        _count(team, decided, timezone.now(), among)


def expected(team: Team, merging: Collection[int], keywords: Sequence[str]) -> ProposalEvidence:
    """Return what `count` finds of these proposals once they are merged to one with these keywords; it is not saved."""
    taught = _taught(team)
    responses = {response for key in merging for response in taught.get(key, ())}
    return _evidence(keywords, _tried(_Look.of(team), keywords, responses), timezone.now())


def _count(team: Team, decided: _Look, now: datetime, among: Collection[int] | None = None) -> None:
    rows = ErrorPattern.objects.filter(team=team, state=State.PROPOSED)
    patterns = rows if among is None else rows.filter(pk__in=among)
    taught, found = _taught(team), list[ProposalEvidence]()
    for pk, keywords in patterns.values_list("pk", "keywords"):
        evidence = _evidence(keywords, _tried(decided, keywords, taught.get(pk, ())), now)
        evidence.pattern_id = pk
        found.append(evidence)
    fields = ["keywords_sha256", "texts", "fires", "rejected", "base", "matched", "sure", "at"]
    ProposalEvidence.objects.bulk_create(
        found, update_conflicts=True, unique_fields=["pattern"], update_fields=fields, batch_size=200
    )


def _taught(team: Team) -> dict[int, set[int]]:
    """Return the responses that taught each proposal, and those that taught what was merged into it."""
    part_of, taught = lifecycle.part_of(team.pk), dict[int, set[int]]()
    counted = Q(pattern__state=State.PROPOSED) | Q(pattern__merged_into__isnull=False)
    origins = PatternOrigin.objects.filter(counted, pattern__team=team, response__isnull=False)
    for pattern, response in origins.order_by().values_list("pattern", "response"):
        taught.setdefault(part_of.get(pattern, pattern), set()).add(response)
    return taught


def _tried(decided: _Look, keywords: Sequence[str], taught: Collection[int]) -> Tried:
    """Try keywords on the texts that they were not chosen by.

    A phrase that contrasts was tried on what was left out, fold by fold; other keywords are on all responses but those
    that `taught` them.
    """
    texts, words = decided.texts, set(_read(keywords))
    contrasting = {Shadow(each.text).text: each.fired for each in decided.phrases}
    fired = {phrase: contrasting[phrase] for phrase in words & contrasting.keys()}
    own = {place for place in texts.places if decided.rows[place].response in taught}
    fires = (texts.holding(words - fired.keys()) - own).union(*fired.values())
    return texts.tried(fires, set(texts.places) - (own - texts.holding(fired)))


def _evidence(keywords: Sequence[str], tried: Tried, now: datetime) -> ProposalEvidence:
    return ProposalEvidence(
        keywords_sha256=digest(keywords),
        texts=tried.texts,
        fires=tried.fires,
        rejected=tried.rejected,
        base=tried.base,
        matched=round(tried.matched, 2),
        sure=round(1000 * tried.interval[0]),
        at=now,
    )

"""What metacog would have done with a log: each turn scored as if it had been posted, and counted.

The assessment is the one that posting gives, under the policy and the error patterns of an agent, or of a new one. What
it looks back on in a conversation comes from the log. Not played: a learned order of risk with its daily budget, the
counters of stuck problems, what people decided before, and memories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import timedelta
from math import ceil
from typing import Any, Literal, NamedTuple

from pydantic_core import to_json

from metacog import heuristics
from metacog.heuristics.effects.effect import Reading
from metacog.heuristics.parts import MANY_TURNS
from metacog.heuristics.policy.pack_fit import PackFit, PackTally, best
from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.text.tags import ToolCall
from metacog.heuristics.tool_calls import secrets
from metacog.heuristics.tool_calls.effect_bits import bits_of, names_in
from metacog.heuristics.tool_calls.gate import effect_part
from metacog.heuristics.tool_calls.pack import ASKS_ALL, workspace_of
from metacog.heuristics.wire.assessment import Assessment, HesitationPart, ItemPart
from metacog.heuristics.wire.wire import instant
from metacog.models import pack_words
from reviews.logs import by_pack
from reviews.logs.by_pack import OTHER, POLICY, HeldKind, HeldKinds, HeldReasons
from reviews.logs.readers.turns import Read, Seen, Sessions, Turn, context
from reviews.serializers import excerpt

Reason = Literal["rule", "default", "score", "fault"]  # why something would have been held
MOST_TOOLS = 500  # that are counted by name
MAX_EXCERPT = 300
MAX_WORD = 60
MOST_FOLDERS = 64  # that calls are judged in
MOST_WORDS = 500  # of answers, that are counted
COUNTERS = ("reasons", "words", "signals", "signals_if_scored", "skipped", "parts", "effects", "kinds", "folders")
_OF_KIND = ("calls", "denied", "reason", "example", "line")


@dataclass(slots=True)
class Tool:
    """What would have become of the calls of one tool."""

    calls: int = 0
    held: int = 0
    denied: int = 0
    by_default: int = 0  # of the held: no rule matched them, and the default has people asked
    if_scored: int = 0  # of those: would still be held if the default were to score


@dataclass(slots=True)
class RuleCount:
    calls: int = 0
    held: int = 0
    denied: int = 0


@dataclass(slots=True)
class Report:
    """How much of a log would have been held, and why. Its size does not grow with the log's."""

    calls: int = 0
    answers: int = 0
    held_calls: int = 0
    held_answers: int = 0
    denied: int = 0
    marked: int = 0
    repeated: int = 0  # of the held calls: the same call of the same session was held before
    unread: int = 0
    first_at: str = ""
    last_at: str = ""
    reasons: Counter[str] = field(default_factory=Counter)
    signals: Counter[str] = field(default_factory=Counter)  # of what is held by its score
    signals_if_scored: Counter[str] = field(default_factory=Counter)  # of what the default would hold if it scored
    words: Counter[str] = field(default_factory=Counter)  # for which answers are held, each once an answer
    tools: dict[str, Tool] = field(default_factory=dict)
    rules: dict[str, RuleCount] = field(default_factory=dict)  # by their place in the policy, from 1
    skipped: Counter[str] = field(default_factory=Counter)  # records in which no agent says or does anything, by kind
    parts: Counter[str] = field(default_factory=Counter)  # of messages, that are left out: images, thinking
    effects: Counter[str] = field(default_factory=Counter)  # calls by what they would do
    kinds: Counter[str] = field(default_factory=Counter)  # calls by the gravest of these: "write inside"
    folders: Counter[str] = field(default_factory=Counter)  # calls by where the agent worked, as far as the log says
    packs: dict[str, PackTally] = field(default_factory=dict)  # the policy with each pack alone, and with none
    held_by: HeldKinds = field(default_factory=dict)  # what these would have held
    held_reasons: HeldReasons = field(default_factory=dict)  # and why

    @property
    def held(self) -> int:
        return self.held_calls + self.held_answers

    def as_json(self) -> dict[str, Any]:
        # Not by `asdict`, which would have a Counter count its pairs.
        counts = {name: dict(getattr(self, name)) for name in COUNTERS}
        named = ("tools", "rules", "packs")
        parts = {name: {key: asdict(of) for key, of in getattr(self, name).items()} for name in named}
        held = {pack: {key: asdict(of) for key, of in kinds.items()} for pack, kinds in self.held_by.items()}
        held_why = {pack: dict(counts) for pack, counts in self.held_reasons.items()}
        kept = {each.name: getattr(self, each.name) for each in fields(self)}
        return kept | counts | parts | {"held_by": held, "held_reasons": held_why}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Report:
        values = dict(kept)
        for name in COUNTERS:
            values[name] = Counter(values.get(name, {}))
        values["tools"] = {name: Tool(**of) for name, of in values["tools"].items()}
        values["rules"] = {place: RuleCount(**of) for place, of in values["rules"].items()}
        values["packs"] = {name: PackTally(**of) for name, of in values.get("packs", {}).items()}
        values["held_by"] = by_pack.from_json(values.get("held_by", {}))
        values["held_reasons"] = {pack: Counter(of) for pack, of in values.get("held_reasons", {}).items()}
        return cls(**values)

    def add_skipped(self, kind: str) -> None:
        _add(self.skipped, context(kind), 1)

    def tool(self, name: str) -> Tool:
        if name not in self.tools and len(self.tools) >= MOST_TOOLS:
            name = OTHER
        return self.tools.setdefault(name, Tool())

    def as_dict(self) -> dict[str, Any]:
        """Return it as programs read it."""
        tools = sorted(self.tools.items(), key=lambda each: (-each[1].held, -each[1].calls, each[0]))
        return {
            "calls": self.calls,
            "answers": self.answers,
            "held": self.held,
            "held_calls": self.held_calls,
            "held_answers": self.held_answers,
            "denied": self.denied,
            "marked": self.marked,
            "repeated": self.repeated,
            "unread": self.unread,
            "first_at": self.first_at or None,
            "last_at": self.last_at or None,
            "reasons": dict(self.reasons),
            "signals": dict(self.signals.most_common()),
            "signals_if_scored": dict(self.signals_if_scored.most_common()),
            "words": dict(self.words.most_common()),
            "tools": [{"name": name, **asdict(tool)} for name, tool in tools],
            "rules": [{"place": int(place), **asdict(rule)} for place, rule in sorted(self.rules.items(), key=_place)],
            "skipped": dict(self.skipped.most_common()),
            "parts_left_out": dict(self.parts.most_common()),
            "effects": dict(self.effects.most_common()),
            "packs": [asdict(tally) | {"passed": tally.passed} for tally in self.packs.values()],
            "best_pack": pack.pack if (pack := self.best_pack) else None,
            "days": self.days or None,
            "kinds": dict(self.kinds.most_common()),
            "workspace": self.workspace or None,
            "held_by": {
                pack: [
                    {"effects": names_in(kind.bits), **{name: getattr(kind, name) for name in _OF_KIND}}
                    | {"reason": pack_words.plain(kind.reason)}
                    for kind in self.worst_of(pack)
                ]
                for pack in self.held_by
                if pack != POLICY
            },
            "held_reasons": {
                pack: {pack_words.plain(reason): count for reason, count in of.most_common()}
                for pack, of in self.held_reasons.items()
                if pack != POLICY
            },
        }

    @property
    def days(self) -> int:
        """Say how many days the log goes over, the last begun one too; 0 of less than a day, and where no time is."""
        return ceil(self.span / timedelta(days=1)) if self.span >= timedelta(days=1) else 0

    @property
    def span(self) -> timedelta:
        """Say how long the log goes on; 0 where it does not say when anything was."""
        return instant(self.last_at) - instant(self.first_at) if self.first_at else timedelta()

    @property
    def workspace(self) -> str:
        """Give the folder in which most calls were made; "" where the log does not say."""
        return self.folders.most_common(1)[0][0] if self.folders else ""

    def worst_of(self, pack: str) -> list[HeldKind]:
        """Give what a pack would have held, the gravest first."""
        return sorted(self.held_by.get(pack, {}).values(), key=lambda kind: kind.order)

    @property
    def best_pack(self) -> PackTally | None:
        """Give the pack that fits these calls best, if one does."""
        return best(self.packs) if self.packs else None


def _add(counts: Counter[str], name: str, count: int) -> None:
    counts[name if name in counts or len(counts) < MOST_TOOLS else OTHER] += count


def _place(entry: tuple[str, Any]) -> int:
    return int(entry[0])


class HeldPart(NamedTuple):
    """One item of a turn that would have been held, and why."""

    place: int  # among the items of its turn
    item: ItemPart
    reason: Reason
    hesitation: HesitationPart | None  # of what decided by its score
    rule: int | None  # its place in the policy, from 1
    excerpt: str
    is_repeated: bool = False  # the same call of the same session was held before


class Scored(NamedTuple):
    """A turn with what metacog would have answered."""

    turn: Turn
    body: dict[str, Any]  # as it would have been posted
    verdict: Assessment
    held: Sequence[HeldPart]


class Trial:
    """Scores the turns of a log one after the other; plain JSON says where it stands."""

    def __init__(
        self,
        scorer: heuristics.Scorer,
        *,
        hesitation: bool = True,
        folder: str = "",
        state: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin, or go on from a state; `folder` is where the agent worked in sessions that name none."""
        state = state or {}
        self.scorer, self.hesitation, self.folder = scorer, hesitation, folder
        self.rules = [dict(rule) for rule in scorer.rules.given]
        self.report = Report.from_json(state["report"]) if state else Report()
        self._fits: dict[str, PackFit] = {}
        self._scorers: dict[str, heuristics.Scorer] = {}
        self.sessions, self.asked = Sessions(state.get("sessions", ())), Seen(state.get("asked", ()))

    @property
    def state(self) -> dict[str, Any]:
        return {"report": self.report.as_json(), "sessions": self.sessions.as_json(), "asked": self.asked.as_json()}

    def take(self, read: Read) -> Iterator[Scored | heuristics.Refused]:
        """Score and count what a record came to. What metacog would not take is given as its refusal."""
        if read.fault is not None:
            self.report.unread += 1
        elif not read.turns:
            self.report.add_skipped(read.skipped or OTHER)
        for kind, count in read.parts.items():
            _add(self.report.parts, context(kind), count)
        for turn in read.turns:
            try:
                yield self._score(turn)
            except heuristics.Refused as refusal:
                self.report.unread += 1
                yield refusal

    def _score(self, turn: Turn) -> Scored:
        sent = turn.body()
        body = heuristics.read_response(as_bytes(sent))
        known = self.sessions.of(turn.session)
        history = heuristics.History(
            at=instant(turn.at) if turn.at else None,
            turns=min(known.get("turns", 0), MANY_TURNS),
            recent=known.get("recent", ()),
            told=known.get("told", ""),
        )
        folder = self._folder(turn, known)
        scorer = self._scorer(folder)
        found = scorer.assess(body, history, hesitation=self.hesitation)
        known |= {"turns": history.turns + 1, "told": heuristics.figures_of(heuristics.given_in(body), history.told)}
        if (window := self.scorer.parts.recent_window) and (print_ := found.fingerprint):
            known["recent"] = [*history.recent, list(print_)][-window:]
        self._count_time(turn.at)
        verdict = found.verdict
        held = [*self._counted(turn, verdict, found.items, folder)]
        return Scored(turn, sent, verdict, held)

    def _count_time(self, at: str) -> None:
        if at:
            report = self.report
            report.first_at, report.last_at = min(report.first_at or at, at), max(report.last_at, at)

    def _folder(self, turn: Turn, known: dict[str, Any]) -> str:
        """Return the folder that its calls are judged in: where its session began. "" where nobody says."""
        if turn.folder:
            known.setdefault("folder", turn.folder)
        folder, counted = known.get("folder") or self.folder, self.report.folders
        return folder if folder in counted or len(counted) < MOST_FOLDERS else ""

    def _scorer(self, folder: str) -> heuristics.Scorer:
        """Return what scores under the policy; its packs have this folder if they have none."""
        packs = self.scorer.policy.packs
        if not folder or not packs or workspace_of(packs):
            return self.scorer
        if folder not in self._scorers:
            own = [{**pack, "workspace": folder} for pack in packs]
            self._scorers[folder] = self.scorer.with_policy(replace(self.scorer.policy, packs=own))
        return self._scorers[folder]

    def _counted(
        self, turn: Turn, verdict: Assessment, items: Sequence[heuristics.Item], folder: str
    ) -> Iterator[HeldPart]:
        report = self.report
        for item, told in zip(items, verdict["items"], strict=True):
            if item.call is not None:
                if (held := self._count_call(turn, item, item.call, told, folder)) is not None:
                    yield held
                continue
            report.answers += 1
            report.marked += told["disposition"] == "mark"
            if told["disposition"] == "hold":
                report.held_answers += 1
                self._count_words(verdict["hesitation"], told["index"])
                yield self._held(told, "score", verdict["hesitation"], None, excerpt(secrets.masked_text(item.text)))

    def _count_words(self, hesitation: HesitationPart | None, index: int) -> None:
        words = {
            secrets.masked_text(" ".join(span["text"].split()))[:MAX_WORD].lower()
            for signal in (hesitation or {"signals": []})["signals"]
            if signal["weight"]
            for span in signal["spans"]
            if span.get("item") in (None, index)
        }
        known = self.report.words
        known.update(word for word in sorted(words) if word and (word in known or len(known) < MOST_WORDS))

    def _count_call(
        self, turn: Turn, item: heuristics.Item, call: ToolCall, told: ItemPart, folder: str
    ) -> HeldPart | None:
        report, tool = self.report, self.report.tool(call.name)
        report.calls += 1
        tool.calls += 1
        line = f"{call.name} {secrets.line(call.name, item.text)}"[:MAX_EXCERPT]
        first, reading = self._count_packs(turn, call, line, folder)
        is_held, is_denied = told["disposition"] == "hold", told["disposition"] == "reject"
        report.denied += is_denied
        tool.denied += is_denied
        rule, rules = told.get("rule"), self._scorer(folder).rules.given
        place = next((place for place, each in enumerate(rules, 1) if each == rule), None) if rule else None
        if place is not None:
            count = report.rules.setdefault(str(place), RuleCount())
            count.calls += 1
            count.held += is_held
            count.denied += is_denied
        if is_held or is_denied:
            why = str((rule or {}).get("reason") or told.get("fault") or "")
            kind = replace(first, reason=why)
            by_pack.count(report.held_by, report.held_reasons, POLICY, call, reading, kind, is_denied=is_denied)
        if not is_held:
            return None
        report.held_calls += 1
        tool.held += 1
        is_repeated = not self.asked.is_new(turn.session, call.name, canonical(call.arguments))
        report.repeated += is_repeated
        scored = told.get("hesitation")
        is_risky = scored is not None and scored["score"] >= scored["hold_at"]
        reason: Reason = "fault" if "fault" in told else "score" if is_risky else "rule" if rule else "default"
        if reason == "default":
            tool.by_default += 1
            as_scored = self.scorer.score_call(item, told["index"])
            if as_scored["score"] >= as_scored["hold_at"]:
                tool.if_scored += 1
                report.signals_if_scored.update(_weighing(as_scored))
        held = self._held(told, reason, scored if is_risky else None, place, line)
        return held._replace(is_repeated=is_repeated)

    def _count_packs(self, turn: Turn, call: ToolCall, line: str, folder: str) -> tuple[HeldKind, Reading]:
        """Count what each pack would have done, and return the call as the first of its kind."""
        report, judged = self.report, self._fit(folder).take(call)
        reading = judged[ASKS_ALL].reading
        bits = bits_of(map(effect_part, reading.effects))
        report.kinds[by_pack.kind_of(bits, reading)] += 1
        if folder:
            report.folders[folder] += 1
        first = HeldKind(line, turn.line, bits, "")
        by_pack.add(report.held_by, report.held_reasons, call, judged, first)
        return first, reading

    def _fit(self, folder: str) -> PackFit:
        """Return what judges calls made in this folder by every pack, all counted together."""
        if folder not in self._fits:
            fit = PackFit(self.scorer.policy, workspace_of(self.scorer.policy.packs) or folder or None)
            self.report.packs = self.report.packs or dict(fit.tallies)
            fit.tallies, fit.effects = self.report.packs, self.report.effects
            self._fits[folder] = fit
        return self._fits[folder]

    def _held(
        self, told: ItemPart, reason: Reason, hesitation: HesitationPart | None, place: int | None, line: str
    ) -> HeldPart:
        self.report.reasons[reason] += 1
        if reason == "score" and hesitation:
            self.report.signals.update(_weighing(hesitation))
        return HeldPart(told["index"], told, reason, hesitation, place, line[:MAX_EXCERPT])


def _weighing(hesitation: HesitationPart) -> set[str]:
    return {signal["type"] for signal in hesitation["signals"] if signal["weight"]}


def as_bytes(body: Mapping[str, Any]) -> bytes:
    """Return a body as it would have been posted. Half a surrogate pair is left as it is, for the wire to refuse."""
    try:
        return to_json(body)
    except ValueError:
        import json

        return json.dumps(body).encode()

"""The heuristics on the command line: JSON Lines in, JSON Lines out, no database."""

import argparse
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, get_args

from .call_lines import CallLines
from .decided import Reader, decided_at
from .hesitation.given import figures_of
from .hesitation.patterns import PatternError, patterns_in, refuse_short_keywords
from .parts import MANY_TURNS, History
from .policy.errors import PolicyError
from .policy.policy import PROFILES, Policy
from .policy.stuck_settings import WEIGHTS as STUCK_WEIGHTS
from .quality.quality import FlagName
from .ranking.around import values_in
from .ranking.learning import Decided, cases_of, in_words, learn
from .ranking.model import Model
from .ranking.orders import Orders
from .scorer import Scorer, given_in
from .signals import SEED, WEIGHTS
from .stats.gate import ENOUGH
from .text.strict_json import Refused, load, load_file, without_mark
from .text.timesense import format_intent, mark_every_date, temporal_markers
from .wire.assessment import Assessment
from .wire.wire import MAX_BYTES, ResponseBody, check_intent, check_response, instant

_CHUNK = 65_536
_AROUND = 80  # characters of a sampled place, on either side
Kept = TypeVar("Kept")


class _Unusable(Exception):
    """The command cannot begin; the message is one plain sentence."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0: all well, 1: a line was bad, 2: the command could not begin or go on."""
    options = _parser().parse_args(arguments)
    try:
        if sys.stdin is None or sys.stdout is None:  # `<&-` or `>&-`
            raise _Unusable("Standard input or output is closed.")
        return int(options.run(options, sys.stdin.buffer, sys.stdout.buffer))
    except _Unusable as error:
        print(f"metacog.heuristics: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        _let_go_of_output()  # whoever read us has gone
        return 1
    except OSError as error:  # a full disk, a folder for input
        _let_go_of_output()
        print(f"metacog.heuristics: This cannot be finished: {error.strerror or error}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _let_go_of_output() -> None:
    """Keep Python from complaining once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m metacog.heuristics", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    score = commands.add_parser("score", help="posted responses in, verdicts out")
    score.set_defaults(run=_score)
    rates = commands.add_parser("rates", help="posted responses in, how often each signal fires out")
    rates.set_defaults(run=_rates)
    sample = commands.add_parser("sample", help="posted responses in, random places where one signal fires out")
    sample.add_argument("signal", type=_signal, metavar="SIGNAL", help='as `rates` calls it: "hesitation no-source"')
    sample.add_argument("--count", type=int, default=40, metavar="N", help="so many places (default 40)")
    sample.add_argument("--seed", type=int, default=1, metavar="N", help="another seed draws others (default 1)")
    sample.set_defaults(run=_sample)
    for command in (rates, sample):
        command.add_argument(
            "--fields",
            type=_fields,
            metavar="LIST",
            help="read these fields of each line only, where need be by another name: response,session=conversation_id",
        )
    for command in (score, rates, sample):
        command.add_argument(
            "--patterns", type=Path, metavar="FILE", help="a JSON list of error patterns, or the state the origin keeps"
        )
        command.add_argument("--policy", type=Path, metavar="FILE", help="a JSON object of policy settings")
        command.add_argument("--profile", choices=PROFILES, help='the rules to score by (default "seed")')

    learn = commands.add_parser("learn", help="decided responses in, a model of what is rejected out")
    learn.add_argument(
        "--min", type=_whole, default=ENOUGH, metavar="N", help=f"the minimum number of decisions (default {ENOUGH})"
    )
    learn.add_argument("--force", action="store_true", help="write the model even where it is declined")
    learn.set_defaults(run=_learn)
    rank = commands.add_parser("rank", help="posted responses in, their learned risk out")
    rank.add_argument("--model", type=Path, metavar="FILE", required=True, help="what `learn` wrote")
    rank.set_defaults(run=_rank)

    effects = commands.add_parser("effects", help="tool calls in, what each would do out")
    effects.add_argument("--policy", type=Path, metavar="FILE", help="a JSON object of policy settings")
    effects.add_argument("--workspace", metavar="FOLDER", help="where relative paths are, if the line does not say")
    effects.set_defaults(run=_effects)

    markers = commands.add_parser("markers", help="text in, text with [YYYY-MM-DD ⟨…⟩] out")
    markers.add_argument("--now", required=True, type=_now, metavar="TIME", help="such as 2026-02-16T08:00:00Z")
    markers.add_argument("--every-form", action="store_true", help="[MM-DD], (YYYY-MM-DD) and the like, too")
    markers.set_defaults(run=_markers)

    intent = commands.add_parser("intent", help="continuous intents in, their sentences out")
    intent.set_defaults(run=_intent)
    return parser


def _whole(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def _now(text: str) -> datetime:
    try:
        return instant(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is {error}") from None


def _signal(text: str) -> str:
    """Take "part name" where the part has such a signal."""
    names = {"hesitation": WEIGHTS, "quality": get_args(FlagName), "stuck": STUCK_WEIGHTS}
    known = [f"{part} {name}" for part in names for name in names[part]]
    if text not in known:
        raise argparse.ArgumentTypeError(f"{text!r} is none of: {', '.join(known)}")
    return text


def _fields(text: str) -> dict[str, str]:
    """Read "name" and "name=its name in the file", comma-separated."""
    names = {part.partition("=")[0]: part.partition("=")[2] or part for part in text.split(",")}
    for name in names.keys() - ResponseBody.model_fields.keys():
        raise argparse.ArgumentTypeError(f"{name!r} is no field of a response")
    return names


def _score(options: argparse.Namespace, source: BinaryIO, sink: BinaryIO) -> int:
    return _each_line(source, sink, _Sessions(_scorer(options)).score)


def _rates(options: argparse.Namespace, source: BinaryIO, sink: BinaryIO) -> int:
    """Print how often each signal fires: what, how many responses, the share of all; those that never do, too."""
    sessions, total, bad = _Sessions(_scorer(options)), 0, 0
    counts = Counter(dict.fromkeys(_may_fire(sessions.scorer.policy), 0))
    threshold, hold_at = sessions.scorer.policy.threshold, sessions.scorer.policy.hold_at
    fault = ""
    for line in _lines(source):
        try:
            verdict = sessions.score(_body(line, options))
        except Refused as refusal:
            bad += 1
            fault = fault or refusal.detail
            continue
        total += 1
        counts.update(set(_fired(verdict, threshold, hold_at, sessions.step)))
    rows = [(name, counts[name]) for name in sorted(counts)]
    width = max((len(name) for name, _ in rows), default=0)
    lines = [f"{total:,} response{'' if total == 1 else 's'}" + (f", {bad:,} lines that are none" if bad else "")]
    if total:
        lines += [f"{name:<{width}}  {count:>9,}  {count / total:7.2%}" for name, count in rows]
    sink.write(("\n".join(lines) + "\n").encode())
    sink.flush()
    if bad:
        hint = "" if options.fields else " With --fields other fields are left out, or read by another name."
        print(f"The first line that is no response: {fault}.{hint}", file=sys.stderr)
    return 1 if bad else 0


def _may_fire(policy: Policy) -> Iterator[str]:
    """Name the signals that this policy looks for."""
    names = WEIGHTS if policy.profile == "aware" else SEED
    yield from (f"hesitation {name}" for name in names if policy.weights[name])
    if policy.parts["quality"]:
        yield from (f"quality {flag}" for flag in get_args(FlagName))
        yield "quality not passed"
    if policy.parts["stuck"]:
        yield from (f"stuck {name}" for name in STUCK_WEIGHTS)


def _body(line: bytes, options: argparse.Namespace) -> Any:
    body = load(line)
    if options.fields and isinstance(body, dict):
        return {name: body[known] for name, known in options.fields.items() if known in body}
    return body


def _sample(options: argparse.Namespace, source: BinaryIO, sink: BinaryIO) -> int:
    """Print random places where a signal fires, each as likely, with the number of its line and what stands around."""
    sessions, draw = _Sessions(_scorer(options)), random.Random(options.seed)
    drawn: list[str] = []
    fired = bad = 0
    for number, line in enumerate(_lines(source), start=1):
        try:
            body = check_response(_body(line, options))
            places = list(_places(sessions.score(body), body, options.signal, sessions.step))
        except Refused:
            bad += 1
            continue
        for place in places:
            fired += 1
            kept = len(drawn) if len(drawn) < options.count else draw.randrange(fired)  # reservoir sampling
            if kept < options.count:
                drawn[kept : kept + 1] = [f"{number}: {place}"]
    sink.write("".join(f"{row}\n" for row in [f"{len(drawn):,} of {fired:,} places", *drawn]).encode())
    sink.flush()
    return 1 if bad else 0


def _places(verdict: Mapping[str, Any], body: Mapping[str, Any], wanted: str, step: int) -> Iterator[str]:
    """Give each place where a signal fires, in brackets; the response's beginning where it points at none."""
    part, _, name = wanted.partition(" ")
    found = _fired_now(verdict["stuck"], step) if part == "stuck" else (verdict.get(part) or {}).get("signals", ())
    signals = [
        (signal["spans"] if part == "hesitation" else signal["evidence"].get("spans", ()))
        for signal in found
        if signal["type"] == name
    ]
    if part == "quality":
        signals = [flag["spans"] for flag in (verdict["quality"] or {}).get("details", ()) if flag["flag"] == name]
    for spans in signals:
        for span in spans or ({"start": 0, "end": 0},):
            text = body["user_message"] if "in" in span else body["response"]
            if span.get("item") is not None:
                text = body["items"][span["item"]]["text"] if body["items"] else span["text"]
            start, end = span["start"], span["end"]
            place = f"【{text[start:end]}】" if end else ""
            yield " ".join(f"{text[max(0, start - _AROUND) : start]}{place}{text[end : end + _AROUND]}".split())


def _fired_now(stuck: dict[str, Any] | None, step: int) -> list[dict[str, Any]]:
    """Leave out what has stood since an earlier response to the same problem."""
    return [signal for signal in stuck["signals"] if signal["evidence"]["step"] == step] if stuck else []


def _fired(verdict: Mapping[str, Any], threshold: int, hold_at: int, step: int) -> Iterator[str]:
    hesitation, quality, confidence, stuck = (
        verdict[part] for part in ("hesitation", "quality", "confidence", "stuck")
    )
    yield from (f"hesitation {signal['type']}" for signal in hesitation["signals"])
    if hesitation["score"] >= threshold:
        yield f"hesitation from {threshold}"
    if hesitation["score"] >= hold_at:
        yield f"hesitation from {hold_at}"
    if quality:
        yield from (f"quality {flag}" for flag in quality["flags"])
        if not quality["passed"]:
            yield "quality not passed"
    if confidence:
        yield f"confidence {confidence['level']}"
    if stuck:
        yield from (f"stuck {signal['type']}" for signal in _fired_now(stuck, step))
        if stuck["suggest"]:
            yield "stuck suggests"


def _scorer(options: argparse.Namespace) -> Scorer:
    patterns, _left = patterns_in(_read_file(options.patterns)) if options.patterns else ([], {})
    policy = _read_file(options.policy) if options.policy else {}
    if patterns is None:
        wanted = "a JSON list of patterns, or an object with one as `patterns` or `errorPatterns`"
        raise _Unusable(f"{options.patterns} must hold {wanted}.")
    if not isinstance(policy, dict):
        raise _Unusable(f"{options.policy} must hold a JSON object.")
    if options.profile:
        policy = {**policy, "profile": options.profile}
    try:
        scorer = Scorer(patterns, policy)
        refuse_short_keywords(patterns)
        return scorer
    except PatternError as error:
        raise _Unusable(f"{options.patterns}: {error}.") from None
    except PolicyError as error:
        raise _Unusable(f"{options.policy or 'The policy'}: {error}.") from None


class _Sessions:
    """Scores lines as if each had been posted: those that share session and problem share their history.

    Only so many are remembered, the latest, so that memory stays constant however long the input is.
    """

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer
        self.step = 0  # of the last response to its problem
        self.sessions = _Latest[tuple[int, list[tuple[int, ...]], str]]()
        # As JSON, a fifth of the room: many problems may be worked on in turn, and their counters must not be lost.
        self.problems = _Latest[str](10_000)
        self.topics = _Latest[int]()

    def score(self, value: Any) -> Assessment:
        body = check_response(value)
        session, topics = body["session"] or "", body["topics"] or ()
        problem = f"{session}\0{body['problem'] or ''}"
        turns, recent, known = self.sessions.get(session, (0, [], ""))
        counted = self.problems.get(problem)
        history = History(
            turns=min(turns, MANY_TURNS) if session else 0,
            recent=recent,
            familiarity={topic: self.topics.get(topic, 0) for topic in topics},
            stuck=None if counted is None else json.loads(counted),
            told=known,
        )
        found = self.scorer.assess(body, history)
        window = self.scorer.parts.recent_window
        own = found.fingerprint if window else None
        prints = [*recent, own][-window:] if own else recent
        if session and self.scorer.looks_for_sources:
            known = figures_of(given_in(body), known)
        self.sessions.put(session, (turns + 1, prints, known))
        if found.stuck is not None:
            self.step = found.stuck["step"]
            self.problems.put(problem, json.dumps(found.stuck))
        for topic in dict.fromkeys(topics):
            self.topics.put(topic, self.topics.get(topic, 0) + 1)
        return found.verdict


class _Latest(dict[str, Kept]):
    """The values that were put last."""

    def __init__(self, most: int = 1000) -> None:
        super().__init__()
        self.most = most

    def put(self, key: str, value: Kept) -> None:
        self.pop(key, None)
        self[key] = value
        if len(self) > self.most:
            del self[next(iter(self))]


def _learn(options: argparse.Namespace, source: BinaryIO, sink: BinaryIO) -> int:
    """Write what orders words and tool calls as JSON, as far as either is worth it; 3: neither is.

    The reason is on standard error. 1: it was learned from all lines but bad ones, the first of which is named there.
    """
    lines, bad = [], list[tuple[int, str]]()
    for number, raw in enumerate(_lines(source), start=1):
        try:
            line = _loaded(raw)
            lines.append((decided_at(line), raw, line, number))
        except Refused as refusal:
            bad.append((number, refusal.detail))
    lines.sort(key=lambda each: each[:2])  # so that the order of the input makes no difference
    reader, nobody = Reader(), 0
    decided: dict[bool, list[Decided]] = {False: [], True: []}  # on words, on tool calls
    for _, _, line, number in lines:
        try:
            found = reader.read_decided(line)
        except Refused as refusal:
            bad.append((number, refusal.detail))
            continue
        if found is None:
            nobody += 1
        else:
            decision, is_call = found
            decided[is_call].append(decision)
    if nobody:
        print(f"{nobody:,} of {len(lines):,} lines were decided by no person, and are left out.", file=sys.stderr)
    models = dict[bool, Model | None]()
    is_worth_it = False
    for is_call, some in decided.items():
        if some or not (is_call or decided[True]):
            learned = learn(some, options.min)
            told = in_words(learned, options.min)
            print(f"Tool calls: {told}" if is_call else told, file=sys.stderr)
            is_worth_it |= learned.order == "learned"
            if learned.order == "learned" or options.force:
                models[is_call] = learned.model if learned.model.kind == "learned" else Model.learn(cases_of(some))
    if models:
        orders = Orders(models.get(False), models.get(True))
        sink.write(json.dumps(orders.as_dict(), ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        sink.flush()
    if bad:
        number, detail = min(bad)
        counted = f"{len(bad):,} line{'' if len(bad) == 1 else 's'}"
        print(f"{counted} could not be learned from and left out; line {number:,}: {detail}", file=sys.stderr)
    return 3 if not is_worth_it else 1 if bad else 0


def _rank(options: argparse.Namespace, source: BinaryIO, sink: BinaryIO) -> int:
    document = _read_file(options.model)
    if not isinstance(document, dict):
        raise _Unusable(f"{options.model} must hold a JSON object.")
    try:
        orders = Orders.from_dict(document)
    except ValueError as error:
        raise _Unusable(f"{options.model} is no model: {error}.") from None
    reader = Reader(signs=orders.read_signs)

    def ranked(value: Any) -> Mapping[str, Any]:
        line = reader.read(value)
        model = orders.of(is_call=line.is_call)
        if model is None:
            return {"risk": None, "because": [], "facts": [], "model": orders.id}
        values = {value.fact: {value.key: value.value} for value in values_in(line.metadata)}
        return {
            "risk": model.risk(line.seen),
            "because": [reason._asdict() for reason in model.because(line.seen, line.text) if reason.end <= line.shown],
            "facts": [
                {"name": name, "weight": weight} | ({"metadata": values[name]} if name in values else {})
                for name, weight in model.because_of(line.seen)
            ],
            "model": orders.id,
        }

    return _each_line(source, sink, ranked)


def _effects(options: argparse.Namespace, source: BinaryIO, sink: BinaryIO) -> int:
    given = _read_file(options.policy) if options.policy else {}
    if not isinstance(given, dict):
        raise _Unusable(f"{options.policy} must hold a JSON object.")
    try:
        policy = Policy.from_dict(given)
    except PolicyError as error:
        raise _Unusable(f"{options.policy}: {error}.") from None
    return _each_line(source, sink, CallLines(policy, options.workspace).read)


def _intent(options: argparse.Namespace, source: BinaryIO, sink: BinaryIO) -> int:
    return _each_line(source, sink, lambda value: {"text": format_intent(check_intent(value))})


def _markers(options: argparse.Namespace, source: BinaryIO, sink: BinaryIO) -> int:
    # A date holds no line break, so each line can be marked on its own. Bytes that are no UTF-8 stay.
    for line in source:
        text = line.decode("utf-8", "surrogateescape")
        if options.every_form:
            marked = mark_every_date(text, options.now.date())
        else:
            marked = temporal_markers(text, options.now)
        sink.write(marked.encode("utf-8", "surrogateescape"))
    sink.flush()
    return 0


def _each_line(source: BinaryIO, sink: BinaryIO, answer: Callable[[Any], Mapping[str, Any]]) -> int:
    status = 0
    for line in _lines(source):
        try:
            result = answer(_loaded(line))
        except Refused as refusal:
            result = {"error": refusal.problem()}
            status = 1
        sink.write(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        sink.flush()  # whoever feeds us line by line wants each answer now
    return status


def _loaded(line: bytes) -> Any:
    if len(line) > MAX_BYTES:
        raise Refused(413, f"The line is longer than {MAX_BYTES:,} bytes.")
    return load(line)


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """Read lines without their ends; one that is too long comes as one byte too many, the rest skipped."""
    is_first = True
    while line := source.readline(MAX_BYTES + 3):
        if is_first:
            line, is_first = without_mark(line), False
        if len(line) == MAX_BYTES + 3 and not line.endswith(b"\n"):
            while (rest := source.readline(_CHUNK)) and not rest.endswith(b"\n"):
                pass
        yield line.removesuffix(b"\n").removesuffix(b"\r")


def _read_file(path: Path) -> Any:
    try:
        return load_file(path.read_bytes())
    except OSError as error:
        raise _Unusable(f"{path} cannot be read: {error.strerror}.") from None
    except Refused as refusal:
        raise _Unusable(f"{path}: {refusal.detail}") from None


if __name__ == "__main__":
    sys.exit(main())

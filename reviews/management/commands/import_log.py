"""`manage.py import-log`: what metacog would have done with the logs that other programs keep of agents."""

from __future__ import annotations

import getpass
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize

from metacog import heuristics
from metacog.audit import audit
from metacog.heuristics.policy.pack_fit import BY_STRICTNESS, NONE
from metacog.heuristics.tool_calls import secrets
from metacog.heuristics.tool_calls.pack import packs, with_pack, workspace_of
from metacog.management.commands.agent import settings_in
from metacog.models import Agent, pack_words
from metacog.runtime.file_errors import cannot_be
from metacog.unreadable import UnreadablePolicy
from patterns.patterns.scorer import scorer_for
from reviews.logs import keeping
from reviews.logs.formats import AUTO, FORMATS, LogReader, UnknownFormat
from reviews.logs.readers import opencode
from reviews.logs.readers.turns import Read
from reviews.logs.sources import Log, on_disk
from reviews.logs.trial import HeldPart, Report, Scored, Trial
from reviews.management.commands.policy import find_agent, policy_in
from reviews.presentation.calls import log_packs, log_screen
from reviews.presentation.calls.log_screen import Left, Subject
from reviews.presentation.rule_words import in_words

STDIN = "-"
PROGRESS = 10_000  # records between two lines that say how far it is
_WHY = {
    "rule": "a rule asks a person",
    "default": "no rule matches, and the policy asks a person about such tool calls",
    "score": "the score reaches the policy's holding score",
    "fault": "a rule could not be checked, so a person is asked",
}


class Under(NamedTuple):
    """What the log is tried under."""

    scorer: heuristics.Scorer
    hesitation: bool
    agent: Agent | None
    told: str


class Command(BaseCommand):
    """Nothing is written unless an agent is named to keep the turns under."""

    help = (
        "Say on one screen what would have been held of logs of agents, and why. Takes Claude Code "
        "transcripts, Codex rollouts, OpenCode's database and exports, SWE-agent trajectories, "
        "OpenAI chat as JSON Lines, exports of LangSmith and Langfuse, each also as gzip. "
        "Nothing is stored without --keep."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", help="a log; - reads standard input")
        parser.add_argument("--format", choices=(AUTO, *FORMATS), default=AUTO, help="default: told from each file")
        parser.add_argument(
            "--policy",
            metavar="AGENT|FILE",
            help="an agent's policy and its team's error patterns, or a policy file (default: those of a new agent)",
        )
        parser.add_argument("--pack", metavar="NAME", help="that policy with this pack of rules; see `policy packs`")
        text = "of the pack; workspace=/srv/app is the folder that the agent works in (default: what the log says)"
        parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=text)
        parser.add_argument(
            "--keep", metavar="AGENT", help="keep the turns as responses of this agent; nothing is held, nobody is told"
        )
        text = "where the agent worked in sessions of which the log does not say it"
        parser.add_argument("--workdir", metavar="FOLDER", default="", help=text)
        parser.add_argument("--details", action="store_true", help="print all counts and each held item, too")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, files: list[str], **options: Any) -> None:
        kept_by = find_agent(options["keep"]) if options["keep"] else None
        under = _under(options["policy"], kept_by)
        if options["pack"] is not None:
            options["pack"] = _pack_named(options["pack"])
            under = _with_pack(under, options["pack"], settings_in(options["set"]))
        elif options["set"]:
            raise CommandError("--set goes with --pack.")
        found = Found(kept_by)
        trial = Trial(under.scorer, hesitation=under.hesitation, folder=options["workdir"])
        with found.open():
            for file in files:
                self._take(file, options["format"], trial, found)
            if not any("format" in told for told in found.files):
                raise CommandError(f"Nothing could be read. {found.files[0]['file']}: {found.files[0]['fault']}")
            if options["json"]:
                self._print_json(trial, found, under)
            else:
                about = _about(trial.report, under, options["pack"], options["policy"] or options["keep"])
                self._print(trial, found, under, about)
                if options["details"]:
                    self._print_details(trial, found, under)
        if any("fault" in told for told in found.files):
            raise SystemExit(1)

    def _take(self, file: str, format: str, trial: Trial, found: Found) -> None:
        """Score one file, and keep it if that is wanted."""
        told: dict[str, Any] = {"file": file}
        found.files.append(told)
        report, before = trial.report, _counts(trial.report)
        try:
            with _opened(file) as stream:
                reader = LogReader(Log(stream), format, name="stdin" if file == STDIN else Path(file).name)
                told["format"] = reader.format
                for number, (line, read) in enumerate(reader, 1):
                    found.unread_record(file, line, read)
                    for scored in trial.take(read):
                        found.take(file, line, scored, reader.format)
                    if number % PROGRESS == 0 and self.stderr.isatty():
                        self.stderr.write(f"{file}: {number:,} records so far")
        except UnknownFormat as error:
            self._leave_out(told, trial, found, str(error))
        except OSError as error:
            self._leave_out(told, trial, found, cannot_be("read", "It", error))
        finally:
            told |= {name: count - before[name] for name, count in _counts(report).items()}
            found.record_kept(told)

    def _leave_out(self, told: dict[str, Any], trial: Trial, found: Found, why: str) -> None:
        told["fault"] = why
        trial.report.unread += 1
        found.unread(told["file"], 1, why)

    # -- the report -------------------------------------------------------------------------------------

    def _print_json(self, trial: Trial, found: Found, under: Under) -> None:
        report = trial.report.as_dict()
        for rule in report["rules"]:
            rule["rule"] = trial.rules[rule["place"] - 1]
        policy = under.scorer.policy
        report["workspace"] = workspace_of(policy.packs) or report["workspace"]
        head = {
            **{name: report.pop(name) for name in ("calls", "answers", "held", "unread")},
            "policy": {
                "agent": under.agent and under.agent.public_id,
                "version": under.agent and under.agent.policy_version,
                "profile": policy.profile,
                "threshold": policy.threshold,
                "hold_at": policy.hold_at,
                "default_tool_call": policy.default_tool_call,
                "error_patterns": len(under.scorer.patterns),
                "packs": [dict(pack) for pack in policy.packs],
            },
            "engine": heuristics.ENGINE,
            **report,
            "files": found.files,
        }
        if found.keeps_by:
            head["kept"] = found.kept
        self.stdout.write(json.dumps(head, ensure_ascii=False)[:-1] + ', "held_items": [')
        self._print_lines(found.held_rows, ",\n")
        self.stdout.write('], "unread_records": [')
        self._print_lines(found.unread_rows, ",\n")
        self.stdout.write("]}")

    def _print_lines(self, rows: IO[str], between: str) -> None:
        rows.seek(0)
        is_first = True
        for row in rows:
            self.stdout.write(("" if is_first else between) + row.rstrip("\n"), ending="")
            is_first = False

    def _say(self, text: str) -> None:
        """Print without what a terminal takes for a command: a log may have been written by anybody."""
        self.stdout.write(
            "".join(each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}" for each in text)
        )

    def _print(self, trial: Trial, found: Found, under: Under, about: Subject) -> None:
        formats = dict.fromkeys(told["format"] for told in found.files if "format" in told)
        for line in log_screen.lines(trial.report, about, Left(found.first_unread, [*formats])):
            self._say(line)
        if found.keeps_by:
            self.stdout.write(f"Kept under {found.keeps_by}: {found.kept:,} new, {found.known:,} known already.")

    def _print_details(self, trial: Trial, found: Found, under: Under) -> None:
        report, say = trial.report, self._say
        say(f"\nDetails, under {under.told}")
        for told in found.files:
            say(f"  {told['file']}: {_of_file(told)}")
        for line in _besides(report):
            say(f"  {line}")
        self._print_packs(report, under)
        self._print_why(trial)
        if report.held:
            say("\nHeld")
            found.held_rows.seek(0)
            for row in found.held_rows:
                say("\n".join(_held_lines(json.loads(row))))
        if report.unread:
            say(f"\nNot read: {report.unread:,}")
            found.unread_rows.seek(0)
            for row in found.unread_rows:
                each = json.loads(row)
                say(f"  {each['file']}:{each['line']}: {each['reason']}")
        if report.skipped:
            kinds = ", ".join(f"{kind}: {count:,}" for kind, count in report.skipped.most_common())
            say(f"\nRecords in which no agent says or does anything new: {report.skipped.total():,} ({kinds})")
        if report.parts:
            kinds = ", ".join(f"{kind}: {count:,}" for kind, count in report.parts.most_common())
            say(f"\nParts of messages that are not read: {report.parts.total():,} ({kinds})")

    def _print_packs(self, report: Report, under: Under) -> None:
        """Say what each pack would have done, and of the policy's own or the one that fits which calls."""
        if not report.packs:
            return
        say, best = self._say, report.best_pack
        tally = log_packs.chosen(report, "", [each["name"] for each in under.scorer.policy.packs])
        for row in log_packs.kinds(report, tally.pack) if tally else ():
            effects = f"  ({row.effects})" if row.effects else ""
            say(f"  {row.kind.calls:>5,} × {row.example}{effects}\n          {row.reason}")
        say("\nPacks of rules\n    asked   denied   passed  pack")
        for name in [NONE, *BY_STRICTNESS]:
            each = report.packs[name]
            told = (name or "none") + (" (fits best)" if best and name == best.pack else "")
            say(f"  {each.asked:>7,}  {each.denied:>7,}  {each.passed:>7,}  {told}")

    def _print_why(self, trial: Trial) -> None:
        report, say = trial.report, self._say
        if report.held or report.denied:
            say("\nWhy")
        for reason, count in report.reasons.most_common():
            say(f"  {count:>7,}  {_WHY[reason]}")
        for signal, count in report.signals.most_common():
            say(f"  {count:>7,}  signal {signal}")
        for place, rule in sorted(report.rules.items(), key=lambda each: int(each[0])):
            words = in_words(trial.rules[int(place) - 1])
            say(f"  {rule.calls:>7,}  rule {place}, {words}: {rule.held:,} held, {rule.denied:,} denied")
        if report.tools:
            say("\n    calls     held    denied  if scored  tool")
        for name, tool in sorted(report.tools.items(), key=lambda each: (-each[1].held, -each[1].calls, each[0])):
            scored = tool.held - tool.by_default + tool.if_scored
            say(f"  {tool.calls:>7,}  {tool.held:>7,}  {tool.denied:>8,}  {scored:>9,}  {name}")


class Found:
    """What is told of single items: in files, since a log may hold any number of them."""

    held_rows: IO[str]
    unread_rows: IO[str]

    def __init__(self, keeps_by: Agent | None) -> None:
        self.keeps_by = keeps_by
        self.files: list[dict[str, Any]] = []
        self.kept = self.known = 0
        self.first_unread = ""
        self._recorded = (0, 0)

    @contextmanager
    def open(self) -> Iterator[None]:
        with TemporaryFile("w+", encoding="utf-8") as self.held_rows, TemporaryFile("w+", encoding="utf-8") as rows:
            self.unread_rows = rows
            yield

    def unread_record(self, file: str, line: int, read: Read) -> None:
        if read.fault is not None:
            self.unread(file, line, str(read.fault))

    def unread(self, file: str, line: int, reason: str) -> None:
        self.first_unread = self.first_unread or f"{Path(file).name}, line {line:,}: {reason.rstrip('.')}"
        _write(self.unread_rows, {"file": file, "line": line, "reason": reason})

    def take(self, file: str, line: int, scored: Scored | heuristics.Refused, format: str) -> None:
        if isinstance(scored, heuristics.Refused):
            self.unread(file, line, f"metacog would not take it: {scored.detail}")
            return
        for held in scored.held:
            _write(self.held_rows, _row(file, scored, held))
        if self.keeps_by:
            is_new = keeping.keep(self.keeps_by, format, scored.turn)
            self.kept += is_new
            self.known += not is_new

    def record_kept(self, told: dict[str, Any]) -> None:
        """Record what was kept of a file, also where that broke off."""
        before, self._recorded = self._recorded, (self.kept, self.known)
        kept, known = self.kept - before[0], self.known - before[1]
        if self.keeps_by and (kept or known):
            told |= {"kept": kept}
            audit.record(
                "log-kept",
                self.keeps_by.public_id,
                actor=None,
                team=self.keeps_by.team_id,
                agent=self.keeps_by,
                format=told["format"],
                responses=kept,
                known=known,
                os_user=_os_user(),
            )


def _write(rows: IO[str], row: dict[str, Any]) -> None:
    rows.write(json.dumps(row) + "\n")


def _row(file: str, scored: Scored, held: HeldPart) -> dict[str, Any]:
    """Return what is told of a held item; secrets stay masked."""
    turn = scored.turn
    row: dict[str, Any] = {
        "file": file,
        "line": turn.line,
        "session": turn.session,
        "at": turn.at or None,
        "kind": held.item["kind"],
        "reason": held.reason,
        "excerpt": held.excerpt,
    }
    if "name" in held.item:
        row |= {"name": held.item["name"], "arguments": secrets.masked(held.item["arguments"])}
        row |= {
            "rule": held.rule,
            "rule_reason": pack_words.plain(str((held.item["rule"] or {}).get("reason") or "")) or None,
            "fault": held.item.get("fault"),
        }
    if held.hesitation:
        row["score"] = held.hesitation["score"]
        row["signals"] = [
            {
                "type": signal["type"],
                "weight": signal["weight"],
                "detail": signal["detail"],
                "words": [secrets.masked_text(span["text"]) for span in signal["spans"]],
            }
            for signal in held.hesitation["signals"]
        ]
    return row


def _held_lines(row: dict[str, Any]) -> Iterator[str]:
    yield f"  {row['file']}:{row['line']}  {row['kind']}  {row['excerpt']}"
    if row["reason"] == "score":
        signals = ", ".join(
            signal["type"] + (f" “{'”, “'.join(signal['words'][:3])}”" if signal["words"] else "")
            for signal in row["signals"]
        )
        yield f"      score {row['score']}: {signals}"
    else:
        rule = f" (rule {row['rule']})" if row["rule"] else ""
        yield f"      {_WHY[row['reason']]}{rule}" + (f": {row['rule_reason']}" if row["rule_reason"] else "")


def _of_file(told: dict[str, Any]) -> str:
    if "fault" in told:
        return str(told["fault"])
    counts = f"{told['calls']:,} tool call{pluralize(told['calls'])}, {told['answers']:,} answer"
    return f"{told['format']}; {counts}{pluralize(told['answers'])}, {told['held']:,} held, {told['unread']:,} not read"


def _besides(report: Report) -> Iterator[str]:
    if by_default := sum(tool.by_default for tool in report.tools.values()):
        scored = sum(tool.if_scored for tool in report.tools.values())
        signals = ", ".join(f"{name}: {count:,}" for name, count in report.signals_if_scored.most_common())
        by = f" (signals {signals})" if signals else ""
        yield (
            f"No rule matches {by_default:,} of the held tool calls, and the policy asks a person about such calls. "
            f"With default_tool_call: score, {scored:,} of them would be held{by}."
        )
    if report.denied:
        yield f"{report.denied:,} more tool call{pluralize(report.denied)} would have been denied by a rule."
    if report.marked:
        yield f"{report.marked:,} more answer{pluralize(report.marked)} would have been marked."
    if report.repeated:
        repeat = "repeats" if report.repeated == 1 else "repeat"
        yield f"{report.repeated:,} of the held tool calls {repeat} an earlier one: no new item while that is pending."


def _counts(report: Report) -> dict[str, int]:
    return {"calls": report.calls, "answers": report.answers, "held": report.held, "unread": report.unread}


def _under(named: str | None, kept_by: Agent | None) -> Under:
    """Return what `--policy` names: a file where there is one of that name, else an agent."""
    if kept_by and named is not None:
        raise CommandError("--keep assesses under the policy of the agent that it names: leave --policy out.")
    if named is not None and Path(named).is_file():
        try:
            policy = policy_in(Path(named))
        except heuristics.PolicyError as error:
            raise CommandError(f"{named} holds no policy: {error}.") from None
        return Under(heuristics.Scorer(policy=policy), True, None, f"the policy in {named}, without error patterns")
    agent = kept_by or (find_agent(named) if named is not None else None)
    if agent is None:
        policy = heuristics.Policy.from_dict({"language": "en"})
        return Under(heuristics.Scorer(policy=policy), True, None, "the policy of a new agent, without error patterns")
    try:
        scorer = scorer_for(agent)
    except UnreadablePolicy as error:
        raise CommandError(f"{error}.") from None
    count = len(scorer.patterns)
    told = f"policy {agent.policy_version} of {agent.team} / {agent} and {count:,} error pattern{pluralize(count)}"
    if not agent.hesitation_enabled:
        told += "; hesitation is switched off for it, so that only rules hold"
    return Under(scorer, agent.hesitation_enabled, agent, told)


def _about(report: Report, under: Under, pack: str | None, named: str | None) -> Subject:
    """Return what the report is about: what was named, else the pack that fits, if one does."""
    folder = workspace_of(under.scorer.policy.packs) or ""
    if named is not None:
        return Subject(under.told, pack or "", agent=under.agent.name if under.agent else "", folder=folder)
    if pack is not None:
        return Subject("", pack, folder=folder)
    best = report.best_pack
    return Subject(under.told, best.pack if best else "", is_chosen=True)


def _pack_named(name: str) -> str:
    """Return the pack of that name, however it is capitalized."""
    known = name.strip().lower()
    if known not in packs():
        near = get_close_matches(known, packs(), 1)
        raise CommandError(
            f"There is no pack {name}{f'; did you mean {near[0]}' if near else ''}: {', '.join(packs())}."
        )
    return known


def _with_pack(under: Under, name: str, settings: Mapping[str, str]) -> Under:
    """Return the same with a pack in its policy."""
    policy = under.scorer.policy
    given = with_pack(policy.packs, name, settings.get("workspace"))
    scorer = under.scorer.with_policy(replace(policy, packs=tuple(given)))
    return under._replace(scorer=scorer, told=f"{under.told}, with the pack {name}")


@contextmanager
def _opened(file: str) -> Iterator[IO[bytes]]:
    if file == STDIN:
        with on_disk(sys.stdin.buffer) as stream:
            yield stream
        return
    path = Path(file)
    with path.open("rb") as opened, on_disk(opened) as stream:
        if stream.read(len(opencode.IS_DATABASE)) != opencode.IS_DATABASE:
            yield stream
            return
    with opencode.exported(path) as stream:
        yield stream


def _os_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""

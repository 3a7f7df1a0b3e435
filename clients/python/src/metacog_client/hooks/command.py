"""Answer one hook: read the call, ask metacog, wait, and print what the program takes, always in time.

A hook that is run after the call says what became of it.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TextIO

from ..client import Client
from ..errors import MetacogError, NotConfigured, Refused
from ..gating import Outcome
from . import codex
from .dialects import DIALECTS, MAX_KEPT, Answer, Call, Dialect, Do, NotForUs, OutOfShape, Ran
from .install import settings_of

# Between the end of waiting and our last word, and between that and the hook's timeout, when the tool would run.
SPARE_SECONDS = 5.0
SOON_SECONDS = 5.0  # to wait for a decision where somebody else can be asked after it
BLOCKED, FAILED = 2, 1  # exit statuses: the tool is not used, and why is on standard error; a person is told, no more
TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


SESSION = "opens a session to type into"  # as metacog says it of an effect that is `unknown`


class NotTold(Exception):
    """metacog does not know what became of a call."""


class Stopped(Exception):
    """Somebody wants this process to end."""


@dataclass(frozen=True)
class Settings:
    """How one hook is answered, in seconds: `wait` for a decision, and `limit` for all of it."""

    dialect: Dialect
    url: str
    key: str
    wait: float
    limit: float
    late: Do
    passed: Do
    strict: bool

    @classmethod
    def of(cls, given: Namespace) -> Settings:
        """Raise NotConfigured where what is given cannot be used."""
        dialect = DIALECTS[given.program]
        key = os.environ.get("METACOG_API_KEY", "")
        if given.key_file:
            try:
                key = Path(given.key_file).read_text("utf-8")
            except (OSError, UnicodeError) as error:
                raise NotConfigured(f"{given.key_file} cannot be read: {type(error).__name__}.") from None
        timeout = seconds("timeout", given.timeout, dialect.timeout)
        limit = earlier(timeout)
        late = chosen("late", given.late or "deny", dialect.late)
        # Posting alone takes a moment: a second is the least there is.
        wait = max(1.0, seconds("wait", given.wait, limit if late == "deny" else SOON_SECONDS))
        passed = chosen("passed", given.passed or "nothing", ("nothing", "allow"))
        return cls(dialect, given.url or "", key.strip(), min(wait, earlier(limit)), limit, late, passed, given.strict)


def parser() -> ArgumentParser:
    told = ArgumentParser(
        prog="metacog hook",
        description="Ask metacog before a coding agent uses a tool, and report what became of it. Reads the hook's "
        "JSON, prints its answer.",
        epilog="Each setting is also a variable, METACOG_HOOK_TIMEOUT and so on; METACOG_URL and METACOG_API_KEY are "
        "needed. The key has no option: others on the machine can read those.",
    )
    told.add_argument("program", choices=DIALECTS, help="whose hook this is")
    told.add_argument("--url", default=os.environ.get("METACOG_URL"), help="metacog's address")
    told.add_argument(
        "--key-file", default=os.environ.get("METACOG_API_KEY_FILE"), help="the file that holds the agent's key"
    )
    for name, meaning in (
        ("timeout", "the hook's own timeout in seconds, as its settings have it (600); the answer comes before"),
        ("wait", "seconds to wait for a decision (until shortly before the timeout; 5 with another --late than deny)"),
        ("late", "what to do when nobody has decided by then: deny, or of Claude Code defer or ask (deny)"),
        ("passed", "what to do with a call that metacog does not hold: nothing, which leaves it to the program's own "
         "permissions, or allow (nothing)"),
    ):  # fmt: skip
        told.add_argument(f"--{name}", default=os.environ.get(f"METACOG_HOOK_{name.upper()}"), help=meaning)
    told.add_argument(
        "--strict",
        action="store_true",
        default=os.environ.get("METACOG_HOOK_STRICT", "") not in ("", "0"),
        help="refuse what opens a shell or an interpreter to type into, of which no hook is told",
    )
    instead = told.add_mutually_exclusive_group()
    instead.add_argument("--settings", action="store_true", help="print the program's settings for this hook, and end")
    instead.add_argument(
        "--check", action="store_true", help="say whether metacog can be asked, and Codex runs the hook"
    )
    return told


def seconds(name: str, given: str | None, default: float) -> float:
    try:
        found = float(given) if given else default
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e6:
        raise NotConfigured(f"{name} is {given!r}, not a number of seconds.")
    return found


def earlier(at: float) -> float:
    return at - min(SPARE_SECONDS, at / 4)


def chosen(name: str, given: str, choices: tuple[Do, ...]) -> Do:
    for choice in choices:
        if given == choice:
            return choice
    raise NotConfigured(f"{name} is {given!r}, not {' or '.join(choices)}.")


def run(arguments: list[str]) -> int:
    """Answer one hook; returns the exit status. Whatever fails, the tool is not used."""
    given = parser().parse_args(arguments)
    if given.settings:
        printed, said = settings_of(given, arguments)
        sys.stdout.write(printed)
        sys.stderr.write(said and f"{said}\n")
        return 0
    if given.check:
        return check(given)
    out, sys.stdout = sys.stdout, sys.stderr  # what anybody else prints would break the answer
    try:
        return answer(given, out)
    finally:
        out.flush()
        sys.stdout = out


def answer(given: Namespace, out: TextIO) -> int:
    dialect = DIALECTS[given.program]
    found: list[Answer | Exception] = []
    secret = ""

    def work() -> None:
        try:
            told = dialect.read(sys.stdin.buffer.read())
            found.append(report(told, settings) if isinstance(told, Ran) else decided(told, settings))
        except Exception as error:  # an error that nobody thought of lets nothing run either
            found.append(error)

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise Stopped

    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        settings = Settings.of(given)
        limit, secret = settings.limit, settings.key
        # In a thread of its own: a server that keeps a connection open and says nothing must not make us late.
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(limit)
        result = found[0] if found else Answer("deny", f"metacog gave no answer in {limit:.0f} s: this was not done.")
    except Stopped:
        return blocked("The hook was stopped before metacog had answered: this was not done.", secret)
    except NotConfigured as error:
        return blocked(f"metacog cannot be asked, so this was not done: {error}", secret)
    if isinstance(result, NotForUs):
        # To block here would keep a session from ending, say.
        sys.stderr.write(f"metacog hook {dialect.name} has no answer to this: {result}.\n")
        return FAILED
    if isinstance(result, NotTold):
        sys.stderr.write(without(secret, f"metacog was not told what became of this call: {result}\n"))
        return FAILED
    if isinstance(result, OutOfShape):
        return blocked(f"metacog hook {dialect.name} does not know what to review, so this was not done: {result}.")
    if isinstance(result, NotConfigured):
        return blocked(f"metacog cannot be asked, so this was not done: {result}", secret)
    if isinstance(result, Exception):
        return blocked(f"metacog hook failed ({type(result).__name__}), so this was not done.")
    out.write(without(secret, dialect.write(result)))
    return 0


def decided(call: Call, settings: Settings) -> Answer:
    """Ask metacog about a call, and say what is to be done with it."""
    late = settings.late
    if late == "defer" and call.around.get("permission_mode") == "bypassPermissions":
        late = "deny"  # Claude Code defers nothing where a turn has several calls: in this mode they would all run
    with Client(settings.url, settings.key, run=call.session) as client:
        around: dict[str, Any] = {"session": call.session, "metadata": metadata_of(call, settings)}
        if settings.strict and (refused := refusal(client, call, around)):
            return refused
        told = client.gate(call.asked, deadline=settings.wait, **around)
        if told.verdict == "pending" and late == "ask":
            told = handed_over(client, told)
        answer = of_outcome(told, settings, late, f"{client.url}/queue/{told.held}/")
        if told.held and told.allowed and answer.do == "allow":
            keep(client.url, call, told.held)
        return answer


def refusal(client: Client, call: Call, around: dict[str, Any]) -> Answer | None:
    """Refuse a call that opens a session to type into, whoever would approve it; asked again it is the same item."""
    told = client.ask(call.asked, **around)
    if told.verdict not in ("pass", "pending"):
        return None
    if told.effects is not None and not any(each.get("detail") == SESSION for each in told.effects):
        return None
    why = "metacog did not say what this would do" if told.effects is None else f"This {SESSION}, which no hook sees"
    if told.held:
        with contextlib.suppress(MetacogError):
            client.withdraw(told.held, f"{why}: refused by --strict.")
    return Answer("deny", f"{why}, so it was not done. Run a command that ends by itself instead.")


def keep(url: str, call: Call, held: str) -> None:
    """Remember by which approval a call is made. Where that fails it is made all the same: a person allowed it."""
    import sqlite3

    from ..journal import Journal, key_of, usual_path

    if call.asked.call_id:
        with contextlib.suppress(sqlite3.Error):
            Journal(usual_path("hooks")).keep(key_of(url, call.session, call.asked.call_id), held)


def report(ran: Ran, settings: Settings) -> Answer:
    """Say what became of a call that was approved; nothing of others. NotTold where metacog did not take it."""
    import sqlite3

    from ..exchange import Until
    from ..journal import Journal, key_of, usual_path
    from ..reporting import REPORT_SECONDS, Made, Report

    try:
        with Client(settings.url, settings.key) as client:
            journal = Journal(usual_path("hooks"))
            if held := journal.held(key_of(client.url, ran.session, ran.call_id)):
                made = Made(ran.result, ran.status, ran.detail)
                client.transport.run(Report.of(held, made).send(Until.after(REPORT_SECONDS)))
                journal.settle_held(held)
    except (MetacogError, sqlite3.Error) as error:
        raise NotTold(str(error)) from None
    return Answer("nothing")


def metadata_of(call: Call, settings: Settings) -> dict[str, str]:
    """Say what the call came from. What is deferred is told of again, and must be the same question then."""
    metadata = {"hook": settings.dialect.name}
    if settings.late == "defer":
        project = os.environ.get("CLAUDE_PROJECT_DIR", "")
        return metadata | ({"project": project[:MAX_KEPT]} if project else {})
    if TRACEPARENT.fullmatch(parent := os.environ.get("TRACEPARENT", "")):
        metadata["trace"] = parent
    return metadata | dict(call.around)


def handed_over(client: Client, told: Outcome) -> Outcome:
    """Take a question back, since whoever sits before the program is asked; what was decided meanwhile stands."""
    try:
        client.withdraw(told.held or "", "Asked in the terminal instead.")
    except Refused:
        return client.wait(told.held or "", deadline=0)
    except MetacogError:
        pass  # it expires
    return told


def of_outcome(told: Outcome, settings: Settings, late: Do, page: str) -> Answer:
    if told.verdict == "pass":
        return Answer(settings.passed, "metacog lets this pass.")
    if told.verdict == "pending":
        nobody = f"Nobody has decided this in metacog within {settings.wait:.0f} s"
        return Answer(late, f"{nobody}: decide it here." if late == "ask" else f"{nobody}, so it was not done: {page}")
    if told.verdict == "unreachable":
        return Answer("deny", f"metacog could not be asked, so this was not done: {told.reason}.")
    if not told.allowed:
        return Answer("deny", told.message)
    if told.verdict != "edit":
        return Answer("allow", told.message)
    if not isinstance(told.arguments, dict):
        return Answer("deny", "A reviewer changed the arguments into what is no object, so this was not done.")
    return Answer("allow", told.message, told.arguments)


def blocked(why: str, secret: str = "") -> int:
    sys.stderr.write(without(secret, why) + "\n")
    return BLOCKED


def without(secret: str, text: str) -> str:
    return text.replace(secret, "…") if secret else text


def check(given: Namespace) -> int:
    """Say whether metacog can be asked with these settings, and whether Codex would."""
    secret, faults = "", list[str]()
    try:
        settings = Settings.of(given)
        secret = settings.key
        with Client(settings.url, secret, retry_seconds=SOON_SECONDS) as client:
            client.call("GET", "/held", limit=1)
            sys.stdout.write(f"metacog answers at {client.url}, and knows the key.\n")
        if given.program == "codex":
            told, faults = codex.check(seconds("timeout", given.timeout, settings.dialect.timeout))
            sys.stdout.write("".join(f"{line}.\n" for line in told))
    except MetacogError as error:
        faults = [f"metacog cannot be asked: {str(error).rstrip('.')}"]
    sys.stderr.write(without(secret, "".join(f"{line}.\n" for line in faults)))
    return FAILED if faults else 0

"""`manage.py demo`: where it refuses to go, the history it invents, and the agent that goes on posting."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from metacog.audit import audit, chain
from metacog.db.ids import first_id_at, new_id
from metacog.heuristics.tool_calls.effect_bits import bits_of, names_in
from metacog.models import AgentState, AuditEvent, Heartbeat, Membership, Policy, Team, User
from metacog.models.heartbeat import is_alive
from patterns.models import Lesson, Memory, MemoryConflict, Problem, ThoughtThread
from patterns.threads import texts
from reviews.demo import fill, history, worker
from reviews.demo.agent import DemoAgent
from reviews.demo.clock import turned_back
from reviews.demo.investigated import REMEMBERED
from reviews.demo.voices import FORGE, KURO, ROBIN, Voice
from reviews.held.decisions import decide
from reviews.management.commands import demo
from reviews.metrics import daily
from reviews.models import (
    AgentResponse,
    CallGrant,
    CallOutcome,
    DailyFigure,
    Decision,
    ExtensionRequest,
    FittedWeights,
    HeldCall,
    HeldItem,
    LookFigure,
    Reflection,
    ReviewTimeFigure,
)
from tests.commands.test_up import free_port
from tests.conftest import Caller
from tests.tables import table

pytestmark = pytest.mark.starts  # or invents weeks of history, which takes as long

NOW = datetime(2026, 11, 18, 15, 30, tzinfo=UTC)  # a Wednesday
DAYS = 3


# Where it refuses to go


@pytest.mark.parametrize("found", [["metacog.sqlite3"], ["secret-key", "up.lock", "anchors"], ["notes.txt"]])
def test_it_refuses_a_data_folder_that_others_use(tmp_path: Path, found: list[str]) -> None:
    for name in found:
        (tmp_path / name).touch()
    with pytest.raises(SystemExit, match="holds something else than a demo"):
        demo.check_folder(tmp_path)


@pytest.mark.parametrize("found", [[], ["secret-key", "up.lock"], ["demo-agent-key", "metacog.sqlite3"]])
def test_it_takes_a_new_data_folder_and_its_own(tmp_path: Path, found: list[str]) -> None:
    for name in found:
        (tmp_path / name).touch()
    demo.check_folder(tmp_path)
    demo.check_folder(tmp_path / "not-there-yet")


@table("days", [-5, 0, 366, 99_999_999])
def test_it_refuses_days_that_cannot_be_invented(days: int) -> None:
    with pytest.raises(SystemExit, match=f"{days} days cannot be invented; give 1 to 365 with --days."):
        call_command("demo", days=days)


@pytest.mark.django_db
def test_it_refuses_a_database_with_a_team() -> None:
    Team.objects.create(name="Real")
    with pytest.raises(SystemExit, match="The database holds something else than a demo; nothing was changed"):
        demo.check_database()


@pytest.mark.django_db
def test_it_refuses_a_database_whose_record_began_otherwise() -> None:
    audit.record("team-created", "1", actor=None, team=None)
    history.begin()
    with pytest.raises(SystemExit, match="The database holds something else than a demo"):
        demo.check_database()


@pytest.mark.django_db
def test_it_tells_a_new_database_from_its_own() -> None:
    assert demo.check_database() is True
    history.begin()
    assert demo.check_database() is False


@pytest.mark.django_db(transaction=True)
def test_a_beginning_that_is_cut_off_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    def cut_off(*args: object) -> str:
        assert Team.objects.exists()
        raise KeyboardInterrupt

    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(history, "gather", cut_off)
    with pytest.raises(KeyboardInterrupt):
        demo.begin(DAYS)
    assert demo.check_database() is True
    assert connection.get_autocommit()


@pytest.mark.django_db(transaction=True)
def test_a_second_start_goes_on_with_the_first_ones_history(
    settings: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.DATA_DIR, settings.LOCALE_PATHS, settings.ADMIN_PASSWORD = tmp_path, [tmp_path], "correct horse battery"
    command = demo.Command()
    command.days = 1
    assert "admin" in command.prepare()
    assert [child.command[-1] for child in command.company()] == ["--with-beat", "reviews.demo.fill"]
    assert not AgentResponse.objects.exists()  # which are invented while it is served
    fill.fill()
    fill.end()
    posted = AgentResponse.objects.count()
    said = capsys.readouterr().out
    assert f"It has {posted} responses" in said
    steps = re.findall(r"^  (.+): ([0-9,]+) of ([0-9,]+) \(([0-9]+)%\)$", said, re.MULTILINE)
    assert steps[0][:2] == ("posts, decisions and looks back", "1")
    assert (steps[-1][0], steps[-1][1], steps[-1][3]) == ("counting up", steps[-1][2], "100")
    assert int(steps[0][2].replace(",", "")) > posted / 2
    assert len(steps) < 20
    assert command.prepare() == ""
    assert AgentResponse.objects.count() == posted
    assert [child.name for child in command.company()] == ["The worker", "The demo's agent"]


@pytest.mark.django_db(transaction=True)
def test_a_history_that_is_cut_off_is_served_as_far_as_it_came(
    settings: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.DATA_DIR, settings.LOCALE_PATHS, settings.ADMIN_PASSWORD = tmp_path, [tmp_path], "correct horse battery"
    command = demo.Command()
    command.days = 1
    command.prepare()
    assert command.prepare() == ""
    assert f"Its history was cut off before its end; delete {tmp_path} to begin again." in capsys.readouterr().out
    assert "reviews.demo.agent" in command.company()[-1].command


@pytest.mark.django_db
def test_what_visitors_decide_while_it_fills_stays_decided() -> None:
    owner = User.objects.create_user("admin", is_superuser=True)
    taken: list[HeldItem] = []

    def visit(what: str, done: int, of: int) -> None:
        waiting = HeldItem.objects.filter(state=HeldItem.State.PENDING).exclude(kind="tool")
        if len(taken) < 5 and (held := waiting.first()):
            decide(held, owner, "approve")
            taken.append(held)

    with turned_back(NOW - timedelta(days=1)) as clock:
        team = history.begin()
        history.gather(team, owner)
        history.play(team, owner, clock, 1, visit)
    assert len(taken) == 5
    assert all(held.decisions.get().person == owner for held in taken)


@pytest.mark.django_db
def test_while_it_fills_it_waits_its_turn_behind_a_visitor_who_posts_with_its_key() -> None:
    owner = User.objects.create_user("admin", is_superuser=True)
    asks_at = NOW - timedelta(minutes=history.WAITING[0][0])
    spent = asks_at.timestamp() + 10.5  # as after 200 posts at once

    def visit(what: str, done: int, of: int) -> None:
        AgentState.objects.update(rate_tat=spent)

    with turned_back(NOW - timedelta(days=1)) as clock:
        team = history.begin()
        history.gather(team, owner)
        history.play(team, owner, clock, 1, visit)
    assert AgentResponse.objects.filter(received_at=asks_at + timedelta(seconds=1)).exists()


@pytest.mark.django_db
def test_while_it_fills_the_worker_that_waits_is_no_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([True, False])
    monkeypatch.setattr("reviews.demo.worker.is_unfinished", lambda: next(looks))
    monkeypatch.setattr("reviews.demo.worker.time.sleep", lambda seconds: None)
    worker.wait()
    assert is_alive(Heartbeat.objects.get(name="worker").at, timezone.now())


@pytest.mark.django_db
def test_while_it_fills_the_queue_says_so(settings: Any, tmp_path: Path, as_person: Any, alice: Any, kuro: Any) -> None:
    settings.DATA_DIR, said = tmp_path, "This demo is still making up its past"
    kuro.hold()
    assert said not in as_person(alice).get("/queue/").text
    fill.begin(timezone.now(), 1)
    assert said in as_person(alice).get("/queue/").text
    fill.end()
    assert said not in as_person(alice).get("/queue/changes").text


@pytest.mark.parametrize("is_terminal", [True, False])
def test_it_says_how_far_it_is(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter(range(0, 10_000, 1))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    monkeypatch.setattr(time, "monotonic", lambda: next(now) / 2)
    progress = fill.Progress()
    for done in range(1, 1_201):
        progress.tell("posts", done, 1_200)
    progress.tell("counting up: days", 0, 2)
    progress.end()
    said = capsys.readouterr().out
    assert "  posts: 1 of 1,200 (0%)" in said
    assert "  posts: 1,200 of 1,200 (100%)" in said
    lines = said.splitlines()
    assert lines[-1].endswith("  counting up: days: 0 of 2 (0%)" + "\x1b[K" * is_terminal)
    if is_terminal:
        assert said.count("\r") == 1_201  # nothing but one line, written over
        assert said.count("\n") == 1
    else:
        assert "\r" not in said
        assert 50 < len(lines) < 300


# The history


@pytest.fixture
def invented(aurora: Team) -> Team:
    """A demo's team after some days, beside another team."""
    owner = User.objects.create_user("admin", is_superuser=True)
    with turned_back(NOW - timedelta(days=DAYS)) as clock:
        team = history.begin()
        history.gather(team, owner)
        history.play(team, owner, clock, DAYS)
    return team


def test_the_clock_sets_every_time_and_gives_it_back(db: None) -> None:
    with turned_back(NOW) as clock:
        assert timezone.now() == NOW
        assert audit.event("x", "y", actor=None, team=None).at == NOW
        clock.at += timedelta(hours=1)
        assert new_id("resp").startswith(first_id_at("resp", NOW + timedelta(hours=1)))
    assert abs(timezone.now() - datetime.now(UTC)) < timedelta(minutes=1)


def its_agents_pursue_threads_in_both_languages(invented: Team) -> None:
    found = ThoughtThread.objects.filter(agent__team=invented)
    assert {(row.agent.name, row.slug, row.state) for row in found.select_related("agent")} == {
        ("kuro", "constraint-and-emergence", "active"), ("kuro", "small-libraries", "paused"),
        ("robin", "late", "active"), ("forge", "two-clocks", "resolved"),
    }  # fmt: skip
    assert all(row.steps.exclude(text="").count() >= 3 for row in found)
    forge = AgentState.objects.select_related("agent__team").get(agent__name="forge", agent__team=invented)
    suggested = texts.suggestion(forge.agent, forge)
    assert suggested is not None
    assert suggested.topic == "connection pools"


def the_audit_record_is_whole_and_in_order(invented: Team) -> None:
    report = chain.verify()
    assert (report.problems, report.unsealed) == ([], 0)
    assert report.seals > DAYS
    times = list(AuditEvent.objects.order_by("pk").values_list("at", flat=True))
    assert times == sorted(times)
    assert NOW - timedelta(days=DAYS) <= times[0] < times[-1] <= NOW
    assert report.events == len(times)


def every_verdict_can_be_made_again(invented: Team) -> None:
    out = StringIO()
    call_command("replay", stdout=out)
    count = AgentResponse.objects.count()
    assert out.getvalue() == f"responses: {count:,}; equal: {count:,}\n"


def every_row_is_of_its_time(invented: Team) -> None:
    for public_id, at in AgentResponse.objects.values_list("public_id", "received_at"):
        assert public_id.startswith(first_id_at("resp", at))
    for decision in Decision.objects.filter(undone_at=None).select_related("held"):
        assert decision.held.held_at < decision.decided_at <= decision.released_at <= NOW
        if decision.by == Decision.By.PERSON:
            assert decision.released_at - decision.decided_at == timedelta(seconds=django_settings.UNDO_SECONDS)


def the_feeds_have_no_gap(invented: Team) -> None:
    for agent in invented.agents.all():
        numbers = list(Decision.objects.filter(agent=agent, seq__gt=0).order_by("seq").values_list("seq", flat=True))
        assert numbers == list(range(1, AgentState.objects.get(agent=agent).decision_seq + 1))


def the_figures_are_those_of_the_rows(invented: Team) -> None:
    counted = dict(DailyFigure.objects.values_list("pk", "responses"))
    assert sum(counted.values()) == AgentResponse.objects.count() > 60
    for stored in DailyFigure.objects.all():
        fresh = daily.recount(stored.agent, stored.day)
        fresh.counted_at = stored.counted_at
        assert vars(fresh) | {"_state": None} == vars(stored) | {"_state": None}
    by_people = Decision.objects.filter(person__isnull=False, undone_at=None, release_at__lte=NOW).count()
    paces = ReviewTimeFigure.objects.all()
    assert sum(pace.approved + pace.edited + pace.rejected for pace in paces) == by_people > 10
    assert sum(pace.timed for pace in paces) > 10
    assert LookFigure.objects.filter(looked__gt=0).exists()
    assert set(FittedWeights.objects.values_list("found__why_not", flat=True)) == {"few"}  # of three days


def something_waits_for_the_newcomer_in_two_languages(invented: Team) -> None:
    waiting = HeldItem.objects.filter(team=invented, state=HeldItem.State.PENDING)
    assert waiting.count() >= len(history.WAITING)  # none of them repeats what was approved before
    assert {item.agent.name for item in waiting} == {"robin", "forge", "kuro", "pilot"}
    assert len({item.hesitation_score for item in waiting}) >= 3


def an_agent_goes_in_circles_and_asks(invented: Team) -> None:
    (problem,) = Problem.objects.filter(suggests=True)
    assert (problem.agent.name, problem.key, problem.points) == ("forge", "retry-test-at-night", 10)


def its_agents_share_a_memory_and_ask_for_more_tool_calls(invented: Team) -> None:
    posted = Memory.objects.filter(team=invented, text__in=[each.text for each in REMEMBERED])
    assert Counter(posted.values_list("state", flat=True)) == {"pending": 2, "confirmed": len(REMEMBERED) - 2}
    (clash,) = MemoryConflict.objects.filter(outcome="")
    assert "five working days" in clash.newer.text
    asked = ExtensionRequest.objects.filter(agent__team=invented)
    assert Counter(asked.values_list("state", "by")) == {
        ("approved", "rule"): 2, ("rejected", "memory"): 1, ("rejected", "person"): 1, ("approved", "person"): 1,
        ("expired", "system"): 1, ("pending", ""): 2,
    }  # fmt: skip


def its_packs_hold_what_matters_and_what_became_of_it_is_told(invented: Team) -> None:
    packs = {policy.agent.name: policy.packs for policy in Policy.objects.filter(agent__team=invented)}
    assert {name: pack["name"] for name, (pack,) in packs.items()} == {
        "robin": "support", "forge": "coding", "kuro": "read-only", "pilot": "operations",
    }  # fmt: skip
    waiting = HeldCall.objects.filter(held__team=invented, held__state=HeldItem.State.PENDING)
    bits = [bits_of(call.effects) for call in waiting]
    told = {name for each in bits for name in names_in(each)}
    assert {"delete", "outside", "secret", "send", "irreversible", "publish", "pay"} <= told
    assert not any(call.arguments.get("command", "").startswith("pytest") for call in HeldCall.objects.all())
    assert CallOutcome.objects.filter(call__held__team=invented).count() >= 2
    assert CallGrant.objects.filter(agent__team=invented, match="shape").count() == 1


def questions_wait_with_choices_and_with_a_form_and_one_session_is_long(invented: Team) -> None:
    waiting = HeldItem.objects.filter(team=invented, state=HeldItem.State.PENDING, kind="question")
    assert {(bool(each.question.choices), bool(each.question.schema)) for each in waiting} == {
        (True, False),
        (False, True),
    }
    posts = Counter(AgentResponse.objects.filter(agent__name="forge", calls__gt=0).values_list("session", flat=True))
    assert max(posts.values()) > 8  # of three days; of others four at most


def another_team_is_left_alone(invented: Team) -> None:
    aurora = Team.objects.get(name="Aurora")
    assert not aurora.agents.exists()
    assert not Membership.objects.filter(team=aurora).exists()
    assert not AuditEvent.objects.filter(team=aurora).exists()
    assert set(AgentResponse.objects.values_list("agent__team", flat=True)) == {invented.pk}


def each_day_is_looked_back_on_and_lessons_wait_beside_those_in_force(invented: Team) -> None:
    assert set(Reflection.objects.values_list("day", flat=True)) == {
        (NOW - timedelta(days=ago)).date() for ago in range(1, DAYS + 1)
    }
    states = set(Lesson.objects.filter(team=invented).values_list("state", flat=True))
    assert states == {"proposed", "active"}


@table(
    "what",
    [
        its_agents_pursue_threads_in_both_languages,
        the_audit_record_is_whole_and_in_order,
        every_verdict_can_be_made_again,
        every_row_is_of_its_time,
        the_feeds_have_no_gap,
        the_figures_are_those_of_the_rows,
        something_waits_for_the_newcomer_in_two_languages,
        an_agent_goes_in_circles_and_asks,
        its_agents_share_a_memory_and_ask_for_more_tool_calls,
        its_packs_hold_what_matters_and_what_became_of_it_is_told,
        questions_wait_with_choices_and_with_a_form_and_one_session_is_long,
        another_team_is_left_alone,
        each_day_is_looked_back_on_and_lessons_wait_beside_those_in_force,
    ],
)
def test_the_history_it_invents(what: Callable[[Team], None], invented: Team) -> None:
    what(invented)


# What is said


@pytest.mark.parametrize("voice", [ROBIN, FORGE, KURO], ids=lambda voice: voice.name)
def test_the_same_seed_says_the_same(voice: Voice) -> None:
    for turn in [*voice.calm, *voice.risky]:
        said = voice.say(turn, random.Random(7), 40)
        assert said == voice.say(turn, random.Random(7), 40)
        assert "{" not in json.dumps([said.fields["response"], said.fields["user_message"], said.better])


# The agent that goes on posting


class Server:
    """The API, which can be away."""

    def __init__(self, caller: Caller) -> None:
        self.caller, self.is_away = caller, False
        self.calls: list[tuple[str, str]] = []

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if self.is_away:
            return 0, None
        self.calls.append((method, path))
        answer = self.caller.call(method, path, body)
        return answer.status_code, json.loads(answer.content)


@pytest.fixture
def server(kuro: Caller) -> Server:
    return Server(kuro)


class Chance(random.Random):
    """A chance that always falls the same way."""

    def __init__(self, share: float) -> None:
        super().__init__(5)
        self.share = share

    def random(self) -> float:
        return self.share


def test_the_agent_sends_again_what_was_not_answered(server: Server) -> None:
    agent = DemoAgent(server, 10, random.Random(5))
    server.is_away = True
    agent.turn()
    unsent = agent.unsent[0][0]["id"]
    agent.turn()
    server.is_away = False
    agent.turn()
    assert AgentResponse.objects.get().key == unsent
    agent.turn()
    assert AgentResponse.objects.count() == 2


def test_the_agent_says_what_was_approved_in_the_approved_words(
    server: Server, kuro: Caller, alice: User, undo_at_once: None
) -> None:
    agent = DemoAgent(server, 10, random.Random(5))
    held = HeldItem.objects.get(public_id=kuro.hold())
    agent.held[held.public_id] = ROBIN.say(ROBIN.calm[0], random.Random(5), 10)
    decide(held, alice, "approve")
    agent.hear()
    agent.turn()
    posted = AgentResponse.objects.latest("id")
    assert posted.wire_body()["response"] == held.text
    assert posted.wire_verdict()["items"][0]["recognised"] == held.public_id


@pytest.mark.parametrize(("share", "state"), [(0.0, "withdrawn"), (0.9, "edited")])
def test_the_agent_decides_on_second_look_what_is_due_and_its_own(
    server: Server, kuro: Caller, share: float, state: str
) -> None:
    agent = DemoAgent(server, 10, Chance(share))
    own, too_early, of_people = (HeldItem.objects.get(public_id=kuro.hold()) for _ in range(3))
    HeldItem.objects.exclude(pk=too_early.pk).update(review_due_at=timezone.now())
    for held in (own, too_early):
        agent.held[held.public_id] = ROBIN.say(ROBIN.risky[0], random.Random(5), 10)
    agent.look_again()
    states = HeldItem.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == [state, "pending", "pending"]
    assert of_people.decisions.count() == 0


# The whole, running


def environment_for(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("METACOG_")}
    ours = {"METACOG_DATA_DIR": str(folder), "METACOG_DOTENV": "", "METACOG_ADMIN_PASSWORD": "correct horse battery"}
    return kept | ours


def command(port: int) -> list[str]:
    manage = str(django_settings.BASE_DIR / "manage.py")
    return [sys.executable, manage, "demo", "--days", "1", "--workers", "1", "--port", str(port)]


@pytest.fixture
def port() -> int:
    return free_port()


@contextmanager
def running(folder: Path, port: int) -> Iterator[Iterator[str]]:
    """Run the demo, and give what it says, a line at a time."""
    process = subprocess.Popen(command(port), env=environment_for(folder), stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        yield iter(process.stdout)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    finally:
        process.kill()
        process.wait()


def responses(folder: Path) -> int:
    with sqlite3.connect(folder / "metacog.sqlite3") as database:
        (found,) = database.execute("SELECT count(*) FROM reviews_agentresponse").fetchone()
    database.close()
    return int(found)


@pytest.mark.starts
def test_its_agent_goes_on_posting_and_ends_with_it(tmp_path: Path, port: int) -> None:
    with running(tmp_path / "data", port) as lines:
        said: list[str] = []  # whichever is first: it is served while its history is invented
        while not (re.search("^It has ", "".join(said), re.MULTILINE) and "is ready at" in "".join(said)):
            said.append(next(lines))
        invented = int(next(line for line in said if line.startswith("It has ")).split()[2])
        until(lambda: responses(tmp_path / "data") > invented)
        assert stat.S_IMODE((tmp_path / "data" / "demo-agent-key").stat().st_mode) == 0o600
        agent = next(
            process
            for process in psutil.Process().children(recursive=True)
            if "reviews.demo.agent" in process.cmdline()
        )
    psutil.wait_procs([agent], timeout=60)
    assert not agent.is_running()


def test_it_ends_with_a_sentence_on_a_folder_with_real_data(tmp_path: Path, port: int) -> None:
    (tmp_path / "metacog.sqlite3").write_bytes(b"real")
    refused = subprocess.run(command(port), env=environment_for(tmp_path), capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stderr == (
        f"The data folder {tmp_path} holds something else than a demo; set METACOG_DATA_DIR to another one.\n"
    )
    assert (tmp_path / "metacog.sqlite3").read_bytes() == b"real"


def until(condition: Callable[[], object], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)

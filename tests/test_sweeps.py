"""One agent whose rows make a sweep fail takes nothing from the others."""

from __future__ import annotations

import json
import logging
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.core.management import call_command
from django.db import OperationalError
from django.utils import timezone

from metacog import egress
from metacog.accounts import keys
from metacog.accounts.retention import set_retention
from metacog.models import Agent, AgentState, Channel, Notice, Team
from metacog.notices import chat
from patterns.models import ErrorPattern
from reviews import isolation, retention, tasks
from reviews.held import decisions
from reviews.investigation import research
from reviews.learning import sweep
from reviews.learning.backtest import backtest
from reviews.metrics import daily, weight_fits
from reviews.models import (
    AgentResponse,
    ContrastLook,
    DailyFigure,
    Decision,
    Delivery,
    ExtensionRequest,
    FittedWeights,
    HeldItem,
    LearningCursor,
    ProposalTrial,
    Research,
    Sample,
)
from reviews.outbox import notifications
from tests.conftest import Caller

DAY = timedelta(days=1)


@pytest.fixture
def broken(aurora: Any, kuro: Caller) -> Agent:
    """Return the agent whose turn is first, and which every sweep here fails with."""
    return Agent.objects.get(public_id=kuro.id)


def let_it_expire(broken: Agent) -> None:
    HeldItem.objects.update(expires_at=timezone.now())
    AgentState.objects.filter(agent=broken).delete()


def is_expired(agent: Agent) -> bool:
    return HeldItem.objects.get(agent=agent).state == "expired"


def let_requests_expire(broken: Agent) -> None:
    for agent in Agent.objects.all():
        soon = timezone.now()
        ExtensionRequest.objects.create(agent=agent, number=1, due_at=soon, expires_at=soon, policy_version=1)
    AgentState.objects.filter(agent=broken).delete()


def has_no_request(agent: Agent) -> bool:
    return ExtensionRequest.objects.get(agent=agent).state == "expired"


def spoil_the_body(broken: Agent) -> None:
    AgentResponse.objects.filter(agent=broken).update(body="{")


def is_learnt_from(agent: Agent) -> bool:
    return LearningCursor.objects.filter(agent=agent, response__gt=0).exists()


def spoil_a_decision(broken: Agent) -> None:
    held, now = HeldItem.objects.get(agent=broken), timezone.now()
    Decision.objects.create(
        held=held, agent=broken, verdict="?", by="agent", item_version=1, release_at=now, released_at=now
    )


def is_counted(agent: Agent) -> bool:
    return DailyFigure.objects.filter(agent=agent, responses=1).exists()


def let_it_be_over(broken: Agent) -> None:
    set_retention(broken.team, 30, None)
    set_retention(Agent.objects.exclude(pk=broken.pk).get().team, 30, None)
    HeldItem.objects.update(closed_at=timezone.now() - 40 * DAY, state="expired")
    AgentResponse.objects.update(received_at=timezone.now() - 40 * DAY)
    AgentResponse.objects.filter(agent=broken).update(verdict="{")


def is_erased(agent: Agent) -> bool:
    return AgentResponse.objects.get(agent=agent).erased_at is not None


def let_it_be_yesterday(broken: Agent) -> None:
    HeldItem.objects.all().delete()
    AgentResponse.objects.update(received_at=timezone.now() - daily.LATE - DAY)
    AgentResponse.objects.filter(agent=broken).update(verdict="{")


def has_a_look(agent: Agent) -> bool:
    return ContrastLook.objects.filter(team=agent.team).exists()


def spoil_a_look(broken: Agent) -> None:
    """Let each team have a spot check, the first of a response that cannot be read."""
    for response in AgentResponse.objects.all():
        judge(response)
    spoil_the_body(broken)


def propose_in_each_team(broken: Agent) -> None:
    for agent in Agent.objects.all():
        ErrorPattern.objects.create(team=agent.team, keywords=["thirty days"], description="d", state="proposed")
    spoil_the_body(broken)


def is_tried(agent: Agent) -> bool:
    return ProposalTrial.objects.filter(pattern__team=agent.team).exists()


def judge(response: AgentResponse) -> None:
    now = timezone.now()
    Sample.objects.create(response=response, agent=response.agent, day=now, verdict="missed", judged_at=now)


def is_sampled(agent: Agent) -> bool:
    return Sample.objects.filter(agent=agent).exists()


@pytest.mark.parametrize(
    ("task", "spoil", "is_done"),
    [
        (tasks.settle, let_it_expire, is_expired),
        (tasks.settle, let_requests_expire, has_no_request),
        (tasks.learn, spoil_the_body, is_learnt_from),
        (tasks.count_days, spoil_a_decision, is_counted),
        (tasks.erase, let_it_be_over, is_erased),
        (tasks.pick_samples, let_it_be_yesterday, is_sampled),
        (tasks.contrast, spoil_a_look, has_a_look),
        (tasks.try_proposals, propose_in_each_team, is_tried),
    ],
)
def test_an_agent_that_fails_takes_nothing_from_another(
    task: Callable[[], None],
    spoil: Callable[[Agent], None],
    is_done: Callable[[Agent], bool],
    broken: Agent,
    kuro: Caller,
    other: Caller,
    caplog: Any,
) -> None:
    another = Agent.objects.get(public_id=other.id)
    assert broken.pk < another.pk, "it comes first"
    kuro.hold()
    other.hold()
    spoil(broken)
    with caplog.at_level(logging.ERROR):
        task()
    assert is_done(another)
    (record,) = caplog.records
    assert record.name == "reviews.isolation"


def test_agents_that_no_weights_can_be_fitted_for_keep_nobody_waiting(
    kuro: Caller, other: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weight_fits, "AGENTS_A_RUN", 1)
    AgentState.objects.filter(agent__public_id=kuro.id).delete()
    weight_fits.fit_due(timezone.now())
    assert FittedWeights.objects.get().agent.public_id == other.id


@pytest.mark.parametrize("error", [OperationalError(), SoftTimeLimitExceeded()])
def test_a_sweep_ends_with_the_database_and_with_its_time(error: Exception) -> None:
    with pytest.raises(type(error)), isolation.by_itself("It failed"):
        raise error


def test_a_team_that_takes_all_the_time_there_is_does_not_always_come_first(
    aurora: Any, borealis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: set[str] = set()

    def take_long(team: Team, *args: Any) -> int:
        came.add(team.name)
        raise SoftTimeLimitExceeded

    for team in (aurora, borealis):
        set_retention(team, 30, None)
    monkeypatch.setattr(retention, "_erase_of", take_long)
    for _ in range(100):
        with pytest.raises(SoftTimeLimitExceeded):
            retention.erase()
    assert came == {"Aurora", "Borealis"}


def let_research(agent: Agent) -> Research:
    return research.begin(agent, "Look up what a refund takes.", "refunds")[0]


def let_ask_for_more(agent: Agent) -> ExtensionRequest:
    soon = timezone.now() + DAY
    return ExtensionRequest.objects.create(agent=agent, number=1, due_at=soon, expires_at=soon, policy_version=1)


@pytest.mark.parametrize(
    ("task", "begin", "trouble"),
    [
        (tasks.search, let_research, ("trouble", Research.Trouble.REACH)),
        (tasks.chair, let_ask_for_more, ("model_trouble", ExtensionRequest.Trouble.UNREACHABLE)),
    ],
)
def test_who_is_answered_in_a_way_that_nobody_thought_of_keeps_none_waiting(
    task: Callable[[], None],
    begin: Callable[[Agent], Research | ExtensionRequest],
    trouble: tuple[str, str],
    kuro: Caller,
    other: Caller,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failures = [RuntimeError(), egress.Failed("connection")]

    def fail(*args: Any, **kwargs: Any) -> None:
        raise failures.pop(0)

    settings.SEARXNG_URL = settings.CHAIRMAN_URL = "http://127.0.0.1:8888"
    monkeypatch.setattr(egress, "request", fail)
    _, second = [begin(Agent.objects.get(public_id=caller.id)) for caller in (kuro, other)]
    task()
    second.refresh_from_db()
    name, expected = trouble
    assert getattr(second, name) == expected


def test_an_agent_whose_secrets_cannot_be_read_keeps_no_callback_of_another(
    kuro: Caller, other: Caller, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(agent: Agent, secrets: Any = keys.live_secrets) -> Any:
        if agent.public_id == kuro.id:
            raise RuntimeError
        return secrets(agent)

    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(keys, "live_secrets", read)
    Agent.objects.update(callback_url="http://127.0.0.1:9/")
    for caller in (kuro, other):
        held = HeldItem.objects.get(public_id=caller.hold())
        decisions.decide(held, held.agent, "withdraw", reason="It was wrong.")
    tasks.deliver()
    assert set(Delivery.objects.filter(attempts__gt=0).values_list("agent__public_id", flat=True)) == {other.id}


def test_a_team_that_nobody_can_write_to_keeps_no_notice_of_another(
    kuro: Caller, other: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for team in Team.objects.order_by("pk"):
        Channel.objects.create(team=team, url_encrypted=keys.encrypted("https://chat.example.org/hook"))
    kuro.hold()
    other.hold()

    def write(reader: Any, now: Any, rightly: Any = notifications._write) -> int:
        if reader.team.name == "Aurora":
            raise RuntimeError
        return rightly(reader, now)

    monkeypatch.setattr(notifications, "_write", write)
    assert notifications.write_due(timezone.now() + timedelta(minutes=5)) == 1
    assert Notice.objects.get().team.name == "Borealis"


def test_a_message_that_cannot_be_posted_is_told_as_such(aurora: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(egress, "request", fail)
    channel = Channel(team=aurora, url_encrypted=keys.encrypted("https://chat.example.org/hook"))
    assert chat.post(channel, "Something waits.") == Notice.Trouble.ERROR


@pytest.mark.parametrize(
    "read",
    [
        tasks.learn,
        tasks.erase,
        tasks.contrast,
        lambda: backtest(Team.objects.get(), ["flaky"]),
        lambda: call_command("rescore"),
    ],
    ids=["learn", "erase", "contrast", "backtest", "rescore"],
)
def test_long_texts_are_read_a_few_at_a_time(kuro: Caller, read: Callable[[], object]) -> None:
    kuro.respond("Done.")
    row = AgentResponse.objects.get()
    row.body, row.received_at = json.dumps({"response": "x" * 100_000}), timezone.now() - 2 * DAY
    Team.objects.update(retention_days=1)
    copies = 200
    for number in range(copies):
        row.pk, row.public_id, row.key = None, f"resp_{number}", None
        row.save(force_insert=True)
        judge(row)
    tracemalloc.start()
    read()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < copies * 100_000 / 2


@pytest.mark.django_db
def test_learning_goes_on_where_its_time_ended(
    aurora: Any, kuro: Caller, other: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first takes all the time there is, every time; the others learn all the same."""
    learned = []
    agents = [str(each) for each in Agent.objects.order_by("pk").values_list("public_id", flat=True)]
    for caller in (kuro, other):
        caller.respond()

    def learn_from(agent: Agent) -> int:
        learned.append(agent.public_id)
        if agent.public_id == agents[0]:
            raise SoftTimeLimitExceeded
        return 0

    monkeypatch.setattr(isolation, "KEPT_SECONDS", 0.0)
    monkeypatch.setattr(sweep, "_learn_from", learn_from)
    for _ in range(3):
        with suppress(SoftTimeLimitExceeded):
            tasks.learn()
    assert learned == [agents[0], agents[1], agents[0], agents[1], agents[0]]

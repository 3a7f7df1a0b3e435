"""What was let through: who is asked about what, once, and what comes of the answers."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from typing import Any

import pytest

from metacog.db.rows import COUNTED
from metacog.models import AuditEvent, Team
from reviews.held.counts import ToDo
from reviews.metrics import daily, sampling
from reviews.metrics.daily import Ratio
from reviews.models import AgentResponse, Sample, SampleCursor, SampleFigure
from reviews.pages import queue
from reviews.templatetags import console
from tests.conftest import NOON
from tests.tables import table

PAGE = "/spot-checks/"


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def passed(caller: Any, text: str = "It may rain.", **fields: Any) -> str:
    verdict = caller.respond(text, **{"items": [{"kind": "chat", "text": text}]} | fields)
    return str(verdict["id"])


def days_ago(days: int) -> None:
    """Have everything that was posted come so many days before."""
    AgentResponse.objects.update(received_at=NOON - timedelta(days=days))


def picked() -> list[str]:
    return [sample.response.public_id for sample in Sample.objects.select_related("response")]


def asked(client: Any) -> str:
    return re.search(r'action="(/spot-checks/[^"]+/judge)"', client.get(PAGE).content.decode())[1]


def test_a_random_few_of_a_day_that_is_over_are_picked_once(kuro: Any) -> None:
    posted = {passed(kuro) for _ in range(8)}
    days_ago(1)
    assert sampling.pick_due(NOON) == sampling.A_DAY
    assert sampling.pick_due(NOON) == 0
    assert len(set(picked())) == sampling.A_DAY
    assert set(picked()) < posted


def test_everybody_has_a_chance_of_being_picked(kuro: Any) -> None:
    posted = {passed(kuro) for _ in range(7)}
    days_ago(1)
    seen: set[str] = set()
    for _ in range(200):  # the odds that one of seven is never among five of them: (2/7)^200
        sampling.pick_due(NOON)
        seen |= set(picked())
        Sample.objects.all().delete()
        SampleCursor.objects.all().delete()
        if seen == posted:
            break
    assert seen == posted


@table(("days", "is_picked"), [(0, False), (1, True), (7, True), (8, False)], rolled_back=True)
def test_days_that_were_slept_through_are_made_up_for_within_a_week(kuro: Any, days: int, is_picked: bool) -> None:
    passed(kuro)
    days_ago(days)
    assert sampling.pick_due(NOON) == is_picked


def test_days_that_follow_the_last_one_picked_from_are_picked_from_once_they_are_over(kuro: Any) -> None:
    for day in range(3):
        AgentResponse.objects.filter(public_id=passed(kuro)).update(received_at=NOON + timedelta(days=day))
    midnight = NOON.replace(hour=0) + timedelta(days=2)
    assert sampling.pick_due(NOON + timedelta(days=1)) == 1
    assert sampling.pick_due(midnight + timedelta(minutes=5)) == 0, "what came at midnight may not be seen yet"
    assert sampling.pick_due(midnight + timedelta(minutes=10)) == 1
    assert sampling.pick_due(NOON + timedelta(days=3)) == 1


def test_a_day_of_which_nothing_could_be_picked_is_looked_at_once(kuro: Any, django_assert_num_queries: Any) -> None:
    passed(kuro, items=[{"kind": "ask", "text": "Does it rain?"}])
    days_ago(1)
    sampling.pick_due(NOON)
    with django_assert_num_queries(1):
        sampling.pick_due(NOON + timedelta(hours=1))


def test_an_agent_that_posted_nothing_costs_no_query(kuro: Any, other: Any, django_assert_max_num_queries: Any) -> None:
    passed(kuro)
    days_ago(1)
    a_day, who_is_due, cursor = 6, 1, 1
    with django_assert_max_num_queries(sampling.CATCH_UP.days + a_day + who_is_due + cursor):
        assert sampling.pick_due(NOON) == 1


def test_who_was_picked_from_longest_ago_comes_first_where_time_is_short(
    kuro: Any, other: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "TURN_SECONDS", -1.0)
    for caller in (kuro, other):
        passed(caller)
    days_ago(1)
    assert [sampling.pick_due(NOON) for _ in range(3)] == [1, 1, 0]
    SampleCursor.objects.filter(agent__public_id=other.id).update(day=NOON.date() - timedelta(days=3))
    SampleCursor.objects.filter(agent__public_id=kuro.id).update(day=NOON.date() - timedelta(days=2))
    Sample.objects.all().delete()
    assert sampling.pick_due(NOON) == 1
    assert Sample.objects.get().agent.public_id == other.id


def test_a_clock_that_had_run_ahead_leaves_out_no_day(kuro: Any) -> None:
    passed(kuro)
    days_ago(1)
    SampleCursor.objects.create(agent=AgentResponse.objects.get().agent, day=NOON.date() + timedelta(days=300))
    assert sampling.pick_due(NOON) == 1


@table(
    ("what", "is_picked"),
    [
        ({"items": [{"kind": "remember", "text": "It rains."}]}, True),
        ({"items": [{"kind": "ask", "text": "Does it rain?"}]}, False),
        ({"items": []}, False),
        ({"items": [{"kind": "chat", "text": "a"}, {"kind": "ask", "text": "b"}]}, True),
    ],
    rolled_back=True,
)
def test_only_what_could_have_been_held_is_picked(kuro: Any, what: dict[str, Any], is_picked: bool) -> None:
    passed(kuro, **what)
    days_ago(1)
    assert sampling.pick_due(NOON) == is_picked


def test_what_was_held_or_erased_or_not_scored_is_not_picked(kuro: Any) -> None:
    from metacog.models import Agent

    kuro.hold()
    erased = passed(kuro)
    Agent.objects.update(hesitation_enabled=False)
    passed(kuro)
    Agent.objects.update(hesitation_enabled=True)
    days_ago(1)
    AgentResponse.objects.filter(public_id=erased).update(erased_at=NOON)
    assert sampling.pick_due(NOON) == 0


def test_what_people_approved_before_is_not_asked_about_again(kuro: Any, undo_at_once: None) -> None:
    held = kuro.hold()
    kuro.post(f"/held/{held}/decision", {"verdict": "reject", "reason": "x"})
    from reviews.held import decisions
    from reviews.models import HeldItem

    again = HeldItem.objects.get(public_id=kuro.hold())
    decisions.decide(again, _bob(), "approve")
    verdict = kuro.respond(again.text, items=[{"kind": "chat", "text": again.text}])
    assert verdict["items"][0]["disposition"] == "pass"
    days_ago(1)
    assert sampling.pick_due(NOON) == 0


def _bob() -> Any:
    from metacog.models import Membership, Role, Team, User

    person = User.objects.create_user("someone")
    Membership.objects.create(user=person, team=Team.objects.get(name="Aurora"), role=Role.REVIEWER)
    return person


def test_a_person_judges_one_after_the_other_and_may_change_their_mind(client: Any, kuro: Any) -> None:
    for text in ("It may rain.", "It may snow."):
        passed(kuro, text)
    days_ago(1)
    sampling.pick_due(NOON)
    first = asked(client)
    client.post(first, {"verdict": "whatever"})
    assert asked(client) == first
    client.post(first, {"verdict": "missed"})
    second = asked(client)
    assert second != first
    client.post(second, {"verdict": "fine"})
    page = client.get(PAGE).content.decode()
    assert "No spot checks pending" in page
    assert "Should have been held · kuro" in page
    client.post(first, {"verdict": "fine"})
    assert sorted(Sample.objects.values_list("verdict", flat=True)) == ["fine", "fine"]
    events = AuditEvent.objects.filter(action="sample-judged").order_by("id").values_list("actor", "before", "after")
    assert list(events) == [("alice", "", "missed"), ("alice", "", "fine"), ("alice", "missed", "fine")]


def test_the_record_tells_what_was_said_before_whatever_the_judge_had_read(kuro: Any, alice: Any, bob: Any) -> None:
    passed(kuro)
    days_ago(1)
    sampling.pick_due(NOON)
    first = second = Sample.objects.select_related("agent", "response").get()  # both open the page at the same time
    sampling.judge(first, alice, "missed")
    sampling.judge(second, bob, "fine")
    sampling.judge(second, bob, "fine")
    events = AuditEvent.objects.filter(action="sample-judged").order_by("id").values_list("actor", "before", "after")
    assert list(events) == [("alice", "", "missed"), ("bob", "missed", "fine")]


def test_two_workers_pick_from_a_day_once(kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(8):
        passed(kuro)
    days_ago(1)
    candidates = sampling._candidates

    def while_another_picks(keys: Any) -> Any:
        monkeypatch.setattr(sampling, "_candidates", candidates)
        assert sampling.pick_due(NOON) == sampling.A_DAY
        return candidates(keys)

    monkeypatch.setattr(sampling, "_candidates", while_another_picks)
    assert sampling.pick_due(NOON) == 0
    assert Sample.objects.count() == sampling.A_DAY


def test_the_share_is_told_with_its_counts_and_interval_once_there_is_enough(
    client: Any, kuro: Any, alice: Any
) -> None:
    for _ in range(60):
        passed(kuro)
    days_ago(1)
    today = NOON.date()
    responses = AgentResponse.objects.select_related("agent").order_by("pk")
    samples = [
        Sample.objects.create(response=response, agent=response.agent, day=today - timedelta(days=1))
        for response in responses
    ]
    passed(kuro)
    before = responses.latest("pk")
    old = Sample.objects.create(response=before, agent=before.agent, day=today - timedelta(days=91))
    for sample in (old, *samples[:3]):
        sampling.judge(sample, alice, "missed")
    daily.count_days(NOON)
    daily.recount(before.agent, today - timedelta(days=1))
    told = client.get("/statistics/").content.decode()
    assert "3 of 3 checked responses should have been held, too few for a share." in told
    for sample in samples[3:]:
        sampling.judge(sample, alice, "fine")
    page = client.get(PAGE).content.decode()
    assert re.search(r"5%\s+<span class=\"quiet\">2–14%", page)
    assert page.count("?sample=smp_") == 10
    assert old.public_id not in page  # of a day that is not counted, and is not looked for among all there ever were
    told = client.get("/statistics/").content.decode()
    assert re.search(r"3 of 60 checked responses should have been held \(5%\)", told)


def test_the_sums_of_a_day_are_those_of_its_samples(kuro: Any, other: Any, alice: Any, bob: Any) -> None:
    for caller in (kuro, other):
        for _ in range(6):
            passed(caller)
    days = [NOON.date() - timedelta(days=number) for number in range(4)]
    samples = [
        Sample.objects.create(response=row, agent=row.agent, day=days[number % 3], stands_for=1 + number / 4)
        for number, row in enumerate(AgentResponse.objects.select_related("agent").order_by("pk"))
    ]
    for number, sample in enumerate(samples[:-1]):
        for person, verdict in ((alice, "fine"), (bob, "missed"), (alice, "missed"), (bob, "fine"))[: number % 5]:
            sampling.judge(sample, person, verdict)
    assert summed() == plainly()
    agents = [sample.agent for sample in samples[::6]]
    for since in days:
        for until in days:
            found = [(each.agent, each.missed) for each in sampling.misses(agents, since, until)]
            assert found == [(agent, missed) for agent in agents if (missed := plain_misses(agent, since, until))]


def summed() -> dict[tuple[int, date], tuple[float, ...]]:
    rows = SampleFigure.objects.values_list("agent", "day", "checked", "squares", "missed")
    return {(agent, day): tuple(sums) for agent, day, *sums in rows}


def plainly() -> dict[tuple[int, date], tuple[float, ...]]:
    """Add up the samples one by one."""
    sums: dict[tuple[int, date], tuple[float, ...]] = {}
    for each in Sample.objects.exclude(verdict=""):
        checked, squares, missed = sums.get((each.agent_id, each.day), (0.0, 0.0, 0.0))
        weight = each.stands_for
        is_missed = each.verdict == "missed"
        sums[each.agent_id, each.day] = checked + weight, squares + weight**2, missed + weight * is_missed
    return sums


def plain_misses(agent: Any, since: date, until: date) -> Ratio | None:
    judged = Sample.objects.filter(agent=agent, day__gte=since, day__lte=until).exclude(verdict="")
    weights = [(each.stands_for, each.verdict == "missed") for each in judged]
    if not weights:
        return None
    checked = sum(weight for weight, _ in weights)
    looked = checked**2 / sum(weight**2 for weight, _ in weights)
    return Ratio(round(sum(weight for weight, missed in weights if missed) / checked * looked), round(looked))


def test_the_one_that_waited_longest_is_asked_first_whichever_was_picked_first(
    client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for days in (3, 15, 5, 4):
        passed(kuro)
        row = AgentResponse.objects.select_related("agent").latest("pk")
        Sample.objects.create(response=row, agent=row.agent, day=NOON.date() - timedelta(days=days))
    order = [sampling.waits_longest(Team.objects.all()).get()]
    order += sampling.waiting(Team.objects.all())[1:]
    assert [(NOON.date() - each.day).days for each in order] == [5, 4, 3]
    assert order[0].public_id in asked(client)
    assert "3 pending" in client.get(PAGE).content.decode()
    monkeypatch.setattr("reviews.context_processors.to_do", lambda _: ToDo(samples=COUNTED + 1))
    assert "1,000+ pending" in client.get(PAGE).content.decode()


def test_an_empty_queue_offers_what_waits_to_be_judged(client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    passed(kuro)
    days_ago(1)
    assert "that was let through" not in client.get("/queue/").content.decode()
    sampling.pick_due(NOON)
    assert "Answer 1 spot check" in client.get("/queue/").content.decode()
    for module in (queue, console):  # how far it is counted, and said
        monkeypatch.setattr(module, "COUNTED", 0)
    assert "Answer 0+ spot check" in client.get("/queue/").content.decode()


def test_what_nobody_judged_in_a_fortnight_is_no_longer_asked(client: Any, kuro: Any) -> None:
    passed(kuro)
    days_ago(1)
    sampling.pick_due(NOON)
    Sample.objects.update(day=NOON.date() - timedelta(days=15))
    assert "No spot checks pending" in client.get(PAGE).content.decode()


def test_what_was_erased_meanwhile_is_no_longer_asked(client: Any, kuro: Any) -> None:
    passed(kuro)
    days_ago(1)
    sampling.pick_due(NOON)
    assert asked(client)
    AgentResponse.objects.update(erased_at=NOON)
    assert "No spot checks pending" in client.get(PAGE).content.decode()


@pytest.mark.parametrize(("person", "page", "post"), [("mallory", 404, 404), ("victor", 200, 403), ("alice", 200, 302)])
def test_it_answers_each_as_their_role_allows(
    request: Any, as_person: Any, kuro: Any, person: str, page: int, post: int
) -> None:
    passed(kuro, "Only Aurora knows.")
    days_ago(1)
    sampling.pick_due(NOON)
    sample = Sample.objects.get()
    client = as_person(request.getfixturevalue(person))
    assert client.get(PAGE, {"sample": sample.public_id}).status_code == page
    assert ("Only Aurora knows." in client.get(PAGE).content.decode()) == (page == 200)
    assert client.post(f"{PAGE}{sample.public_id}/judge", {"verdict": "missed"}).status_code == post
    sample.refresh_from_db()
    assert sample.verdict == ("missed" if post == 302 else "")


def test_its_cost_does_not_grow_with_the_samples(client: Any, kuro: Any, django_assert_num_queries: Any) -> None:
    for _ in range(5):
        passed(kuro)
    days_ago(1)
    sampling.pick_due(NOON)
    for _ in range(3):
        client.post(asked(client), {"verdict": "fine"})
    with django_assert_num_queries(8):
        client.get(PAGE)


class TestWhereTheLearnedRiskIsUnsure:
    @pytest.fixture
    def ranked(self, kuro: Any, aurora: Any) -> Any:
        """Have 40 responses of yesterday ranked: ten unsure, thirty sure to be fine but for two."""
        from metacog.models import Agent

        for number in range(40):
            row = AgentResponse.objects.get(public_id=passed(kuro))
            verdict = row.wire_verdict()
            verdict["items"][0]["risk"] = 0.5 if number < 10 else 0.9 if number < 12 else 0.01
            AgentResponse.objects.filter(pk=row.pk).update(verdict=json.dumps(verdict))
        days_ago(1)
        Agent.objects.filter(public_id=kuro.id).update(risk_model=1)
        return aurora

    def test_more_are_drawn_there_and_each_stands_for_what_its_chance_says(self, ranked: Any) -> None:
        ranked.risk_samples = True
        ranked.save()
        stood_for, unsure, rounds = 0.0, 0, 60
        for _ in range(rounds):
            sampling.pick_due(NOON)
            rows = list(Sample.objects.select_related("response"))
            assert len(rows) in (4, 5, 6)
            stood_for += sum(row.stands_for for row in rows)
            unsure += sum(row.response.wire_verdict()["items"][0]["risk"] == 0.5 for row in rows)
            Sample.objects.all().delete()
            SampleCursor.objects.all().delete()
        assert 35 < stood_for / rounds < 45
        assert unsure / rounds > 1.5  # of ten in forty by equal chances: 1.25

    def test_a_budget_without_holding_puts_the_riskiest_among_them(self, ranked: Any) -> None:
        ranked.risk_budget, ranked.risk_cut = 3, 0.4
        ranked.save()
        sampling.pick_due(NOON)
        rows = list(Sample.objects.select_related("response"))
        risks = sorted(row.response.wire_verdict()["items"][0]["risk"] for row in rows if row.stands_for == 1.0)
        assert risks == [0.5, 0.9, 0.9]
        assert len(rows) == 3 + sampling.A_DAY
        assert sum(row.stands_for for row in rows) == pytest.approx(40)

    def test_the_share_of_misses_counts_each_for_what_it_stands_for(self, ranked: Any, kuro: Any, alice: Any) -> None:
        from metacog.models import Agent

        agent = Agent.objects.get(public_id=kuro.id)
        for number, row in enumerate(AgentResponse.objects.order_by("pk")[:20]):
            stands_for = 1 if number < 10 else 9
            sample = Sample.objects.create(response=row, agent=agent, day=NOON.date(), stands_for=stands_for)
            sampling.judge(sample, alice, "missed" if number < 10 else "fine")
        (found,) = sampling.misses([agent], NOON.date())
        assert found.missed.rate == pytest.approx(0.1, abs=0.05)
        assert found.missed.whole == 12

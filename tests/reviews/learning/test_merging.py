"""Proposals that say the same: what belongs together, adopted as one pattern, and taken apart again."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from metacog.models import AuditEvent
from patterns.models import ErrorPattern
from patterns.patterns import lifecycle
from patterns.patterns.lifecycle import NotDone, digest
from reviews.learning import merging, trials
from reviews.learning.contrast import look_due
from reviews.learning.merging import Proposal
from reviews.models import AgentResponse, PatternOrigin, ProposalEvidence, ProposalTrial, Sample
from tests.tables import table

SAID = "Your refund will arrive in 30 days."


def words(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(answer.content.decode())).replace("\xa0", " ")


def proposal(pk: int, *keywords: str, rows: str = "", responses: set[int] | None = None, **given: Any) -> Proposal:
    team, said_in = given.pop("team", 1), frozenset(responses or ())
    return Proposal(pk, team, keywords, rows=frozenset(rows), responses=said_in, **given)


@table(
    ("other", "together"),
    [
        (proposal(2, "clearly", responses={9}), True),  # the same, whatever taught it
        (proposal(2, "clearly fix", responses={1}), True),  # nested, of the same response
        (proposal(2, "clear", responses={1}), True),
        (proposal(2, "clearly fix", responses={2}), False),  # nested, of another
        (proposal(2, "friday", responses={1}), False),
        (proposal(2, "friday", rows="abcd"), True),  # nearly the same decisions
        (proposal(2, "friday", rows="abxy"), False),
        (proposal(2, "clearly", team=2), False),
        (proposal(2, "clearly", is_apart=True), False),
    ],
)
def test_what_says_the_same_of_the_same_belongs_together(other: Proposal, together: bool) -> None:
    one = proposal(1, "clearly", rows="abcde", responses={1})
    assert merging.belong_together(one, other) == merging.belong_together(other, one) == together


def test_the_one_that_fires_wherever_the_others_do_leads() -> None:
    narrow = proposal(1, "clearly fix", responses={1}, sure=900)
    (group,) = merging.grouped([narrow, proposal(2, "clearly", responses={1})])
    assert (group.lead.pk, [each.pk for each in group.others]) == (2, [1])


@pytest.fixture
def pair(aurora: Any, kuro: Any) -> list[ErrorPattern]:
    """Two proposals of the same response, a phrase of one within that of the other."""
    kuro.respond(SAID, items=[])
    response = AgentResponse.objects.get()
    made = []
    for keyword in ("in 30 days", "arrive in 30 days"):
        made.append(ErrorPattern.objects.create(team=aurora, keywords=[keyword], description=keyword, state="proposed"))
        PatternOrigin.objects.create(pattern=made[-1], kind="correction", row=f"rsp_{keyword}", response=response)
    return made


def post(client: Any, name: str, **data: Any) -> str:
    return words(client.post(reverse(name), data, follow=True))


def test_a_merged_row_is_accepted_as_one_pattern(pair: list[ErrorPattern], carla: Any, as_person: Any) -> None:
    client = as_person(carla)
    page = words(client.get("/patterns/"))
    assert "Merged with 1 similar proposal" in page
    (merged,) = re.findall(r'name="merged" value="([\d:,]+)"', page)
    assert re.findall(r'type="checkbox" name="pk" value="(\d+)"', page) == [str(pair[0].pk)]
    assert "1 proposal is in shadow now." in post(client, "patterns-decide", pk=pair[0].pk, merged=merged, step="try")
    lead, member = ErrorPattern.objects.exclude(state="active").order_by("pk")
    assert (lead.state, lead.keywords) == ("shadow", ["in 30 days", "arrive in 30 days"])
    assert (member.state, member.merged_into, member.dismissed_because) == ("retired", lead, "")
    assert AuditEvent.objects.get(action="pattern-merged").object_id == lead.public_id
    assert "Merged from these proposals:" in words(client.get(reverse("pattern", args=[lead.pk])))


def test_it_is_taken_apart_before_and_after_it_is_accepted(
    pair: list[ErrorPattern], carla: Any, as_person: Any
) -> None:
    client, keys = as_person(carla), [each.pk for each in pair]
    page = post(client, "patterns-apart", pk=keys)
    assert "2 proposals are separate now." in page
    assert "Merged with" not in page
    assert "Merged with 1 similar proposal" in post(client, "patterns-apart", pk=keys, do="merge")
    lead = lifecycle.take_step(lifecycle.merge(pair[0], pair[1:], carla), "try", carla)
    answer = client.post(reverse("pattern-apart", args=[lead.pk]))
    assert answer.status_code == 302
    states = ErrorPattern.objects.exclude(state="active").order_by("pk").values_list("state", "keywords", "merged_into")
    assert list(states) == [("shadow", ["in 30 days"], None), ("proposed", ["arrive in 30 days"], None)]
    assert client.post(reverse("pattern-apart", args=[lead.pk])).status_code == 409


def test_what_was_decided_meanwhile_is_not_merged(pair: list[ErrorPattern], carla: Any, as_person: Any) -> None:
    lifecycle.take_step(pair[1], "dismiss", carla, because="no")
    with pytest.raises(NotDone):
        lifecycle.merge(pair[0], pair[1:], carla)
    merged = f"{pair[0].pk}:{pair[0].pk},{pair[1].pk}"  # nor is one into itself
    post(as_person(carla), "patterns-decide", pk=pair[0].pk, merged=merged, step="try")
    pair[0].refresh_from_db()
    assert (pair[0].state, pair[0].keywords) == ("shadow", ["in 30 days"])


def test_a_dismissal_is_undone_by_curators_whoever_else_does_it(
    pair: list[ErrorPattern], carla: Any, alice: Any, as_person: Any, monkeypatch: Any
) -> None:
    def faster(pattern: ErrorPattern, step: str, actor: Any) -> ErrorPattern:
        if pattern.pk == pair[0].pk:
            take_step(ErrorPattern.objects.get(pk=pattern.pk), step, actor)
        return take_step(pattern, step, actor)

    for each in pair:
        lifecycle.take_step(each, "dismiss", carla, because="no")
    keys, take_step = [each.pk for each in pair], lifecycle.take_step
    assert "0 proposals are restored." in post(as_person(alice), "patterns-decide", pk=keys, step="reopen")
    monkeypatch.setattr(lifecycle, "take_step", faster)
    assert "1 proposal is restored." in post(as_person(carla), "patterns-decide", pk=keys, step="reopen")
    assert ErrorPattern.objects.filter(state="proposed").count() == 2


def test_a_dismissed_row_dismisses_all_of_it(pair: list[ErrorPattern], carla: Any, as_person: Any) -> None:
    merged = f"{pair[0].pk}:{pair[1].pk}"
    post(as_person(carla), "patterns-decide", pk=pair[0].pk, merged=merged, step="dismiss", because="too common")
    assert ErrorPattern.objects.filter(state="retired", dismissed_because="too common").count() == 2


def test_another_teams_proposals_are_neither_merged_nor_set_apart(
    pair: list[ErrorPattern], borealis: Any, mallory: Any, alice: Any, as_person: Any
) -> None:
    keys = [each.pk for each in pair]
    post(as_person(mallory), "patterns-apart", pk=keys)
    assert not ErrorPattern.objects.filter(is_apart=True).exists()
    assert as_person(alice).post(reverse("patterns-apart"), {"pk": keys}).status_code == 403


def spot_check(kuro: Any, text: str, verdict: str) -> None:
    response = AgentResponse.objects.get(public_id=kuro.respond(text, items=[])["id"])
    now = timezone.now()
    Sample.objects.create(response=response, agent=response.agent, day=now, verdict=verdict, judged_at=now)


def test_chosen_proposals_are_merged_after_their_backtest_and_that_can_be_undone(
    aurora: Any, kuro: Any, carla: Any, mallory: Any, as_person: Any
) -> None:
    one, other, third = (
        ErrorPattern.objects.create(team=aurora, keywords=[text], description=text, state="proposed")
        for text in ("in 30 days", "the parcel", "by post")
    )
    spot_check(kuro, SAID, "missed")
    PatternOrigin.objects.create(pattern=one, kind="correction", row="rsp_1", response=AgentResponse.objects.get())
    spot_check(kuro, "I see the parcel.", "missed")
    spot_check(kuro, "The parcel is here.", "fine")
    client = as_person(carla)
    assert "Select at least two proposals" in post(client, "patterns-decide", pk=one.pk, step="merge")
    page = post(client, "patterns-decide", pk=[one.pk, other.pk], step="merge")
    assert not ErrorPattern.objects.filter(state="retired").exists(), "it is a preview"
    merged = post(client, "patterns-merge", pk=[one.pk, other.pk], lead=other.pk)
    assert "2 proposals were merged." in merged
    # Without what taught the one that is merged into it.
    for told in ("It fires on 3 of 3 responses", "1 of 2 rejected", "2 of 2 decided texts"):
        assert (told in page, told in merged) == (True, True)
    look_due(timezone.now() + timedelta(seconds=3))
    assert "1 of 2 rejected" in words(client.get(reverse("pattern", args=[other.pk]))), "the worker counts the same"
    other.refresh_from_db()
    assert (other.state, other.keywords) == ("proposed", ["the parcel", "in 30 days"])
    lifecycle.merge(other, [third], carla)  # stays when the first is undone
    pages = {each: words(client.get(reverse("pattern", args=[each.pk]))) for each in (one, other, third)}
    assert [each for each, page in pages.items() if "Other patterns have one of" in page] == [], "they are one"
    (undone,) = re.findall(r'id="undo-merge">.*?name="pk" value="(\d+)"', merged, re.DOTALL)
    post(as_person(mallory), "patterns-merge", pk=[one.pk, other.pk])
    split = client.post(reverse("pattern-apart", args=[other.pk]), {"pk": undone}, follow=True)
    assert "1 of 2 rejected" in words(split)
    assert "Not counted yet" not in words(client.get("/patterns/"))
    rows = ErrorPattern.objects.exclude(state="active").order_by("pk").values_list("state", "keywords", "is_apart")
    assert list(rows) == [
        ("proposed", ["in 30 days"], False),
        ("proposed", ["the parcel", "by post"], False),
        ("retired", ["by post"], False),
    ]


@table(
    ("evidence", "said"),
    [
        ({"fires": 20, "rejected": 16, "base": 40}, "Recommended"),
        ({"fires": 20, "rejected": 16, "base": 40, "matched": 14.0}, "Base rate 70% with the same agent and metadata"),
        ({"fires": 20, "rejected": 6, "base": 26}, "Not clearly above the base rate"),  # 30 % of 20, of the rest 25 %
        ({"fires": 2, "rejected": 2, "base": 60}, "Not clearly above the base rate"),  # at least 34 %, of the rest 59 %
        ({"fires": 20, "rejected": 16, "base": None}, "16 of 20 rejected"),
        ({"fires": 0, "rejected": 0, "base": 40}, 'Not in other decided texts <span class="nowrap">(0 of 100)</span>'),
    ],
    rolled_back=True,
)
def test_a_proposal_is_recommended_where_it_beats_the_base_rate(
    aurora: Any, carla: Any, as_person: Any, evidence: dict[str, Any], said: str
) -> None:
    found = ErrorPattern.objects.create(team=aurora, keywords=["on Friday"], description="d", state="proposed")
    ProposalEvidence.objects.create(
        pattern=found, keywords_sha256=digest(found.keywords), texts=100, sure=0, **evidence
    )
    client = as_person(carla)
    row, page = words(client.get("/patterns/")), words(client.get(reverse("pattern", args=[found.pk])))
    for told in (row, page):
        assert (said if said != "Recommended" else "its backtest has not run yet") in told
        assert '"state ok">Recommended' not in told
    # Its backtest is part of what both say of it.
    counts = {"held": 6, "rejected": 2, "edited": 1, "approved": 3}
    trial = counts | {"keywords_sha256": digest(found.keywords), "responses": 100, "fired": 5}
    ProposalTrial.objects.create(pattern=found, **trial)
    for told in (client.get("/patterns/"), client.get(reverse("pattern", args=[found.pk]))):
        assert (said == "Recommended") == ('"state ok">Recommended' in words(told))
        assert "2 rejected, 1 approved with edits, 3 approved" in words(told)
        is_counted = evidence["base"] == 40 and evidence["fires"] == 20
        assert ("16 of 20 rejected or edited, 4 approved" in words(told)) == is_counted
    ProposalTrial.objects.update(fired=6)
    for told in (words(client.get("/patterns/")), words(client.get(reverse("pattern", args=[found.pk])))):
        assert (said == "Recommended") == ("Above the base rate, but fires often" in told)
        assert '<span class="state ok">Recommended' not in told


def test_a_proposal_has_its_backtest_in_its_row_and_on_its_page(
    kuro: Any, aurora: Any, carla: Any, as_person: Any
) -> None:
    for number in range(10):
        kuro.respond(SAID if number < 2 else f"Case {number} is closed.", items=[])
    found = ErrorPattern.objects.create(team=aurora, keywords=["in 30 days"], description="d", state="proposed")
    client = as_person(carla)
    assert "Run backtest" in words(client.get("/patterns/"))
    now = timezone.now()
    assert [trials.try_due(now), trials.try_due(now)] == [1, 0]
    assert "Fires on 20.0% of responses" in words(client.get("/patterns/"))
    page = words(client.get(reverse("pattern", args=[found.pk])))
    assert "Fires on 20.0% of responses" in page
    assert "Last run" in page
    lifecycle.edit(found, carla, keywords=["in 31 days"], description="d", source="external")
    assert "Run backtest" in words(client.get("/patterns/")), "that was of other keywords"
    assert trials.try_due(now) == 1
    assert ProposalTrial.objects.get().fired == 0
    assert trials.try_due(now + timedelta(days=2)) == 1


@table(("count", "main"), [(1, "activate"), (2, "try")], rolled_back=True)
def test_the_safe_step_is_first_where_it_fires_too_often(
    kuro: Any, aurora: Any, carla: Any, as_person: Any, count: int, main: str
) -> None:
    for number in range(20):
        kuro.respond(SAID if number < count else f"Case {number} is closed.", items=[])
    found = ErrorPattern.objects.create(team=aurora, keywords=["in 30 days"], description="d", state="proposed")
    page = words(as_person(carla).get(reverse("pattern", args=[found.pk]) + "?tried=1"))
    assert re.findall(r'class="btn main" name="step" value="(\w+)"', page) == [main]
    assert ("In shadow it collects stats and holds nothing." in page) == (main == "try")

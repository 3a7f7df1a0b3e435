"""What is proposed as an error pattern, once, and what is not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from metacog.accounts.retention import set_retention
from metacog.models import AuditEvent
from patterns.models import ErrorPattern
from reviews import retention
from reviews.learning import sweep
from reviews.learning.extract import PatternProposal
from reviews.models import AgentResponse, PatternOrigin
from tests.admin.addresses import address
from tests.tables import table

PHRASE = "refunds take thirty days"


def propose(team: Any, *keywords: str, row: str = "mem_1", kind: str = "memory", **rest: Any) -> ErrorPattern | None:
    given = {"description": "Refunds take 14 days.", "source": "external", "told": "14 days"} | rest
    return sweep.propose(team, PatternProposal(keywords=list(keywords or (PHRASE,)), kind=kind, row=row, **given))


def test_a_proposal_waits_for_a_person(aurora: Any, kuro: Any) -> None:
    aurora.refresh_from_db()
    version = aurora.patterns_version
    pattern = propose(aurora)
    assert pattern is not None
    pattern.refresh_from_db()
    assert (pattern.state, pattern.keywords, pattern.source) == ("proposed", [PHRASE], "external")
    assert pattern.origins.get().evidence == {"told": "14 days"}
    assert kuro.respond(f"All {PHRASE}.")["hesitation"]["matched_pattern_ids"] == []
    aurora.refresh_from_db()
    assert aurora.patterns_version == version, "no scorer is built anew for a proposal"
    event = AuditEvent.objects.get(action="pattern-proposed")
    assert (event.object_id, event.actor_kind, event.after) == (pattern.public_id, "system", "proposed")
    assert PHRASE not in str(event.data)


def test_one_whose_id_in_its_file_was_longer_than_the_record_takes_is_taught_like_any_other(aurora: Any) -> None:
    ErrorPattern.objects.create(
        team=aurora, keywords=[PHRASE], description="d", state="proposed", public_id="imported-" + "x" * 91
    )
    assert propose(aurora) is not None
    assert AuditEvent.objects.get(action="pattern-taught").object_id == "imported-" + "x" * 51


def test_one_row_teaches_once(aurora: Any) -> None:
    assert propose(aurora)
    assert propose(aurora) is None
    assert propose(aurora, "something else entirely") is None
    assert PatternOrigin.objects.count() == 1


@table(
    ("again", "said"),
    [
        (PHRASE, ""), ("Refunds Take Thirty Days", ""), ("ｒefunds take thirty days", ""),
        ("all refunds take thirty days", ""),  # it would match that, too
        ("days or so", "Refunds take thirty days or so."),  # and it matches what was said
    ],
    rolled_back=True,
)  # fmt: skip
def test_the_same_again_joins_the_proposal_that_is_there(aurora: Any, again: str, said: str) -> None:
    first = propose(aurora)
    assert propose(aurora, again, row="mem_2", said=said) == first
    assert first is not None
    assert first.origins.count() == 2


def test_other_keywords_are_another_proposal(aurora: Any) -> None:
    assert propose(aurora) != propose(aurora, "refunds take", row="mem_2", said="Your refunds take a while.")
    assert PatternOrigin.objects.values("pattern").distinct().count() == 2


def test_both_chinese_scripts_are_one(aurora: Any) -> None:
    first = propose(aurora, "運費一律由買家負擔")
    assert first is not None
    assert propose(aurora, "运费一律由买家负担", row="mem_2") == first


@table(
    ("state", "because", "keywords", "is_proposed"),
    [
        ("active", "", ["thirty days"], False),  # it matches wherever the phrase does
        ("shadow", "", ["thirty days"], False),
        ("active", "", ["thirty days late"], True),
        ("retired", "too common", [PHRASE], False),  # dismissed
        ("retired", "too common", ["thirty days"], True),  # another, wider, was dismissed
        ("retired", "", [PHRASE], True),  # it served, and the mistake is there again
    ],
    rolled_back=True,
)
def test_what_is_known_is_not_proposed_again(
    aurora: Any, state: str, because: str, keywords: list[str], is_proposed: bool
) -> None:
    ErrorPattern.objects.create(team=aurora, keywords=keywords, description="d", state=state, dismissed_because=because)
    assert bool(propose(aurora)) == is_proposed


def test_another_teams_patterns_do_not_count(aurora: Any, borealis: Any) -> None:
    ErrorPattern.objects.create(team=borealis, keywords=[PHRASE], description="d")
    assert propose(aurora)


@table("keywords", [("x",), ("",), ("x" * 201,), ("nul\0l",)], rolled_back=True)
def test_what_could_be_no_keyword_is_not_proposed(aurora: Any, keywords: tuple[str, ...]) -> None:
    assert propose(aurora, *keywords) is None


def test_more_than_anybody_reads_is_not_proposed(aurora: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "MAX_PROPOSALS", 1)
    assert propose(aurora)
    assert propose(aurora, "another phrase", row="mem_2") is None
    assert propose(aurora, row="mem_3"), "the one that waits is taught again"


@pytest.mark.parametrize(
    ("state", "keywords", "named"), [("proposed", [], "…"), ("shadow", [PHRASE], "Refunds take 14 days!")]
)
def test_quotes_go_with_the_texts_and_so_does_a_proposal_nobody_took_up(
    aurora: Any, olga: Any, kuro: Any, as_person: Any, state: str, keywords: list[str], named: str
) -> None:
    kuro.respond(f"All {PHRASE}.")
    response = AgentResponse.objects.get()
    pattern = propose(aurora, response=response)
    assert pattern is not None
    form = {"keywords": PHRASE, "description": "Refunds take 14 days!", "source": "external"}
    as_person(olga).post(address(ErrorPattern, "change", pattern.pk), form)
    ErrorPattern.objects.filter(pk=pattern.pk).update(state=state)
    set_retention(aurora, 30, olga)
    AgentResponse.objects.update(received_at=timezone.now() - timedelta(days=31))
    retention.erase()
    assert LogEntry.objects.get().object_repr == named
    pattern.refresh_from_db()
    assert pattern.origins.get().evidence == {}
    assert pattern.keywords == keywords
    assert AuditEvent.objects.filter(action="pattern-erased").count() == (state == "proposed")


def test_a_proposal_stays_while_another_text_speaks_for_it(aurora: Any, olga: Any, kuro: Any) -> None:
    for _ in range(2):
        kuro.respond(f"All {PHRASE}.")
    first, second = AgentResponse.objects.order_by("pk")
    pattern = propose(aurora, response=first)
    assert propose(aurora, row="mem_2", response=second) == pattern
    set_retention(aurora, 30, olga)
    for response, keywords in ((first, [PHRASE]), (second, [])):
        AgentResponse.objects.filter(pk=response.pk).update(received_at=timezone.now() - timedelta(days=31))
        retention.erase()
        pattern.refresh_from_db()
        assert pattern.keywords == keywords

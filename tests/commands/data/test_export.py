"""`manage.py export decisions`: each decided item with all that is known of it."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from reviews.held import decisions
from reviews.models import Decision, HeldItem
from tests.conftest import HELD


def exported(*arguments: str) -> str:
    out = io.StringIO()
    call_command("export", "decisions", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def decided(kuro: Any, alice: Any, undo_at_once: None) -> None:
    kuro.respond(HELD, session="s1", user_message="Why?", metadata={"run": "r-12"})
    item = {"kind": "tool_call", "name": "pay", "arguments": {"eur": 100}, "metadata": {"run": "r-13"}}
    kuro.respond("", items=[item])
    words, call = HeldItem.objects.order_by("pk")
    decisions.decide(words, alice, "reject", reason="=not measured")
    decisions.decide(call, alice, "edit", edit=decisions.Arguments({"eur": 10}), accept_risk=True)
    kuro.hold()  # waits, and is no decision


def test_each_decision_is_a_line_with_its_item(decided: None) -> None:
    words, call = map(json.loads, exported().splitlines())
    assert (words["text"], words["verdict"], words["reason"]) == (HELD, "reject", "=not measured")
    assert (words["metadata"], words["user_message"], words["session"]) == ({"run": "r-12"}, "Why?", "s1")
    assert (words["score"], words["signals"], words["decided_by"]) == (50, ["absolute-claim", "error-pattern"], "alice")
    assert words["assessment"]["items"][0]["held"] == words["held"]
    assert (call["name"], call["arguments"], call["released_arguments"]) == ("pay", {"eur": 100}, {"eur": 10})
    assert (call["metadata"], call["score"], call["rule"]) == ({"run": "r-13"}, None, None)


def test_a_table_has_the_same_and_no_formula(decided: None) -> None:
    words, call = csv.DictReader(io.StringIO(exported("--format", "csv")))
    assert (words["reason"], words["score"], words["signals"]) == (
        "'=not measured", "50", '["absolute-claim", "error-pattern"]',
    )  # fmt: skip
    assert (call["released_arguments"], call["metadata"]) == ('{"eur": 10}', '{"run": "r-13"}')


def test_it_begins_where_it_is_told_to(decided: None) -> None:
    Decision.objects.filter(verdict="reject").update(decided_at=timezone.now() - timedelta(days=3))
    since = (timezone.now() - timedelta(days=2)).date().isoformat()
    assert [json.loads(line)["kind"] for line in exported("--since", since).splitlines()] == ["tool_call"]

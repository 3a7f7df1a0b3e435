"""`manage.py rescore`: what another policy or other patterns would have done with what is stored."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from reviews.models import AgentResponse, HeldItem
from tests.tables import table


def rescore(*arguments: Any) -> str:
    out = io.StringIO()
    call_command("rescore", *map(str, arguments), stdout=out)
    return out.getvalue()


@pytest.fixture
def posted(kuro: Any) -> None:
    kuro.hold()
    kuro.respond("Clearly.")
    kuro.respond("Perhaps.")


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Return a function that writes JSON, or a text as it is, to a file."""

    def write(value: Any) -> Path:
        path = tmp_path / "given.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    return write


def test_nothing_would_change_under_what_is_in_force(posted: None) -> None:
    assert rescore() == "Aurora / kuro: 3 responses; what would change: nothing\n"


def test_approved_text_that_came_back_still_passes(kuro: Any) -> None:
    held = kuro.hold()
    kuro.respond("next")
    kuro.post(f"/held/{held}/decision", {"verdict": "approve", "reason": "seen again"})
    assert kuro.respond(HeldItem.objects.get().text)["items"][0]["recognised"] == held
    assert rescore() == "Aurora / kuro: 3 responses; what would change: nothing\n"


def test_an_engine_of_before_may_have_found_other_tags(kuro: Any) -> None:
    kuro.respond("Perhaps. [CHAT]Hello there.[/CHAT]", items=None)
    stored = AgentResponse.objects.get()
    (item,) = stored.wire_verdict()["items"]
    for items, told in (([], "no item → pass: 1"), ([item, item], "pass → no item: 1")):
        AgentResponse.objects.update(verdict=json.dumps(stored.wire_verdict() | {"items": items}))
        assert rescore() == f"Aurora / kuro: 1 response; what would change: {told}\n"
        assert json.loads(rescore("--json"))["kind"] == "chat"


def test_another_policy(posted: None, written: Any) -> None:
    path = written({"threshold": 20, "hold_at": 20})
    before = list(AgentResponse.objects.values_list("verdict", flat=True))
    assert rescore("--policy", path) == "Aurora / kuro: 3 responses; what would change: pass → hold: 1\n"
    assert list(AgentResponse.objects.values_list("verdict", flat=True)) == before
    assert HeldItem.objects.count() == 1


def test_other_patterns(posted: None, written: Any) -> None:
    patterns = [{"id": "p", "keywords": ["perhaps"], "description": "d", "source": "external", "createdAt": "x"}]
    found = rescore("--patterns", written(patterns))
    assert found.endswith("what would change: hold → pass: 1, pass → mark: 1\n")


def test_each_change_as_a_line_of_json(posted: None, written: Any) -> None:
    (line,) = rescore("--json", "--policy", written({"threshold": 20, "hold_at": 20})).splitlines()
    change = json.loads(line)
    assert (change["was"], change["would"], change["scores"], change["kind"]) == ("pass", "hold", [20, 20], "chat")
    assert change["response"] == AgentResponse.objects.order_by("pk")[1].public_id


def test_one_agent_of_one_team(posted: None, other: Any) -> None:
    other.respond("x")
    assert rescore("--agent", "kuro").count("\n") == 1
    assert rescore("--team", "Borealis").startswith("Borealis / other: 1 response;")
    assert rescore("--days", 1).count("3 responses") == 1


@table(
    ("option", "value", "said"),
    [
        ("--policy", {"threshold": -1}, "/threshold: must be a whole number"),
        ("--policy", [], "must hold a JSON object"),
        ("--patterns", {}, "must hold a JSON list"),
        ("--patterns", [{"id": "p", "keywords": [""]}], "is empty and would match everything"),
        ("--policy", "{", "JSON"),
    ],
    rolled_back=True,
)
def test_it_says_what_is_wrong(posted: None, written: Any, option: str, value: Any, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        rescore(option, written(value))


def test_it_says_who_or_what_is_missing(posted: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Unknown agent"):
        rescore("--agent", "nobody")
    with pytest.raises(CommandError, match="cannot be read"):
        rescore("--policy", tmp_path / "none.json")
    with pytest.raises(CommandError, match="--days 800000: the calendar"):
        rescore("--days", 800_000)

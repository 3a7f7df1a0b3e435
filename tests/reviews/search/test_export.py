"""Responses and what was found as files."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.utils import timezone

from reviews.models import AgentResponse
from reviews.search import export
from tests.conftest import HELD
from tests.tables import table

CALL = {"kind": "tool_call", "name": "deploy", "arguments": {"where": "lagoon", "password": "hunter2secret"}}


@pytest.fixture
def client(as_person: Any, victor: Any) -> Any:
    return as_person(victor)


def file(client: Any, address: str) -> str:
    answer = client.get(address)
    assert answer.streaming
    return b"".join(answer).decode()


def lines(client: Any, address: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file(client, address).splitlines()]


def test_the_list_is_given_as_json_lines_newest_first(client: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "AT_ONCE", 2)
    rain = [{"kind": "chat", "text": "It may rain."}]
    passed = kuro.respond("It may rain.", items=rain, session="s1", cycle=4)["id"]
    held = kuro.respond(HELD, user_message="Why?", metadata={"run": "R2"})["id"]
    kuro.respond("Deploying.", items=[CALL])
    call, second, first = lines(client, "/responses/export/?format=jsonl")
    assert (first["id"], first["outcome"], first["session"], first["cycle"]) == (passed, "pass", "s1", 4)
    assert (second["id"], second["outcome"], second["user_message"], second["metadata"]) == (
        *(held, "hold", "Why?"),
        {"run": "R2"},
    )
    [item] = second["items"]
    assert (item["outcome"], item["state"], item["text"]) == ("hold", "pending", HELD)
    assert call["items"][0]["arguments"]["where"] == "lagoon"
    assert "hunter2secret" not in json.dumps(call)
    assert [each["id"] for each in lines(client, "/responses/export/?format=jsonl&show=held")] == [call["id"], held]
    assert [each["id"] for each in lines(client, f"/responses/export/?format=jsonl&agent={kuro.id}")][-1] == passed


def test_it_is_given_as_csv_in_which_no_cell_is_a_formula(client: Any, kuro: Any) -> None:
    kuro.respond("=1+1;\n字", items=[])
    rows = list(csv.reader(io.StringIO(file(client, "/responses/export/").removeprefix("\ufeff"))))
    assert rows[0] == list(export.RESPONSE)
    assert rows[1][rows[0].index("response")] == "'=1+1;\n字"


def test_an_erased_response_is_there_without_its_texts(client: Any, kuro: Any) -> None:
    kuro.respond(HELD)
    AgentResponse.objects.update(erased_at=timezone.now(), body="")
    [row] = lines(client, "/responses/export/?format=jsonl")
    assert (row["response"], row["score"]) == ("", 50)


def test_what_was_found_is_given_whole(client: Any, kuro: Any) -> None:
    kuro.respond("x " * 300 + "zebra", items=[])
    kuro.post("/memory", {"text": "A zebra has stripes.", "topic": "animals", "source": "run 1"})
    found = lines(client, "/search/export/?q=zebra&format=jsonl")
    assert [each["kind"] for each in found] == ["responses", "memory"]
    assert found[0]["text"].strip() == "x " * 300 + "zebra"
    assert len(lines(client, "/search/export/?q=zebra&kind=memory&format=jsonl")) == 1
    assert lines(client, "/search/export/?q=&format=jsonl") == []


@table("address", ["/responses/export/?format=xml", "/search/export/?q=x&format=xml", "/responses/export/?show=bogus"])
def test_what_is_not_known_gives_no_file(client: Any, kuro: Any, address: str) -> None:
    assert client.get(address).status_code == 404


def test_the_pages_link_to_the_files_of_what_they_show(client: Any, kuro: Any) -> None:
    kuro.respond()
    page = client.get(f"/responses/?show=held&agent={kuro.id}").content.decode()
    assert f'href="/responses/export/?agent={kuro.id}&amp;show=held&amp;format=csv"' in page
    assert f'href="/responses/export/?agent={kuro.id}&amp;show=held&amp;format=jsonl"' in page
    assert 'href="/search/export/?q=cause&amp;format=csv"' in client.get("/search/?q=cause").content.decode()

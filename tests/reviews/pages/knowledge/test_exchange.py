"""Import and export in the console: a preview that says what becomes of each entry, then what was confirmed."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from metacog.models import Agent, AuditEvent
from patterns.models import ErrorPattern, Lesson, ThoughtThread
from reviews.pages.knowledge import exchange
from tests.tables import table

GOOD = {
    "id": "ep-cause", "keywords": ["the root cause is", "根本原因是"], "source": "alex-correction",
    "description": "cause named before it was measured", "createdAt": "2026-02-16T08:00:00Z", "triggerCount": 0,
}  # fmt: skip
THREAD = """# Thread: Meta kept?

A line under the title.

## Meta
- Created: 2026-02-12
- Last touched: 2026-02-15
- Status: paused
- Owner: kuro

## Trail
1. [02-12] first
2. second, of no day

## Next
Go on.
"""


def words(answer: Any) -> str:
    return re.sub(r"\s+", " ", html.unescape(answer.content.decode()))


def read(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def preview(client: Any, kind: str, raw: str | bytes, status: int = 200, **data: Any) -> str:
    content = raw if isinstance(raw, bytes) else raw.encode()
    files = {"upload": SimpleUploadedFile("given.txt", content), "do": "preview"}
    answer = client.post(f"/import/{kind}/", files | data)
    assert answer.status_code == status, words(answer)[:2000]
    return words(answer)


def confirm(client: Any, kind: str, page: str, status: int = 200) -> str:
    hidden = dict(re.findall(r'<input type="hidden" name="(team|agent|state|content|seen)" value="([^"]*)"', page))
    # `words` has unescaped the page: what the file holds stands between quotes that are its own.
    hidden["content"] = re.search(r'name="content" value="(\[\[.*?\]\])"', page)[1]
    answer = client.post(f"/import/{kind}/", hidden | {"do": "import"}, follow=True)
    assert answer.status_code == status, words(answer)[:2000]
    return words(answer)


@table("kind", ["patterns", "lessons", "threads"])
def test_an_import_stands_below_the_page_of_what_it_brings(carla: Any, as_person: Any, kind: str) -> None:
    page = as_person(carla).get(f"/import/{kind}/").content.decode()
    assert re.search(rf'href="/{kind}/"\s+aria-current="true"', page.partition('class="subnav"')[2])


def test_good_patterns_are_taken_and_bad_ones_told_by_line(aurora: Any, carla: Any, as_person: Any) -> None:
    client = as_person(carla)
    bad = GOOD | {"id": "ep-bad", "keywords": ["x"], "description": "too short"}
    known = GOOD | {"id": "ep-cache", "keywords": ["cache"]}
    raw = b"\xef\xbb\xbf" + json.dumps({"patterns": [GOOD, bad, known], "held": [1, 2]}, indent=1).encode()
    page = preview(client, "patterns", raw, team=aurora.pk, state="shadow")
    told = read(page)
    for part in (
        "1 added", "1 changed", "0 unchanged", "1 skipped", "Line 3, pattern 1",
        "Keywords: the root cause is, 根本原因是.",
        "“x” is too short", "“held” is not imported (2 entries)", "Changes: source, createdAt.",
    ):  # fmt: skip
        assert part in told, part
    assert not ErrorPattern.objects.filter(public_id="ep-cause").exists(), "it is a preview"
    page = confirm(client, "patterns", page)
    assert "Imported: 1 added, 1 changed. 1 entry was skipped." in page
    row = ErrorPattern.objects.get(public_id="ep-cause")
    assert (row.state, row.keywords) == ("shadow", GOOD["keywords"])
    assert ErrorPattern.objects.get(public_id="ep-cache").state == "active"
    assert not AuditEvent.objects.filter(action="pattern-added", object_id="ep-cause").exists()
    log = client.get("/audit/").content.decode()
    assert log.count("Carla imported") == 1, "one event for the import"
    assert "Carla imported 2 error patterns (new: 1, changed: 1)" in log
    assert f'href="/patterns/by-id/{aurora.pk}/ep-cause"' in log
    assert "Carla imported an error pattern" in client.get("/audit/", {"object": "ep-cause"}).content.decode()


def test_what_changed_since_the_preview_is_shown_anew(aurora: Any, carla: Any, as_person: Any) -> None:
    client = as_person(carla)
    page = preview(client, "patterns", json.dumps([GOOD]), team=aurora.pk, state="proposed")
    ErrorPattern.objects.create(team=aurora, public_id="ep-cause", keywords=["other words"], description="d")
    told = confirm(client, "patterns", page, status=409)
    assert "Nothing was imported." in told
    assert "The pattern is active: its new keywords take effect at once." in told
    assert ErrorPattern.objects.get(public_id="ep-cause").keywords == ["other words"]


def test_threads_say_what_has_no_place(kuro: Any, carla: Any, as_person: Any) -> None:
    client, agent = as_person(carla), Agent.objects.get(public_id=kuro.id)
    wrong = "# Thread: Wrong\n\n## Meta\n- Status: asleep\n"
    page = preview(client, "threads", THREAD + wrong, agent=agent.pk)
    told = read(page)
    for part in (
        "1 added", "1 skipped", "Paused, 2 entries.", "2 lines match no field and are kept as notes.",
        "1 entry has no date.", "given.txt, line 20", "The status is \"asleep\"",
    ):  # fmt: skip
        assert part in told, part
    assert "Imported: 1 added, 0 changed. 1 entry was skipped." in confirm(client, "threads", page)
    row = ThoughtThread.objects.get()
    assert (row.state, row.notes) == ("paused", "A line under the title.\n\n- Owner: kuro")
    answer = client.get(f"/threads/export?agent={kuro.id}")
    assert "- Owner: kuro" in answer.content.decode()
    assert "1 unchanged" in read(preview(client, "threads", answer.content, agent=agent.pk))


def test_more_active_threads_than_there_may_be_are_told_before(kuro: Any, carla: Any, as_person: Any) -> None:
    agent = Agent.objects.get(public_id=kuro.id)
    many = "".join(f"# Thread: T{number}\n## Next\nx\n" for number in range(4))
    page = preview(as_person(carla), "threads", many, agent=agent.pk)
    assert "4 threads would be active" in page
    assert "Confirm import" not in page


def test_lessons_go_out_and_come_back(aurora: Any, kuro: Any, carla: Any, as_person: Any) -> None:
    client = as_person(carla)
    agent = Agent.objects.get(public_id=kuro.id)
    kept = Lesson.objects.create(team=aurora, agent=agent, text="Measure first.", topics=["cache"], state="active")
    exported = client.get("/lessons/export").content.decode()
    assert json.loads(exported)["agent"] == "kuro"
    lines = [
        exported.strip(), "{broken", json.dumps({"text": "Ask twice.", "mood": "blue"}),
        json.dumps({"text": "For whom?", "agent": "nobody"}), json.dumps({"text": "Ask twice."}),
        json.dumps({
            "id": kept.public_id, "text": "Measure before you name a cause.", "agent": "kuro", "state": "retired",
        }),
    ]  # fmt: skip
    page = preview(client, "lessons", "\n".join(lines), team=aurora.pk)
    told = read(page)
    for part in (
        "1 added", "1 changed", "1 unchanged", "3 skipped", "Line 2", "This is not a JSON object with a lesson.",
        "Not imported: mood.", "The team has no agent “nobody”.", "It has the same text as Line 3.",
        "For all agents of Aurora, state: proposed.", "Its state stays: active.", "Changes: text, topics.",
    ):  # fmt: skip
        assert part in told, part
    assert "Imported: 1 added, 1 changed. 3 entries were skipped." in confirm(client, "lessons", page)
    kept.refresh_from_db()
    assert (kept.text, kept.state) == ("Measure before you name a cause.", "active")
    new = Lesson.objects.get(text="Ask twice.")
    assert (new.state, new.agent, new.created_by) == ("proposed", None, carla)
    assert AuditEvent.objects.get(action="lesson-imported").object_id == new.public_id


@table(
    ("kind", "raw", "said"),
    [
        ("patterns", "[", "This is not JSON: look at line 1"),
        ("patterns", "{}", "contains neither a list of patterns"), ("patterns", "", "empty"),
        ("threads", b"\xff", "not UTF-8"), ("lessons", b"\xff", "not UTF-8"), ("lessons", "\n", "empty"),
    ],
)  # fmt: skip
def test_what_is_no_such_file_is_refused(
    aurora: Any, kuro: Any, carla: Any, as_person: Any, kind: str, raw: str | bytes, said: str
) -> None:
    to = {"agent": Agent.objects.get().pk} if kind == "threads" else {"team": aurora.pk, "state": "proposed"}
    status = 200 if kind == "threads" else 422
    assert said in preview(as_person(carla), kind, raw, status, **to)


def test_too_much_at_once_and_no_file_are_refused(
    aurora: Any, carla: Any, as_person: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "MAX_BYTES", 10)
    assert "Split it." in preview(as_person(carla), "lessons", "x" * 11, 422, team=aurora.pk)
    answer = as_person(carla).post("/import/lessons/", {"team": aurora.pk, "content": "no base64"})
    assert (answer.status_code, "Choose a file." in words(answer)) == (422, True)


@table("name", ["victor", "alice", "mallory"])
def test_only_a_curator_of_the_team_imports(
    request: pytest.FixtureRequest, aurora: Any, as_person: Any, name: str
) -> None:
    data = {"team": aurora.pk, "state": "active", "upload": SimpleUploadedFile("p.json", json.dumps([GOOD]).encode())}
    answer = as_person(request.getfixturevalue(name)).post("/import/patterns/", data)
    assert answer.status_code == (422 if name == "mallory" else 403)
    assert not ErrorPattern.objects.filter(public_id="ep-cause").exists()


def test_an_export_is_what_the_filters_show(aurora: Any, victor: Any, as_person: Any) -> None:
    for state, text in (("proposed", "one of rain"), ("proposed", "one of sun"), ("shadow", "more rain")):
        ErrorPattern.objects.create(team=aurora, keywords=[text], description="d", state=state)
    answer = as_person(victor).get("/patterns/export?state=proposed&q=rain")
    assert [each["keywords"] for each in json.loads(answer.content)] == [["one of rain"]]
    assert answer["Content-Disposition"] == 'attachment; filename="patterns-proposed.json"'

"""Logs that people upload: taken in, read in pieces, shown, deleted; each team its own."""

from __future__ import annotations

import gzip
import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from metacog.accounts.agents import create_agent
from metacog.models import Agent, AuditEvent, Policy, Team, User
from reviews import tasks
from reviews.logs import imports
from reviews.logs.imports import Parts, work_due
from reviews.models import AgentResponse, HeldItem, LogImport, LogImportItem, LogImportPart
from reviews.pages.logs import imports as pages
from reviews.presentation.explanation import TITLES
from tests.reviews.api.test_tool_calls import ruled
from tests.reviews.logs.conftest import SURE, asked, lines, said, tool
from tests.tables import table

pytestmark = pytest.mark.django_db

LIST = reverse("log-imports")
RULE = {"tool": "mcp__bank__*", "do": "ask", "reason": "money leaves"}
MANY = lines(*[said(f"a{number}", f"Step {number}.", tool("Bash", f"t{number}", n=number)) for number in range(60)])


def upload(client: Client, raw: bytes, under: Any, name: str = "session.jsonl", **fields: str) -> Any:
    under = under.id if hasattr(under, "id") and hasattr(under, "key") else f"team:{under.pk}"
    file = SimpleUploadedFile(name, raw)
    return client.post(LIST, {"upload": file, "under": under, "format": "auto"} | fields)


def read_all() -> LogImport:
    tasks.import_logs()
    return LogImport.objects.latest("pk")


@table("raw", [lambda raw: raw, gzip.compress])
def test_a_log_is_read_and_its_report_shown(kuro: Any, carla: User, as_person: Any, session: bytes, raw: Any) -> None:
    ruled(kuro, RULE, default_tool_call="ask")
    client = as_person(carla)
    answer = upload(client, raw(session), kuro)
    assert answer.status_code == 302
    page = client.get(answer.url).content.decode()
    assert "Waiting for a worker" in page
    assert 'http-equiv="refresh"' in page
    log = read_all()
    assert (log.state, log.format, log.read_bytes) == ("done", "claude-code", log.size)
    assert not LogImportPart.objects.exists()
    page = client.get(answer.url).content.decode()
    for words in (
        "Of 3 tool calls and 2 answers, 4 would have been held.",
        "1 of the held tool calls repeats",
        "No rule matches 2 of the held tool calls",
        "If it scored them instead, none of them would be held.",
        "line 6",
        "1 record could not be read",
        "It is not JSON",
        "user&#x27;s messages and tool results",
        "rule 1 asks a person",
        "4 records in which the agent says or does nothing new",
    ):
        assert words in page, words
    assert 'http-equiv="refresh"' not in page
    assert "hx-trigger" not in page.partition('id="log-report"')[2].partition(">")[0]
    assert "sk-abcdefghijklmnopq" not in page


def test_a_held_item_opens_as_the_queue_shows_it(kuro: Any, carla: User, as_person: Any, session: bytes) -> None:
    ruled(kuro, RULE, default_tool_call="allow")
    client = as_person(carla)
    report = upload(client, session, kuro).url
    read_all()
    first, second = re.findall(r'href="([^"]+/items/\d+/)"', client.get(report).content.decode())
    page = client.get(first).content.decode()
    for words in (
        "Why is it slow?",
        "held from 50",
        "cause named before it was measured",
        '<mark class="',
        "Next item",
    ):
        assert words in page, words
    page = client.get(second).content.decode()
    for words in (
        "mcp__bank__transfer",
        "A policy rule asks a person: mcp__bank__*.",
        "money leaves",
        "There are 12 files.",
    ):
        assert words in page, words
    assert "sk-abcdefghijklmnopq" not in page
    assert client.get(second.replace("/2/", "/3/")).status_code == 404


def test_a_rule_is_drafted_from_the_report(kuro: Any, olga: User, as_person: Any, session: bytes) -> None:
    client = as_person(olga)
    report = upload(client, session, kuro).url
    read_all()
    drafts = re.findall(r'href="(/agents/[^"]+/policy/[^"]+)"', client.get(report).content.decode())
    assert len(drafts) == 4  # a pack, to score the others, to deny each of two tools
    assert not any("allow" in draft for draft in drafts[2:])
    page = client.get(drafts[2].replace("&amp;", "&")).content.decode()
    assert 'value="Bash"' in page
    assert "From the log session.jsonl" in page


def test_a_new_agents_rules_are_drafted_as_text(aurora: Any, olga: User, as_person: Any) -> None:
    risky = tool("Bash", command="rm -rf / --no-preserve-root", description="It is definitely and clearly the cache.")
    client = as_person(olga)
    report = upload(client, lines(said("a1", tool("mcp__*")), said("a2", risky)), aurora).url
    log = read_all()
    page = html.unescape(client.get(report).content.decode())
    assert '[{"tool": "Bash", "do": "ask"},\n {"tool": "mcp__[*]", "do": "ask"}]</pre>' in page
    assert "If it scored them instead, 1 of them would be held." in page
    note = page.partition("If it scored them")[2].partition("Show rule drafts")[0]
    assert log.report["signals_if_scored"]
    assert all(str(TITLES[name]) in note for name in log.report["signals_if_scored"])


@table("role, may", [("owner", True), ("curator", True), ("reviewer", False), ("viewer", False)])
def test_owners_and_curators_upload(aurora: Any, as_person: Any, session: bytes, role: str, may: bool) -> None:
    from tests.conftest import _person

    client = as_person(_person(f"{role}-2", aurora, role))
    page = client.get(LIST).content.decode()
    assert ('type="file"' in page) is may
    assert upload(client, session, aurora).status_code == (302 if may else 403)

    LogImport.objects.all().delete()
    row = imports.take_in(None, aurora, None, SimpleUploadedFile("log.jsonl", session), format="auto")
    report = reverse("log-import", args=[row.public_id])
    assert client.get(report).status_code == (200 if may else 404)
    assert client.post(f"{report}delete").status_code == (302 if may else 404)


def test_a_log_is_its_teams_own(
    aurora: Any, borealis: Any, carla: User, mallory: User, as_person: Any, session: bytes
) -> None:
    report = upload(as_person(carla), session, aurora).url
    read_all()
    theirs = as_person(mallory)
    assert [theirs.get(path).status_code for path in (report, f"{report}items/1/")] == [404, 404]
    assert theirs.post(f"{report}delete").status_code == 404
    assert "session.jsonl" not in theirs.get(LIST).content.decode()
    assert upload(theirs, session, aurora).status_code == 422
    assert LogImport.objects.count() == 1


def test_a_new_agent_has_the_teams_patterns(aurora: Any, carla: User, as_person: Any) -> None:
    upload(as_person(carla), lines(said("a1", SURE)), aurora)
    log = read_all()
    assert (log.report["held_answers"], log.agent) == (1, None)


def test_the_page_says_what_the_command_says_of_answers(aurora: Any, carla: User, as_person: Any) -> None:
    client = as_person(carla)
    report = upload(client, lines(said("a1", SURE, tool("ls")), said("a2", "Done.")), aurora).url
    read_all()
    told = said_on(client.get(report).content.decode())
    assert "Of 2 answers, 1 would have been held, for “cache” (1), “clearly” (1)." in told


def test_it_is_tried_under_the_policy_of_its_day(kuro: Any, carla: User, as_person: Any, session: bytes) -> None:
    ruled(kuro, RULE, default_tool_call="deny")
    upload(as_person(carla), session, kuro)
    Agent.objects.filter(public_id=kuro.id).update(policy_version=1)
    assert read_all().report["denied"] == 2


def test_who_dies_in_the_middle_loses_a_piece(aurora: Any, carla: User, as_person: Any, monkeypatch: Any) -> None:
    """Each piece dies once, behind or before what it writes; the report is that of a reading without a death."""
    upload(as_person(carla), MANY, aurora)
    whole = read_all()
    wanted = whole.report, list(whole.items.values_list("number", "line", "excerpt"))
    whole.delete()
    monkeypatch.setattr(imports, "PIECE_RECORDS", 7)
    monkeypatch.setattr(imports, "TURN_SECONDS", 1000.0)
    upload(as_person(carla), MANY, aurora)
    save, deaths = imports._Work._save, list[int]()

    class Killed(BaseException):
        pass

    def dies(work: Any, records: int) -> bool:
        before = len(deaths) % 2
        if before:
            save(work, records)
        deaths.append(before)
        raise Killed

    while LogImport.objects.latest("pk").is_under_way and len(deaths) < 100:
        monkeypatch.setattr(imports._Work, "_save", dies if len(deaths) % 3 < 2 else save)
        pk = LogImport.objects.latest("pk").pk
        try:
            imports.work(pk, timezone.now(), until=0.0)
        except Killed:
            assert imports.work(pk, timezone.now(), until=0.0) == 0  # the dead worker's claim still stands
            LogImport.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
        else:
            deaths.append(2)
    log = LogImport.objects.latest("pk")
    assert len(deaths) > 10
    assert (log.state, (log.report, list(log.items.values_list("number", "line", "excerpt")))) == ("done", wanted)


def test_what_fails_again_and_again_is_given_up(aurora: Any, carla: User, as_person: Any, monkeypatch: Any) -> None:
    def fails(*_of: Any) -> None:
        raise RuntimeError

    client = as_person(carla)
    report = upload(client, MANY, aurora).url
    monkeypatch.setattr(imports._Work, "_take", fails)
    now = timezone.now()
    for attempt in range(imports.MOST_ATTEMPTS + 1):
        work_due(now + attempt * 2 * imports.CLAIMED_FOR)
    log = LogImport.objects.get()
    assert (log.state, log.problem, log.parts.count()) == ("failed", "broken", 0)
    assert "The file could not be processed." in client.get(report).content.decode()


@table("raw, format", [(b"hello", "auto"), (b'{"hello": 1}', "auto"), (gzip.compress(MANY)[:-60], "auto")])
def test_what_is_no_log_is_said_to_be_none(aurora: Any, carla: User, as_person: Any, raw: bytes, format: str) -> None:
    client = as_person(carla)
    report = upload(client, raw, aurora, format=format).url
    log = read_all()
    page = client.get(report).content.decode()
    told = "damaged or cut off" if raw.startswith(b"\x1f") else "The format of the file was not recognized."
    assert told in page
    assert ("It is not JSON" in page) is (raw == b"hello")
    assert "Upload another log" in page
    assert log.state in ("failed", "done")


def test_what_no_database_keeps_breaks_nothing(kuro: Any, carla: User, as_person: Any) -> None:
    odd = "a\0\ud800"
    call = {"role": "assistant", "tool_calls": [{"function": {"name": odd, "arguments": {odd: odd}}}]}
    runs = {"run_type": "llm", "id": odd, "trace_id": odd, "inputs": {"messages": [{"role": "user", "content": odd}]}}
    logs = [
        lines(
            said("a1", "Hi.", tool(odd), session=odd), asked("u1", odd, session=odd), {"type": odd, "sessionId": odd}
        ),
        lines({"messages": [{"role": "user", "content": odd}, call], "session_id": odd}),
        lines(runs | {"outputs": call}, runs | {"run_type": odd}, runs | {"run_type": "tool", "name": odd}),
    ]
    for raw in logs:
        report = upload(as_person(carla), raw, kuro, name="a\u0001.jsonl").url
        assert read_all().state == "done"
        assert as_person(carla).get(report).status_code == 200


def test_what_is_too_large_is_refused(aurora: Any, carla: User, as_person: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(imports, "MAX_UPLOAD", 100)
    answer = upload(as_person(carla), MANY, aurora)
    assert answer.status_code == 422
    assert not LogImport.objects.exists()
    monkeypatch.setattr(imports, "MAX_UPLOAD", 10**6)
    monkeypatch.setattr(imports, "MAX_UNPACKED", 400)
    upload(as_person(carla), gzip.compress(MANY), aurora)
    log = read_all()
    assert log.report["calls"] < 10
    assert log.unread[-1][1].startswith("Only the first")


def test_a_team_has_a_few_logs_under_way(aurora: Any, carla: User, as_person: Any) -> None:
    client = as_person(carla)
    found = [upload(client, MANY, aurora).status_code for _ in range(pages.MOST_UNDER_WAY + 1)]
    assert found == [302] * pages.MOST_UNDER_WAY + [422]


def test_a_log_goes_after_a_week_or_when_it_is_deleted(
    aurora: Any, carla: User, as_person: Any, session: bytes
) -> None:
    client = as_person(carla)
    report = upload(client, session, aurora).url
    read_all()
    upload(client, session, aurora)
    now = timezone.now()
    work_due(now + imports.KEPT_FOR - timedelta(minutes=1))
    assert LogImport.objects.filter(state="done").count() == 2
    client.post(f"{report}delete")
    assert client.get(report).status_code == 404
    work_due(now + imports.KEPT_FOR + timedelta(minutes=1))
    assert not any(model.objects.exists() for model in (LogImport, LogImportItem, LogImportPart))
    told = AuditEvent.objects.filter(action__startswith="log-").order_by("pk").values_list("action", "actor")
    assert list(told) == [
        ("log-uploaded", "carla"), ("log-read", ""), ("log-uploaded", "carla"), ("log-read", ""),
        ("log-deleted", "carla"), ("log-deleted", ""),
    ]  # fmt: skip


def test_an_upload_that_broke_off_goes_after_an_hour(aurora: Any, carla: User, as_person: Any) -> None:
    upload(as_person(carla), MANY, aurora)
    LogImport.objects.update(state="uploading")
    work_due(timezone.now())
    assert LogImport.objects.exists()
    work_due(timezone.now() + timedelta(minutes=61))
    assert not LogImport.objects.exists()


def test_a_log_is_read_across_its_parts(aurora: Any, carla: User, as_person: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(imports, "PART", 100)
    upload(as_person(carla), MANY, aurora)
    log = LogImport.objects.get()
    assert log.parts.count() == -(-len(MANY) // 100)
    parts = Parts(log)
    assert parts.readall() == MANY
    assert (parts.seek(-5, 2), parts.read()) == (len(MANY) - 5, MANY[-5:])
    assert read_all().report["calls"] == 60


@pytest.mark.django_db(transaction=True)
def test_a_log_can_be_kept_under_its_agent(kuro: Any, carla: User, as_person: Any, session: bytes) -> None:
    client = as_person(carla)
    assert upload(client, session, Agent.objects.get(public_id=kuro.id).team, keeps="on").status_code == 422
    report = upload(client, session, kuro, keeps="on").url
    log = read_all()
    assert (log.kept, AgentResponse.objects.count(), HeldItem.objects.count()) == (4, 4, 0)
    assert "4 responses are kept under kuro." in client.get(report).content.decode()
    assert AuditEvent.objects.filter(action="log-kept", actor="carla").count() == 1


def test_the_pages_ask_the_same_few_questions_of_any_log(
    kuro: Any, carla: User, as_person: Any, session: bytes, django_assert_max_num_queries: Any
) -> None:
    client = as_person(carla)
    for raw in (session, MANY):
        report = upload(client, raw, kuro).url
        read_all()
        client.get(report)
        with django_assert_max_num_queries(14):
            client.get(report)
        with django_assert_max_num_queries(16):
            client.get(f"{report}items/1/")
        with django_assert_max_num_queries(14):
            client.get(LIST)


def test_progress_is_a_fragment_for_htmx(aurora: Any, carla: User, as_person: Any, monkeypatch: Any) -> None:
    client = as_person(carla)
    report = upload(client, MANY, aurora).url
    monkeypatch.setattr(imports, "PIECE_RECORDS", 20)
    imports.work(LogImport.objects.get().pk, timezone.now(), until=0.0)
    part = client.get(report, headers={"hx-request": "true"}).content.decode()
    assert "<html" not in part
    assert 'hx-trigger="every 1s"' in part
    assert "20 records read, " in part
    assert "Of 20 tool calls and 20 answers" in part


HOME = "/srv/app"


def worked(*commands: str, days: int = 3) -> bytes:
    """Write what a coding agent did in a project, over so many days."""
    rows = [
        {
            "type": "assistant", "uuid": f"u{at}", "sessionId": "s1", "cwd": HOME,
            "timestamp": f"2026-01-{1 + at * days // len(commands):02}T08:00:{at % 60:02}Z",
            "message": {"id": f"m{at}", "role": "assistant", "content": [
                {"type": "tool_use", "id": f"t{at}", "name": "Bash", "input": {"command": command}}]},
        }
        for at, command in enumerate(commands)
    ]  # fmt: skip
    return lines(*rows)


COMMANDS = (
    *(f"cat src/{name}.py" for name in "abcdefghijkl"), *["curl https://files.example/a"] * 2, "echo x > src/a.py",
    "git push origin main", "git push origin main --tags", "git push origin main", "rm -rf /srv/other",
    "rm -rf /", "rm -rf build",
)  # fmt: skip


def said_on(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).replace("\xa0", " ").split())


def test_the_report_says_what_calls_do_and_what_a_pack_would_have_held_the_worst_first(
    aurora: Team, olga: User, as_person: Any
) -> None:
    client = as_person(olga)
    report = upload(client, worked(*COMMANDS), aurora).url
    read_all()
    page = client.get(report).content.decode()
    told = said_on(page)
    assert (
        "21 calls in 3 days: 12 read, 2 fetch, 1 write in the project, 1 delete in the project, 3 publish, 2 delete "
        in told
    )
    assert "With the pack “Coding”, 4 would have been held (1.3 a day). 1 more would have been denied." in told
    before, _summary, folded = page.partition("<summary>Without a pack: the policy of a new agent</summary>")
    assert "Of 21 tool calls" not in said_on(before), "one number leads"
    assert "Of 21 tool calls" in said_on(folded)
    kinds = [said_on(each) for each in re.findall(r'<ul class="plain log-kinds">(.*?)</ul>', page, re.DOTALL)]
    found = re.findall(r"(\d+) × (Bash .*?) (?:delete|publish) ", kinds[0])
    assert [(count, text.removeprefix("Bash ")) for count, text in found] == [
        ("1", "rm -rf /srv/other"), ("1", "rm -rf /"), ("2", "git push origin main"),
        ("1", "git push origin main --tags"),
    ]  # fmt: skip
    other = client.get(report, {"pack": "read-only"}).content.decode()
    assert "With the pack “Read only”, 9 would have been held (3.0 a day)." in said_on(other)
    assert "With the pack “Coding”" in said_on(client.get(report, {"pack": "evil"}).content.decode())


def test_an_agent_with_the_pack_is_made_from_the_report(aurora: Team, olga: User, carla: User, as_person: Any) -> None:
    client = as_person(olga)
    report = upload(client, worked(*COMMANDS), aurora).url
    read_all()
    page = client.get(report).content.decode()
    address = html.unescape(re.search(r'href="([^"]+)">\s*Add agent with Coding', page)[1])
    form = client.get(address).content.decode()
    assert re.search(r'value="coding" checked', form)
    assert f'value="{HOME}"' in form
    assert client.get(reverse("agent-new"), {"pack": "evil", "team": "x", "workspace": HOME}).status_code == 200
    made = {"name": "mason", "team": aurora.pk, "pack": "coding", "workspace": HOME, "language": "en"}
    client.post(address, made)
    assert Policy.objects.get(agent__name="mason").packs == [{"name": "coding", "workspace": HOME}]
    assert "Add agent with Coding" not in as_person(carla).get(report).content.decode()  # a curator


def test_an_agent_that_asks_about_everything_is_shown_the_pack_that_fits(
    aurora: Team, olga: User, as_person: Any
) -> None:
    agent, *_ = create_agent(aurora, "mason", olga)
    client = as_person(olga)
    file = SimpleUploadedFile("work.jsonl", worked(*COMMANDS))
    report = client.post(LIST, {"upload": file, "under": agent.public_id, "format": "auto"}).url
    read_all()
    page = client.get(report).content.decode()
    assert "With the pack “Coding”" in said_on(page)
    assert re.search(
        rf'href="{reverse("policy", args=[agent.public_id])}\?packs=[^"]+">\s*Draft a policy with Coding', page
    )


def test_of_many_kinds_the_gravest_are_kept(aurora: Team, olga: User, as_person: Any) -> None:
    installs = [f"pip install name-{number}" for number in range(60)]
    client = as_person(olga)
    report = upload(client, worked(*installs, "rm -rf /srv/other", "ls"), aurora).url
    log = read_all()
    kept = log.report["held_by"]["coding"].values()
    assert (len(kept), "Bash command=rm -rf /srv/other" in [each["example"] for each in kept]) == (40, True)
    assert "and 21 more calls of other kinds" in said_on(client.get(report, {"pack": "coding"}).content.decode())


def test_a_report_of_an_older_release_says_nothing_of_packs(aurora: Team, olga: User, as_person: Any) -> None:
    client = as_person(olga)
    report = upload(client, worked(*COMMANDS), aurora).url
    log = read_all()
    for name in ("packs", "effects", "kinds", "folders", "held_by"):
        del log.report[name]
    log.save()
    page = client.get(report).content.decode()
    assert ", 21 would have been held" in page
    assert "With the pack" not in page

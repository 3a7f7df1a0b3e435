"""The agents' pages: adding, keys shown once, switches, and what is shown of their past."""

from __future__ import annotations

import html
import os
import re
import shlex
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import agents
from metacog.models import Agent, AgentKey, AgentState, AuditEvent, Policy
from patterns.models import ErrorPattern
from tests.conftest import HELD, Caller
from tests.tables import table

ROOT = Path(__file__).resolve().parents[3]


def secrets_in(page: str) -> list[str]:
    return re.findall(r'class="secret">((?:mck_|whsec_)[^<]+)<', page)


def new(client: Any, team: Any, **data: str) -> Any:
    form = {"team": str(team.pk), "name": "scout", "language": "en", "callback_url": "", **data}
    return client.post(reverse("agent-new"), form)


class TestAdding:
    def test_it_shows_key_and_secret_once(self, olga: Any, aurora: Any, as_person: Any) -> None:
        client = as_person(olga)
        assert re.search('name="name"[^>]* autofocus', client.get(reverse("agent-new")).content.decode())
        answer = new(client, aurora, callback_url="http://receiver:9000/hook")
        key, secret = secrets_in(html.unescape(answer.content.decode()))
        assert "no-store" in answer["Cache-Control"]
        agent = Agent.objects.get(name="scout")
        assert Caller(agent.public_id, key, secret).respond()["items"]
        assert agent.callback_url == "http://receiver:9000/hook"
        for page in (reverse("agent", args=[agent.public_id]), reverse("agents")):
            assert key not in client.get(page).content.decode()
        assert key not in str(dict(client.session))

    def test_an_address_that_is_allowed_no_longer_is_shown_with_what_to_do(
        self, olga: Any, aurora: Any, as_person: Any, settings: Any
    ) -> None:
        client, said = as_person(olga), "METACOG_CALLBACK_ALLOW=http://127.0.0.1:9000<"
        settings.CALLBACK_ALLOW = {"http://127.0.0.1:9000"}
        assert said not in new(client, aurora, callback_url="http://127.0.0.1:9000/hook").content.decode()
        settings.CALLBACK_ALLOW = set()
        agent = Agent.objects.get(name="scout")
        assert said in client.get(reverse("agent", args=[agent.public_id])).content.decode()
        kept = {"name": "scout 2", "language": "en", "callback_url": agent.callback_url}
        assert client.post(reverse("agent", args=[agent.public_id]), kept).status_code == 302

    def test_it_is_one_transaction_with_its_record(self, olga: Any, aurora: Any, as_person: Any) -> None:
        new(as_person(olga), aurora)
        agent = Agent.objects.get(name="scout")
        assert AgentState.objects.filter(agent=agent).exists()
        assert Policy.objects.get(agent=agent).version == 1
        assert list(AuditEvent.objects.order_by("id").values_list("action", "actor")) == [
            ("agent-created", "olga"),
            ("key-issued", "olga"),
        ]

    @table(
        "url",
        [
            "ftp://a.example/", "https://user:pass@a.example/", "https://a.example/#x", "https://", "//a.example",
            "javascript:alert(1)", "https://a.example:99999/", "https://a b.example/", "https://a.example\\@b/",
            "http://127.1/", "http://2130706433/", "https://例.example/", "https://[::1", "http://a.example/\u2028x",
            "https://a.example/" + "x" * 500,
        ],
        rolled_back=True,
    )  # fmt: skip
    def test_it_refuses_what_is_no_callback_address(self, olga: Any, aurora: Any, as_person: Any, url: str) -> None:
        answer = new(as_person(olga), aurora, callback_url=url)
        assert answer.status_code == 422
        assert "id_callback_url_error" in answer.content.decode()
        assert not Agent.objects.exists()

    def test_it_refuses_a_name_the_team_has(self, olga: Any, aurora: Any, kuro: Any, as_person: Any) -> None:
        answer = new(as_person(olga), aurora, name=" kuro ")
        assert answer.status_code == 422
        assert "already has an agent called kuro" in answer.content.decode()

    @table(
        ("name", "status"),
        [("ku\u200bro", 422), ("\u3164", 422), ("kuro\u202e", 422), ("👩\u200d💻", 200), ("می\u200cشود", 200)],
        rolled_back=True,
    )
    def test_it_refuses_a_name_of_which_something_cannot_be_seen(
        self, olga: Any, aurora: Any, as_person: Any, name: str, status: int
    ) -> None:
        assert new(as_person(olga), aurora, name=name).status_code == status
        assert Agent.objects.filter(name=name).exists() is (status == 200)

    def test_it_refuses_another_team(self, olga: Any, borealis: Any, as_person: Any) -> None:
        assert new(as_person(olga), borealis).status_code == 422
        assert not Agent.objects.exists()

    def test_the_python_example_runs(
        self, olga: Any, aurora: Any, as_person: Any, live_server: Any, settings: Any
    ) -> None:
        settings.PUBLIC_URL = live_server.url
        page = new(as_person(olga), aurora).content.decode()
        example = html.unescape(re.search(r'id="example-python"[^>]*>(.*?)</pre>', page, re.DOTALL)[1])
        client = {"PYTHONPATH": str(ROOT / "clients" / "python" / "src")}
        done = subprocess.run(
            [sys.executable, "-c", example], capture_output=True, text=True, timeout=120, env=os.environ | client
        )
        assert done.stdout.startswith("pending "), done.stderr
        assert "/queue/held_" in done.stdout

    def test_the_curl_example_is_held_with_the_policy_of_a_new_agent(
        self, olga: Any, aurora: Any, as_person: Any
    ) -> None:
        page = new(as_person(olga), aurora).content.decode()
        command = html.unescape(re.search(r'id="first-post"[^>]*>(.*?)</pre>', page, re.DOTALL)[1])
        *_, authorization, _, content_type, _, body = shlex.split(command.replace("\\\n", ""))
        headers = dict(each.split(": ", 1) for each in (authorization, content_type))
        answer = Client(headers=headers).generic("POST", "/api/v1/responses", body, headers.pop("Content-Type"))
        assert [item["disposition"] for item in answer.json()["items"]] == ["hold"]


class TestKeys:
    def test_a_new_key_works_beside_the_old(self, olga: Any, kuro: Any, as_person: Any) -> None:
        answer = as_person(olga).post(reverse("agent-rotate", args=[kuro.id]))
        key, secret = secrets_in(html.unescape(answer.content.decode()))
        assert "2 keys are live" in answer.content.decode()
        assert "no-store" in answer["Cache-Control"]
        assert Caller(kuro.id, key, secret).get("/context").status_code == 200
        assert kuro.get("/context").status_code == 200

    def test_the_form_sent_again_issues_no_second_key(self, olga: Any, kuro: Any, as_person: Any) -> None:
        client = as_person(olga)
        for _ in range(2):
            client.post(reverse("agent-rotate", args=[kuro.id]), {"once": "this form"})
        assert AgentKey.objects.count() == 2

    def test_ending_the_older_keys_leaves_the_newest(self, olga: Any, kuro: Any, as_person: Any) -> None:
        client = as_person(olga)
        page = html.unescape(client.post(reverse("agent-rotate", args=[kuro.id])).content.decode())
        client.post(reverse("agent-revoke", args=[kuro.id]), {"reason": "It leaked."})
        key, secret = secrets_in(page)
        assert kuro.get("/context").status_code == 401
        assert Caller(kuro.id, key, secret).get("/context").status_code == 200
        assert AgentKey.objects.filter(revoked_at=None).count() == 1
        assert AuditEvent.objects.filter(action="keys-revoked", actor="olga").count() == 1


class TestSwitches:
    def switch(self, client: Any, agent: Any, field: str, on: str) -> Any:
        fields = {"field": field, "on": on, "reason": "It loops."}
        return client.post(reverse("agent-switch", args=[agent.id]), fields, follow=on == "0")

    def test_a_disabled_agent_is_refused(self, olga: Any, kuro: Any, as_person: Any) -> None:
        client = as_person(olga)
        self.switch(client, kuro, "enabled", "0")
        assert kuro.get("/context").status_code == 403
        self.switch(client, kuro, "enabled", "1")
        assert kuro.get("/context").status_code == 200
        assert list(AuditEvent.objects.filter(actor="olga").order_by("id").values_list("action", flat=True)) == [
            "agent-disabled",
            "agent-enabled",
        ]

    def test_hesitation_switched_off_passes_everything(self, olga: Any, kuro: Any, as_person: Any) -> None:
        self.switch(as_person(olga), kuro, "hesitation_enabled", "0")
        verdict = kuro.respond()
        assert verdict["hesitation"] is None
        assert verdict["items"][0]["disposition"] == "pass"

    def test_the_page_says_which_parts_are_off(self, olga: Any, kuro: Any, as_person: Any) -> None:
        Policy.objects.update(parts={"quality": True, "confidence": False, "stuck": True})
        page = as_person(olga).get(reverse("agent", args=[kuro.id])).content.decode()
        rows = dict(re.findall(r"<dt>(\w+)</dt><dd>(?:<b>)?(On|Off)", page))
        assert rows == {"Quality": "On", "Confidence": "Off", "Stuck": "On", "Reflection": "On"}

    def test_no_change_leaves_no_event(self, olga: Any, kuro: Any, as_person: Any) -> None:
        self.switch(as_person(olga), kuro, "enabled", "1")
        assert not AuditEvent.objects.filter(actor="olga").exists()

    @table(("field", "on"), [("name", "1"), ("enabled", "yes"), ("", "")], rolled_back=True)
    def test_it_knows_its_switches(self, olga: Any, kuro: Any, as_person: Any, field: str, on: str) -> None:
        assert self.switch(as_person(olga), kuro, field, on).status_code == 400


class TestChanging:
    def test_it_changes_and_records_which_fields(self, olga: Any, kuro: Any, as_person: Any) -> None:
        data = {"name": "kuro", "language": "zh-hant", "callback_url": "https://a.example/?token=s3cret"}
        assert as_person(olga).post(reverse("agent", args=[kuro.id]), data).status_code == 302
        event = AuditEvent.objects.get(action="agent-changed")
        assert event.data["fields"] == ["language", "callback_url"]
        assert (event.data["was"], event.data["now"]) == ({"language": "en"}, {"language": "zh-hant"})
        assert "s3cret" not in str(event.data)

    def test_a_rename_is_recorded_with_the_name_it_had(self, olga: Any, kuro: Any, as_person: Any) -> None:
        data = {"name": "shiro", "language": "en", "callback_url": ""}
        assert as_person(olga).post(reverse("agent", args=[kuro.id]), data).status_code == 302
        event = AuditEvent.objects.get(action="agent-changed")
        assert event.data == {"fields": ["name"], "was": {"name": "kuro"}, "now": {"name": "shiro"}}

    def test_what_somebody_changed_since_the_page_was_opened_stays(self, olga: Any, kuro: Any, as_person: Any) -> None:
        client, address, agent = as_person(olga), reverse("agent", args=[kuro.id]), Agent.objects.get()
        agents.change(agent, None, name="kuro", language="en", callback_url="https://old.example.org/")
        opened = client.get(address).content.decode()
        shown = dict(re.findall(r'name="(initial-\w+)"(?: value="([^"]*)")?', opened))
        agents.change(agent, None, name="kuro", language="zh-hant", callback_url="https://new.example.org/")
        page = {name.removeprefix("initial-"): value for name, value in shown.items()} | shown | {"name": "Kuro"}
        assert client.post(address, page).status_code == 302
        agent.refresh_from_db()
        assert (agent.name, agent.language, agent.callback_url) == ("Kuro", "zh-hant", "https://new.example.org/")
        cleared = {"name": "Kuro", "language": "zh-hant", "callback_url": ""}
        assert client.post(address, cleared | {"initial-callback_url": agent.callback_url}).status_code == 302
        agent.refresh_from_db()
        assert agent.callback_url == ""

    def test_it_shows_what_is_wrong_and_keeps_what_was_typed(self, olga: Any, kuro: Any, as_person: Any) -> None:
        data = {"name": "kuro", "language": "en", "callback_url": "nonsense"}
        answer = as_person(olga).post(reverse("agent", args=[kuro.id]), data)
        assert answer.status_code == 422
        assert 'value="nonsense"' in answer.content.decode()

    def test_a_viewer_sees_neither_form_nor_callback(self, olga: Any, victor: Any, kuro: Any, as_person: Any) -> None:
        agents.change(
            Agent.objects.get(public_id=kuro.id), olga, name="kuro", language="en", callback_url="https://a.example/s3"
        )
        page = as_person(victor).get(reverse("agent", args=[kuro.id])).content.decode()
        assert "a.example" not in page
        assert '<form method="post" action="/agents/' not in page


def test_the_firing_rate_counts_the_last_responses(olga: Any, kuro: Any, as_person: Any, contexts: None) -> None:
    for text in (HELD, "It may be the disk.", "Clearly.", HELD + " Again."):
        kuro.respond(text)
    kuro.respond(HELD, items=[])
    page = as_person(olga).get(reverse("agent", args=[kuro.id]))
    assert [band["count"] for band in page.context["bands"]] == [1, 1, 0, 3]
    assert (page.context["scored"], page.context["would_hold"]) == (5, 3)
    assert re.findall(r"\d+ without items", page.content.decode()) == ["1 without items"]


@table(
    ("threshold", "hold_at", "rows"),
    [
        (30, 50, ["0 1", "1–29 1", "30–49 marked 0", "50 and more held 2"]),
        (20, 45, ["0 1", "1–19 0", "20–44 marked 1", "45 and more held 2"]),
        (20, 20, ["0 1", "1–19 0", "20 and more held 3"]),
        (20, 101, ["0 1", "1–19 0", "20 and more marked 3"]),
        (0, 100, ["0 marked 1", "1–99 marked 3", "100 and more held 0"]),
    ],
    rolled_back=True,
)
def test_the_bands_are_those_of_the_policy(
    olga: Any, kuro: Any, as_person: Any, threshold: int, hold_at: int, rows: list[str]
) -> None:
    for text in (HELD, "It may be the disk.", "Clearly.", HELD + " Again."):
        kuro.respond(text)
    Policy.objects.update(threshold=threshold, hold_at=hold_at)
    page = as_person(olga).get(reverse("agent", args=[kuro.id])).content.decode()
    table = page.partition('<table class="bands">')[2].partition("</table>")[0]
    told = [re.sub(r"<[^>]*>", " ", row).split() for row in table.split("<tr>")[2:]]
    assert [" ".join(words[:-1]) for words in told] == rows, "without their share"


def test_the_list_asks_the_same_however_many_there_are(
    olga: Any, aurora: Any, kuro: Any, as_person: Any, django_assert_num_queries: Any, contexts: None
) -> None:
    client = as_person(olga)
    kuro.hold()
    client.get(reverse("agents"))
    for number in range(10):
        agents.create_agent(aurora, f"agent{number}", olga)
    # session, person, which agents, these agents, keys, may one be added, held items in the header, their last days
    with django_assert_num_queries(8):
        page = client.get(reverse("agents"))
    row = next(agent for agent in page.context["agents"] if agent.name == "kuro")
    assert row.pending == 1
    assert row.last_post_at


def test_it_says_that_patterns_are_missing_only_where_they_are(olga: Any, kuro: Any, as_person: Any) -> None:
    client, said = as_person(olga), "Without error patterns the default thresholds hold almost nothing."
    assert said not in client.get(reverse("agent", args=[kuro.id])).content.decode()
    ErrorPattern.objects.update(state="retired")
    assert said in client.get(reverse("agent", args=[kuro.id])).content.decode()
    Policy.objects.update(threshold=20, hold_at=20)
    kuro.respond("Clearly.")
    assert said not in client.get(reverse("agent", args=[kuro.id])).content.decode(), "thresholds of its own hold"


class TestDangerousSteps:
    """What is switched off or revoked says first what that takes away, takes a reason, and can be undone."""

    def test_it_names_the_consequence_in_numbers(self, olga: Any, kuro: Any, as_person: Any) -> None:
        client = as_person(olga)
        told_there_is_none = client.get(reverse("agent-confirm", args=[kuro.id, "revoke-keys"]), follow=True)
        assert "There was no older key to revoke." in told_there_is_none.content.decode()
        for _ in range(9):
            kuro.hold()
        client.post(reverse("agent-rotate", args=[kuro.id]))
        told = {
            "disable": ["2 keys stop working.", "It posted 9 responses over the last week.", "9 held items stay"],
            "hesitation-off": ["no longer scored, marked or held", "9 held items stay"],
            "revoke-keys": ["1 key stops working.", "For 24 hours a revoked key can be restored"],
            "issue-key": [f"The oldest live key, {AgentKey.objects.earliest('pk')}, stops working at once."],
        }
        for step, sentences in told.items():
            page = client.get(reverse("agent-confirm", args=[kuro.id, step])).content.decode()
            assert [sentence in page for sentence in sentences] == [True] * len(sentences), step
        assert client.get(reverse("agent-confirm", args=[kuro.id, "x"])).status_code == 404

    @table(
        ("name", "fields"),
        [
            ("agent-switch", {"field": "enabled", "on": "0"}),
            ("agent-switch", {"field": "hesitation_enabled", "on": "0", "reason": "\u200b"}),
            ("agent-revoke", {"reason": " "}),
            ("agent-rotate", {}),
        ],
        rolled_back=True,
    )
    def test_it_takes_a_reason(self, name: str, fields: dict[str, str], olga: Any, kuro: Any, as_person: Any) -> None:
        agents.rotate(Agent.objects.get(), None)
        answer = as_person(olga).post(reverse(name, args=[kuro.id]), fields)
        assert answer.status_code == 422
        assert "Give a reason" in answer.content.decode()
        assert not AuditEvent.objects.filter(actor="olga").exists()

    def test_a_disabled_agent_comes_back_with_its_keys(self, olga: Any, kuro: Any, as_person: Any) -> None:
        client = as_person(olga)
        off = {"field": "enabled", "on": "0", "reason": "It loops."}
        page = client.post(reverse("agent-switch", args=[kuro.id]), off, follow=True).content.decode()
        assert '<button class="link" form="undo-disable">Undo</button>' in page
        assert 'id="undo-disable"' in page
        assert "<q>It loops.</q>" in page
        assert kuro.get("/context").status_code == 403
        client.post(reverse("agent-switch", args=[kuro.id]), {"field": "enabled", "on": "1"})
        assert kuro.get("/context").status_code == 200
        audit = client.get(reverse("audit")).content.decode()
        assert "Olga disabled the agent kuro: “It loops.”" in audit

    def test_a_revoked_key_is_restored_for_a_day(self, olga: Any, kuro: Any, as_person: Any) -> None:
        client = as_person(olga)
        client.post(reverse("agent-rotate", args=[kuro.id]))
        page = client.post(reverse("agent-revoke", args=[kuro.id]), {"reason": "x"}, follow=True).content.decode()
        key = AgentKey.objects.get(revoked_at__isnull=False)
        assert f'form="restore-{key.pk}">Undo' in page
        assert f'id="restore-{key.pk}"' in page
        restore = reverse("key-restore", args=[kuro.id, key.pk])
        client.post(restore)
        assert kuro.get("/context").status_code == 200
        AgentKey.objects.filter(pk=key.pk).update(revoked_at=timezone.now() - timedelta(hours=25))
        assert "was not restored" in client.post(restore, follow=True).content.decode()
        assert kuro.get("/context").status_code == 401

    def test_no_third_key_comes_back(self, olga: Any, kuro: Any, as_person: Any) -> None:
        client = as_person(olga)
        for _ in range(2):
            page = client.post(reverse("agent-rotate", args=[kuro.id]), {"reason": "It leaked."}).content.decode()
        assert "Revoke the older live key to restore this one." in page
        assert AuditEvent.objects.get(action="keys-revoked").data["because"] == "It leaked."
        key = AgentKey.objects.earliest("pk")
        answer = client.post(reverse("key-restore", args=[kuro.id, key.pk]), follow=True)
        assert "was not restored" in answer.content.decode()
        assert AgentKey.objects.filter(revoked_at=None).count() == 2

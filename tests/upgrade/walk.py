"""Use an upgraded database as its agents and people would, at the time it was left; `test_upgrade.py` runs it.

python tests/upgrade/walk.py FACTS      # with the settings of that database in the environment
"""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "metacog.settings"
sys.path.insert(0, str(Path(__file__).parent.parent.parent))

import django
from django.conf import settings

plain = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
settings.STORAGES = settings.STORAGES | plain  # none are collected
django.setup()

from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402

from metacog.models import Agent, User  # noqa: E402
from metacog.pages.navigation import ENTRIES  # noqa: E402
from reviews import tasks  # noqa: E402
from reviews.demo.clock import turned_back  # noqa: E402
from reviews.models import AgentResponse, HeldItem  # noqa: E402

BOUND = "django.contrib.auth.backends.ModelBackend"


class Walk:
    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts, self.client = facts, Client(SERVER_NAME="localhost")
        self.client.force_login(User.objects.get(username=facts["owner"]), backend=BOUND)

    def api(self, name: str, path: str, body: Any = None) -> Any:
        key = {"authorization": f"Bearer {self.facts['keys'][name]}"}
        client = Client(SERVER_NAME="localhost", headers=key)
        if body is None:
            answer = client.get(f"/api/v1/{path}")
        else:
            answer = client.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")
        assert answer.status_code == (200 if body is None else 201), (name, path, answer.content)
        return answer.json()

    def every_agent_posts(self) -> None:
        for name in self.facts["keys"]:
            body = {"response": "It is done.", "items": [{"kind": "chat", "text": "Done."}]}
            [item] = self.api(name, "responses", body)["items"]
            assert item["disposition"] == "pass", item
            assert self.api(name, "context")

    def calls_are_recognized(self) -> None:
        approved, pending = self.facts["approved"], self.facts["pending"]
        [item] = self.ask(approved["item"])
        assert (item["disposition"], item["recognised"]) == ("pass", approved["held"]), item
        [item] = self.ask(pending["item"])
        assert (item["disposition"], item["held"]) == ("hold", pending["held"]), item

    def ask(self, call: Any) -> Any:
        return self.api("kuro", "responses", {"response": "As asked before.", "items": [call], "session": "s"})["items"]

    def items_are_decided(self) -> None:
        for name, held in self.facts["held"].items():
            item = HeldItem.objects.get(public_id=held)
            form = {"verdict": "approve", "reason": "It was measured.", "version": item.version, "sha256": item.sha256}
            assert self.client.get(f"/queue/{held}/").status_code == 200
            assert self.client.post(f"/queue/{held}/decide", form).status_code == 302
            assert [each["held"] for each in self.api(name, "decisions?after=0")["items"]][-1] == held

    def pages_open(self) -> None:
        names = [page.name for entry in ENTRIES for page in entry.pages]
        paths = [reverse(name) for name in names]
        for agent in Agent.objects.all():
            paths += [reverse(name, args=[agent.public_id]) for name in ("agent", "policy", "agent-context")]
        paths += [reverse("item", args=[each.public_id]) for each in HeldItem.objects.order_by("-pk")[:5]]
        paths += [reverse("response", args=[each.public_id]) for each in AgentResponse.objects.order_by("pk")[:5]]
        opened = {path: self.client.get(path).status_code for path in paths}
        assert set(opened.values()) == {200}, opened

    def it_is_ready(self) -> None:
        tasks.heartbeat()
        ready = self.client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "ok"), ready.content
        assert HeldItem.objects.get(public_id=self.facts["held"]["kuro"]).risk is not None


def main(facts: str) -> None:
    found = json.loads(Path(facts).read_text())
    with turned_back(datetime.fromisoformat(found["at"]) + timedelta(hours=1)):
        walk = Walk(found)
        walk.calls_are_recognized()  # before a context tells of the approval, which is used by that
        walk.every_agent_posts()
        walk.items_are_decided()
        walk.pages_open()
        walk.it_is_ready()
        tasks.seal_audit()


main(*sys.argv[1:])

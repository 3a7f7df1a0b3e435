"""Fill the empty database of a release, by that release's own code, with some of everything; `make.py` runs it there.

    python fill.py FACTS      # in the folder of the release, with its settings in the environment

What its callers need to know is written to FACTS. What a later release does otherwise is changed here.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, os.getcwd())
os.environ["DJANGO_SETTINGS_MODULE"] = "metacog.settings"

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from metacog import __version__  # noqa: E402
from metacog.accounts import agents, members, tokens  # noqa: E402
from metacog.heuristics.ranking.features import facts_of, see  # noqa: E402
from metacog.heuristics.ranking.model import Case, Model  # noqa: E402
from metacog.models import Agent, Policy, Team, User  # noqa: E402
from patterns.lessons import lessons  # noqa: E402
from patterns.models import ErrorPattern  # noqa: E402
from reviews import tasks  # noqa: E402
from reviews.demo.clock import Clock, turned_back  # noqa: E402
from reviews.held import decisions, talk  # noqa: E402
from reviews.models import AgentResponse, HeldItem, RiskModel  # noqa: E402
from reviews.outbox import webhooks  # noqa: E402
from reviews.risk import learning  # noqa: E402

SURE, UNSURE = "The cause is clearly the {}, as always, no doubt.", "The cause is clearly the {}: I measured it."
THINGS = ("cache", "index", "clock", "queue", "proxy", "disk", "lock", "cable", "router", "timer", "token", "stack")
TURNS = 24
REFUND = {"kind": "tool_call", "name": "refund", "arguments": {"order": "A-1", "amount": 40}}
DELETE = {"kind": "tool_call", "name": "delete", "arguments": {"path": "/srv/old"}, "call_id": "call-1"}


class Course:
    """A team at work, from six days ago until now."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.client = clock, Client(SERVER_NAME="localhost")
        self.team = members.add_team("Aurora", None)
        self.owner = User.objects.create_superuser("olga", password="olga-password", email="olga@example.org")
        members.add_member(self.team, "olga", "owner", self.owner)
        self.keys: dict[str, str] = {}
        self.agents = {name: self.agent(name) for name in ("kuro", "before-rules")}

    def agent(self, name: str) -> Agent:
        agent, self.keys[name], _secret = agents.create_agent(self.team, name, self.owner)
        return agent

    def post(self, name: str, path: str, body: dict[str, Any]) -> Any:
        self.clock.at += timedelta(minutes=1)
        answer = self.client.post(
            f"/api/v1/{path}",
            json.dumps(body),
            content_type="application/json",
            headers={"authorization": f"Bearer {self.keys[name]}"},
        )
        assert answer.status_code in (200, 201), answer.content
        return answer.json()

    def say(self, name: str, text: str, **more: Any) -> Any:
        items = more.pop("items", [{"kind": "chat", "text": text}])
        return self.post(name, "responses", {"response": text, "items": items, "session": "s", **more})

    def held(self, verdict: Any) -> HeldItem:
        return HeldItem.objects.get(public_id=verdict["items"][0]["held"])

    def decide(self, verdict: Any, say: str) -> None:
        self.clock.at += timedelta(minutes=1)
        decisions.decide(self.held(verdict), self.owner, say, reason=f"It was {say}ed after a measurement.")

    def know(self) -> None:
        """Have patterns, lessons, memory, threads, problems, webhooks, tokens."""
        ErrorPattern.objects.create(team=self.team, keywords=["cause"], description="named before it was measured")
        lessons.write(self.team, None, "Measure first.", ["cache"], self.owner)
        self.post("kuro", "memory", {"text": "The staging cluster has three nodes.", "topic": "cluster"})
        self.post("kuro", "threads", {"title": "What slows the builds", "note": "begun"})
        for number in range(3):
            self.say("kuro", f"Again, {number}.", items=[], problem="bug", approach="again", errors=["no such file"])
        self.post("kuro", "extensions", {"problem": "bug", "reason": "One more look at the log of the build."})
        webhooks.add(self.team, self.owner, url="https://hooks.example.org/metacog", events=["item.held"])
        tokens.issue(self.owner, name="script", scopes=["read"], days=300)

    def work(self) -> None:
        """Have sure texts rejected and unsure ones approved."""
        for turn in range(TURNS):
            self.clock.at += timedelta(hours=1)
            thing, is_sure = THINGS[turn % len(THINGS)], turn % 2 == 0
            text = (SURE if is_sure else UNSURE).format(thing) + f" Build {turn}."
            verdict = self.say("kuro", text, topics=[thing])
            self.decide(verdict, "reject" if is_sure else "approve")

    def learn(self) -> None:
        """Have a model of risk, as after a thousand decisions, beside what is told of so few."""
        learning.learn_and_keep(self.team, timezone.now())
        texts = [(SURE if at % 2 else UNSURE).format(THINGS[at % len(THINGS)]) for at in range(TURNS)]
        cases = [Case(see(text, "", facts_of(text, "", {})), at % 2 == 1) for at, text in enumerate(texts)]
        found = Model.learn(cases)
        model = RiskModel.objects.create(
            team=self.team, public_id=found.id, document=found.as_dict(), made_at=timezone.now()
        )
        Team.objects.filter(pk=self.team.pk).update(risk_kind="learned", risk_model=model.pk)
        Agent.objects.filter(team=self.team).update(risk_model=model.pk)

    def leave(self) -> dict[str, Any]:
        """Leave open what an upgrade must not lose; return what it is."""
        open_chat = self.held(self.say("kuro", SURE.format("switch")))
        talk.comment(open_chat, self.owner, "Look at the log first.")
        approved, pending = self.say("kuro", "A refund.", items=[REFUND]), self.say("kuro", "Cleaning.", items=[DELETE])
        self.decide(approved, "approve")
        old = self.held(self.say("before-rules", SURE.format("modem")))
        return {
            "held": {"kuro": open_chat.public_id, "before-rules": old.public_id},
            "approved": {"item": REFUND, "held": approved["items"][0]["held"]},
            "pending": {"item": DELETE, "held": pending["items"][0]["held"]},
        }

    def by_defaults(self, agent: Agent) -> None:
        """Put a policy in force whose newer columns the database filled in, as when they came to older rows."""
        agents.add_policy(agent, self.owner, Policy(note="As before."), based_on=1)
        policy = Policy.objects.get(agent=agent, version=2)
        fields = [each for each in Policy._meta.concrete_fields if not each.has_db_default()]
        values = [each.get_db_prep_save(getattr(policy, each.attname), connection) for each in fields]
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM metacog_policy WHERE id = %s", [policy.pk])
            columns, places = ", ".join(f'"{each.column}"' for each in fields), ", ".join(["%s"] * len(fields))
            cursor.execute(f"INSERT INTO metacog_policy ({columns}) VALUES ({places})", values)

    def sweep(self) -> None:
        """Do what the worker does, but for what goes out; the time to undo a decision is over."""
        self.clock.at += timedelta(minutes=10)
        for sweep in (
            tasks.settle, tasks.count_days, tasks.group_alike, tasks.pick_samples, tasks.fit_weights, tasks.reflect,
            tasks.learn, tasks.contrast, tasks.try_proposals, tasks.learn_corrections, tasks.index_memory,
            tasks.index_search,
        ):  # fmt: skip
            sweep()
        self.by_defaults(self.agents["before-rules"])  # last: some releases cannot read it
        self.clock.at += timedelta(minutes=1)
        tasks.seal_audit()


def main(facts: str) -> None:
    now = timezone.now().replace(microsecond=0)
    with turned_back(now - timedelta(days=6)) as clock:
        course = Course(clock)
        course.know()
        course.work()
        course.learn()
        left = course.leave()
        course.sweep()
        assert clock.at < now, f"It took until {clock.at}."
        call_command("audit", "verify")
        found = left | {"version": __version__, "at": clock.at.isoformat(), "keys": course.keys, "owner": "olga"}
    print(AgentResponse.objects.count(), "responses,", HeldItem.objects.count(), "held")
    Path(facts).write_text(json.dumps(found, indent=1) + "\n")


main(*sys.argv[1:])

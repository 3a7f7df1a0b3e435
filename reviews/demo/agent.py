"""The demo's agent: goes on as robin does. It posts, hears what was decided, and looks again at what was held.

`manage.py demo` runs it, and nothing else: `python -m reviews.demo.agent URL KEY_FILE CYCLE`. Plain HTTP by
the standard library, as any agent could.
"""

from __future__ import annotations

import json
import random
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reviews.demo.voices import ROBIN, Said

PAUSE = (4.0, 11.0)  # seconds between two turns
RISKY = 0.06  # of the turns
LOOKS_EVERY = 5  # turns
OWN_LOOKS = 0.6  # of what is held; the rest is left to people

Call = Callable[[str, str, Any], tuple[int, Any]]
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def caller(url: str, key: str) -> Call:
    """Return how to call the API: (method, path, body) to (status, answer); 0 when nobody answers."""

    def call(method: str, path: str, body: Any = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{url}/api/v1{path}", data, headers, method=method)
        try:
            with _direct.open(request, timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code, None
        except (OSError, ValueError):
            return 0, None

    return call


class DemoAgent:
    """Takes one turn after the other. What could not be sent is sent again with the next, under the same id."""

    def __init__(self, call: Call, cycle: int, chance: random.Random) -> None:
        self.call, self.cycle, self.chance = call, cycle, chance
        self.unsent: list[tuple[dict[str, Any], Said | None]] = []
        self.held: dict[str, Said] = {}  # that it posted since it began, and looks at itself
        self.seq = 0

    def turn(self) -> None:
        """Say one thing, hear the decisions, and every few turns read the context and look again."""
        self.cycle += 1
        if not self.unsent:
            turns = ROBIN.risky if self.chance.random() < RISKY else ROBIN.calm
            new = ROBIN.say(self.chance.choice(turns), self.chance, self.cycle)
            self.unsent.append((new.fields, new))
        fields, said = self.unsent[0]
        status, verdict = self.call("POST", "/responses", fields)
        if status not in (200, 201):
            return
        del self.unsent[0]
        for item in verdict["items"]:
            if item["held"] and said and self.chance.random() < OWN_LOOKS:
                self.held[item["held"]] = said
        self.hear()
        if self.cycle % LOOKS_EVERY == 0:
            self.look_again()

    def hear(self) -> None:
        """Follow the feed; what was approved is said in the approved words."""
        while True:
            status, page = self.call("GET", f"/decisions?after={self.seq}", None)
            if status != 200:
                return
            for decision in page["items"]:
                self.seq = decision["seq"]
                said = self.held.pop(decision["held"], None)
                if said and decision["text"] is not None:
                    text, kind = decision["text"], said.turn.kind
                    again = {"response": text, "items": [{"kind": kind, "text": text}]}
                    self.unsent.append(({**said.fields, "id": decision["id"], **again}, None))
            if page["next"] is None:
                return

    def look_again(self) -> None:
        """Read the context, and decide what is its own to decide and due."""
        status, context = self.call("GET", "/context", None)
        for item in context["held"] if status == 200 else ():
            said = self.held.get(item["id"])
            if said is None or datetime.fromisoformat(item["review_due_at"]) > datetime.now(UTC):
                continue
            if item["kind"] == "remember" or self.chance.random() < 0.5:
                body = {"verdict": "withdraw", "reason": self.chance.choice(ROBIN.withdraws)}
            else:
                body = {"verdict": "edit", "text": said.better, "reason": self.chance.choice(ROBIN.edits)}
            self.call("POST", f"/held/{item['id']}/decision", {**body, "version": item["version"]})


def main() -> None:
    url, key_file, cycle = sys.argv[1:]
    agent = DemoAgent(caller(url, Path(key_file).read_text()), int(cycle), random.Random())
    while True:
        time.sleep(agent.chance.uniform(*PAUSE))  # an agent of the demo posts now and then
        agent.turn()


if __name__ == "__main__":
    main()

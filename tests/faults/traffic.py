"""Agents that post and decide, and people who decide, all of whom insist on an answer; and the account of it."""

from __future__ import annotations

import hashlib
import queue
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tests.faults.receiver import Receiver
from tests.faults.servers import fail, until
from tests.faults.site import Answer, Site

PATIENCE = 240.0  # seconds for which one call is sent again and again
POSTERS, DECIDERS = 6, 4


def text(number: int, held: bool) -> str:
    return f"Case {number}: the cause is clearly the cache." if held else f"Case {number}: I am looking at the cache."


@dataclass
class Traffic:
    """`posts` posts, of which the first `decisions` are held and decided, by agent and people in turn."""

    sites: Sequence[Site]
    agent: dict[str, str]
    posts: int
    decisions: int
    accepted: dict[str, str] = field(default_factory=dict)  # our id to the response's
    decided: set[str] = field(default_factory=set)  # held items
    repeats: Counter[int] = field(default_factory=Counter)  # by the status after which a call was sent again
    held: queue.Queue[tuple[int, str]] = field(default_factory=queue.Queue)

    def run(self) -> None:
        self.cookies = self.sites[0].sign_in()
        # Those that are held come spread over all the others.
        spread = sorted(range(self.posts), key=lambda number: number % 7)
        with ThreadPoolExecutor(POSTERS) as posters, ThreadPoolExecutor(DECIDERS) as deciders:
            posting = [posters.submit(self.post, number) for number in spread]
            deciding = [deciders.submit(self.decide_all) for _ in range(DECIDERS)]
            for future in [*posting, *deciding]:
                future.result()

    def insist(self, call: Callable[[], Answer], wanted: tuple[int, ...], patient: tuple[int, ...] = ()) -> Answer:
        """Send the same again until it is answered; what is wanted or an error that is not of the fault."""
        began = time.monotonic()
        while True:
            answer = call()
            if answer.status in wanted:
                return answer
            assert answer.status in (0, 429, 500, 502, 503, *patient), (answer.status, answer.body[:500])
            assert time.monotonic() - began < PATIENCE, f"no answer in {PATIENCE:g} s"
            self.repeats[answer.status] += 1
            time.sleep(0.5)

    def site(self, number: int) -> Site:
        return self.sites[number % len(self.sites)]

    def post(self, number: int) -> None:
        said = text(number, number < self.decisions)
        body = {"id": f"post-{number}", "response": said, "items": [{"kind": "chat", "text": said}]}
        answer = self.insist(
            lambda: self.site(number).call(self.agent["api_key"], "POST", "/responses", body), (200, 201)
        ).json
        self.accepted[f"post-{number}"] = answer["id"]
        if held := answer["items"][0]["held"]:
            self.held.put((number, held))

    def decide_all(self) -> None:
        last = time.monotonic()
        while len(self.decided) < self.decisions:
            try:
                number, held = self.held.get(timeout=0.2)
            except queue.Empty:
                assert time.monotonic() - last < PATIENCE, f"nothing was held for {PATIENCE:g} s"
                continue
            self.decide(number, held)
            self.decided.add(held)
            last = time.monotonic()

    def decide(self, number: int, held: str) -> None:
        site = self.site(number // 2)
        if number % 2:
            body = {"verdict": "approve", "reason": "Looked again: it was measured."}
            # 409: it is too early for a second look.
            self.insist(
                lambda: site.call(self.agent["api_key"], "POST", f"/held/{held}/decision", body), (200, 201), (409,)
            )
            return
        form = {
            "verdict": "reject" if number % 4 else "approve",
            "reason": "Not measured.",
            "version": "1",
            "sha256": hashlib.sha256(text(number, True).encode()).hexdigest(),
        }
        self.insist(lambda: site.submit(self.cookies, f"/queue/{held}/decide", form), (302,))

    def feed(self) -> list[dict[str, Any]]:
        """Read the agent's whole feed."""
        found: list[dict[str, Any]] = []
        while True:
            after = found[-1]["seq"] if found else 0
            path = f"/decisions?after={after}"
            page = self.insist(lambda path=path: self.sites[0].call(self.agent["api_key"], "GET", path), (200,)).json  # type: ignore[misc]  # bound at once
            found += page["items"]
            if page["next"] is None:
                return found


def account(traffic: Traffic, receiver: Receiver, *, exactly_once: bool = False) -> str:
    """Wait until all is delivered, then count: nothing lost, nothing doubled. Return what was counted."""
    site, posts, decisions = traffic.sites[0], traffic.posts, traffic.decisions
    waited = until(
        lambda: len(receiver.bodies()) >= decisions
        and not site.one("SELECT count(*) FROM reviews_delivery WHERE state <> 'delivered'"),
        180, "every callback is delivered",
    )  # fmt: skip
    stored = dict(site.rows("SELECT key, public_id FROM reviews_agentresponse"))
    feed = traffic.feed()
    bodies = receiver.bodies()
    again = len(receiver.seen) - len(bodies)
    record = dict(site.rows("SELECT action, count(*) FROM metacog_auditevent GROUP BY action"))
    whole = site.manage("audit", "verify")
    fail(
        "" if stored == traffic.accepted else f"{len(stored)} rows for {len(traffic.accepted)} accepted posts",
        "" if len(stored) == posts else f"{len(stored)} responses of {posts}",
        "" if [entry["seq"] for entry in feed] == list(range(1, decisions + 1)) else "the feed has a gap",
        "" if {entry["held"] for entry in feed} == traffic.decided else "the feed is not what was decided",
        "" if len(bodies) == decisions else f"{len(bodies)} callbacks of {decisions}",
        "" if all(len(each) == 1 for each in bodies.values()) else "a callback came with other bytes",
        f"{again} callbacks came twice" if exactly_once and again else "",
        "" if record["response-accepted"] == posts else f"{record['response-accepted']} events of accepted posts",
        "" if record["decision-released"] == decisions else f"{record['decision-released']} events of decisions",
        "" if whole.startswith("The record is whole") else whole,
    )
    repeats = ", ".join(f"{count} after {status or 'no answer'}" for status, count in sorted(traffic.repeats.items()))
    return (
        f"{posts} posts, {decisions} decisions (seq 1–{decisions}), {len(bodies)} callbacks ({again} sent again), "
        f"record whole; calls repeated: {repeats or 'none'}; last callback {waited:.0f} s after the last decision"
    )

"""The machine's clock is set while metacog runs: forward, back, and by days."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from tests.faults import site as sites
from tests.faults.receiver import Receiver, listening
from tests.faults.servers import Missing, fail, say, until
from tests.faults.site import Site
from tests.faults.traffic import text

SET_TO = (-60, 0, 60, 0, -3600, 0, 3600, 0, 691_200, 0)  # seconds from the true time, one after the other
PATIENCE = 90.0  # seconds: as much as machines' clocks may be apart, and what it takes to undo and to try again
SETTINGS = {"undo_seconds": "5", "callback_schedule": ",".join(["5"] * 20)}
# The time of day and the seconds in a file. libfaketime 0.9.10 breaks Python's sleep where only that is to be set.
SOURCE = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *at) {
    int failed = syscall(SYS_clock_gettime, clock, at);
    if (failed || clock != CLOCK_REALTIME) return failed;
    int file = open(getenv("CLOCK_OFFSET"), O_RDONLY | O_CLOEXEC);
    long seconds;
    if (read(file, &seconds, sizeof seconds) == sizeof seconds) at->tv_sec += seconds;
    return close(file);
}
"""


def on_sqlite(folder: Path) -> str:
    offset, library = folder / "offset", folder / "clock.so"
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", library], input=SOURCE, text=True, check=True)
    except FileNotFoundError:
        raise Missing("no cc on the PATH (on Debian: apt install gcc libc6-dev)") from None
    offset.write_bytes(struct.pack("l", 0))
    faked = patch.dict(os.environ, LD_PRELOAD=str(library), CLOCK_OFFSET=str(offset))
    with faked, listening() as to, sites.running(folder / "data", callback_allow=to.origin, **SETTINGS) as site:
        play = Play(site, to)
        for before, after in zip((0, *SET_TO), SET_TO, strict=False):
            play.begin()
            offset.write_bytes(struct.pack("l", after))
            play.goes_on(f"from {before:+d} to {after:+d}", is_far=abs(after - before) > 60)
        whole = site.manage("audit", "verify")
    fail(*play.problems, "" if whole.startswith("The record is whole") else whole)
    return f"set {len(SET_TO)} times; {play.feed} decisions heard of, {len(to.bodies())} callbacks came, record whole"


class Play:
    def __init__(self, site: Site, to: Receiver) -> None:
        self.site, self.to, self.problems = site, to, list[str]()
        self.agent, self.cookies = site.create_agent(to.url), site.sign_in()
        self.feed, self.heard = 0, set[str]()

    def begin(self) -> None:
        """Leave things half done: a callback put off, a decision that rests, somebody locked out."""
        self.to.status, failed = 500, len(self.to.seen)
        anybody, wrong = {"csrftoken": self.cookies["csrftoken"]}, {"username": "admin", "password": "wrong"}
        until(lambda: self.site.submit(anybody, "/sign-in/", wrong).status == 429, 30, "somebody is locked out")
        self.decide(self.hold())
        until(lambda: len(self.to.seen) > failed, 30, "a callback fails")
        self.resting = self.decide(self.hold())

    def goes_on(self, how: str, *, is_far: bool) -> None:
        self.to.status = 204
        undone, kept = self.decide(self.hold()), self.decide(self.hold())
        undo, one = f"/decisions/{undone}/undo", self.site.one
        checks: dict[str, Callable[[], object]] = {
            "a decision is taken back": lambda: self.site.submit(self.cookies, undo, {}).status == 302,
            "who was locked out signs in": lambda: not is_far or self.site.sign_in(),
            "decisions are heard of": lambda: self.hears({self.resting, kept}) and undone not in self.heard,
            "callbacks are delivered": lambda: not one("SELECT count(*) FROM reviews_delivery WHERE state = 'waiting'"),
            "the record is sealed": lambda: not one("SELECT count(*) FROM metacog_auditunsealed"),
            "the worker is seen": lambda: self.site.get("/readyz").json["status"] == "ok",
        }
        for what, condition in checks.items():
            try:
                say(f"{how}: {what} after {until(condition, PATIENCE, f'{how}: {what}'):.1f} s")
            except AssertionError as late:
                self.problems.append(str(late))

    def hold(self) -> str:
        body = {"response": text(1, True), "items": [{"kind": "chat", "text": text(1, True)}]}
        answer = self.site.call(self.agent["api_key"], "POST", "/responses", body)
        if answer.status == 429:  # set back, it gives one turn at once, and no burst
            time.sleep(int(answer.headers["Retry-After"]))
            answer = self.site.call(self.agent["api_key"], "POST", "/responses", body)
        assert answer.status == 201, (answer.status, answer.body)
        return str(answer.json["items"][0]["held"])

    def decide(self, held: str) -> str:
        digest = hashlib.sha256(text(1, True).encode()).hexdigest()
        form = {"verdict": "reject", "reason": "Not measured.", "version": "1", "sha256": digest}
        assert self.site.submit(self.cookies, f"/queue/{held}/decide", form).status == 302
        return str(self.site.one("SELECT public_id FROM reviews_decision ORDER BY id DESC LIMIT 1"))

    def hears(self, decisions: set[str]) -> bool:
        for each in self.site.call(self.agent["api_key"], "GET", f"/decisions?after={self.feed}").json["items"]:
            self.feed = each["seq"]
            self.heard.add(each["id"])
        return decisions <= self.heard

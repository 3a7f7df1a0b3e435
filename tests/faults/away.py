"""What metacog leans on goes away for a while, and comes back."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from tests.faults import site as sites
from tests.faults.receiver import listening
from tests.faults.servers import Broker, Missing, PostgreSQL, RabbitMQ, Redis, fail, running, say, until
from tests.faults.site import Answer, Site
from tests.faults.traffic import Traffic, account

AWAY_SECONDS = 60.0
TAKEN_SECONDS = 3.0  # the sweeps send several tasks a second
GONE_SECONDS = 40.0  # the database
POSTS, DECISIONS = 200, 100
SETTINGS = {"undo_seconds": "1", "review_seconds": "1", "callback_schedule": ",".join(["1"] * 60)}


# -- the broker ------------------------------------------------------------------------------------


def broker_file(folder: Path) -> str:
    """The broker's file cannot be used by anybody: another program holds it."""

    @contextmanager
    def held(site: Site) -> Iterator[None]:
        with closing(sqlite3.connect(site.folder / "broker.sqlite3", timeout=30, isolation_level=None)) as database:
            database.execute("BEGIN EXCLUSIVE")
            yield

    return without_broker(folder, "", "", held)


def redis(folder: Path) -> str:
    return broker_server(folder, Redis)


def rabbitmq(folder: Path) -> str:
    return broker_server(folder, RabbitMQ)


def broker_server(folder: Path, kind: type[Broker]) -> str:
    with running(PostgreSQL, folder) as database, running(kind, folder) as broker:

        @contextmanager
        def stopped(site: Site) -> Iterator[None]:
            with stopped_tasks(site):
                time.sleep(TAKEN_SECONDS)
                broker.take_away()
            yield
            broker.give_back()

        return without_broker(folder, database.url, broker.url, stopped)


@contextmanager
def stopped_tasks(site: Site) -> Iterator[None]:
    """Stop the processes that run tasks: soon the worker has all it may have, and acknowledges it afterwards."""
    workers = site.processes("worker")
    masters = {process.ppid() for process in workers}
    running = [process for process in workers if process.pid not in masters]
    for process in running:
        process.suspend()
    try:
        yield
    finally:
        for process in running:
            process.resume()


def without_broker(
    folder: Path, database_url: str, broker_url: str, away: Callable[[Site], AbstractContextManager[None]]
) -> str:
    """Post and decide while the broker is away; what was decided is delivered once it is back."""
    with (
        listening() as receiver,
        sites.running(folder / "data", database_url, broker_url, callback_allow=receiver.origin, **SETTINGS) as site,
    ):
        traffic = Traffic([site], site.create_agent(receiver.url), POSTS, DECISIONS)
        until(lambda: site.get("/readyz").json["status"] == "ok", 60, "the worker is seen")
        before = web(site)
        with away(site):
            began = time.monotonic()
            say("the broker is away")
            traffic.run()
            said = f"posted and decided within {time.monotonic() - began:.0f} s of its absence"
            say(said)
            time.sleep(max(0.0, AWAY_SECONDS - (time.monotonic() - began)))
            ready, delivered = site.get("/readyz"), len(receiver.seen)
        say(f"the broker is back; /readyz said {ready.status} {ready.json['status']}")
        counted = account(traffic, receiver)
        until(lambda: site.get("/readyz").json["status"] == "ok", 90, "the worker is seen again")
        fail(
            "" if ready.status == 200 else f"/readyz answered {ready.status}",
            "calls had to be repeated" if set(traffic.repeats) - {409} else "",
            "" if before == web(site) else "the web server was restarted",
        )
    return f"{AWAY_SECONDS:.0f} s without it, {said}, /readyz {ready.json['status']}, {delivered} delivered; {counted}"


# -- the database ----------------------------------------------------------------------------------


def database(folder: Path) -> str:
    """PostgreSQL is stopped and started."""
    with (
        running(PostgreSQL, folder) as server,
        running(Redis, folder) as broker,
        sites.running(folder / "data", server.url, broker.url) as site,
    ):
        agent = site.create_agent()
        accepted = post_until_refused(site, agent, first=0)
        before = web(site)
        server.take_away()
        began = time.monotonic()
        say("PostgreSQL is stopped")
        refused: list[Answer] = []
        while time.monotonic() - began < GONE_SECONDS:
            with ThreadPoolExecutor(8) as pool:  # so that every web process meets it
                names = [f"away-{len(refused) + number}" for number in range(8)]
                refused += pool.map(lambda name: post(site, agent, name), names)
        page, ready, alive = site.get("/sign-in/"), site.get("/readyz"), site.get("/healthz")
        server.give_back()
        say(f"PostgreSQL is back; {len(refused)} posts were refused meanwhile")
        healed = 0.0
        until_served = time.monotonic()
        while (served := post_until_refused(site, agent, first=accepted)) < 20:
            accepted += served
            healed = time.monotonic() - until_served
        accepted += served
        fail(
            *(well_refused(answer) for answer in refused),
            "" if (ready.status, ready.json["database"]) == (503, "away") else f"/readyz says {ready.body!r}",
            "" if alive.status == 200 else f"/healthz: {alive.status}",
            "" if page.status in (200, 503) else f"the page for signing in: {page.status}",
            "" if healed < 10 else f"posts were refused for {healed:.0f} s after its return",
            whole(site, accepted),
            "" if before == web(site) else "the web server was restarted",
        )
    return (
        f"{GONE_SECONDS:.0f} s without it: {len(refused)} posts refused with 503 and Retry-After, /readyz 503; "
        f"{accepted} posts of {accepted} kept; the last 503 {healed:.1f} s after its return"
    )


# -- the disk --------------------------------------------------------------------------------------


def disk(folder: Path) -> str:
    """The disk under the data folder fills up, and is given room again."""
    data, filler = folder / "data", folder / "data" / "filler"
    data.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", data], capture_output=True).returncode:
        raise Missing("only root may mount a small disk")
    try:
        site = Site(data)
        try:
            agent = site.create_agent()
            accepted = post_until_refused(site, agent, first=0)
            before = web(site)
            fill(filler)
            say(f"the disk is full: {shutil.disk_usage(data).free} bytes left")
            more = post_until_refused(site, agent, first=20, characters=900_000)
            refused = [post(site, agent, f"full-{number}") for number in range(3)]
            filler.unlink()
            kept = site.one("SELECT count(*) FROM reviews_agentresponse")
            say(f"there is room again; {more} posts had still found some in the log")
            healed = until(lambda: post(site, agent, "healed").status in (200, 201), 30, "it takes posts again")
            accepted += more + 1
            fail(
                *(well_refused(answer) for answer in refused),
                "" if kept == accepted - 1 else f"{kept} rows for {accepted - 1} accepted posts",
                whole(site, accepted),
                "" if before == web(site) else "the web server was restarted",
            )
        finally:
            site.close()
    finally:
        subprocess.run(["umount", "--lazy", data], check=True)
    return f"503 with Retry-After; {accepted} posts of {accepted} kept; served {healed:.1f} s after there was room"


def fill(path: Path) -> None:
    """Write zeros until nothing more fits."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue


def web(site: Site) -> set[int]:
    return {process.pid for process in site.processes("metacog.web")}


# -- posts -----------------------------------------------------------------------------------------


def post(site: Site, agent: dict[str, str], name: str, characters: int = 100) -> Answer:
    said = f"Case {name}: the cause is clearly the cache."
    items = [{"kind": "chat", "text": said}]
    body = {"id": name, "response": said, "items": items, "user_message": "?" * characters}
    return site.call(agent["api_key"], "POST", "/responses", body)


def post_until_refused(site: Site, agent: dict[str, str], first: int, characters: int = 100) -> int:
    """Post under numbered ids, 20 at most, until one is refused; return how many were accepted."""
    for number in range(20):
        if post(site, agent, f"post-{first + number}", characters).status != 201:
            return number
    return 20


def well_refused(answer: Answer) -> str:
    retry = answer.headers and answer.headers["Retry-After"]
    return "" if answer.status == 503 and retry else f"a post was answered {answer.status}, Retry-After {retry}"


def whole(site: Site, accepted: int) -> str:
    """Say what is missing or half written; nothing when all of it is there."""
    counts = {
        name: site.one(query)
        for name, query in {
            "responses": "SELECT count(*) FROM reviews_agentresponse",
            "held items": "SELECT count(*) FROM reviews_helditem",
            "signals": "SELECT count(*) / 2 FROM reviews_signal",
            "events of posts": "SELECT count(*) FROM metacog_auditevent WHERE action = 'response-accepted'",
            "events of held items": "SELECT count(*) FROM metacog_auditevent WHERE action = 'chat-held'",
        }.items()
    }
    record = site.manage("audit", "verify")
    wrong = [f"{count} {name}" for name, count in counts.items() if count != accepted]
    return f"{', '.join(wrong)} for {accepted} accepted posts" if wrong else "" if "whole" in record else record

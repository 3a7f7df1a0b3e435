"""Two `manage.py up` on one database and one broker: whatever is done once, is done once."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.faults import site as sites
from tests.faults.away import post
from tests.faults.receiver import listening
from tests.faults.servers import Broker, PostgreSQL, RabbitMQ, Redis, fail, running, say, until
from tests.faults.traffic import Traffic, account

POSTS, DECISIONS, EXPIRING = 200, 60, 30
SETTINGS = {"undo_seconds": "1", "review_seconds": "1"}


def with_redis(folder: Path) -> str:
    return two(folder, Redis)


def with_rabbitmq(folder: Path) -> str:
    return two(folder, RabbitMQ)


def two(folder: Path, kind: type[Broker]) -> str:
    """Let two webs, two workers and two beats share the work, and count what each period did."""
    with (
        running(PostgreSQL, folder) as database,
        running(kind, folder) as broker,
        listening() as receiver,
        sites.running(folder / "one", database.url, broker.url, callback_allow=receiver.origin, **SETTINGS) as one,
        sites.running(folder / "other", database.url, broker.url, callback_allow=receiver.origin, **SETTINGS) as other,
    ):
        agent = one.create_agent(receiver.url)
        traffic = Traffic([one, other], agent, POSTS, DECISIONS)
        traffic.run()
        counted = account(traffic, receiver, exactly_once=True)
        say(counted)

        for number in range(EXPIRING):
            assert post(traffic.site(number), agent, f"nobody-{number}").json["items"][0]["held"]
        one.rows("UPDATE reviews_helditem SET expires_at = now() WHERE state = 'pending' RETURNING id")
        until(lambda: len(receiver.bodies()) == DECISIONS + EXPIRING, 60, "what expired is told")
        one.manage("shell", "--verbosity", "0", "-c", "from reviews.tasks import count_days; count_days()")
        time.sleep(6)  # three sweeps of each beat: long enough for a second time
        types = [json.loads(body)["type"] for _, body in receiver.seen]
        expired = one.one("SELECT count(*) FROM metacog_auditevent WHERE action = 'chat-expired'")
        decided = one.rows("SELECT held_id FROM reviews_decision WHERE verdict = 'expire'")
        day_counts = one.rows("SELECT day, count(*) FROM reviews_dailyfigure GROUP BY day HAVING count(*) > 1")
        seals = one.rows("SELECT number, total FROM metacog_auditseal ORDER BY number")
        say(f"{EXPIRING} expired: {types.count('item.expired')} callbacks; {len(seals)} seals in one chain")

        ended = seconds_to_end(one, other, agent)
        say(f"a key ended on one was refused by the other {ended * 1000:.0f} ms later")
        fail(
            "" if types.count("item.expired") == EXPIRING else f"{types.count('item.expired')} item.expired",
            "" if expired == EXPIRING == len(decided) else f"{expired} events and {len(decided)} decisions of expiry",
            f"days counted twice: {day_counts}" if day_counts else "",
            "" if [number for number, _ in seals] == list(range(1, len(seals) + 1)) else "the chain forks",
            "" if one.manage("audit", "verify").startswith("The record is whole") else "the record is not whole",
            "" if ended < 1 else f"an ended key was good for {ended:.1f} s on the other",
        )
    return (
        f"{counted}; {EXPIRING} expired once each; {len(seals)} seals, one chain; "
        f"a key ended on one was refused by the other after {ended * 1000:.0f} ms"
    )


def seconds_to_end(one: sites.Site, other: sites.Site, agent: dict[str, str]) -> float:
    """End the agent's key through one site; return for how long the other still took it."""
    newer = json.loads(one.manage("agent", "rotate", "kuro", "--json"))
    for key in (agent["api_key"], newer["api_key"]):
        assert other.call(key, "GET", "/held").status == 200
    cookies = one.sign_in()
    assert one.submit(cookies, f"/agents/{agent['id']}/revoke", {"reason": "It leaked."}).status == 302
    ended = until(lambda: other.call(agent["api_key"], "GET", "/held").status == 401, 10, "the key ends")
    assert other.call(newer["api_key"], "GET", "/held").status == 200
    return ended

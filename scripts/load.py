"""Post responses as fast as they are answered, and say how fast that was. For a trial system: the rows stay.

    for n in 1 2 3 4; do manage.py agent create load-$n --team Load --json; done > agents
    python scripts/load.py http://127.0.0.1:8000 [--seconds 10] [--bytes 2600] [--held 0.03] < agents

Each agent sends its next post when the last one is answered. What is refused (429 beyond the agent's rate) is counted
beside. This program takes a share of the machine it runs on.
"""

import argparse
import http.client
import json
import random
import statistics
import sys
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlsplit

SENTENCE = "the index reads each row in turn because the cache is clearly cold and maybe no query was measured "


@dataclass(frozen=True)
class Load:
    """What each agent posts, and how often."""

    seconds: float
    bytes: int = 2_600  # of each response
    held: float = 0.0  # the share of posts whose item asks to be held
    pause: float = 0.0  # from one post to the next; 0: once the last is answered


def body(size: int, source: random.Random, held: float = 0.0) -> bytes:
    """Return a post of a response of about `size` bytes, with its first 400 characters as a chat."""
    words = SENTENCE.split()
    text = " ".join(source.choices(words, k=1 + size * len(words) // len(SENTENCE)))
    item = {"kind": "chat", "text": text[:400], "require_review": source.random() < held}
    return json.dumps({"id": str(uuid.uuid4()), "response": text, "items": [item]}).encode()


def post(address: str, key: str, load: Load) -> tuple[list[float], Counter[int]]:
    """Post under one key until the time is over; return how long each accepted post took, and other statuses.

    With a pause a post takes as long as it is answered after the moment it was due.
    """
    url = urlsplit(address)
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.netloc, timeout=60)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    source = random.Random(key)
    took: list[float] = []
    others: Counter[int] = Counter()
    began = time.monotonic() + source.random() * load.pause
    end = time.monotonic() + load.seconds
    while began < end:
        time.sleep(max(0.0, began - time.monotonic()))
        connection.request("POST", "/api/v1/responses", body(load.bytes, source, load.held), headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status == 201:
            took.append(time.monotonic() - began)
        else:
            others[answer.status] += 1
        began = began + load.pause if load.pause else time.monotonic()
    return took, others


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--bytes", type=int, default=2600, help="of each response (%(default)s)")
    parser.add_argument("--held", type=float, default=0, help="share of posts that are held (%(default)s)")
    options = parser.parse_args(arguments)
    asked = Load(options.seconds, options.bytes, options.held)
    keys = [json.loads(line)["api_key"] for line in sys.stdin]
    with ThreadPoolExecutor(len(keys)) as pool:
        found = list(pool.map(lambda key: post(options.address, key, asked), keys))
    took = sorted(seconds for times, _ in found for seconds in times)
    others: Counter[int] = sum((statuses for _, statuses in found), Counter())
    if not took:
        sys.exit(f"No post was accepted: {dict(others)}")
    print(
        f"{len(took)} posts of {len(keys)} agents at once, {len(took) / options.seconds:.0f} a second: "
        f"median {statistics.median(took) * 1000:.0f} ms, 99 % within {took[len(took) * 99 // 100] * 1000:.0f} ms; "
        f"otherwise answered: {dict(others) or 'none'}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])

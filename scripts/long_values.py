"""What the pages of an item cost when one of its values is long: CPU, beside the same page of a small value.

    .venv/bin/python scripts/long_values.py [--bytes N] [NAME …]

Values of 270 KB of several kinds are posted as an argument of a tool call and as a chat, to a database in a temporary
folder; then the item's page, its response's and "Decide together" are asked for. Times are the best of ten.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "metacog.settings")

SMALL = "The order was sent on Monday. "
PARTS = {  # of what long values are made: as much of it as fits
    "prose": SMALL,
    "Chinese": "訂單在星期一寄出，顧客問了兩次是否已經送達。",
    "code": "def f(x):\n    return {'a': x, \"b\": [1, 2]}\n",
    "JSON": '{"id": 7, "name": "x"}, ',
    "blank lines": "\n",
    "signals": "The cause is clearly the cache. ",
    "rows": "7,customer,49.00\r\n",
    "hosts": "see https://a.example.org/x and bob@example.com ",
}
TURNS = 10


def value(name: str, size: int) -> str:
    text = PARTS[name] * (size // len(PARTS[name].encode()))
    return f"[{text}0]" if name == "JSON" else f"a{text}b"


def pages_of(post: Any, kind: str, text: str) -> dict[str, str]:
    """Post two items of a value, and return the addresses of pages that show them."""
    item: dict[str, Any] = {"kind": "chat", "text": text, "require_review": True}
    if kind == "call":
        item = {"kind": "tool_call", "name": "write_note", "arguments": {"text": text}}
    first, second = (post({"response": "", "items": [item]}) for _ in range(2))
    held = [answer["items"][0]["held"] for answer in (first, second)]
    return {
        "item": f"/queue/{held[0]}/",
        "response": f"/responses/{first['id']}/",
        "Decide together": f"/queue/together/?held={held[0]}&held={held[1]}",
    }


def cost(client: Any, address: str) -> float:
    """Return the CPU milliseconds of a page."""
    taken = []
    for _ in range(TURNS):
        begun = time.process_time()
        answer = client.get(address)
        taken.append((time.process_time() - begun) * 1000)
        assert answer.status_code == 200, answer.status_code
    return min(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bytes", type=int, default=270_000)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PARTS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"METACOG_DATA_DIR": folder, "METACOG_DOTENV": "", "METACOG_DATABASE_URL": ""}
        compare({name: value(name, options.bytes) for name in options.names or PARTS})


def compare(values: Mapping[str, str]) -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import Client

    from metacog.accounts.agents import create_agent
    from metacog.models import Team, User

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    client = Client(SERVER_NAME="127.0.0.1")
    person = User.objects.create_superuser("admin")
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    _agent, key, _secret = create_agent(Team.objects.create(name="T"), "agent", None)

    def post(body: Any) -> Any:
        sent = json.dumps(body, ensure_ascii=False)
        answer = client.post("/api/v1/responses", sent, "application/json", headers={"authorization": f"Bearer {key}"})
        assert answer.status_code == 201, answer.content[:300]
        return answer.json()

    print(f"{'':14}{'':6}{'page':18}{'CPU ms':>8}{'small':>8}{'times':>7}")
    for kind in ("call", "chat"):
        small = {page: cost(client, address) for page, address in pages_of(post, kind, SMALL).items()}
        for name, text in values.items():
            for page, address in pages_of(post, kind, text).items():
                ms = cost(client, address)
                print(f"{name:14}{kind:6}{page:18}{ms:8.1f}{small[page]:8.1f}{ms / small[page]:7.2f}", flush=True)


if __name__ == "__main__":
    main()

"""Start a real metacog for the tests of a client, and take orders about it.

    python clients/testing/server.py [--port PORT]

Prints one line of JSON when it is ready: `{"url", "agent", "api_key", "signing_secret", "token", "callback_url",
"data_dir"}`; `token` is the owner's, with the scopes read and decide. It ends, and deletes its data, on SIGTERM or when
standard input closes. Until then each line on standard input is an order, and is answered with a line of JSON:

    stop                    the server goes away
    start                   and comes back, on the same port and data
    limit RATE [BURST]      so many posts a second from here on
    policy {"FIELD": …}     change other fields of the agent's policy
    callback URL            where the agent's webhooks go; only to `callback_url` or below it. Empty: nowhere
    given SESSION           what went along with each post of a session as its tools' output; stands in `found`

To be run by the server's own Python; the client under test may have another.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 600.0  # a busy machine migrates an empty database in minutes
STOP_SECONDS = 30.0
RETRIES = ",".join(["1"] * 60)  # of deliveries, in seconds


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


class Server:
    """`manage.py up` as a process, and its rows as this process sees them."""

    def __init__(self, data_dir: Path, port: int) -> None:
        self.data_dir, self.port = data_dir, port
        self.url = f"http://127.0.0.1:{port}"
        self.callback_url = f"http://127.0.0.1:{free_port()}"
        self.process: subprocess.Popen[bytes] | None = None
        for name in [name for name in os.environ if name.startswith("METACOG_")]:
            del os.environ[name]
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "metacog.settings",
            "METACOG_ADMIN_PASSWORD": "for-this-test-alone",
            "METACOG_CALLBACK_ALLOW": self.callback_url,
            "METACOG_CALLBACK_SCHEDULE": RETRIES,
            "METACOG_DATA_DIR": str(data_dir),
            "METACOG_DOTENV": "",
            "METACOG_LISTEN_PORT": str(port),
            "METACOG_REVIEW_SECONDS": "1",
            "METACOG_UNDO_SECONDS": "0",
        }

    def start(self) -> None:
        if self.process:
            return
        log = (self.data_dir / "server.log").open("ab")
        command = [sys.executable, "manage.py", "up", "--port", str(self.port), "--workers", "1"]
        # A group of its own: Ctrl-C in a terminal is for this process, which then stops it.
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        log.close()
        end = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f"metacog does not start:\n{(self.data_dir / 'server.log').read_text()}")
            time.sleep(0.1)  # between two looks

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5):
                return True
        except (OSError, urllib.error.HTTPError):
            return False

    def stop(self) -> None:
        if not self.process:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process = None

    def people(self) -> dict[str, str]:
        """Make the agent and the owner's token; return what a test needs."""
        sys.path.insert(0, str(ROOT))
        import django

        django.setup()
        from metacog.accounts import agents, tokens
        from metacog.models import Membership, Role

        owner = Membership.objects.filter(role=Role.OWNER).select_related("user", "team").earliest("pk")
        agent, api_key, secret = agents.create_agent(owner.team, "tester", owner.user, packs=())
        _, token = tokens.issue(owner.user, name="tests", scopes=["read", "decide"], days=7)
        self.agent = agent.pk
        return {
            "url": self.url,
            "agent": agent.public_id,
            "api_key": api_key,
            "signing_secret": secret,
            "token": token,
            "callback_url": self.callback_url,
            "data_dir": str(self.data_dir),
        }

    def policy(self, **fields: Any) -> None:
        """Put the agent's policy with these fields changed into force, as an owner's form does."""
        from metacog.accounts import agents
        from metacog.models import Agent, Policy

        agent = Agent.objects.get(pk=self.agent)
        policy = Policy.objects.get(agent=agent, version=agent.policy_version)
        policy.pk, policy._state.adding = None, True  # another row
        for name, value in fields.items():
            setattr(policy, name, value)
        agents.add_policy(agent, None, policy, based_on=agent.policy_version)

    def given(self, session: str) -> list[str]:
        from reviews.models import AgentResponse

        posts = AgentResponse.objects.filter(agent=self.agent, session=session).order_by("pk")
        return [json.loads(post.body).get("command_output") or "" for post in posts]

    def obey(self, order: str) -> list[str] | None:
        """Do it; return what was found, where something was asked for."""
        word, _, rest = order.strip().partition(" ")
        if word == "stop":
            self.stop()
        elif word == "start":
            self.start()
        elif word == "limit":
            rate, _, burst = rest.partition(" ")
            self.policy(rate_per_second=int(rate), rate_burst=int(burst or 1))
        elif word == "policy":
            self.policy(**json.loads(rest))
        elif word == "callback":
            from metacog.accounts import agents
            from metacog.models import Agent

            agent = Agent.objects.get(pk=self.agent)
            agents.change(agent, None, name=agent.name, language=agent.language, callback_url=rest)
        elif word == "given":
            return self.given(rest)
        else:
            raise ValueError(f"{word!r} is no order; see the head of {Path(__file__).name}")
        return None


def leave(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(0)


def main() -> None:
    parser = ArgumentParser(description="Start a real metacog for the tests of a client.")
    parser.add_argument("--port", type=int, default=0, help="to listen on (a free one)")
    port = parser.parse_args().port or free_port()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave)
    folder = Path(tempfile.mkdtemp(prefix="metacog-client-tests-"))
    server = Server(folder, port)
    try:
        server.start()
        print(json.dumps(server.people()), flush=True)
        for line in sys.stdin:
            try:
                answer: dict[str, Any] = {"ok": True, "error": "", "found": server.obey(line)}
            except Exception as error:  # whoever ordered it is told
                answer = {"ok": False, "error": f"{type(error).__name__}: {error}", "found": None}
            print(json.dumps(answer), flush=True)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

"""Run one of the examples against a metacog of its own, or against yours.

    make example NAME=support-desk
    make example NAME=nightly-batch ARGS=--again      start its work from nothing

Without METACOG_URL and METACOG_API_KEY it starts metacog on http://127.0.0.1:8100 with data in data-examples/, adds the
example's agent with its rules, and runs the example beside it (METACOG_LISTEN_PORT and METACOG_DATA_DIR name others).
Nothing needs a model, a key or a network. When the example has ended, metacog goes on until Ctrl-C, so that you can
look at what came of it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DATA = Path(os.environ.get("METACOG_DATA_DIR") or ROOT / "data-examples")
PORT = int(os.environ.get("METACOG_LISTEN_PORT") or 8100)
START_SECONDS = 180.0
PACKS = {"coding-agent": "coding", "nightly-batch": "everything-asks", "rag-bot": "support", "support-desk": "support"}


def manage(*words: str) -> str:
    """Run `manage.py` on the examples' data, and return what it printed; end with what it said where it fails."""
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout if done.returncode == 0 else sys.exit(done.returncode)


def api_key(name: str, work: Path) -> str:
    """Return the key of the example's agent, which is added at the first run."""
    kept = DATA / f"{name}.json"
    if not kept.exists():
        pack = ["--pack", PACKS[name], *(["--set", f"workspace={work}"] if PACKS[name] == "coding" else [])]
        printed = manage("agent", "create", name, "--team", "Default", "--json", *pack)
        rules = HERE / name.replace("-", "_") / "policy.json"
        if rules.exists():
            manage("policy", "apply", name, str(rules))
        kept.touch(mode=0o600)
        kept.write_text(printed)
    key: str = json.loads(kept.read_text())["api_key"]
    return key


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=5):
            return True
    except (OSError, urllib.error.HTTPError):
        return False


def serve(url: str) -> subprocess.Popen[bytes] | None:
    """Start metacog, and return when it answers; None where an example started it before and it still runs."""
    if answers(url):
        return None
    server = subprocess.Popen([sys.executable, str(ROOT / "manage.py"), "up", "--port", str(PORT)])
    end = time.monotonic() + START_SECONDS
    while not answers(url):
        if server.poll() is not None or time.monotonic() > end:
            server.terminate()
            sys.exit("metacog does not start; what it said stands above.")
        time.sleep(0.2)  # between two looks
    return server


def main(words: list[str]) -> int:
    name = next((word for word in words if not word.startswith("-")), "")
    if name not in PACKS:
        print(__doc__, f"There are {', '.join(PACKS)}.", sep="\n")
        return 2
    work = DATA / "work" / name
    if "--again" in words:
        shutil.rmtree(work, ignore_errors=True)
    DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    server = None
    around = os.environ | {"PYTHONPATH": str(ROOT / "clients" / "python" / "src"), "PYTHONUNBUFFERED": "1"}
    try:
        if not ("METACOG_URL" in os.environ and "METACOG_API_KEY" in os.environ):
            os.environ["METACOG_DATA_DIR"] = str(DATA)
            around["METACOG_URL"] = f"http://127.0.0.1:{PORT}"
            server = serve(around["METACOG_URL"])
            around["METACOG_API_KEY"] = api_key(name, work)
        print(f"\n{name}: what is held waits at {around['METACOG_URL']}/queue/\n", flush=True)
        program = HERE / name.replace("-", "_") / "agent.py"
        status = subprocess.call([sys.executable, str(program)], cwd=work, env=around)
        if server and status == 0:
            print("\nDone. metacog goes on until Ctrl-C.", flush=True)
            server.wait()
        return status
    except KeyboardInterrupt:
        return 0
    finally:
        if server:
            server.send_signal(signal.SIGTERM)
            server.wait()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))

"""`python -m reviews.demo.fill`: invents the history of a demo that is served already, then goes on as its agent."""

from __future__ import annotations

import os
import sys
import time
from datetime import datetime, timedelta

import django
from django.conf import settings
from django.db import connection
from django.template.defaultfilters import pluralize

KEY_FILE = "demo-agent-key"  # a data folder that holds it is a demo's
UNFINISHED = "demo-unfinished"  # holds when the history ends, and its days; gone once it is whole
ON_TERMINAL, ON_PAPER = 0.1, 5  # seconds between two lines about one step


def begin(end: datetime, days: int) -> None:
    """Remember that a history is to be invented, so many days up to that moment."""
    (settings.DATA_DIR / UNFINISHED).write_text(f"{end.isoformat()} {days}")


def is_unfinished() -> bool:
    return (settings.DATA_DIR / UNFINISHED).exists()


def end() -> None:
    (settings.DATA_DIR / UNFINISHED).unlink(missing_ok=True)


def fill() -> None:
    """Invent the history, a step after the other, as it would have been written."""
    from metacog.models import Team, User
    from reviews.demo import history
    from reviews.demo.clock import turned_back
    from reviews.models import AgentResponse, HeldItem

    moment, days = (settings.DATA_DIR / UNFINISHED).read_text().split()
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:  # a demo's rows need not outlive a power cut
            cursor.execute("PRAGMA synchronous = NORMAL")
    print(f"Inventing {days} day{pluralize(days)} of history; the console fills meanwhile.", flush=True)
    progress = Progress()
    team, owner = Team.objects.get(name=history.TEAM), User.objects.get(username="admin")
    with turned_back(datetime.fromisoformat(moment) - timedelta(days=int(days))) as clock:
        history.play(team, owner, clock, int(days), progress.tell)
    progress.end()
    responses, wait = AgentResponse.objects.count(), HeldItem.objects.filter(state=HeldItem.State.PENDING).count()
    what_waits = f"{wait} item{pluralize(wait, ' waits,s wait')} for a decision"
    print(f"It has {responses} response{pluralize(responses)}, and {what_waits}.", flush=True)


class Progress:
    """How far a long step is: on a terminal a line that is written over, else a line now and then."""

    def __init__(self) -> None:
        self.is_terminal = sys.stdout.isatty()
        self.pause = ON_TERMINAL if self.is_terminal else ON_PAPER
        self.told_at = time.monotonic()
        self.what = ""

    def tell(self, what: str, done: int, of: int) -> None:
        """Say it, unless something of the same was said just before."""
        is_new = what.partition(":")[0] != self.what.partition(":")[0]
        if not is_new and done < of and time.monotonic() < self.told_at + self.pause:
            return
        self.what, self.told_at = what, time.monotonic()
        line = f"  {what}: {done:,} of {of:,} ({100 * done // of}%)"
        print(f"\r{line}\x1b[K" if self.is_terminal else line, end="" if self.is_terminal else "\n", flush=True)

    def end(self) -> None:
        if self.is_terminal:
            print(flush=True)


def main() -> None:
    django.setup()
    from metacog.accounts.keys import agent_with_key
    from reviews.demo import history
    from reviews.models import AgentResponse

    if not AgentResponse.objects.exists():  # else it was cut off, and is started again
        fill()
    end()
    key_file = settings.DATA_DIR / KEY_FILE
    agent = agent_with_key(key_file.read_text())
    cycle = history.next_cycle(agent) if agent else 1  # a visitor may have ended its key
    connection.close()
    posting = ["-m", "metacog.runtime.supervisor", "reviews.demo.agent", settings.PUBLIC_URL, str(key_file), str(cycle)]
    os.execv(sys.executable, [sys.executable, *posting])


if __name__ == "__main__":
    main()

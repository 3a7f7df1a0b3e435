"""The Celery app. Tasks are nudges: rows are the truth, and a sweep finds what a lost message left."""

import logging
import os
import threading
import warnings

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

logger = logging.getLogger(__name__)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "metacog.settings")
TRANSPORT_ALIASES["metacog"] = "metacog.broker:Transport"

# Celery warns of running as root because of pickle; here only JSON is accepted.
warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")

app = Celery("metacog")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


class Nudger:
    """Publishes from a thread of its own, so that a slow or absent broker never holds up a request.

    Nudges of one task that come while another is being sent become one. Those that cannot be sent
    are dropped: the sweep does their work a little later.
    """

    def __init__(self) -> None:
        self._wanted: set[str] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def ask(self, task: str) -> None:
        with self._changed:
            self._wanted.add(task)
            if self._thread is None:
                self._thread = threading.Thread(target=self._publish, name="nudger", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _publish(self) -> None:
        reachable = True
        while True:
            with self._changed:
                while not self._wanted:
                    self._changed.wait()
                task = self._wanted.pop()
            try:
                app.send_task(task, expires=60)
            except Exception as error:  # whatever the transport raises: nothing here may end the thread
                if reachable:
                    logger.warning("The broker cannot be reached (%s); the sweep goes on without it.", error)
                reachable = False
            else:
                reachable = True


_nudger = Nudger()


def _forget_thread() -> None:
    global _nudger
    _nudger = Nudger()  # threads do not survive a fork


os.register_at_fork(after_in_child=_forget_thread)


def nudge(task: str) -> None:
    """Have a worker run the task of this name soon. Returns at once and never raises."""
    _nudger.ask(task)

"""Pages that may be a little late read from a replica of the database, where METACOG_REPLICA_URL names one.

While such a page is made, the replica stands in the place of the database: all that the page asks, goes there. It is
not asked where it is behind: where the worker's heartbeat in it is old, or the person's teams and roles are others
there. Whatever the replica refuses or cannot answer, the database is asked for instead, with the page made anew.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec

from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.http import HttpResponse
from django.utils import timezone

from metacog.models import Heartbeat, User
from metacog.models.heartbeat import is_alive

logger = logging.getLogger(__name__)
Given = ParamSpec("Given")
REPLICA = "replica"
LEFT_ALONE_SECONDS = 30.0  # after it failed: to find that nobody answers takes seconds


class _Replica:
    """Whether this process asks the replica."""

    def __init__(self) -> None:
        self._left_alone_until = 0.0

    def is_asked(self) -> bool:
        return REPLICA in connections and time.monotonic() >= self._left_alone_until

    def leave_alone(self, error: Error) -> None:
        self._left_alone_until = time.monotonic() + LEFT_ALONE_SECONDS
        logger.warning("The replica is not asked for %d s: %s", LEFT_ALONE_SECONDS, str(error).partition("\n")[0])


_replica = _Replica()


def may_be_late(view: Callable[Given, HttpResponse]) -> Callable[Given, HttpResponse]:
    """Let a page that only reads be made from the replica. Its answer is whole when the view returns: no stream."""

    @wraps(view)
    def shown(*args: Given.args, **kwargs: Given.kwargs) -> HttpResponse:
        if _replica.is_asked():
            request: Any = args[0]
            person: User = request.user
            roles = _roles(person)
            try:
                with _in_its_place():
                    if _follows() and _roles(person) == roles:
                        return view(*args, **kwargs)
            except Error as error:
                _replica.leave_alone(error)
        return view(*args, **kwargs)

    return shown


@contextmanager
def _in_its_place() -> Iterator[None]:
    """Have the replica asked for what the database is asked in this thread."""
    database = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = connections[REPLICA]
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = database


def _follows() -> bool:
    seen_at = Heartbeat.objects.filter(name="worker").values_list("at", flat=True).first()
    return is_alive(seen_at, timezone.now())


def _roles(person: User) -> set[tuple[int, str]]:
    return set(person.memberships.order_by().values_list("team_id", "role"))

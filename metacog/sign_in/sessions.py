"""Sessions as Django keeps them, found by SQL that is written once: every page asks for its own."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from metacog.db.prepared import written_once


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Session | None:
        found = _session.first(self.session_key, timezone.now())
        if found is None:
            self._session_key = None
        return found


@written_once
def _session(key: Any, now: Any) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=now)

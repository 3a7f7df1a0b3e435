"""The queue as a file: what the filters match, a row at a time, secrets masked as on the page."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, cast

from django.db.models import F, Prefetch
from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from metacog.heuristics.tool_calls.secrets import masked, masked_call, masked_effects
from metacog.http import csv_file
from metacog.models import User
from reviews.held.filters import Filters
from reviews.held.listing import in_order, matching
from reviews.models import Decision, DecisionVerdict, HeldItem
from reviews.pages.person import PersonRequest
from reviews.presentation.phrases import who
from reviews.serializers import never_reported, outcome_shape

AT_ONCE = 100  # rows that are read together: a text may have a megabyte
COLUMNS = (
    "id", "url", "team", "agent", "kind", "tool", "score", "risk", "state", "held_at", "expires_at", "session", "cycle",
    "text", "arguments", "effects", "metadata", "decision", "decided_by", "decided_at", "reason",
    "outcome", "never_reported",
)  # fmt: skip


@require_safe
def export(request: PersonRequest) -> HttpResponseBase:
    """Send what the filters match as CSV or JSON lines, in the order of the list; each near-duplicate is a row."""
    filters, unknown = Filters.of_list(request.GET, request.user.teams, request.user.pk)
    if unknown or request.GET.get("format", "csv") not in ("csv", "jsonl"):
        raise Http404  # a file has no place to say that it is not what was asked for
    is_csv = request.GET.get("format") != "jsonl"
    rows = _rows(filters, request.user, request.build_absolute_uri("/queue/"))
    lines = _as_csv(rows) if is_csv else (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    name = f"queue-{timezone.localdate():%Y-%m-%d}.{'csv' if is_csv else 'jsonl'}"
    return StreamingHttpResponse(
        lines,
        content_type="text/csv; charset=utf-8" if is_csv else "application/jsonl; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )


def _rows(filters: Filters, user: User, base: str) -> Iterator[dict[str, Any]]:
    items = matching(filters, user.teams)
    pending = HeldItem.State.PENDING
    items = items.exclude(state=pending) if filters.state == "decided" else items.filter(state=pending)
    standing = Decision.as_told().filter(undone_at=None)
    read = (
        in_order(items, filters)
        .select_related("agent", "team", "call__outcome")
        .prefetch_related(Prefetch("decisions", standing, to_attr="told"))
        .annotate(session=F("response__session"), cycle=F("response__cycle"))
    )
    for held in read.iterator(chunk_size=AT_ONCE):
        yield _row(held, base)


def _row(held: Any, base: str) -> dict[str, Any]:
    is_call = held.kind == HeldItem.Kind.TOOL_CALL
    decision = next(iter(held.told), None)
    row = {
        "id": held.public_id,
        "url": f"{base}{held.public_id}/",
        "team": held.team.name,
        "agent": held.agent.name,
        "kind": held.kind,
        "tool": held.call.name if is_call else "",
        "score": None if is_call and held.call.hesitation is None else held.hesitation_score,
        "risk": held.risk,
        "state": held.state,
        "held_at": held.held_at.isoformat(timespec="seconds"),
        "expires_at": held.expires_at.isoformat(timespec="seconds"),
        "session": held.session,
        "cycle": held.cycle,
        "text": masked_call(held.text) if is_call else held.text,
        "arguments": held.call.arguments if is_call else None,
        "effects": masked_effects(held.call.effects, held.call.arguments) if is_call else None,
        "metadata": held.metadata,
        "decision": decision.verdict if decision else "",
        "decided_by": _who(decision) if decision else "",
        "decided_at": decision.decided_at.isoformat(timespec="seconds") if decision else "",
        "reason": decision.reason if decision else "",
        "outcome": outcome_shape(getattr(held.call, "outcome", None)) if is_call else None,
        "never_reported": never_reported(held),
    }
    return cast("dict[str, Any]", masked(row))


def _who(decision: Decision) -> str:
    return gettext("nobody (expired)") if decision.verdict == DecisionVerdict.EXPIRE else who(decision, None)


def _as_csv(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Give lines of CSV as they are read; a byte order mark has spreadsheets take them for UTF-8."""
    yield "\N{ZERO WIDTH NO-BREAK SPACE}"
    cells = ([_cell(row[name]) for name in COLUMNS] for row in rows)
    for line in chain([COLUMNS], cells):
        written = io.StringIO(newline="")
        csv_file.write(written, [line])
        yield written.getvalue()


def _cell(value: Any) -> Any:
    return "" if value is None else json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value

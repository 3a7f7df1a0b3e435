"""Responses, and what else was found, as files: CSV for spreadsheets, JSON Lines for programs. Secrets stay masked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, StreamingHttpResponse
from django.utils import timezone

from metacog.heuristics.tool_calls.secrets import masked, masked_text
from metacog.http import csv_file
from reviews.models import AgentResponse, HeldItem
from reviews.search.kinds import Hit, Kind

AT_ONCE = 100  # responses that are read together
CSV, JSON_LINES = "csv", "jsonl"

RESPONSE = (
    "id", "team", "agent", "received_at", "session", "cycle", "outcome", "score", "flagged", "unread", "quality_score",
    "stuck_points", "response", "user_message", "items", "metadata",
)  # fmt: skip
HIT = ("id", "kind", "of", "session", "state", "at", "text")

Row = dict[str, Any]


def as_file(name: str, form: str, columns: Sequence[str], rows: Iterable[Row]) -> StreamingHttpResponse:
    """Send rows as they are read."""
    if form not in (CSV, JSON_LINES):
        raise Http404
    lines = _as_csv(columns, rows) if form == CSV else _as_json(rows)
    kind = "text/csv" if form == CSV else "application/jsonl"
    return StreamingHttpResponse(
        lines,
        content_type=f"{kind}; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}-{timezone.now():%Y-%m-%d}.{form}"',
            "Cache-Control": "no-store",
        },
    )


class _Line:
    """Takes what is written, and gives it."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text


def _as_csv(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    def line(cells: Sequence[Any]) -> str:
        file = _Line()
        csv_file.write(file, [cells])
        return file.text

    yield "\ufeff" + line(columns)
    for row in rows:
        yield line([_cell(row[name]) for name in columns])


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return value if isinstance(value, str | int | float) else json.dumps(value, ensure_ascii=False)


def _as_json(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def of_hits(found: Iterable[tuple[Kind, Hit]]) -> Iterator[Row]:
    for kind, hit in found:
        yield {
            "id": hit.public_id,
            "kind": kind.name,
            "of": hit.of,
            "session": masked_text(hit.session),
            "state": hit.state_value,
            "at": hit.at.isoformat(),
            "text": hit.whole,
        }


def of_responses(rows: QuerySet[AgentResponse, AgentResponse]) -> Iterator[Row]:
    """Go through responses, the newest first; `rows` have no order of their own."""
    rows = rows.select_related("agent__team").defer("history", "fingerprint").order_by("-pk")
    page = list(rows[:AT_ONCE])
    while page:
        states = _states(page)
        for response in page:
            yield _of_response(response, states)
        page = list(rows.filter(pk__lt=page[-1].pk)[:AT_ONCE])


def _states(responses: Sequence[AgentResponse]) -> dict[str, str]:
    """Return what has become of what was held of responses, by the held items' ids."""
    return dict(HeldItem.objects.filter(response__in=responses).values_list("public_id", "state"))


def _of_response(response: AgentResponse, states: dict[str, str]) -> Row:
    verdict, body = response.wire_verdict(), response.wire_body()
    answered = [item["disposition"] for item in verdict["items"]]
    return {
        "id": response.public_id,
        "team": response.agent.team.name,
        "agent": response.agent.name,
        "received_at": response.received_at.isoformat(),
        "session": masked_text(response.session),
        "cycle": response.cycle,
        "outcome": next((each for each in ("hold", "mark", "pass") if each in answered), "none"),
        "score": response.hesitation_score,
        "flagged": response.flagged,
        "unread": response.unread,
        "quality_score": response.quality_score,
        "stuck_points": response.stuck_points,
        "response": masked_text(body["response"]),
        "user_message": masked_text(body.get("user_message") or ""),
        "items": [
            {
                "kind": item["kind"],
                "outcome": item["disposition"],
                "held": item["held"],
                "state": states.get(
                    item["held"] or ""
                ),  # of a held item: nothing of it is released while it is pending
                **_said(sent),
            }
            for item, sent in zip(verdict["items"], _sent(body, len(verdict["items"])), strict=True)
        ],
        "metadata": masked(body.get("metadata") or {}),
    }


def _sent(body: dict[str, Any], count: int) -> Sequence[dict[str, Any]]:
    """Return the items as they were posted; nothing where they stood as tags in the response."""
    items = body.get("items") or []
    return items if len(items) == count else [{}] * count


def _said(sent: dict[str, Any]) -> Row:
    if "name" in sent:
        return {"name": masked_text(sent["name"]), "arguments": masked(sent["arguments"])}
    return {"text": masked_text(sent["text"])} if "text" in sent else {}

"""The team's active error patterns, for agents that score at their own side."""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from ninja import Router
from pydantic import BaseModel

from metacog.api import AgentRequest, as_json
from patterns.scorer import wire_patterns

router = Router()


class Pattern(BaseModel):
    """An error pattern, in the seed's shape (`hesitation-patterns.json`)."""

    id: str
    keywords: list[str]
    description: str
    source: Literal["alex-correction", "self-review", "external"]
    createdAt: str
    triggerCount: int


class PatternPage(BaseModel):
    items: list[Pattern]
    next: str | None


@router.get("/patterns", response=PatternPage, summary="Read the active patterns")
def list_patterns(request: AgentRequest) -> HttpResponse:
    """Return your team's active patterns, all of them, in the order in which they count.

    Send the `ETag` back in `If-None-Match` to be answered 304 while nothing has changed.
    """
    body = json.dumps({"items": wire_patterns(request.auth.team_id), "next": None}, ensure_ascii=False)
    etag = quote_etag(hashlib.sha256(body.encode()).hexdigest()[:32])
    answer = as_json(body, headers={"ETag": etag, "Cache-Control": "private, no-cache"})
    return get_conditional_response(request, etag=etag, response=answer) or answer

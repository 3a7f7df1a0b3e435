"""Problem documents (RFC 9457): how every error of the agents' API looks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse


class Problem(Exception):
    """An error to be answered as it is. Nothing was written by the time it is raised."""

    def __init__(
        self,
        status: int,
        detail: str,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors = status, detail, list(errors)
        self.headers, self.extra = dict(headers or {}), extra


def answer(problem: Problem) -> HttpResponse:
    document = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail,
        "errors": problem.errors,
        **problem.extra,
    }
    return HttpResponse(
        json.dumps(document, ensure_ascii=False),
        status=problem.status,
        content_type="application/problem+json",
        headers=problem.headers,
    )


def at(pointer: str, detail: str) -> Problem:
    """Return the 422 for one place in the body (a JSON Pointer), a header or the query."""
    return Problem(422, detail, [{"pointer": pointer, "detail": detail}])

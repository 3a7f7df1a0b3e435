"""What can go wrong between this program and metacog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class MetacogError(Exception):
    """Everything that this package raises about metacog."""


class NotConfigured(MetacogError):
    """No address, or no key."""


class Unreachable(MetacogError):
    """No answer within the time that was given: nobody there, too busy, or broken."""


class Refused(MetacogError):
    """metacog answered that it will not: asked again, it would say the same.

    `status` is HTTP's, `detail` one sentence, and each of `errors` has a JSON Pointer and its own sentence.
    `problem` is the whole document.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        errors: Sequence[dict[str, str]] = (),
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{detail} ({status})")
        self.status, self.detail, self.errors, self.problem = status, detail, list(errors), problem or {}


class NotAnswered(MetacogError):
    """A question has no answer: it was rejected, has expired or was withdrawn, or is `pending` after the deadline.

    `reason` is the person's; `held` is the question's id.
    """

    def __init__(self, verdict: str, reason: str, held: str, review_url: str | None = None) -> None:
        told = {
            "reject": "A person rejected the question.",
            "expire": "Nobody answered the question in time, and it has expired.",
            "withdraw": "The question was withdrawn before it was answered.",
            "pending": "Nobody has answered the question so far.",
        }.get(verdict, f"The question has no answer: {verdict}.")
        super().__init__(f"{told} Reason: {reason}" if reason else told)
        self.verdict, self.reason, self.held, self.review_url = verdict, reason, held, review_url


class BadSignature(MetacogError):
    """A webhook that none of the secrets signed, or not within the last minutes."""

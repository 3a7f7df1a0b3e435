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


class BadSignature(MetacogError):
    """A webhook that none of the secrets signed, or not within the last minutes."""

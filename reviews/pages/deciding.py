"""What the forms that decide have in common."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext

from metacog.heuristics.text.shadow import is_blank
from metacog.models import Agent
from reviews.models import Decision
from reviews.presentation import reasons

Verdict = Decision.Verdict

MAX_REASON = 10_000


def reason_form(request: HttpRequest) -> dict[str, str]:
    """Return what the form of a rejection holds, so that it can be given back."""
    return {name: request.POST.get(name, "") for name in ("preset", "reason")}


def reason_given(request: HttpRequest, agent: Agent) -> str:
    """Return why an item is rejected, as the form says it, in the agent's language."""
    form = reason_form(request)
    return reasons.compose(form["preset"], form["reason"].replace("\r\n", "\n").strip(), agent.language)


def with_line_ends_of(original: str, posted: str) -> str:
    """Return a posted text with the original's line ends: browsers send every line end of a form as \\r\\n."""
    text = posted.replace("\r\n", "\n").replace("\r", "\n")
    if text == original.replace("\r\n", "\n").replace("\r", "\n"):
        return original
    return text.replace("\n", "\r\n") if "\r\n" in original else text


def why_not(verdict: str, text: str | None, reason: str) -> str:
    """Return what keeps a form from being decided, in a sentence."""
    if verdict not in (Verdict.APPROVE, Verdict.REJECT):
        return gettext("Choose to approve or to reject.")
    if verdict == Verdict.REJECT and is_blank(reason):
        return gettext("Give a reason: the agent reads it, and it is what metacog learns from.")
    if len(reason) > MAX_REASON:
        return gettext("The reason is too long: %(most)s characters at most.") % {"most": f"{MAX_REASON:,}"}
    if "\0" in reason or "\0" in (text or ""):
        return gettext("The text has a NUL character, which cannot be stored. Remove it and try again.")
    if text is not None and len(text.encode()) > settings.MAX_BODY_BYTES:
        return gettext("The text is too long: 1 MiB at most.")
    return ""

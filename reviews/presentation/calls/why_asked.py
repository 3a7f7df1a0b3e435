"""Say in words why a person is asked about a tool call."""

from __future__ import annotations

from django.utils.translation import gettext

from metacog.heuristics.tool_calls.gate import PAUSED
from metacog.models import pack_words
from reviews.models import HeldCall
from reviews.presentation.effects import unread
from reviews.presentation.engine_words import translated
from reviews.presentation.look_alikes import why_not_matched
from reviews.presentation.rule_words import in_words


def why_asked(call: HeldCall, *, with_texts: bool = True) -> list[str]:
    """Return the reasons, one sentence or two each; plain text, not escaped.

    Without texts: nothing that people wrote into a rule, and nothing of what the call would do it to.
    """
    told = []
    rule = call.rule
    if call.fault == PAUSED:
        told.append(gettext("The agent was paused: everything it posted was held."))
    elif call.fault and rule and not with_texts:
        told.append(gettext("A policy rule could not be checked, so a person is asked."))
    elif call.fault and rule:
        wants = {"rule": in_words(rule), "fault": translated(call.fault)}
        sentence = gettext("A policy rule could not be checked, so a person is asked: %(rule)s. %(fault)s")
        told.append(sentence % wants)
    elif rule and rule["do"] == "allow":
        changed = gettext("A rule allowed this tool as it was. Its description or schema has changed since")
        told.append(_of_rule(changed, call, with_texts))
    elif rule and rule["do"] == "ask" and "team" in rule:
        told.append(_of_rule(gettext("A rule of the team asks a person"), call, with_texts))
    elif rule and rule["do"] == "ask" and "pack" in rule and rule.get("reason"):
        wants = {"pack": pack_words.title_of(rule["pack"]), "reason": _reason(call, with_texts)}
        told.append(gettext("The pack “%(pack)s” asks: %(reason)s.") % wants)
    elif rule and rule["do"] == "ask":
        told.append(_of_rule(gettext("A policy rule asks a person"), call, with_texts))
    elif rule and rule["do"] == "score" and call.hesitation:
        told.append(_of_rule(gettext("A policy rule scores the call"), call, with_texts))
    elif rule is None and call.hesitation:
        told.append(gettext("No policy rule matches this call, so it was scored."))
    elif rule is None and not call.is_demanded:
        told.append(gettext("No policy rule matches this call, so a person is asked."))
    if other := why_not_matched(call.name):
        told.append(other)
    if call.is_demanded:
        told.append(gettext("The agent's framework asked for a review."))
    return told


def _reason(call: HeldCall, with_texts: bool) -> str:
    """Return a pack's reason; of what cannot be read with what is known of it, which may name what a call holds."""
    told, rule = pack_words.reason_of(call.rule), call.rule
    is_unread = "unknown" in (rule.get("effects") or {}).get("any", ())
    if is_unread and with_texts and (details := unread(call.effects, call.arguments)):
        told = gettext("%(reason)s. Why: %(details)s") % {"reason": told, "details": details}
    return told


def _of_rule(sentence: str, call: HeldCall, with_texts: bool) -> str:
    if not with_texts:
        return gettext("%(sentence)s.") % {"sentence": sentence}
    told = gettext("%(sentence)s: %(rule)s.") % {"sentence": sentence, "rule": in_words(call.rule)}
    if reason := pack_words.reason_of(call.rule):
        told += gettext(" Reason: %(reason)s") % {"reason": reason}
    return told

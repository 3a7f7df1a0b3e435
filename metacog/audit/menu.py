"""The actions of the audit log as a menu: in groups of what they are about, each with a word or two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from metacog.audit.audit import KINDS

_ADDED, _CHANGED, _REMOVED, _ERASED = _("Added"), _("Changed"), _("Removed"), _("Texts erased")
_PROPOSED, _RETIRED, _DISMISSED = _("Proposed"), _("Retired"), _("Dismissed")
_CONFIRMED, _HELD, _WITHDRAWN, _EXPIRED = _("Confirmed"), _("Held"), _("Withdrawn"), _("Expired")
_ON, _OFF, _ENABLED, _DISABLED = _("Switched on"), _("Switched off"), _("Enabled"), _("Disabled")
_DELIVERED, _GIVEN_UP, _AGAIN = _("Delivered"), _("Delivery given up"), _("Resent")

OF_ITEMS: Mapping[str, Promise] = {
    "held": _HELD,
    "approved": _("Approved"),
    "edited": _("Approved with edits"),
    "rejected": _("Rejected"),
    "withdrawn": _WITHDRAWN,
    "expired": _EXPIRED,
    "decision-undone": _("Decision undone"),
    "marked": _("Passed with a mark"),
    "noted": _("Passed with a note"),
    "recognised": _("Passed: approved before"),
    "denied": _("Denied by a rule"),
    "asked-again": _("Asked again"),
    "allowed-again": _("Repeat allowed"),
    "allowed-no-longer": _("Permission withdrawn"),
    "commented": _("Commented"),
    "comment-deleted": _("Comment deleted"),
    "assigned": _("Assigned"),
    "unassigned": _("Unassigned"),
    "snoozed": _("Snoozed"),
    "unsnoozed": _("Snooze ended"),
    "revealed": _("Masked value revealed"),
}
GROUPS: Mapping[Promise, Mapping[str, Promise]] = {
    _("Responses"): {
        "response-accepted": _("Posted"),
        "meta:confidence-low": _("Quality low"),
        "meta:impasse": _("No progress"),
        "decision-released": _("Decision released"),
        "sample-judged": _("Spot check answered"),
        "correction-answered": _("Correction answered"),
        "response-revealed": _("Masked values revealed"),
        "response-erased": _ERASED,
        "intent-erased": _("Intent erased"),
    },
    _("Stuck problems"): {
        "think-twice-suggested": _("Think twice suggested"),
        "think-twice-answered": _("Think twice answered"),
        "think-twice-outcome": _("Outcome recorded"),
        "problem-resolved": _("Resolved"),
        "problem-erased": _ERASED,
    },
    _("Extension requests"): {
        "extension-asked": _("Asked"),
        "extension-approved": _("Granted"),
        "extension-rejected": _("Refused"),
        "extension-withdrawn": _WITHDRAWN,
        "extension-expired": _EXPIRED,
        "extension-erased": _ERASED,
    },
    _("Error patterns"): {
        "pattern-added": _ADDED,
        "pattern-proposed": _PROPOSED,
        "pattern-taught": _("Proposed again"),
        "pattern-tried": _("Put into shadow"),
        "pattern-activated": _("Activated"),
        "pattern-changed": _CHANGED,
        "pattern-retired": _RETIRED,
        "pattern-dismissed": _DISMISSED,
        "pattern-reopened": _("Reopened"),
        "pattern-withdrawn": _WITHDRAWN,
        "pattern-merged": _("Merged"),
        "pattern-taken-apart": _("Split"),
        "pattern-shown-apart": _("Separated"),
        "pattern-shown-merged": _("Merged again"),
        "pattern-erased": _ERASED,
    },
    _("Lessons and reflections"): {
        "lesson-proposed": _PROPOSED,
        "lesson-proposed-again": _("Proposed again"),
        "lesson-written": _("Written"),
        "lesson-changed": _CHANGED,
        "lesson-imported": _("Imported"),
        "lesson-confirmed": _CONFIRMED,
        "lesson-dismissed": _DISMISSED,
        "lesson-retired": _RETIRED,
        "lesson-restored": _("Restored"),
        "lesson-erased": _ERASED,
        "meta:reflection": _("Reflection created"),
        "reflection-erased": _("Reflection erased"),
    },
    _("Memory"): {
        "memory-added": _ADDED,
        "memory-held": _HELD,
        "memory-confirmed": _CONFIRMED,
        "memory-retired": _RETIRED,
        "memory-discarded": _("Discarded"),
        "memory-settled": _("Conflict settled"),
        "memory-too-long": _("Too long"),
        "memory-full": _("Memory full"),
        "memory-erased": _ERASED,
    },
    _("Threads"): {
        "thread-created": _("Created"),
        "thread-touched": _("Touched"),
        "thread-progressed": _("Continued"),
        "thread-paused": _("Paused"),
        "thread-resumed": _("Resumed"),
        "thread-resolved": _("Resolved"),
        "thread-changed": _CHANGED,
        "thread-imported": _("Imported"),
        "thread-suggestion-dismissed": _("Suggestion dismissed"),
        "thread-article-done": _("Journal draft closed"),
        "thread-erased": _ERASED,
    },
    _("Research"): {
        "research-begun": _("Started"),
        "research-finished": _("Finished"),
        "research-failed": _("Failed"),
        "research-erased": _ERASED,
    },
    _("Agents"): {
        "agent-created": _ADDED,
        "agent-changed": _CHANGED,
        "agent-enabled": _ENABLED,
        "agent-disabled": _DISABLED,
        "policy-changed": _("Policy changed"),
        "hesitation-on": _("Hesitation on"),
        "hesitation-off": _("Hesitation off"),
        "key-issued": _("Key issued"),
        "keys-revoked": _("Keys revoked"),
        "key-restored": _("Key restored"),
        "handcard-changed": _("Handcard changed"),
        "log-uploaded": _("Log uploaded"),
        "log-read": _("Log read"),
        "log-failed": _("Log not read"),
        "log-kept": _("Log kept"),
        "log-deleted": _("Log deleted"),
    },
    _("Webhooks and deliveries"): {
        "webhook-added": _ADDED,
        "webhook-changed": _CHANGED,
        "webhook-enabled": _ENABLED,
        "webhook-disabled": _DISABLED,
        "webhook-removed": _REMOVED,
        "webhook-restored": _("Restored"),
        "webhook-tested": _("Tested"),
        "webhook-secret-rotated": _("Secret rotated"),
        "webhook-secret-ended": _("Old secret ended"),
        "webhook-switched-on": _ON,
        "webhook-switched-off": _OFF,
        "webhook-delivered": _DELIVERED,
        "webhook-given-up": _GIVEN_UP,
        "webhook-sent-again": _AGAIN,
        "webhook-erased": _ERASED,
        "endpoint-switched-on": _("Agent's webhook switched on"),
        "endpoint-switched-off": _("Agent's webhook switched off"),
        "callback-delivered": _("Agent's webhook delivered"),
        "callback-given-up": _("Agent's webhook delivery given up"),
        "callback-sent-again": _("Agent's webhook resent"),
        "callback-erased": _("Agent's webhook texts erased"),
    },
    _("Team and members"): {
        "member-added": _("Member added"),
        "member-removed": _("Member removed"),
        "member-restored": _("Member restored"),
        "role-changed": _("Role changed"),
        "member-link-made": _("Password link created"),
        "token-created": _("Access token created"),
        "token-revoked": _("Access token revoked"),
        "token-restored": _("Access token restored"),
        "password-set": _("Password set"),
        "password-changed": _("Password changed"),
        "second-factor-added": _("Second factor added"),
        "second-factor-removed": _("Second factor removed"),
        "second-factors-reset": _("Second factors removed by the command line"),
        "sign-in-connected": _("First sign-in by a provider"),
        "sessions-ended": _("Sessions ended"),
        "owner-created": _("First owner added"),
        "team-created": _("Team added"),
        "team-renamed": _("Team renamed"),
        "retention-changed": _("Retention changed"),
        "names-people-on": _("Reviewers' names shared"),
        "names-people-off": _("Reviewers' names no longer shared"),
        "decide-within-changed": _("Target for deciding changed"),
        "view-saved": _("View saved"),
        "view-renamed": _("View renamed"),
        "view-deleted": _("View deleted"),
        "learned-risk-chosen": _("Learned risk changed"),
        "risk-learned": _("Risk learned"),
    },
    _("Notices"): {
        "notices-changed": _("Own email changed"),
        "team-notices-changed": _("Team email changed"),
        "channel-changed": _("Team chat changed"),
        "channel-removed": _("Team chat removed"),
        "channel-told": _("Team chat notified"),
        "channel-given-up": _("Team chat given up"),
        "notice-sent": _("Email sent"),
        "notice-given-up": _("Email given up"),
    },
}
NAMED = {action for group in GROUPS.values() for action in group} | {
    f"{kind}-{done}" for kind in KINDS for done in OF_ITEMS
}


def choices(*others: str) -> list[tuple[Any, Any]]:
    """Return the choices of a select; `others` are actions that no group names."""
    items = [(_kind(kind), [(f"{kind}-{done}", word) for done, word in OF_ITEMS.items()]) for kind in KINDS]
    rest = [(group, list(actions.items())) for group, actions in GROUPS.items()]
    return [("", _("Any")), *items, *rest, *((other, other) for other in others if other and other not in NAMED)]


def _kind(kind: str) -> str:
    return kind.upper().replace("_", " ")

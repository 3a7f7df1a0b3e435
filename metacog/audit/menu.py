"""The actions of the audit log as a menu: in groups of what they are about, each with a word or two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from metacog.audit.audit import KINDS
from metacog.audit.words import name_of_kind

_ADDED, _CHANGED = pgettext_lazy("audit", "Added"), _("Changed")
_REMOVED, _ERASED = _("Removed"), _("Texts erased")
_PROPOSED, _RETIRED, _DISMISSED = pgettext_lazy("audit", "Proposed"), _("Retired"), _("Dismissed")
_CONFIRMED, _HELD = _("Confirmed"), pgettext_lazy("audit", "Held")
_WITHDRAWN, _EXPIRED = _("Withdrawn"), _("Expired")
_ON, _OFF, _ENABLED, _DISABLED = _("Switched on"), _("Switched off"), _("Enabled"), _("Disabled")
_DELIVERED, _GIVEN_UP, _AGAIN = _("Delivered"), _("Delivery given up"), _("Resent")

# What can be done about an item of each kind; an event's own action names the kind as well (`chat-approved`).
DECISION = "decision"  # whichever it was
DECIDED: Mapping[str, Promise] = {
    "approved": _("Approved"),
    "edited": _("Approved with edits"),
    "answered": _("Answered"),
    "rejected": _("Rejected"),
    "withdrawn": _WITHDRAWN,
    "expired": _EXPIRED,
}
OF_ITEMS: Mapping[Promise, Mapping[str, Promise]] = {
    _("Decisions"): {
        DECISION: _("Any decision"),
        **DECIDED,
        "approval-given": _("Approval given"),
        "approval-ended": _("Approval ended"),
        "decision-undone": _("Decision undone"),
        "grant-given": _("Grant given"),
        "grant-withdrawn": _("Grant withdrawn"),
        "grant-restored": _("Grant restored"),
        "allowed-again": _("Repeat allowed"),
        "allowed-no-longer": _("Permission withdrawn"),
        "reported": _("Outcome reported"),
    },
    _("Comments and assignments"): {
        "commented": _("Commented"),
        "comment-deleted": _("Comment deleted"),
        "assigned": pgettext_lazy("audit", "Assigned"),
        "unassigned": _("Unassigned"),
        "snoozed": _("Snoozed"),
        "unsnoozed": _("Snooze ended"),
        "routed": _("Sent to the people a route names"),
        "escalated": _("Sent to the next: nobody decided"),
        "revealed": _("Masked value revealed"),
    },
}
BY_GATE: Mapping[Promise, Mapping[str, Promise]] = {
    _("Held and passed"): {
        "held": _HELD,
        "marked": _("Passed with a mark"),
        "noted": _("Passed with a note"),
        "recognised": _("Passed: approved before"),
        "grant-used": _("Passed by a grant"),
        "denied": _("Denied by a rule"),
        "asked-again": _("Asked again"),
    },
}
GROUPS: Mapping[Promise, Mapping[str, Promise]] = {
    _("Team and members"): {
        "member-added": _("Member added"),
        "member-removed": _("Member removed"),
        "member-restored": _("Member restored"),
        "group-added": _("Group added"),
        "group-changed": _("Group changed"),
        "group-removed": _("Group removed"),
        "role-changed": _("Role changed"),
        "member-link-made": _("Password link created"),
        "token-created": _("Access token created"),
        "token-revoked": _("Access token revoked"),
        "token-restored": _("Access token restored"),
        "password-set": _("Password set"),
        "password-changed": _("Password changed"),
        "second-factor-added": _("Second factor added"),
        "second-factor-removed": _("Second factor removed"),
        "recovery-codes-made": _("Recovery codes made"),
        "second-factors-reset": _("Second factors removed from the command line"),
        "password-removed": _("Password removed from the command line"),
        "identity-connected": _("Account of a provider connected"),
        "identity-disconnected": _("Account of a provider disconnected"),
        "identity-refused": _("Refused by a provider"),
        "sign-in-connected": _("First sign-in with a provider"),
        "sessions-ended": _("Sessions ended"),
        "owner-created": _("First owner added"),
        "team-created": _("Team added"),
        "team-renamed": _("Team renamed"),
        "team-rules-changed": _("Team's rules changed"),
        "retention-changed": _("Retention changed"),
        "second-factor-required": _("Second factor required"),
        "second-factor-not-required": _("Second factor no longer required"),
        "names-people-on": _("Reviewers' names shared"),
        "names-people-off": _("Reviewers' names no longer shared"),
        "decide-within-changed": _("Decision target changed"),
        "view-saved": _("View saved"),
        "view-renamed": _("View renamed"),
        "view-deleted": _("View deleted"),
        "learned-risk-chosen": _("Learned risk changed"),
        "risk-learned": _("Risk learned"),
        "risk-of-calls-learned": _("Risk of tool calls learned"),
    },
    _("Agents"): {
        "agent-created": _ADDED,
        "agent-changed": _CHANGED,
        "agent-enabled": _ENABLED,
        "agent-disabled": _DISABLED,
        "agent-paused": _("Paused"),
        "agent-resumed": _("Resumed"),
        "agent-withdrawn": _("Items withdrawn"),
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
    _("Error patterns"): {
        "pattern-added": _ADDED,
        "patterns-imported": pgettext_lazy("audit", "Import"),
        "pattern-imported": _("Imported"),
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
        "lesson-written": pgettext_lazy("audit", "Written"),
        "lesson-changed": _CHANGED,
        "lessons-imported": pgettext_lazy("audit", "Import"),
        "lesson-imported": _("Imported"),
        "lesson-confirmed": _CONFIRMED,
        "lesson-dismissed": _DISMISSED,
        "lesson-reopened": _("Reopened"),
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
        "thread-created": pgettext_lazy("audit", "Created"),
        "thread-touched": _("Touched"),
        "thread-progressed": _("Continued"),
        "thread-paused": _("Paused"),
        "thread-resumed": _("Resumed"),
        "thread-resolved": _("Resolved"),
        "thread-changed": _CHANGED,
        "threads-imported": pgettext_lazy("audit", "Import"),
        "thread-imported": _("Imported"),
        "thread-suggestion-dismissed": _("Suggestion dismissed"),
        "thread-suggestion-restored": _("Suggestion restored"),
        "thread-article-done": _("Journal draft closed"),
        "thread-erased": _ERASED,
    },
    _("Extension requests"): {
        "extension-asked": pgettext_lazy("audit", "Asked"),
        "extension-approved": pgettext_lazy("audit", "Granted"),
        "extension-rejected": pgettext_lazy("audit", "Refused"),
        "extension-withdrawn": _WITHDRAWN,
        "extension-expired": _EXPIRED,
        "extension-erased": _ERASED,
    },
    _("Stuck problems"): {
        "think-twice-suggested": _("Think twice suggested"),
        "think-twice-answered": _("Think twice answered"),
        "think-twice-outcome": _("Outcome recorded"),
        "problem-resolved": _("Resolved"),
        "problem-erased": _ERASED,
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
        "webhook-discarded": _("Deliveries discarded"),
        "endpoint-switched-on": _("Agent's webhook switched on"),
        "endpoint-switched-off": _("Agent's webhook switched off"),
        "endpoint-discarded": _("Agent's webhook deliveries discarded"),
        "callback-delivered": _("Agent's webhook delivered"),
        "callback-given-up": _("Agent's webhook delivery given up"),
        "callback-sent-again": _("Agent's webhook resent"),
        "callback-erased": _("Agent's webhook texts erased"),
    },
    _("Research"): {
        "research-begun": _("Started"),
        "research-finished": _("Finished"),
        "research-failed": _("Failed"),
        "research-erased": _ERASED,
    },
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
    _("Notices"): {
        "notices-changed": _("Own email changed"),
        "team-notices-changed": _("Team email changed"),
        "asking-changed": _("Who is asked changed"),
        "channel-changed": _("Team chat changed"),
        "channel-removed": _("Team chat removed"),
        "channel-told": _("Team chat notified"),
        "channel-given-up": _("Team chat given up"),
        "chat-changed": _("Chat that decides changed"),
        "chat-removed": _("Chat that decides removed"),
        "chat-connected": _("Chat user connected"),
        "chat-disconnected": _("Chat user disconnected"),
        "chat-posted": _("Posted to a chat"),
        "chat-given-up": _("Chat message given up"),
        "push-changed": _("Own devices' notices changed"),
        "device-added": _("Device added"),
        "device-withdrawn": _("Device removed"),
        "push-sent": _("Device notified"),
        "push-given-up": _("Device given up"),
        "push-key-rotated": _("Key for devices replaced"),
        "notice-sent": _("Email sent"),
        "notice-given-up": _("Email given up"),
    },
}
NAMED: Mapping[str, Promise] = {action: word for group in GROUPS.values() for action, word in group.items()}
DONE: Mapping[str, Promise] = {
    done: word for group in (*OF_ITEMS.values(), *BY_GATE.values()) for done, word in group.items()
}
OF_IMPORTS = ("pattern-imported", "thread-imported", "lesson-imported")  # each is one of an import's, which has its own
KINDS_NAMED = (*KINDS, "item")  # of a kind that is none of ours


def choices(*others: str) -> list[tuple[Any, Any]]:
    """Return the choices of a select, what people do first; `others` are actions that no group names."""
    groups = [(group, list(actions.items())) for part in (OF_ITEMS, GROUPS, BY_GATE) for group, actions in part.items()]
    return [("", _("Any action")), *groups, *((other, other) for other in others if other and not is_known(other))]


def kinds() -> list[tuple[str, Any]]:
    """Return the kinds of items, as the choices of a select."""
    return [("", _("Any kind")), *((kind, name_of_kind(kind)) for kind in KINDS)]


def is_known(action: str) -> bool:
    return action in NAMED or action in DONE


def parts_of(action: str) -> tuple[str, str]:
    """Return of an event's action what was done and the kind of its item: `chat-approved` is approved, chat."""
    kind, _dash, done = action.partition("-")
    return (done, kind) if kind in KINDS_NAMED and done in DONE else (action, "")


def actions(done: str, kind: str = "") -> tuple[str, ...]:
    """Return the events' actions that a choice of the menus stands for; none is all of them."""
    if done and done not in DONE:
        return (f"{kind}-{done}" if kind else done,)  # of no item: none has both
    if not done and not kind:
        return ()
    several = DECIDED if done == DECISION else (done,) if done else [each for each in DONE if each != DECISION]
    return tuple([f"{each}-{what}" for each in ([kind] if kind else KINDS_NAMED) for what in several])


def name_of(action: str) -> str:
    """Return a word or two for an event's action, with the kind of its item; of a later release its code."""
    done, kind = parts_of(action)
    word = str(DONE.get(done) or NAMED.get(action) or action)
    return f"{name_of_kind(kind)} · {word}" if kind else word

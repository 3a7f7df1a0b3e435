"""Say in plain words what an audit event records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy, pgettext, pgettext_lazy

from metacog.audit.audit import KINDS
from metacog.models import AuditEvent, ChatApp

_CHINESE = "[\u4e00-\u9fff]"

# What happened to one part of a response; the action is the part's kind and one of these (`chat-held`).
OF_ITEMS: Mapping[str, Promise] = {
    "held": gettext_lazy("A %(kind)s of %(agent)s was held"),
    "marked": gettext_lazy("A %(kind)s of %(agent)s passed with a mark"),
    "denied": gettext_lazy("A %(kind)s of %(agent)s was denied by a rule"),
    "asked-again": gettext_lazy("%(agent)s asked again for a pending %(kind)s"),
    "allowed-again": gettext_lazy("%(actor)s allowed the same %(kind)s of %(agent)s again for a while"),
    "allowed-no-longer": gettext_lazy("%(actor)s withdrew the permission for a %(kind)s of %(agent)s"),
    "grant-given": gettext_lazy("%(actor)s gave a grant with a %(kind)s of %(agent)s"),
    "grant-used": gettext_lazy("A %(kind)s of %(agent)s passed by a grant"),
    "grant-withdrawn": gettext_lazy("%(actor)s withdrew a grant given with a %(kind)s of %(agent)s"),
    "grant-restored": gettext_lazy("%(actor)s restored a grant given with a %(kind)s of %(agent)s"),
    "noted": gettext_lazy("A %(kind)s of %(agent)s passed with a note"),
    "recognised": gettext_lazy("A %(kind)s of %(agent)s passed: the same text was approved before"),
    "approved": gettext_lazy("%(actor)s approved a %(kind)s of %(agent)s"),
    "edited": gettext_lazy("%(actor)s approved a %(kind)s of %(agent)s with edits"),
    "answered": gettext_lazy("%(actor)s answered a %(kind)s of %(agent)s"),
    "rejected": gettext_lazy("%(actor)s rejected a %(kind)s of %(agent)s"),
    "withdrawn": gettext_lazy("%(actor)s withdrew a %(kind)s of %(agent)s"),
    "expired": gettext_lazy("A %(kind)s of %(agent)s expired undecided"),
    "approval-given": gettext_lazy("%(actor)s gave approval %(given)s of %(needed)s for a %(kind)s of %(agent)s"),
    "approval-ended": gettext_lazy("The approval of %(person)s for a %(kind)s of %(agent)s ended"),
    "decision-undone": gettext_lazy("%(actor)s undid a decision about a %(kind)s of %(agent)s"),
    "commented": gettext_lazy("%(actor)s commented on a %(kind)s of %(agent)s"),
    "comment-deleted": gettext_lazy("%(actor)s deleted a comment on a %(kind)s of %(agent)s"),
    "assigned": gettext_lazy("%(actor)s assigned a %(kind)s of %(agent)s to %(person)s"),
    "unassigned": gettext_lazy("%(actor)s unassigned a %(kind)s of %(agent)s"),
    "snoozed": gettext_lazy("%(actor)s snoozed a %(kind)s of %(agent)s"),
    "unsnoozed": gettext_lazy("%(actor)s ended the snooze of a %(kind)s of %(agent)s"),
    "routed": gettext_lazy("A %(kind)s of %(agent)s went to %(asked)s"),
    "escalated": gettext_lazy("Nobody decided a %(kind)s of %(agent)s: it went to %(asked)s"),
    "reported": gettext_lazy("%(agent)s reported the outcome of a %(kind)s: %(said)s"),
    "revealed": gettext_lazy("%(actor)s revealed a masked value of a %(kind)s of %(agent)s"),
}
OWN: Mapping[str, Promise] = {
    "approved": gettext_lazy("%(agent)s approved its own %(kind)s on a second look"),
    "edited": gettext_lazy("%(agent)s approved its own %(kind)s on a second look, with edits"),
    "rejected": gettext_lazy("%(agent)s rejected its own %(kind)s on a second look"),
    "withdrawn": gettext_lazy("%(agent)s withdrew its own %(kind)s"),
    "thread-created": gettext_lazy("%(agent)s created a thread"),
    "thread-progressed": gettext_lazy("%(agent)s continued a thread"),
    "thread-paused": gettext_lazy("%(agent)s paused a thread"),
    "thread-resumed": gettext_lazy("%(agent)s resumed a thread"),
    "thread-resolved": gettext_lazy("%(agent)s resolved a thread"),
    "memory-added": gettext_lazy("%(agent)s added a memory"),
    "memory-held": gettext_lazy("A memory of %(agent)s was held for review"),
    "memory-confirmed": gettext_lazy("A memory of %(agent)s was confirmed: the same text was approved before"),
}
# The same where a changed policy decided what waited, as somebody had it.
BY_POLICY: Mapping[str, Promise] = {
    "approved": gettext_lazy("%(actor)s had policy %(by_policy)s release a held %(kind)s of %(agent)s"),
    "rejected": gettext_lazy("%(actor)s had policy %(by_policy)s reject a held %(kind)s of %(agent)s"),
}
BY_TEAM_RULES: Mapping[str, Promise] = {
    "approved": gettext_lazy(
        "%(actor)s had version %(by_team_rules)s of the team's rules release a held %(kind)s of %(agent)s"
    ),
    "rejected": gettext_lazy(
        "%(actor)s had version %(by_team_rules)s of the team's rules reject a held %(kind)s of %(agent)s"
    ),
}
SENTENCES: Mapping[str, Promise] = {
    "response-accepted": gettext_lazy("%(agent)s posted a response"),
    "response-revealed": gettext_lazy("%(actor)s revealed the masked values of a response of %(agent)s"),
    "response-erased": ngettext_lazy(
        "The texts of a response of %(agent)s were erased after %(days)s day",
        "The texts of a response of %(agent)s were erased after %(days)s days",
        "days",
    ),
    "intent-erased": ngettext_lazy(
        "The latest intent and the topics of %(agent)s were erased after %(days)s day",
        "The latest intent and the topics of %(agent)s were erased after %(days)s days",
        "days",
    ),
    "meta:confidence-low": gettext_lazy("The quality of a response of %(agent)s was low"),
    "meta:impasse": gettext_lazy("A response of %(agent)s made no progress"),
    "think-twice-suggested": gettext_lazy("%(agent)s seems stuck (%(points)s points): “Think twice” was suggested"),
    "think-twice-answered": gettext_lazy("“Think twice” for %(agent)s was answered: %(said)s"),
    "think-twice-outcome": gettext_lazy("The outcome of “Think twice” for %(agent)s was recorded"),
    "problem-resolved": gettext_lazy("A stuck problem of %(agent)s was resolved"),
    "sample-judged": gettext_lazy("%(actor)s answered a spot check of %(agent)s"),
    "correction-answered": gettext_lazy("%(actor)s answered whether a message to %(agent)s was a correction"),
    "problem-erased": ngettext_lazy(
        "The texts of a stuck problem of %(agent)s were erased after %(days)s day",
        "The texts of a stuck problem of %(agent)s were erased after %(days)s days",
        "days",
    ),
    "thread-created": gettext_lazy("%(actor)s created a thread of %(agent)s"),
    "thread-touched": gettext_lazy("A response of %(agent)s touched a thread"),
    "thread-progressed": gettext_lazy("%(actor)s continued a thread of %(agent)s"),
    "thread-paused": gettext_lazy("%(actor)s paused a thread of %(agent)s"),
    "thread-resumed": gettext_lazy("%(actor)s resumed a thread of %(agent)s"),
    "thread-resolved": gettext_lazy("%(actor)s resolved a thread of %(agent)s"),
    "thread-changed": gettext_lazy("%(actor)s changed a thread of %(agent)s (%(fields)s)"),
    "thread-imported": gettext_lazy("%(actor)s imported a thread of %(agent)s"),
    "thread-suggestion-dismissed": gettext_lazy("%(actor)s dismissed a suggested thread of %(agent)s"),
    "thread-suggestion-restored": gettext_lazy("%(actor)s restored a suggested thread of %(agent)s"),
    "thread-article-done": gettext_lazy("%(actor)s closed the journal draft of a thread of %(agent)s"),
    "lesson-imported": gettext_lazy("%(actor)s imported a lesson"),
    "pattern-imported": gettext_lazy("%(actor)s imported an error pattern"),
    "patterns-imported": ngettext_lazy(
        "%(actor)s imported %(count)s error pattern (new: %(new)s, changed: %(changed)s)",
        "%(actor)s imported %(count)s error patterns (new: %(new)s, changed: %(changed)s)",
        "count",
    ),
    "threads-imported": ngettext_lazy(
        "%(actor)s imported %(count)s thread of %(agent)s (new: %(new)s, changed: %(changed)s)",
        "%(actor)s imported %(count)s threads of %(agent)s (new: %(new)s, changed: %(changed)s)",
        "count",
    ),
    "lessons-imported": ngettext_lazy(
        "%(actor)s imported %(count)s lesson (new: %(new)s, changed: %(changed)s)",
        "%(actor)s imported %(count)s lessons (new: %(new)s, changed: %(changed)s)",
        "count",
    ),
    "thread-erased": ngettext_lazy(
        "The texts of a thread of %(agent)s were erased after %(days)s day",
        "The texts of a thread of %(agent)s were erased after %(days)s days",
        "days",
    ),
    "pattern-added": gettext_lazy("%(actor)s added an error pattern"),
    "pattern-changed": gettext_lazy("%(actor)s changed an error pattern"),
    "pattern-proposed": gettext_lazy("%(actor)s proposed an error pattern"),
    "pattern-taught": gettext_lazy("%(actor)s proposed an error pattern again"),
    "pattern-tried": gettext_lazy("%(actor)s put an error pattern into shadow"),
    "pattern-activated": gettext_lazy("%(actor)s activated an error pattern"),
    "pattern-retired": gettext_lazy("%(actor)s retired an error pattern"),
    "pattern-dismissed": gettext_lazy("%(actor)s dismissed a proposed error pattern"),
    "pattern-reopened": gettext_lazy("%(actor)s proposed a retired error pattern again"),
    "pattern-withdrawn": gettext_lazy("%(actor)s withdrew a proposed error pattern: it was not a correction"),
    "pattern-merged": ngettext_lazy(
        "%(actor)s merged %(count)s proposed error pattern into another",
        "%(actor)s merged %(count)s proposed error patterns into another",
        "count",
    ),
    "pattern-taken-apart": ngettext_lazy(
        "%(actor)s split a merged error pattern: %(count)s is proposed again",
        "%(actor)s split a merged error pattern: %(count)s are proposed again",
        "count",
    ),
    "pattern-shown-apart": gettext_lazy("%(actor)s separated a proposed error pattern from similar ones"),
    "pattern-shown-merged": gettext_lazy("%(actor)s merged a proposed error pattern with similar ones again"),
    "pattern-erased": ngettext_lazy(
        "A proposed error pattern was erased after %(days)s day",
        "A proposed error pattern was erased after %(days)s days",
        "days",
    ),
    "meta:reflection": ngettext_lazy(
        "%(actor)s reflected on %(responses)s response of %(agent)s",
        "%(actor)s reflected on %(responses)s responses of %(agent)s",
        "responses",
    ),
    "reflection-erased": ngettext_lazy(
        "The quotes in a reflection on %(agent)s were erased after %(days)s day",
        "The quotes in a reflection on %(agent)s were erased after %(days)s days",
        "days",
    ),
    "research-begun": gettext_lazy("%(agent)s asked for research after an assessment"),
    "research-finished": gettext_lazy("Research for %(agent)s was finished"),
    "research-failed": ngettext_lazy(
        "Research for %(agent)s failed after %(attempts)s attempt",
        "Research for %(agent)s failed after %(attempts)s attempts",
        "attempts",
    ),
    "research-erased": ngettext_lazy(
        "The texts of research for %(agent)s were erased after %(days)s day",
        "The texts of research for %(agent)s were erased after %(days)s days",
        "days",
    ),
    "lesson-proposed": gettext_lazy("A lesson for %(agent)s was proposed"),
    "lesson-proposed-again": gettext_lazy("A lesson for %(agent)s was proposed again"),
    "lesson-written": gettext_lazy("%(actor)s wrote a lesson"),
    "lesson-changed": gettext_lazy("%(actor)s changed a lesson (%(fields)s)"),
    "lesson-confirmed": gettext_lazy("%(actor)s confirmed a lesson"),
    "lesson-dismissed": gettext_lazy("%(actor)s dismissed a lesson"),
    "lesson-reopened": gettext_lazy("%(actor)s proposed a dismissed lesson again"),
    "lesson-retired": gettext_lazy("%(actor)s retired a lesson"),
    "lesson-restored": gettext_lazy("%(actor)s restored a lesson"),
    "lesson-erased": ngettext_lazy(
        "The text of a lesson was erased after %(days)s day",
        "The text of a lesson was erased after %(days)s days",
        "days",
    ),
    "memory-added": gettext_lazy("%(actor)s added a memory"),
    "memory-confirmed": gettext_lazy("%(actor)s confirmed a memory"),
    "memory-retired": gettext_lazy("%(actor)s retired a memory"),
    "memory-discarded": gettext_lazy("%(actor)s discarded a pending memory"),
    "memory-too-long": gettext_lazy("A released REMEMBER of %(agent)s was too long for the memory"),
    "memory-full": gettext_lazy("A released REMEMBER of %(agent)s did not fit: the memory is full"),
    "memory-settled": gettext_lazy("%(actor)s settled a conflict between two memories"),
    "memory-erased": ngettext_lazy(
        "The text of a memory was erased after %(days)s day",
        "The text of a memory was erased after %(days)s days",
        "days",
    ),
    "extension-asked": gettext_lazy("%(agent)s asked for more tool calls"),
    "extension-approved": gettext_lazy("More tool calls were granted to %(agent)s"),
    "extension-rejected": gettext_lazy("More tool calls were refused to %(agent)s"),
    "extension-withdrawn": gettext_lazy("%(agent)s withdrew its request for more tool calls"),
    "extension-expired": gettext_lazy("A request of %(agent)s for more tool calls expired"),
    "extension-erased": ngettext_lazy(
        "The texts of an extension request of %(agent)s were erased after %(days)s day",
        "The texts of an extension request of %(agent)s were erased after %(days)s days",
        "days",
    ),
    "handcard-changed": gettext_lazy("%(actor)s changed the handcard of %(agent)s"),
    "decision-released": gettext_lazy("A decision was released to %(agent)s"),
    "callback-delivered": gettext_lazy("A webhook was delivered to %(agent)s"),
    "callback-given-up": ngettext_lazy(
        "A webhook delivery to %(agent)s was given up after %(attempts)s attempt",
        "A webhook delivery to %(agent)s was given up after %(attempts)s attempts",
        "attempts",
    ),
    "callback-sent-again": gettext_lazy("%(actor)s resent a webhook delivery to %(agent)s"),
    "callback-erased": ngettext_lazy(
        "The text of a webhook delivery to %(agent)s was erased after %(days)s day",
        "The text of a webhook delivery to %(agent)s was erased after %(days)s days",
        "days",
    ),
    "endpoint-switched-off": gettext_lazy("The webhook of %(agent)s was switched off (%(reason)s)"),
    "endpoint-switched-on": gettext_lazy("%(actor)s switched the webhook of %(agent)s on again"),
    "endpoint-discarded": ngettext_lazy(
        "%(actor)s discarded %(count)s delivery to %(agent)s",
        "%(actor)s discarded %(count)s deliveries to %(agent)s",
        "count",
    ),
    "webhook-discarded": ngettext_lazy(
        "%(actor)s discarded %(count)s event for the webhook to %(host)s",
        "%(actor)s discarded %(count)s events for the webhook to %(host)s",
        "count",
    ),
    "webhook-added": gettext_lazy("%(actor)s added the team's webhook to %(host)s (%(fields)s)"),
    "webhook-changed": gettext_lazy("%(actor)s changed the events of the webhook to %(host)s (%(fields)s)"),
    "webhook-secret-rotated": gettext_lazy("%(actor)s gave the webhook to %(host)s a new secret"),
    "webhook-secret-ended": gettext_lazy("%(actor)s ended the older secret of the webhook to %(host)s"),
    "webhook-enabled": gettext_lazy("%(actor)s enabled the webhook to %(host)s"),
    "webhook-disabled": gettext_lazy("%(actor)s disabled the webhook to %(host)s"),
    "webhook-removed": gettext_lazy("%(actor)s removed the webhook to %(host)s"),
    "webhook-tested": gettext_lazy("%(actor)s sent a test to the webhook to %(host)s"),
    "webhook-delivered": gettext_lazy("An event was delivered to the webhook to %(host)s"),
    "webhook-given-up": ngettext_lazy(
        "An event for the webhook to %(host)s was given up after %(attempts)s attempt",
        "An event for the webhook to %(host)s was given up after %(attempts)s attempts",
        "attempts",
    ),
    "webhook-sent-again": gettext_lazy("%(actor)s resent an event to the webhook to %(host)s"),
    "webhook-erased": ngettext_lazy(
        "The text of an event for a webhook was erased after %(days)s day",
        "The text of an event for a webhook was erased after %(days)s days",
        "days",
    ),
    "webhook-switched-off": gettext_lazy("The webhook to %(host)s was switched off (%(reason)s)"),
    "webhook-switched-on": gettext_lazy("%(actor)s switched the webhook to %(host)s on again"),
    "log-uploaded": gettext_lazy("%(actor)s uploaded a log to see what would have been held"),
    "log-read": ngettext_lazy(
        "An uploaded log was read: %(held)s item would have been held",
        "An uploaded log was read: %(held)s items would have been held",
        "held",
    ),
    "log-failed": gettext_lazy("An uploaded log could not be read"),
    "log-deleted": gettext_lazy("%(actor)s deleted an uploaded log and its report"),
    "log-kept": ngettext_lazy(
        "%(actor)s kept %(responses)s response of a log under %(agent)s",
        "%(actor)s kept %(responses)s responses of a log under %(agent)s",
        "responses",
    ),
    "agent-created": gettext_lazy("%(actor)s added the agent %(agent)s"),
    "agent-changed": gettext_lazy("%(actor)s changed the agent %(agent)s (%(fields)s)"),
    "agent-enabled": gettext_lazy("%(actor)s enabled the agent %(agent)s"),
    "agent-disabled": gettext_lazy("%(actor)s disabled the agent %(agent)s"),
    "agent-paused": gettext_lazy("%(actor)s paused the agent %(agent)s"),
    "agent-resumed": gettext_lazy("%(actor)s resumed the agent %(agent)s"),
    "hesitation-on": gettext_lazy("%(actor)s switched hesitation on for %(agent)s"),
    "hesitation-off": gettext_lazy("%(actor)s switched hesitation off for %(agent)s"),
    "key-restored": gettext_lazy("%(actor)s restored a key of %(agent)s (%(hint)s…)"),
    "member-restored": gettext_lazy("%(actor)s restored %(person)s to the team"),
    "webhook-restored": gettext_lazy("%(actor)s restored the webhook to %(host)s"),
    "key-issued": gettext_lazy("%(actor)s issued a new key for %(agent)s (%(hint)s…)"),
    "agent-withdrawn": ngettext_lazy(
        "%(actor)s withdrew %(count)s held item of the agent %(agent)s",
        "%(actor)s withdrew %(count)s held items of the agent %(agent)s",
        "count",
    ),
    "keys-revoked": gettext_lazy("%(actor)s revoked older keys of %(agent)s"),
    "policy-changed": gettext_lazy("%(actor)s changed the policy of %(agent)s (%(fields)s)"),
    "team-created": gettext_lazy("%(actor)s added the team"),
    "group-added": gettext_lazy("%(actor)s added the group of members “%(name)s”"),
    "group-changed": gettext_lazy("%(actor)s changed the group of members “%(name)s”"),
    "group-removed": gettext_lazy("%(actor)s removed the group of members “%(name)s”"),
    "team-renamed": gettext_lazy("%(actor)s renamed the team from %(was)s to %(name)s"),
    "team-rules-changed": gettext_lazy("%(actor)s changed the team's rules on tool calls"),
    "retention-changed": gettext_lazy("%(actor)s changed how long texts are kept"),
    "risk-learned": ngettext_lazy(
        "The team's risk was learned from %(decisions)s decision",
        "The team's risk was learned from %(decisions)s decisions",
        "decisions",
    ),
    "risk-of-calls-learned": ngettext_lazy(
        "The risk of the team's tool calls was learned from %(decisions)s decision",
        "The risk of the team's tool calls was learned from %(decisions)s decisions",
        "decisions",
    ),
    "learned-risk-chosen": gettext_lazy("%(actor)s changed how the team uses learned risk (%(fields)s)"),
    "owner-created": gettext_lazy("The first owner was added"),
    "member-added": gettext_lazy("%(actor)s added %(person)s to the team"),
    "member-removed": gettext_lazy("%(actor)s removed %(person)s from the team"),
    "role-changed": gettext_lazy("%(actor)s changed the role of %(person)s"),
    "member-link-made": gettext_lazy("%(actor)s created a password link for %(person)s"),
    "token-created": ngettext_lazy(
        "%(person)s created the access token “%(name)s” (%(hint)s…) for %(days)s day",
        "%(person)s created the access token “%(name)s” (%(hint)s…) for %(days)s days",
        "days",
    ),
    "token-revoked": gettext_lazy("%(actor)s revoked the access token “%(name)s” (%(hint)s…) of %(person)s"),
    "token-restored": gettext_lazy("%(actor)s restored the access token “%(name)s” (%(hint)s…) of %(person)s"),
    "view-saved": gettext_lazy("%(actor)s saved a view of the queue for the team"),
    "view-renamed": gettext_lazy("%(actor)s renamed a view of the team's queue"),
    "view-deleted": gettext_lazy("%(actor)s deleted a view of the team's queue"),
    "decide-within-changed": gettext_lazy("%(actor)s changed the team's decision target"),
    "second-factor-required": gettext_lazy("%(actor)s required a second factor in the team"),
    "second-factor-not-required": gettext_lazy("%(actor)s stopped requiring a second factor in the team"),
    "names-people-on": gettext_lazy("%(actor)s shared reviewers’ names with agents"),
    "names-people-off": gettext_lazy("%(actor)s stopped sharing reviewers’ names with agents"),
    "notices-changed": gettext_lazy("%(actor)s changed their email notices (%(fields)s)"),
    "team-notices-changed": gettext_lazy("%(actor)s changed the content of the team's emails (%(fields)s)"),
    "asking-changed": gettext_lazy("%(actor)s changed who is asked about held items (%(fields)s)"),
    "push-changed": gettext_lazy("%(actor)s changed what is pushed to their devices (%(fields)s)"),
    "push-sent": gettext_lazy("A device of %(person)s was notified"),
    "push-given-up": ngettext_lazy(
        "Notifying a device of %(person)s was given up after %(attempts)s attempt",
        "Notifying a device of %(person)s was given up after %(attempts)s attempts",
        "attempts",
    ),
    "push-key-rotated": ngettext_lazy(
        "The key for notices on devices was replaced; %(devices)s device was removed",
        "The key for notices on devices was replaced; %(devices)s devices were removed",
        "devices",
    ),
    "device-added": gettext_lazy("%(actor)s turned on notices on a device (%(name)s)"),
    "device-withdrawn": gettext_lazy("%(actor)s removed a device of %(person)s from notices (%(name)s)"),
    "channel-changed": gettext_lazy("%(actor)s changed the team's chat (%(fields)s)"),
    "channel-removed": gettext_lazy("%(actor)s removed the team's chat"),
    "channel-told": gettext_lazy("The team's chat was notified of held items"),
    "channel-given-up": ngettext_lazy(
        "Notifying the team's chat was given up after %(attempts)s attempt",
        "Notifying the team's chat was given up after %(attempts)s attempts",
        "attempts",
    ),
    "chat-changed": gettext_lazy("%(actor)s changed how the team decides in %(chat)s (%(fields)s)"),
    "chat-removed": gettext_lazy("%(actor)s removed %(chat)s, in which the team decided"),
    "chat-connected": gettext_lazy("%(person)s connected the user %(user)s of %(chat)s, to decide there"),
    "chat-disconnected": gettext_lazy("%(actor)s disconnected the user %(user)s of %(chat)s from %(person)s"),
    "chat-posted": gettext_lazy("A held item was posted to %(chat)s"),
    "chat-given-up": gettext_lazy("A message about a held item in %(chat)s was given up"),
    "notice-sent": gettext_lazy("%(person)s was notified of held items"),
    "notice-given-up": ngettext_lazy(
        "Notifying %(person)s was given up after %(attempts)s attempt",
        "Notifying %(person)s was given up after %(attempts)s attempts",
        "attempts",
    ),
    "password-set": gettext_lazy("%(actor)s set a password with a one-time link"),
    "password-changed": gettext_lazy("%(actor)s changed their password"),
    "second-factor-added": gettext_lazy("%(actor)s added a second factor: %(factor)s"),
    "second-factor-removed": gettext_lazy("%(actor)s removed a second factor: %(factor)s"),
    "recovery-codes-made": gettext_lazy("%(actor)s made new recovery codes"),
    "second-factors-reset": gettext_lazy("The second factors of %(person)s were removed from the command line"),
    "password-removed": gettext_lazy("The password of %(person)s was removed from the command line"),
    "identity-connected": gettext_lazy("%(actor)s connected %(identity)s of %(name)s as a way to sign in"),
    "identity-disconnected": gettext_lazy("%(actor)s disconnected %(identity)s of %(name)s"),
    "identity-refused": gettext_lazy("%(name)s no longer vouches for %(person)s, who was signed out"),
    "sign-in-connected": gettext_lazy("%(actor)s signed in with %(name)s for the first time"),
    "sessions-ended": ngettext_lazy(
        "%(actor)s signed out in %(count)s other place", "%(actor)s signed out in %(count)s other places", "count"
    ),
}
ACTIONS = (*SENTENCES, *(f"{kind}-{done}" for kind in (*KINDS, "item") for done in OF_ITEMS))

# How it was done, where that was not in the console.
WAYS: Mapping[str, Promise] = {
    "mail": gettext_lazy("%(told)s, by email"),
    "api": gettext_lazy("%(told)s, by API"),
    "slack": gettext_lazy("%(told)s, in Slack"),
    "telegram": gettext_lazy("%(told)s, in Telegram"),
}
CHATS: Mapping[str, Promise | str] = dict(ChatApp.Kind.choices)

FACTORS: Mapping[str, Promise] = {
    "app": gettext_lazy("authenticator app"),
    "passkey": gettext_lazy("passkey"),
    "codes": gettext_lazy("recovery codes"),
}
SYSTEM = pgettext_lazy("who did it", "metacog")


def tell(event: AuditEvent, names: Mapping[str, str] | None = None) -> str:
    """Return one sentence without a full stop; `event` comes with its agent, `names` are by people's user names."""
    names = names or {}
    kind, _dash, done = event.action.partition("-")
    own = event.actor_kind == AuditEvent.Actor.AGENT and event.agent is not None
    itself = OWN if own else {}
    by_rules = BY_POLICY if "by_policy" in event.data else BY_TEAM_RULES if "by_team_rules" in event.data else {}
    sentence = by_rules.get(done) or itself.get(event.action) or SENTENCES.get(event.action)
    sentence = sentence or itself.get(done) or OF_ITEMS.get(done)
    if not sentence:
        sentence = gettext_lazy("%(actor)s: %(action)s")
    words = _Words(
        event.data,
        actor=names.get(event.actor, event.actor) or SYSTEM,
        # By its name of then where it acted itself.
        agent=event.actor if own else event.agent.name if event.agent else _("an agent"),
        kind=name_of_kind(kind),
        action=event.action,
        said=event.after,
        fields=pgettext("list", ", ").join(_fields(event.data)),
    )
    if (person := event.data.get("person")) in names:
        words["person"] = names[person]
    if "people" in event.data:
        people = [names.get(person, person) for person in event.data["people"]]
        words["asked"] = pgettext("list", ", ").join(people) or _("the team's chat")
    if chat := event.data.get("chat"):
        words["chat"] = CHATS.get(chat, chat)
    if factor := event.data.get("factor"):
        words["factor"] = FACTORS.get(factor, factor)
    told = closed_around(str(sentence % words), str(words["kind"]))
    if because := event.data.get("because"):
        told = _("%(told)s: “%(because)s”") % {"told": told, "because": because}
    way = WAYS.get(event.data.get("via", ""))
    if way:
        told = str(way) % {"told": told}
    if event.action in ("policy-changed", "team-rules-changed") and event.data.get("reason"):
        told = _("%(told)s: “%(reason)s”") % {"told": told, "reason": event.data["reason"]}
    return told


def _fields(data: Mapping[str, Any]) -> list[str]:
    """Name what was changed; of packs which, where the event has it: an older release wrote that of none."""
    added, removed, changed = (data.get(f"packs_{each}", ()) for each in ("added", "removed", "changed"))
    if len(added) == len(removed) == 1:
        told = [_("pack %(old)s replaced by %(new)s") % {"old": removed[0], "new": added[0]}]
    else:
        told = [_("pack %(name)s added") % {"name": each} for each in added]
        told += [_("pack %(name)s removed") % {"name": each} for each in removed]
    told += [_("pack %(name)s with another workspace") % {"name": each} for each in changed]
    return [name for name in data.get("fields", []) if name != "packs" or not told] + told


def name_of_kind(kind: str) -> str:
    """Name the kind of an item: an agent's tag stays as it is, what has none is translated."""
    return str({"tool_call": _("TOOL CALL"), "question": _("QUESTION")}.get(kind, kind.upper().replace("_", " ")))


def closed_around(told: str, word: str) -> str:
    """Leave no blank in a Chinese sentence around a word of it that is Chinese there too."""
    each = re.escape(word)
    blank = f"(?<={_CHINESE}) (?={_CHINESE})"
    return re.sub(f"{blank}(?={each})|(?<={each}){blank}", "", told)


class _Words(dict[str, object]):
    """What a sentence may name. Events of an older release may lack some of it."""

    def __missing__(self, name: str) -> object:
        return _Unknown()


class _Unknown(int):
    """Counts as many, since a sentence may ask how many it is of."""

    def __str__(self) -> str:
        return "…"

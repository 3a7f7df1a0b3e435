"""Say in plain words what an audit event records."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy, pgettext, pgettext_lazy

from metacog.audit.audit import KINDS
from metacog.models import AuditEvent

# What happened to one part of a response; the action is the part's kind and one of these (`chat-held`).
OF_ITEMS: Mapping[str, Promise] = {
    "held": gettext_lazy("A %(kind)s of %(agent)s was held"),
    "marked": gettext_lazy("A %(kind)s of %(agent)s was let through with a mark"),
    "denied": gettext_lazy("A %(kind)s of %(agent)s was rejected by a rule"),
    "asked-again": gettext_lazy("%(agent)s asked again for a %(kind)s that waits"),
    "allowed-again": gettext_lazy("%(actor)s allowed the same %(kind)s of %(agent)s again for a while"),
    "allowed-no-longer": gettext_lazy("%(actor)s withdrew the permission for a %(kind)s of %(agent)s"),
    "noted": gettext_lazy("A %(kind)s of %(agent)s was let through with a note"),
    "recognised": gettext_lazy("A %(kind)s of %(agent)s was let through: the same text was approved before"),
    "approved": gettext_lazy("%(actor)s approved a %(kind)s of %(agent)s"),
    "edited": gettext_lazy("%(actor)s approved a %(kind)s of %(agent)s, edited"),
    "rejected": gettext_lazy("%(actor)s rejected a %(kind)s of %(agent)s"),
    "withdrawn": gettext_lazy("%(actor)s withdrew a %(kind)s of %(agent)s"),
    "expired": gettext_lazy("A %(kind)s of %(agent)s expired undecided"),
    "decision-undone": gettext_lazy("%(actor)s took back a decision about a %(kind)s of %(agent)s"),
}
OWN: Mapping[str, Promise] = {
    "approved": gettext_lazy("%(agent)s approved its own %(kind)s on a second look"),
    "edited": gettext_lazy("%(agent)s approved its own %(kind)s on a second look, edited"),
    "rejected": gettext_lazy("%(agent)s rejected its own %(kind)s on a second look"),
    "withdrawn": gettext_lazy("%(agent)s withdrew its own %(kind)s"),
    "thread-created": gettext_lazy("%(agent)s began a thought thread"),
    "thread-progressed": gettext_lazy("%(agent)s went on with a thought thread"),
    "thread-paused": gettext_lazy("%(agent)s paused a thought thread"),
    "thread-resumed": gettext_lazy("%(agent)s resumed a thought thread"),
    "thread-resolved": gettext_lazy("%(agent)s resolved a thought thread"),
    "memory-added": gettext_lazy("%(agent)s added to the shared memory"),
    "memory-held": gettext_lazy("What %(agent)s wanted to be remembered waits for a person"),
    "memory-confirmed": gettext_lazy("A memory of %(agent)s was let in: the same text was approved before"),
}
SENTENCES: Mapping[str, Promise] = {
    "response-accepted": gettext_lazy("%(agent)s posted a response"),
    "response-erased": ngettext_lazy(
        "The texts of a response of %(agent)s were erased after %(days)s day",
        "The texts of a response of %(agent)s were erased after %(days)s days",
        "days",
    ),
    "intent-erased": ngettext_lazy(
        "What %(agent)s did last and its topics were erased after %(days)s day",
        "What %(agent)s did last and its topics were erased after %(days)s days",
        "days",
    ),
    "meta:confidence-low": gettext_lazy("The quality of a response of %(agent)s was low"),
    "meta:impasse": gettext_lazy("A response of %(agent)s got nowhere"),
    "think-twice-suggested": gettext_lazy("%(agent)s looks stuck at %(points)s points: think twice?"),
    "think-twice-answered": gettext_lazy("Whether %(agent)s should think twice was answered: %(said)s"),
    "think-twice-outcome": gettext_lazy("What came of thinking twice about a problem of %(agent)s was noted"),
    "problem-resolved": gettext_lazy("A problem of %(agent)s was resolved"),
    "sample-judged": gettext_lazy("%(actor)s judged a response of %(agent)s that was let through"),
    "correction-answered": gettext_lazy("%(actor)s answered whether a message to %(agent)s was a correction"),
    "problem-erased": ngettext_lazy(
        "What was kept of a problem of %(agent)s was erased after %(days)s day",
        "What was kept of a problem of %(agent)s was erased after %(days)s days",
        "days",
    ),
    "thread-created": gettext_lazy("%(actor)s began a thought thread of %(agent)s"),
    "thread-touched": gettext_lazy("A response of %(agent)s pursued a thought thread"),
    "thread-progressed": gettext_lazy("%(actor)s went on with a thought thread of %(agent)s"),
    "thread-paused": gettext_lazy("%(actor)s paused a thought thread of %(agent)s"),
    "thread-resumed": gettext_lazy("%(actor)s resumed a thought thread of %(agent)s"),
    "thread-resolved": gettext_lazy("%(actor)s resolved a thought thread of %(agent)s"),
    "thread-changed": gettext_lazy("%(actor)s changed a thought thread of %(agent)s (%(fields)s)"),
    "thread-imported": gettext_lazy("%(actor)s imported a thought thread of %(agent)s"),
    "thread-suggestion-dismissed": gettext_lazy("%(actor)s dismissed a suggested thought thread of %(agent)s"),
    "thread-article-done": gettext_lazy("%(actor)s dealt with the journal draft of a thought thread of %(agent)s"),
    "lesson-imported": gettext_lazy("%(actor)s imported a lesson"),
    "thread-erased": ngettext_lazy(
        "The trail of a thought thread of %(agent)s was erased after %(days)s day",
        "The trail of a thought thread of %(agent)s was erased after %(days)s days",
        "days",
    ),
    "pattern-added": gettext_lazy("%(actor)s added an error pattern"),
    "pattern-changed": gettext_lazy("%(actor)s changed an error pattern"),
    "pattern-proposed": gettext_lazy("%(actor)s proposed an error pattern"),
    "pattern-taught": gettext_lazy("%(actor)s came upon a proposed error pattern again"),
    "pattern-tried": gettext_lazy("%(actor)s put an error pattern into shadow"),
    "pattern-activated": gettext_lazy("%(actor)s made an error pattern active"),
    "pattern-retired": gettext_lazy("%(actor)s retired an error pattern"),
    "pattern-dismissed": gettext_lazy("%(actor)s dismissed a proposed error pattern"),
    "pattern-reopened": gettext_lazy("%(actor)s proposed a retired error pattern again"),
    "pattern-withdrawn": gettext_lazy("%(actor)s took a proposed error pattern back: it was no correction"),
    "pattern-merged": ngettext_lazy(
        "%(actor)s merged %(count)s proposed error pattern into another",
        "%(actor)s merged %(count)s proposed error patterns into another",
        "count",
    ),
    "pattern-taken-apart": ngettext_lazy(
        "%(actor)s took a merged error pattern apart: %(count)s is proposed again",
        "%(actor)s took a merged error pattern apart: %(count)s are proposed again",
        "count",
    ),
    "pattern-shown-apart": gettext_lazy("%(actor)s set a proposed error pattern apart from those like it"),
    "pattern-shown-merged": gettext_lazy("%(actor)s put a proposed error pattern back with those like it"),
    "pattern-erased": ngettext_lazy(
        "A proposed error pattern was erased after %(days)s day",
        "A proposed error pattern was erased after %(days)s days",
        "days",
    ),
    "meta:reflection": ngettext_lazy(
        "%(actor)s looked back on %(responses)s response of %(agent)s",
        "%(actor)s looked back on %(responses)s responses of %(agent)s",
        "responses",
    ),
    "reflection-erased": ngettext_lazy(
        "What a reflection on %(agent)s quotes was erased after %(days)s day",
        "What a reflection on %(agent)s quotes was erased after %(days)s days",
        "days",
    ),
    "research-begun": gettext_lazy("%(agent)s asked for research after a verdict"),
    "research-finished": gettext_lazy("Research for %(agent)s was finished"),
    "research-failed": ngettext_lazy(
        "Research for %(agent)s failed after %(attempts)s attempt",
        "Research for %(agent)s failed after %(attempts)s attempts",
        "attempts",
    ),
    "research-erased": ngettext_lazy(
        "What research for %(agent)s was about was erased after %(days)s day",
        "What research for %(agent)s was about was erased after %(days)s days",
        "days",
    ),
    "lesson-proposed": gettext_lazy("A lesson for %(agent)s was proposed"),
    "lesson-proposed-again": gettext_lazy("A lesson for %(agent)s was proposed again"),
    "lesson-written": gettext_lazy("%(actor)s wrote a lesson"),
    "lesson-changed": gettext_lazy("%(actor)s changed a lesson (%(fields)s)"),
    "lesson-confirmed": gettext_lazy("%(actor)s confirmed a lesson"),
    "lesson-dismissed": gettext_lazy("%(actor)s dismissed a lesson"),
    "lesson-retired": gettext_lazy("%(actor)s retired a lesson"),
    "lesson-restored": gettext_lazy("%(actor)s took up a lesson again"),
    "lesson-erased": ngettext_lazy(
        "The text of a lesson was erased after %(days)s day",
        "The text of a lesson was erased after %(days)s days",
        "days",
    ),
    "memory-added": gettext_lazy("%(actor)s added to the shared memory"),
    "memory-confirmed": gettext_lazy("%(actor)s let a memory in"),
    "memory-retired": gettext_lazy("%(actor)s retired a memory"),
    "memory-discarded": gettext_lazy("%(actor)s discarded a memory that waited"),
    "memory-too-long": gettext_lazy("A released REMEMBER of %(agent)s is too long for the memory"),
    "memory-full": gettext_lazy("A released REMEMBER of %(agent)s found no room in the memory"),
    "memory-settled": gettext_lazy("%(actor)s settled a contradiction between two memories"),
    "memory-erased": ngettext_lazy(
        "The text of a memory was erased after %(days)s day",
        "The text of a memory was erased after %(days)s days",
        "days",
    ),
    "extension-asked": gettext_lazy("%(agent)s asked for more tool calls"),
    "extension-approved": gettext_lazy("More tool calls were granted to %(agent)s"),
    "extension-rejected": gettext_lazy("More tool calls were refused to %(agent)s"),
    "extension-withdrawn": gettext_lazy("%(agent)s withdrew its request for more tool calls"),
    "extension-expired": gettext_lazy("Nobody answered in time when %(agent)s asked for more tool calls"),
    "extension-erased": ngettext_lazy(
        "The texts of a request of %(agent)s were erased after %(days)s day",
        "The texts of a request of %(agent)s were erased after %(days)s days",
        "days",
    ),
    "handcard-changed": gettext_lazy("%(actor)s wrote the handcard of %(agent)s"),
    "decision-released": gettext_lazy("A decision was released to %(agent)s"),
    "callback-delivered": gettext_lazy("A callback reached %(agent)s"),
    "callback-given-up": ngettext_lazy(
        "A callback to %(agent)s was given up after %(attempts)s attempt",
        "A callback to %(agent)s was given up after %(attempts)s attempts",
        "attempts",
    ),
    "callback-sent-again": gettext_lazy("%(actor)s had a callback to %(agent)s sent again"),
    "callback-erased": ngettext_lazy(
        "The text of a callback to %(agent)s was erased after %(days)s day",
        "The text of a callback to %(agent)s was erased after %(days)s days",
        "days",
    ),
    "endpoint-switched-off": gettext_lazy("The callback address of %(agent)s was switched off (%(reason)s)"),
    "endpoint-switched-on": gettext_lazy("%(actor)s switched the callback address of %(agent)s on again"),
    "webhook-added": gettext_lazy("%(actor)s added the team's webhook to %(host)s (%(fields)s)"),
    "webhook-changed": gettext_lazy("%(actor)s changed the events of the webhook to %(host)s (%(fields)s)"),
    "webhook-secret-rotated": gettext_lazy("%(actor)s gave the webhook to %(host)s a new secret"),
    "webhook-secret-ended": gettext_lazy("%(actor)s ended the older secret of the webhook to %(host)s"),
    "webhook-enabled": gettext_lazy("%(actor)s enabled the webhook to %(host)s"),
    "webhook-disabled": gettext_lazy("%(actor)s disabled the webhook to %(host)s"),
    "webhook-removed": gettext_lazy("%(actor)s removed the webhook to %(host)s"),
    "webhook-tested": gettext_lazy("%(actor)s sent a test to the webhook to %(host)s"),
    "webhook-delivered": gettext_lazy("An event reached the webhook to %(host)s"),
    "webhook-given-up": ngettext_lazy(
        "An event for the webhook to %(host)s was given up after %(attempts)s attempt",
        "An event for the webhook to %(host)s was given up after %(attempts)s attempts",
        "attempts",
    ),
    "webhook-sent-again": gettext_lazy("%(actor)s had an event sent again to the webhook to %(host)s"),
    "webhook-erased": ngettext_lazy(
        "The text of an event for a webhook was erased after %(days)s day",
        "The text of an event for a webhook was erased after %(days)s days",
        "days",
    ),
    "webhook-switched-off": gettext_lazy("The webhook to %(host)s was switched off (%(reason)s)"),
    "webhook-switched-on": gettext_lazy("%(actor)s switched the webhook to %(host)s on again"),
    "agent-created": gettext_lazy("%(actor)s added the agent %(agent)s"),
    "agent-changed": gettext_lazy("%(actor)s changed the agent %(agent)s (%(fields)s)"),
    "agent-enabled": gettext_lazy("%(actor)s let the agent %(agent)s in again"),
    "agent-disabled": gettext_lazy("%(actor)s shut the agent %(agent)s out"),
    "hesitation-on": gettext_lazy("%(actor)s switched hesitation on for %(agent)s"),
    "hesitation-off": gettext_lazy("%(actor)s switched hesitation off for %(agent)s"),
    "key-issued": gettext_lazy("%(actor)s gave %(agent)s a new key (%(hint)s…)"),
    "keys-revoked": gettext_lazy("%(actor)s ended older keys of %(agent)s"),
    "policy-changed": gettext_lazy("%(actor)s changed the policy of %(agent)s (%(fields)s)"),
    "team-created": gettext_lazy("%(actor)s added the team"),
    "team-renamed": gettext_lazy("%(actor)s renamed the team from %(was)s to %(name)s"),
    "retention-changed": gettext_lazy("%(actor)s changed how long texts are kept"),
    "risk-learned": ngettext_lazy(
        "The team's risk was learned from %(decisions)s decision",
        "The team's risk was learned from %(decisions)s decisions",
        "decisions",
    ),
    "learned-risk-chosen": gettext_lazy("%(actor)s chose how the team uses its learned risk (%(fields)s)"),
    "owner-created": gettext_lazy("The first owner was added"),
    "member-added": gettext_lazy("%(actor)s added %(person)s to the team"),
    "member-removed": gettext_lazy("%(actor)s removed %(person)s from the team"),
    "role-changed": gettext_lazy("%(actor)s changed the role of %(person)s"),
    "member-link-made": gettext_lazy("%(actor)s made %(person)s a link to set a password"),
    "token-created": ngettext_lazy(
        "%(person)s made the access token “%(name)s” (%(hint)s…) for %(days)s day",
        "%(person)s made the access token “%(name)s” (%(hint)s…) for %(days)s days",
        "days",
    ),
    "token-revoked": gettext_lazy("%(actor)s revoked the access token “%(name)s” (%(hint)s…) of %(person)s"),
    "names-people-on": gettext_lazy("%(actor)s let agents be told who decided"),
    "names-people-off": gettext_lazy("%(actor)s no longer lets agents be told who decided"),
    "notices-changed": gettext_lazy("%(actor)s changed what they are told by mail (%(fields)s)"),
    "team-notices-changed": gettext_lazy("%(actor)s changed what mail about the team's items may hold (%(fields)s)"),
    "channel-changed": gettext_lazy("%(actor)s set the chat that is told what waits (%(fields)s)"),
    "channel-removed": gettext_lazy("%(actor)s removed the chat that was told what waits"),
    "channel-told": gettext_lazy("The team's chat was told what waits"),
    "channel-given-up": ngettext_lazy(
        "Telling the team's chat what waits was given up after %(attempts)s attempt",
        "Telling the team's chat what waits was given up after %(attempts)s attempts",
        "attempts",
    ),
    "notice-sent": gettext_lazy("%(person)s was told what waits"),
    "notice-given-up": ngettext_lazy(
        "Telling %(person)s what waits was given up after %(attempts)s attempt",
        "Telling %(person)s what waits was given up after %(attempts)s attempts",
        "attempts",
    ),
    "password-set": gettext_lazy("%(actor)s set a password by a one-time link"),
    "password-changed": gettext_lazy("%(actor)s changed the own password"),
    "second-factor-added": gettext_lazy("%(actor)s added a second factor to sign in"),
    "second-factor-removed": gettext_lazy("%(actor)s removed a second factor to sign in"),
    "second-factors-reset": gettext_lazy("The second factors of %(person)s were removed by the command line"),
    "sign-in-connected": gettext_lazy("%(actor)s signed in by %(name)s for the first time"),
    "sessions-ended": ngettext_lazy(
        "%(actor)s signed out in %(count)s other place", "%(actor)s signed out in %(count)s other places", "count"
    ),
}
ACTIONS = (*SENTENCES, *(f"{kind}-{done}" for kind in (*KINDS, "item") for done in OF_ITEMS))

# How it was done, where that was not in the console.
WAYS: Mapping[str, Promise] = {"mail": gettext_lazy("%(told)s, by mail"), "api": gettext_lazy("%(told)s, by API")}

SYSTEM = pgettext_lazy("who did it", "metacog")


def tell(event: AuditEvent) -> str:
    """Return one sentence without a full stop; `event` comes with its agent."""
    kind, _dash, done = event.action.partition("-")
    own = event.actor_kind == AuditEvent.Actor.AGENT and event.agent is not None
    itself = OWN if own else {}
    sentence = itself.get(event.action) or SENTENCES.get(event.action) or itself.get(done) or OF_ITEMS.get(done)
    if not sentence:
        sentence = gettext_lazy("%(actor)s: %(action)s")
    words = _Words(
        event.data,
        actor=event.actor or SYSTEM,
        # By its name of then where it acted itself.
        agent=event.actor if own else event.agent.name if event.agent else _("an agent"),
        kind=kind.upper().replace("_", " "),
        action=event.action,
        said=event.after,
        fields=pgettext("list", ", ").join(event.data.get("fields", [])),
    )
    told = str(sentence % words)
    way = WAYS.get(event.data.get("via", ""))
    if way:
        told = str(way) % {"told": told}
    if event.action == "policy-changed" and event.data.get("reason"):
        told = _("%(told)s: “%(reason)s”") % {"told": told, "reason": event.data["reason"]}
    return told


class _Words(dict[str, object]):
    """What a sentence may name. Events of an older release may lack some of it."""

    def __missing__(self, name: str) -> object:
        return _Unknown()


class _Unknown(int):
    """Counts as many, since a sentence may ask how many it is of."""

    def __str__(self) -> str:
        return "…"

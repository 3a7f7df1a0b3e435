"""Add agents and change them. Each change and its audit event are one transaction."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone
from django.utils.translation import gettext as _

from metacog import egress, heuristics
from metacog.accounts import keys
from metacog.accounts.addresses import refuse_private
from metacog.accounts.rule_forms import plain
from metacog.audit import audit
from metacog.heuristics.policy.effect_settings import packs_errors
from metacog.heuristics.policy.quality_settings import QualitySettings
from metacog.heuristics.policy.stuck_settings import StuckSettings
from metacog.heuristics.text.shadow import is_blank, suspects
from metacog.heuristics.text.strict_json import pointer
from metacog.heuristics.tool_calls.pack import ASKS_ALL, with_pack
from metacog.heuristics.tool_calls.rules import errors_in
from metacog.models import Agent, AgentState, AuditEvent, Language, Policy, Team, TeamRules, User
from metacog.refusals import translated

MAX_NAME = 100
MAX_CALLBACK_URL = 500
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class PolicyMoved(Exception):
    """Another version came into force since this one was begun; nothing was written."""


def check_name(name: str) -> str:
    """Return a name for an agent or team without space around it; ValidationError when it is none."""
    name = name.strip()
    if not name:
        raise ValidationError(_("Enter a name."))
    if len(name) > MAX_NAME:
        raise ValidationError(_("A name has at most %(most)d characters.") % {"most": MAX_NAME})
    if _UNPRINTABLE.search(name.replace(" ", "")):
        raise ValidationError(_("A name cannot contain control characters."))
    if is_blank(name) or suspects(name, 1):  # two names that look alike would be told apart by nobody
        raise ValidationError(_("The name has invisible characters. Type it again."))
    return name


def check_callback_url(url: str) -> str:
    """Return an address that callbacks may be meant for, or ""; ValidationError when it is neither.

    Whether it is public is `refuse_private`'s to say, and checked again when the socket opens, since names move.
    """
    url = url.strip()
    if not url:
        return ""
    problem = ""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or "\\" in url or _UNPRINTABLE.search(url):
        problem = _("Enter an address such as https://agent.example.org/metacog.")
    elif len(url) > MAX_CALLBACK_URL:
        problem = _("An address has at most %(most)d characters.") % {"most": MAX_CALLBACK_URL}
    elif "@" in parts.netloc:
        problem = _("Leave user name and password out of the address: deliveries are signed instead.")
    elif "#" in url:
        problem = _("Remove the part from # on: it is never sent.")
    else:
        try:
            egress.Target.of(url)
        except egress.Failed:
            problem = _("Write the host as a name in ASCII (others as xn--…), or as a whole IP address.")
    if problem:
        raise ValidationError(problem)
    return url


def create_agent(
    team: Team,
    name: str,
    actor: audit.Actor,
    *,
    language: str = Language.EN,
    callback_url: str = "",
    packs: Sequence[Mapping[str, Any]] = ({"name": ASKS_ALL},),
) -> tuple[Agent, str, str]:
    """Add an agent under the default policy with packs; return it with its (api_key, signing_secret), shown this once.

    Raises ValidationError, by field, when a value cannot be taken or the team has such an agent.
    """
    refuse_private(callback_url, "callback_url")
    if errors := packs_errors(packs):
        raise ValidationError({"pack": [f"{'/'.join(loc)}: {translated(detail)}" for loc, detail in errors]})
    with transaction.atomic():
        # The lock puts two people who add the same name in order, so that the second is told.
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        values = checked(team, name=name, language=language, callback_url=callback_url)
        agent = Agent.objects.create(team=team, risk_model=team.risk_model, **values)
        AgentState.objects.create(agent=agent)
        author = actor if isinstance(actor, User) else None
        given = [dict(pack) for pack in packs]
        Policy.objects.create(agent=agent, version=1, hold_words_with_calls=True, packs=given, created_by=author)
        _record("agent-created", agent, actor, after="enabled", name=agent.name)
        api_key, signing_secret = keys.issue(agent, actor)
    return agent, api_key, signing_secret


def change(agent: Agent, actor: audit.Actor, *, name: str, language: str, callback_url: str) -> list[str]:
    """Change what an agent is called, speaks and is reached at; return the names of what changed.

    Raises ValidationError, by field, as `create_agent` does. An address that stays is not checked again.
    """
    if callback_url.strip() != Agent.objects.values_list("callback_url", flat=True).get(pk=agent.pk):
        refuse_private(callback_url, "callback_url")
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=agent.team_id)
        values = checked(agent.team, agent, name=name, language=language, callback_url=callback_url)
        before = Agent.objects.get(pk=agent.pk)
        changed = [field for field, value in values.items() if getattr(before, field) != value]
        if changed:
            Agent.objects.filter(pk=agent.pk).update(**values)
            told = [field for field in changed if field != "callback_url"]  # an address may carry a token
            was, now = ({field: source[field] for field in told} for source in (vars(before), values))
            _record("agent-changed", agent, actor, fields=changed, was=was, now=now)
    return changed


def set_handcard(agent: Agent, actor: audit.Actor, text: str) -> bool:
    """Write what the chairman should keep in mind about an agent; return whether that was a change."""
    with transaction.atomic():
        before = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk).handcard
        if before == text:
            return False
        Agent.objects.filter(pk=agent.pk).update(handcard=text)
        digests = {"before_sha256": _digest(before), "sha256": _digest(text)}
        _record("handcard-changed", agent, actor, characters=len(text), **digests)
    return True


def set_enabled(agent: Agent, actor: audit.Actor, on: bool, because: str = "") -> bool:
    """Let an agent in or refuse it, from its next call on; return whether that was a change.

    Its keys stay as they are, so that switched on again it goes on as before.
    """
    return _switch(agent, actor, "enabled", on, because)


def pause(agent: Agent, actor: audit.Actor, because: str, until: datetime | None = None) -> bool:
    """Hold all that an agent posts, whatever its policy and grants say, until somebody resumes it or that time.

    Return whether that was a change: who pauses it again changes how long.
    """
    now = timezone.now()
    with transaction.atomic():
        locked = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
        if locked.is_paused(now) and locked.paused_until == until:
            return False
        Agent.objects.filter(pk=agent.pk).update(paused_at=now, paused_until=until)
        ends = {"until": until.isoformat()} if until else {}
        _record("agent-paused", agent, actor, before=_pace(locked, now), after="paused", because=because, **ends)
    return True


def resume(agent: Agent, actor: audit.Actor) -> bool:
    """Let an agent's policy decide again about what it posts; return whether that was a change."""
    now = timezone.now()
    with transaction.atomic():
        locked = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
        if not locked.is_paused(now):
            return False
        Agent.objects.filter(pk=agent.pk).update(paused_at=None, paused_until=None)
        _record("agent-resumed", agent, actor, before="paused", after="running")
    return True


def _pace(agent: Agent, now: datetime) -> str:
    return "paused" if agent.is_paused(now) else "running"


# What is pending of an agent is to be withdrawn. Sent with `agent`, `person` and `because`; receivers, which
# stand above this package, return how many items that were.
withdrawing = Signal()


def withdraw_items(agent: Agent, person: User | None, because: str) -> int:
    """Withdraw what is pending of an agent; return how many items that were."""
    sent = withdrawing.send(Agent, agent=agent, person=person, because=because)
    count = sum(int(found or 0) for _receiver, found in sent)
    if count:
        _record("agent-withdrawn", agent, person, before="pending", after="withdrawn", count=count, because=because)
    return count


def stay_withdrawn(agent: Agent) -> int:
    """Return how many items were withdrawn when the agent was last disabled."""
    events = AuditEvent.objects.filter(agent=agent, action__in=("agent-disabled", "agent-withdrawn"))
    last = events.order_by("-at", "-pk").first()
    count: int = last.data["count"] if last and last.action == "agent-withdrawn" else 0
    return count


def switch_hesitation(agent: Agent, actor: audit.Actor, on: bool, because: str = "") -> bool:
    """Score and hold an agent's responses, or only store them; return whether that was a change."""
    return _switch(agent, actor, "hesitation_enabled", on, because)


def rotate(agent: Agent, actor: audit.Actor, because: str = "") -> tuple[str, str]:
    """Give the agent a new (api_key, signing_secret) beside its last ones; they are shown this once.

    Two are live at a time: a third ends the oldest, which is what `because` gives the reason of.
    """
    with transaction.atomic():
        Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
        issued = keys.issue(agent, actor)
        keys.revoke(agent, actor, keep=keys.MOST_LIVE, because=because)
    return issued


def revoke(agent: Agent, actor: audit.Actor, because: str = "") -> int:
    """End all of the agent's keys and secrets but the newest; return how many ended. `keys.restore` undoes it."""
    return keys.revoke(agent, actor, because=because)


def apply_pack(agent: Agent, actor: User, pack: Mapping[str, str], *, based_on: int) -> Policy:
    """Give the agent's policy this pack, in the place of `everything-asks`, as its next version; as `add_policy`."""
    before = Policy.objects.filter(agent=agent, version=based_on).select_related("agent").first()
    if before is None:
        raise PolicyMoved
    values = before.as_dict() | {"packs": with_pack(before.packs, pack["name"], pack.get("workspace"))}
    values = {name: value for name, value in values.items() if name != "language"}
    draft = Policy(**values | {"marks": values["marks"] or {}}, note=_("Pack %(pack)s") % {"pack": pack["name"]})
    return add_policy(agent, actor, draft, based_on=based_on)


def add_policy(agent: Agent, actor: User | None, policy: Policy, *, based_on: int, **told: str) -> Policy:
    """Save `policy` as the agent's next version and put it in force.

    `actor` is None for an operator, and `told` is added to the record. `based_on` is the version the author saw; raises
    PolicyMoved when it is no longer in force, and ValidationError when the values make no policy.
    """
    with transaction.atomic():
        locked = Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
        if locked.policy_version != based_on:
            raise PolicyMoved
        before = Policy.objects.get(agent=locked, version=based_on)
        policy.agent, policy.version, policy.created_by = locked, based_on + 1, actor
        policy.full_clean()
        policy.save(force_insert=True)
        locked.policy_version = policy.version
        locked.save(update_fields=["policy_version"])
        _record(
            "policy-changed",
            locked,
            actor,
            before=str(before.version),
            after=str(policy.version),
            fields=changed_fields(before, policy),
            **_packs_changed(before.packs, policy.packs),
            **({"reason": policy.note} if policy.note else {}),
            **told,
        )
    return policy


def team_rules_in_force(team: Team) -> TeamRules:
    """Return the version of a team's rules that is in force; an unsaved one of none where it never had any."""
    found = TeamRules.objects.filter(team=team, version=team.rules_version).select_related("created_by").first()
    return found or TeamRules(team=team, version=0)


def change_team_rules(
    team: Team, actor: User | None, rules: Sequence[Mapping[str, Any]], note: str, *, based_on: int, **told: str
) -> TeamRules:
    """Save rules as the team's next version and put them in force.

    `actor` is None for an operator, and `told` is added to the record. `based_on` is the version the author saw; raises
    PolicyMoved when it is no longer in force, and ValidationError when these are no rules.
    """
    if errors := errors_in(rules):
        raise ValidationError([f"{pointer(loc)}: {translated(detail)}" for loc, detail in errors])
    with transaction.atomic():
        locked = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        if locked.rules_version != based_on:
            raise PolicyMoved
        saved = TeamRules.objects.create(
            team=locked, version=based_on + 1, rules=[plain(rule) for rule in rules], note=note, created_by=actor
        )
        Team.objects.filter(pk=team.pk).update(rules_version=saved.version)
        audit.record(
            "team-rules-changed",
            str(team.pk),
            actor=actor,
            team=locked,
            before=str(based_on),
            after=str(saved.version),
            count=len(rules),
            **({"reason": note} if note else {}),
            **told,
        )
    team.rules_version = saved.version
    return saved


def _packs_changed(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return by name which packs came, went, and stayed with another workspace; what did not happen is not there."""
    old, new = ({str(each["name"]): each for each in packs} for packs in (before, after))
    found = {
        "packs_added": [name for name in new if name not in old],
        "packs_removed": [name for name in old if name not in new],
        "packs_changed": [name for name in new if name in old and new[name] != old[name]],
    }
    return {told: names for told, names in found.items() if names}


def changed_fields(old: Policy, new: Policy) -> list[str]:
    """Return the names of what differs between two versions in effect: a default that is written out is no change."""
    before, after = _in_effect(old), _in_effect(new)
    return [name for name, value in after.items() if before[name] != value or name in old.faulty]


def _in_effect(policy: Policy) -> dict[str, Any]:
    whole = heuristics.Policy.from_dict(policy.as_dict())
    return whole.as_dict() | {
        "quality": QualitySettings.from_dict(whole.quality),
        "stuck": StuckSettings.from_dict(whole.stuck),
        "rules": [plain(rule) for rule in policy.rules],
    }


def checked(team: Team, agent: Agent | None = None, **values: str) -> dict[str, str]:
    """Return the fields of an agent, new or given, as they are stored; raise every problem at once, by field."""
    problems: dict[str, list[str]] = {}
    for field, check in (("name", check_name), ("callback_url", check_callback_url)):
        try:
            values[field] = check(values[field])
        except ValidationError as error:
            problems[field] = error.messages
    if values["language"] not in Language.values:
        problems["language"] = [_("Choose one of %(languages)s.") % {"languages": ", ".join(Language.values)}]
    namesakes = Agent.objects.filter(team=team, name=values["name"])
    if agent:
        namesakes = namesakes.exclude(pk=agent.pk)
    if "name" not in problems and namesakes.exists():
        problems["name"] = [
            _("%(team)s already has an agent called %(name)s.") % {"team": team.name, "name": values["name"]}
        ]
    if problems:
        raise ValidationError(problems)
    return values


_SWITCHED = {"enabled": ("agent-disabled", "agent-enabled"), "hesitation_enabled": ("hesitation-off", "hesitation-on")}


def _switch(agent: Agent, actor: audit.Actor, field: str, on: bool, because: str) -> bool:
    with transaction.atomic():
        changed = Agent.objects.filter(pk=agent.pk, **{field: not on}).update(**{field: on})
        if changed:
            states = ("off", "on")
            reason = {"because": because} if because else {}
            _record(_SWITCHED[field][on], agent, actor, before=states[not on], after=states[on], **reason)
    return bool(changed)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _record(action: str, agent: Agent, actor: audit.Actor, **rest: Any) -> None:
    audit.record(action, agent.public_id, actor=actor, team=agent.team_id, agent=agent, **rest)

"""The page about deliveries: what agents, or one webhook of a team, were told, what waits, and what was given up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST, require_safe

from metacog.models import Agent, Role, Team
from metacog.pages.agent_choice import choice
from metacog.pages.unknown_filters import unknown_filters
from reviews.models import Delivery, Endpoint, TeamWebhook
from reviews.outbox import deliveries
from reviews.outbox.deliveries import for_list
from reviews.pages.person import PersonRequest

State = Delivery.State
PAGE = 50


@dataclass(frozen=True)
class Filters:
    """Which deliveries are looked at. Everything is in the page's address."""

    state: str = ""
    agent: str = ""  # public id
    item: str = ""  # public id of a held item
    webhook: str = ""  # public id; without one, agents' callbacks
    after: str = ""  # public id of the last delivery of the page before

    @classmethod
    def of(cls, query: QueryDict) -> Filters:
        """Read an address; a state that is not known means all of them."""
        state = query.get("state", "")
        return cls(
            state=state if state in State.values else "",
            **{name: query.get(name, "")[:40] for name in ("agent", "item", "webhook", "after")},
        )

    @property
    def url(self) -> str:
        given = {name: value for name, value in vars(self).items() if value}
        return reverse("deliveries") + ("?" + urlencode(given) if given else "")


@require_safe
def delivery_list(request: PersonRequest) -> HttpResponse:
    """List the deliveries of the person's teams, latest first."""
    filters, teams = Filters.of(request.GET), request.user.teams_as()
    agents = Agent.objects.filter(team__in=teams)
    named = list(agents.filter(public_id=filters.agent)) if filters.agent else []
    unknown = unknown_filters(request.GET, agents=named, state=State.values)
    if not named:
        filters = replace(filters, agent="")
    webhook = _webhook(request, filters.webhook) if filters.webhook else None
    scope = _scope(filters, teams, webhook)
    rows = scope.filter(state=filters.state) if filters.state else scope
    if filters.after and (last := scope.filter(public_id=filters.after).first()):
        rows = rows.filter(pk__lt=last.pk)
    found = list(for_list(rows)[: PAGE + 1])
    following = found[PAGE - 1].public_id if len(found) > PAGE else ""
    may_send = set(request.user.teams_as(Role.CURATOR).values_list("pk", flat=True))
    context = {
        "unknown_filters": unknown,
        "webhook": webhook,
        "rows": [
            {"delivery": row, "may_send": row.receiver.team_id in may_send and not _is_off(row)} for row in found[:PAGE]
        ],
        "now": timezone.now(),
        "filters": filters,
        "views": _views(filters, scope),
        "choice": choice("deliveries", agents.order_by("name", "team__name"), request.GET, filters.agent),
        "webhooks": () if webhook else _webhooks(request),
        "have_address": agents.exclude(callback_url="").exists(),
        "endpoints": [
            {"endpoint": endpoint, "given_up": endpoint.exhausted, "may_send": endpoint.agent.team_id in may_send}
            for endpoint in (() if webhook else _in_trouble(filters, teams))
        ],
        "first_url": replace(filters, after="").url if filters.after else "",
        "next_url": replace(filters, after=following).url if following else "",
        "query": request.GET.urlencode(),
    }
    return render(request, "reviews/deliveries.html", context)


@require_POST
def replay(request: PersonRequest, delivery_id: str) -> HttpResponse:
    """Have a delivery that was given up sent again, under its id and with its bytes."""
    teams = request.user.teams_as()
    delivery = get_object_or_404(
        Delivery.objects.select_related("agent", "webhook__team").defer("body"),
        Q(webhook=None, agent__team__in=teams) | Q(webhook__team__in=teams, webhook__removed_at=None),
        public_id=delivery_id,
    )
    receiver = delivery.receiver
    _check_may_send(request, receiver)
    try:
        if deliveries.send_again(delivery, request.user):
            messages.success(request, gettext("The delivery was resent, with the same id and body."))
        else:
            messages.info(request, gettext("The delivery is not given up: nothing was changed."))
    except deliveries.SwitchedOff:
        messages.error(
            request,
            gettext("%(agent)s has no webhook that is on: nothing was changed.")
            % {"agent": request.user.name_of(receiver) if isinstance(receiver, Agent) else receiver.host},
        )
    return _back(request)


@require_POST
def endpoint_on(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Switch an agent's endpoint on again, and send what was given up if that is wanted."""
    agent = get_object_or_404(Agent, public_id=agent_id, team__in=request.user.teams_as())
    _check_may_send(request, agent)
    was_off, again = deliveries.switch_on(agent, request.user, with_given_up=request.POST.get("again") == "1")
    if not was_off:
        messages.info(request, gettext("The webhook was already on. Nothing was changed."))
    elif again:
        messages.success(
            request,
            ngettext(
                "The webhook is on again. %(count)s delivery is being sent.",
                "The webhook is on again. %(count)s deliveries are being sent.",
                again,
            )
            % {"count": again},
        )
    else:
        messages.success(request, gettext("The webhook is on again."))
    return redirect("agent", agent.public_id) if "from_agent" in request.POST else _back(request)


@require_POST
def endpoint_discard(request: PersonRequest, agent_id: str) -> HttpResponse:
    """Discard what was given up of an agent's deliveries."""
    agent = get_object_or_404(Agent, public_id=agent_id, team__in=request.user.teams_as())
    _check_may_send(request, agent)
    say_discarded(request, deliveries.discard(agent, request.user))
    return redirect("agent", agent.public_id) if "from_agent" in request.POST else _back(request)


def say_discarded(request: PersonRequest, count: int) -> None:
    """Say how many deliveries were discarded."""
    said = ngettext("%(count)s delivery was discarded.", "%(count)s deliveries were discarded.", count)
    messages.success(request, said % {"count": f"{count:,}"})


def _webhook(request: PersonRequest, webhook_id: str) -> TeamWebhook:
    """Return a webhook of a team that the person owns."""
    owned = request.user.teams_as(Role.OWNER)
    return get_object_or_404(TeamWebhook, public_id=webhook_id, team__in=owned, removed_at=None)


def _webhooks(request: PersonRequest) -> QuerySet[TeamWebhook]:
    """Return the webhooks of teams that the person owns, each with how many of its deliveries are queued."""
    owned = TeamWebhook.objects.filter(team__in=request.user.teams_as(Role.OWNER), removed_at=None)
    queued = Delivery.objects.filter(webhook=OuterRef("pk"), state=State.WAITING).order_by()
    count = queued.values("webhook").annotate(number=Count("pk")).values("number")
    return owned.annotate(queued=Coalesce(Subquery(count), 0)).order_by("pk")


def _is_off(delivery: Delivery) -> bool:
    health = deliveries.health_of(delivery.receiver)
    return bool(health and health.is_off)


def _scope(filters: Filters, teams: QuerySet[Team], webhook: TeamWebhook | None) -> QuerySet[Delivery]:
    """Return the deliveries of the webhook, the agent or the item that is looked at, in any state."""
    if webhook:
        found = deliveries.deliveries_of(webhook)
    else:
        found = Delivery.objects.filter(agent__team__in=teams, webhook=None)
    if filters.agent:
        found = found.filter(agent__public_id=filters.agent)
    if filters.item:
        found = found.filter(held__public_id=filters.item)
    return found


def _views(filters: Filters, scope: QuerySet[Delivery]) -> list[dict[str, Any]]:
    """Return the states to choose from; those that somebody may have to act on with their counts."""
    # One count each: an index serves each of the two states, none both.
    counts: dict[str, int] = {state: scope.filter(state=state).count() for state in (State.WAITING, State.EXHAUSTED)}
    choices = [("", gettext("All")), *State.choices]
    return [
        {
            "name": name,
            "url": replace(filters, state=state, after="").url,
            "is_current": state == filters.state,
            "count": counts.get(state),
        }
        for state, name in choices
    ]


def _in_trouble(filters: Filters, teams: QuerySet[Team]) -> QuerySet[Any]:
    """Return the endpoints that are off or failing at the address their agent has now."""
    found = Endpoint.objects.filter(
        Q(off_at__isnull=False) | Q(failing_since__isnull=False), agent__team__in=teams, url=F("agent__callback_url")
    )
    if filters.agent:
        found = found.filter(agent__public_id=filters.agent)
    given_up = Delivery.objects.filter(agent=OuterRef("pk"), webhook=None, state=State.EXHAUSTED).order_by()
    count = given_up.values("agent").annotate(number=Count("pk")).values("number")
    return (
        found.exclude(url="")
        .select_related("agent")
        .annotate(exhausted=Coalesce(Subquery(count), 0))
        .order_by("agent__name")
    )


def _check_may_send(request: PersonRequest, receiver: deliveries.Receiver) -> None:
    if isinstance(receiver, TeamWebhook):
        if not request.user.has_role(receiver.team_id, Role.OWNER):
            raise PermissionDenied(gettext("Only owners of the team can see and change its webhooks."))
    elif not request.user.has_role(receiver.team_id, Role.CURATOR):
        raise PermissionDenied(gettext("Only curators and owners of the team can resend deliveries."))


def _back(request: PersonRequest) -> HttpResponseRedirect:
    """Return to the list as it was."""
    return HttpResponseRedirect(Filters.of(QueryDict(request.POST.get("query", ""))).url)

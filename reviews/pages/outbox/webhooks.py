"""The pages about a team's webhooks, for its owners: adding one, and how one is set and doing."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from metacog import egress
from metacog.accounts.consequences import ReasonForm
from metacog.http import once
from metacog.models import Role, Team
from metacog.pages.confirming import Step, confirm, done
from reviews.models import Delivery, TeamWebhook
from reviews.models.deliveries import TEAM_EVENTS
from reviews.outbox import deliveries, webhooks
from reviews.pages.outbox.deliveries import say_discarded
from reviews.pages.person import PersonRequest

LATEST = 10  # deliveries that a webhook's page shows


class EventsForm(forms.Form):
    """Which events a webhook gets."""

    events = forms.MultipleChoiceField(
        label=_("Events"),
        choices=[*TEAM_EVENTS.items()],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one event.")},
    )


class WebhookForm(EventsForm):
    """A new webhook; `reviews.outbox.webhooks` says which addresses there are."""

    url = forms.CharField(
        label=_("Address"),
        max_length=500,
        help_text=_("Events are posted here, signed. Only public addresses are reached."),
        error_messages={"required": _("Give the address that events are posted to.")},
        widget=forms.TextInput(
            attrs={"inputmode": "url", "placeholder": "https://", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
    field_order = ["url", "events"]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhook_new(request: PersonRequest, team_id: int) -> HttpResponse:
    """Add a webhook, and show its secret this once."""
    team = get_object_or_404(request.user.teams_as(), pk=team_id)
    _check_owner(request, team.pk)
    form = WebhookForm(request.POST if request.method == "POST" else None, initial={"events": [*TEAM_EVENTS]})
    if form.is_valid():
        if once.is_repeated(request):
            return redirect(f"{reverse('team')}?team={team.pk}")
        try:
            made, secret = webhooks.add(team, request.user, **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return _page(request, made, secret=secret)
    context = {"team": team, "form": form, "section": "team"}
    return render(request, "reviews/webhook_new.html", context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhook(request: PersonRequest, webhook_id: str) -> HttpResponse:
    """Show a webhook: how it does and what it got last; which events it gets may be changed here."""
    found = _webhook(request, webhook_id)
    if request.method != "POST":
        return _page(request, found)
    form = EventsForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form=form)
    if webhooks.set_events(found, request.user, form.cleaned_data["events"]):
        messages.success(request, gettext("Saved."))
    return redirect("webhook", found.public_id)


@never_cache
@require_POST
def webhook_step(request: PersonRequest, webhook_id: str) -> HttpResponse:
    """Take a step with a webhook: send a test, rotate or end a secret, switch, enable or disable it."""
    found = _webhook(request, webhook_id)
    step = request.POST.get("step", "")
    if step == "rotate":
        if once.is_repeated(request):
            return redirect("webhook", found.public_id)
        secret = webhooks.rotate(found, request.user)
        found.refresh_from_db()
        return _page(request, found, secret=secret)
    if step == "test":
        _send_test(request, found)
    elif step == "switch-on":
        _switch_on(request, found)
    elif step == "discard":
        say_discarded(request, deliveries.discard(found, request.user))
    elif step == "end-former":
        if webhooks.end_former_secret(found, request.user):
            messages.success(request, gettext("The older secret has ended. Only the newest signs now."))
    elif step in ("enable", "disable"):
        if webhooks.set_enabled(found, request.user, step == "enable"):
            messages.success(request, gettext("Saved."))
    else:
        return HttpResponseBadRequest(gettext("Unknown step."), content_type="text/plain; charset=utf-8")
    return redirect("webhook", found.public_id)


@never_cache
@require_safe
def webhook_confirm(request: PersonRequest, webhook_id: str) -> HttpResponse:
    """Name what removing a webhook takes away; ask why."""
    return confirm(request, _removal(_webhook(request, webhook_id)))


def _removal(found: TeamWebhook) -> Step:
    return Step(
        title=gettext("Remove webhook to %(host)s") % {"host": found.host},
        whose=found.host,
        consequences=webhooks.consequences(found, timezone.now()),
        undo=gettext("For 24 hours it can be restored on the team's page."),
        button=gettext("Remove webhook"),
        action_url=reverse("webhook-remove", args=[found.public_id]),
        cancel_url=reverse("webhook", args=[found.public_id]),
        section="team",
    )


@require_POST
def webhook_remove(request: PersonRequest, webhook_id: str) -> HttpResponse:
    """Remove a webhook."""
    found = _webhook(request, webhook_id)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return confirm(request, _removal(found), form)
    webhooks.remove(found, request.user, form.cleaned_data["reason"])
    done(request, gettext("The webhook is removed: nothing more is sent to it."), f"restore-{found.public_id}")
    return redirect(f"{reverse('team')}?team={found.team_id}")


@require_POST
def webhook_restore(request: PersonRequest, webhook_id: str) -> HttpResponse:
    """Have a webhook as it was before it was removed."""
    seen = TeamWebhook.objects.filter(team__in=request.user.teams_as()).exclude(removed_at=None)
    found = get_object_or_404(seen.select_related("team"), public_id=webhook_id)
    _check_owner(request, found.team_id)
    try:
        if webhooks.restore(found, request.user):
            messages.success(request, gettext("The webhook is restored, with its secrets and pending deliveries."))
            return redirect("webhook", found.public_id)
        messages.error(request, gettext("Too late: its secrets are deleted. Add the webhook again."))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect(f"{reverse('team')}?team={found.team_id}")


def _send_test(request: PersonRequest, found: TeamWebhook) -> None:
    try:
        webhooks.send_test(found, request.user)
    except deliveries.SwitchedOff:
        messages.error(request, gettext("The webhook is off: nothing was sent. Switch it on first."))
    else:
        messages.success(request, gettext("The test event is being sent. Its row below shows the result."))


def _switch_on(request: PersonRequest, found: TeamWebhook) -> None:
    was_off, again = deliveries.switch_on(found, request.user, with_given_up=request.POST.get("again") == "1")
    if was_off and again:
        sentence = ngettext(
            "The webhook is on again. %(count)s delivery is being sent.",
            "The webhook is on again. %(count)s deliveries are being sent.",
            again,
        )
        messages.success(request, sentence % {"count": again})
    elif was_off:
        messages.success(request, gettext("The webhook is on again."))
    else:
        messages.info(request, gettext("The webhook was already on. Nothing was changed."))


def _webhook(request: PersonRequest, webhook_id: str) -> TeamWebhook:
    """Return a webhook of the person's own teams; 404 for a stranger, 403 for a role too low."""
    seen = TeamWebhook.objects.filter(team__in=request.user.teams_as(), removed_at=None)
    found = get_object_or_404(seen.select_related("team", "created_by"), public_id=webhook_id)
    _check_owner(request, found.team_id)
    return found


def _check_owner(request: PersonRequest, team_id: int) -> None:
    if not request.user.has_role(team_id, Role.OWNER):
        raise PermissionDenied(gettext("Only owners of the team can see and change its webhooks."))


def _page(
    request: PersonRequest, found: TeamWebhook, *, form: EventsForm | None = None, secret: str = ""
) -> HttpResponse:
    owed = Delivery.objects.filter(webhook=found)
    context: dict[str, Any] = {
        "webhook": found,
        "team": Team.objects.get(pk=found.team_id),
        "form": form or EventsForm(initial={"events": found.events}),
        "secret": secret,
        "barred": egress.barred(found.url),
        "given_up": owed.filter(state=Delivery.State.EXHAUSTED).exclude(body="").count(),
        "rows": [{"delivery": row, "may_send": not found.is_off} for row in deliveries.for_list(owed)[:LATEST]],
        "query": f"webhook={found.public_id}",
        "now": timezone.now(),
        "section": "team",
    }
    return render(request, "reviews/webhook.html", context, status=422 if form else 200)

"""The devices that take a person's notices: turned on, tried, withdrawn, and what is pushed to them."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from metacog.accounts.notice_forms import PersonPushForm
from metacog.models import PushDevice
from metacog.notices import devices
from metacog.pages.account import DEVICE, Request, preferences_page, remember
from metacog.pages.security import browser


@never_cache
@require_POST
def push_change(request: Request) -> HttpResponse:
    """Set what is pushed to the person's devices, and when."""
    form = PersonPushForm(request.user, request.POST)
    if not form.is_valid():
        return preferences_page(request, push=form, status=422)
    if devices.choose(request.user, form.cleaned_data):
        messages.success(request, _("Saved."))
    return _back()


@never_cache
@require_POST
def device_add(request: Request) -> HttpResponse:
    """Have notices pushed to this browser, which has just subscribed at its push service."""
    given = {name: request.POST.get(name, "") for name in ("endpoint", "p256dh", "auth")}
    try:
        name = browser(request.headers.get("User-Agent", ""))
        device = devices.add(request.user, name=name, **given)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return _back()
    devices.test(device)
    messages.success(request, _("Notices are on for this device. The first one arrives within a minute."))
    response = _back()
    remember(response, DEVICE, device.public_id)
    return response


@require_POST
def device_test(request: Request, device_id: str) -> HttpResponse:
    """Send a notice to one of the person's devices that says nothing but that it came."""
    devices.test(_own(request, device_id))
    messages.success(request, _("A test notice is on its way. It arrives within a minute."))
    return _back()


@require_POST
def device_withdraw(request: Request, device_id: str) -> HttpResponse:
    """Push nothing to one of the person's devices any more."""
    device = _own(request, device_id)
    devices.withdraw(device, request.user)
    messages.success(request, _("%(name)s no longer gets notices.") % {"name": device.name})
    return _back()


@csrf_exempt  # the device posts by itself, without a session; what is signed is what allows it
@login_not_required
@require_POST
def device_closed(request: HttpRequest, token: str) -> HttpResponse:
    """Hear from a device that it shows a notice no more. Whatever it says, it hears nothing."""
    devices.closed(token)
    return HttpResponse(status=204)


def _own(request: Request, device_id: str) -> PushDevice:
    return get_object_or_404(PushDevice.objects.select_related("person"), public_id=device_id, person=request.user)


def _back() -> HttpResponse:
    return redirect("preferences")  # at its top, where it says what was done

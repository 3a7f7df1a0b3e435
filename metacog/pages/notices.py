"""What people are told, and the link in every mail that ends it."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from metacog.accounts.notice_forms import PersonNoticesForm
from metacog.models import Notice
from metacog.notices import mail, notices
from metacog.pages.account import Request, preferences_page


@never_cache
@require_POST
def notices_change(request: Request) -> HttpResponse:
    """Set where and when the person is told what waits."""
    form = PersonNoticesForm(request.user, request.POST)
    if not form.is_valid():
        return preferences_page(request, notices=form, status=422)
    if notices.set_for(request.user, **form.cleaned_data):
        messages.success(request, _("Saved."))
    return redirect("preferences")


@require_POST
def notices_test(request: Request) -> HttpResponse:
    """Send the person a test mail, to the address that is saved, and say what came of it."""
    address = request.user.email
    if not (address and mail.is_set_up()):
        raise Http404
    subject, text = _("metacog: test"), _("This is a test. Notices about held items come to this address.")
    headers = {"Auto-Submitted": "auto-generated"}  # RFC 3834
    message = mail.Mail(subject, text, settings.MAIL_FROM, [address], headers=headers)
    if trouble := mail.send(message):
        why = Notice.Trouble(trouble).label
        messages.error(request, _("The test email could not be sent: %(why)s") % {"why": why})
    else:
        told = _(
            "The mail server accepted the test email to %(address)s. If it does not arrive, look in the spam folder."
        )
        messages.success(request, told % {"address": address})
    return redirect("preferences")


@csrf_exempt  # mail programs post here by themselves (RFC 8058); the signed address is what allows it
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def notices_stop(request: HttpRequest, token: str) -> HttpResponse:
    """Ask whether to stop the mails to one person, and stop them: opening the link changes nothing."""
    person = notices.of_stop_link(token)
    if person is None:
        return render(request, "metacog/notices_stop.html", status=404)
    if request.method == "POST":
        notices.stop(person)
    with translation.override(person.language or translation.get_language()):
        return render(request, "metacog/notices_stop.html", {"person": person, "stopped": not notices.is_told(person)})

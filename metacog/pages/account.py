"""Pages about oneself: signing in, one's link and password, preferences."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import urlsplit

from allauth.account.internal.stagekit import pop_login
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import (
    INTERNAL_RESET_SESSION_TOKEN,
    LoginView,
    LogoutView,
    PasswordResetConfirmView,
)
from django.db import transaction
from django.forms import BaseForm as Form
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.middleware import csrf
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views import i18n
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from metacog.accounts import members, tokens
from metacog.accounts.forms import FirstPasswordForm, PasswordForm, PreferencesForm, SignInForm, TokenForm
from metacog.accounts.notice_forms import PersonNoticesForm, PersonPushForm
from metacog.audit import audit
from metacog.http.middleware import has_not_come, in_words
from metacog.models import ChatUser, Language, PersonalToken, PushDevice, Role, User
from metacog.models.people import LONG_AGO
from metacog.notices import devices, mail, push
from metacog.pages import security
from metacog.sign_in import sign_ins

YEAR = 365 * 24 * 3600
DEVICE = "device"  # the cookie that says which of a person's devices this browser is
_OTHER = (csrf.REASON_BAD_ORIGIN, csrf.REASON_BAD_REFERER, csrf.REASON_INSECURE_REFERER)
FROM_ELSEWHERE = tuple(reason.partition("%s")[0] for reason in _OTHER)  # how those reasons begin


class Request(HttpRequest):
    """A request of somebody who is signed in."""

    user: User


# -- signing in ------------------------------------------------------------------------------------


class SignIn(LoginView):
    """Django's, except that it never leads back to itself, and that a second factor may follow."""

    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show the page; who was asked for a second factor begins anew, and may take a passkey instead."""
        pop_login(request)
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return no_passwords(request) if settings.SSO_ONLY else super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        return security.sign_in_person(self.request, form.get_user(), self.get_success_url())

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        is_any = Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN).exists()
        return super().get_context_data(
            providers=security.providers(self.request),
            has_passwords=not settings.SSO_ONLY,
            has_passkeys=is_any and settings.HAS_PASSKEYS and not settings.SSO_ONLY,
            lacks_passkeys=is_any and not settings.HAS_PASSKEYS and not settings.SSO_ONLY,
            public_url=settings.PUBLIC_URL,
            **kwargs,
        )

    def get_redirect_url(self, *args: Any) -> str:
        url = super().get_redirect_url(*args)
        return "" if urlsplit(url).path in (reverse("sign-in"), reverse("sign-out")) else url


def no_passwords(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    """Refuse what a password, or a passkey in its place, would be needed for: providers alone let people in."""
    return render(request, "registration/no_passwords.html", status=403)


@method_decorator(login_not_required, name="dispatch")
class SetPassword(PasswordResetConfirmView):
    """The one-time link: opening it changes nothing, so that a mail scanner cannot use it up."""

    template_name = "registration/set_password.html"
    form_class = FirstPasswordForm
    token_generator = members.link_tokens
    post_reset_login_backend = "django.contrib.auth.backends.ModelBackend"
    success_url = reverse_lazy("queue")

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return no_passwords(self.request) if settings.SSO_ONLY else super().dispatch(*args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        self.post_reset_login = not is_mfa_enabled(self.user)  # who has the link has not the second factor
        link = reverse("set-password", args=[self.kwargs["uidb64"], self.request.session[INTERNAL_RESET_SESSION_TOKEN]])
        with transaction.atomic():
            response = super().form_valid(form)
            audit.record("password-set", str(form.user.pk), actor=form.user, team=None)
        kept = settings.DATA_DIR / "first-owner-link"
        if kept.exists() and kept.read_text().strip().endswith(link):
            kept.unlink(missing_ok=True)
        return response


class SignOut(LogoutView):
    """Django's, and this browser gets no more notices of whoever leaves it."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if isinstance(request.user, User):
            mine = PushDevice.objects.filter(person=request.user, public_id=request.COOKIES.get(DEVICE, "")[:40])
            for device in mine.select_related("person"):
                devices.withdraw(device, request.user)
        response = super().post(request, *args, **kwargs)
        remember(response, DEVICE, "")
        return response


sign_in = SignIn.as_view()
sign_out = login_not_required(SignOut.as_view())
set_password = SetPassword.as_view()


def locked_out(request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any]) -> HttpResponse:
    """Answer a sign-in after too many wrong ones; called by django-axes."""
    until, by_address = sign_ins.free_at(request, credentials)
    minutes = max(1, math.ceil((until - timezone.now()).total_seconds() / 60))
    context = {"minutes": minutes, "by_address": by_address, "next": request.POST.get("next", "")}
    response = render(request, "registration/locked_out.html", context, status=429)
    response["Retry-After"] = str(minutes * 60)
    return response


def form_too_old(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form whose token no longer holds, or that came from another address; Django's CSRF_FAILURE_VIEW."""
    if has_not_come(request):
        return in_words(request, _("Form expired"), 403)
    if not reason.startswith(FROM_ELSEWHERE):
        return render(request, "metacog/form_too_old.html", status=403)
    page = urlsplit(request.headers.get("Referer", ""))  # looked at by Django only where no Origin came
    origin = request.headers.get("Origin") or f"{page.scheme}://{page.netloc}"
    context = {"origin": origin[:255], "public_url": settings.PUBLIC_URL}
    return render(request, "metacog/form_from_elsewhere.html", context, status=403)


# -- preferences -----------------------------------------------------------------------------------


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def preferences(request: Request) -> HttpResponse:
    """Let somebody set how the console looks to them, and change their password."""
    user = request.user
    wants_password = request.method == "POST" and "old_password" in request.POST
    if wants_password and settings.SSO_ONLY:
        return no_passwords(request)
    wants_form = request.method == "POST" and not wants_password
    # A copy, so that a form that is refused does not dress this very page.
    form = PreferencesForm(request.POST if wants_form else None, instance=User.objects.get(pk=user.pk))
    password_form = PasswordForm(user, request.POST if wants_password else None)
    if wants_form and form.is_valid():
        person = form.save(commit=False)
        person.report_at = LONG_AGO  # its hour may be another in another time zone
        person.save(update_fields=[*form.Meta.fields, "report_at"])  # the rest of the row is for others to change
        messages.success(request, _("Saved."))
        response = redirect("preferences")
        remember(response, settings.LANGUAGE_COOKIE_NAME, form.instance.language)
        remember(response, "theme", form.instance.theme)
        return response
    if wants_password and password_form.is_valid():
        with transaction.atomic():
            password_form.save(commit=False).save(update_fields=["password"])
            audit.record("password-changed", str(user.pk), actor=user, team=None)
        update_session_auth_hash(request, user)
        UserSession.objects.create_from_request(request)  # under its new key
        messages.success(request, _("The password is changed, and you are signed out everywhere else."))
        return redirect("preferences")
    status = 422 if request.method == "POST" else 200
    return preferences_page(request, form=form, password_form=password_form, status=status)


def preferences_page(request: Request, *, status: int, new_token: str = "", **forms: Form) -> HttpResponse:
    """Show the preferences, with the forms that were filled in, and once the text of a new access token."""
    user, now = request.user, timezone.now()
    context = {
        "form": forms.get("form") or PreferencesForm(instance=user),
        "has_passwords": not settings.SSO_ONLY,
        "password_form": forms.get("password_form") or PasswordForm(user),
        "notices": forms.get("notices") or PersonNoticesForm(user),
        "push": forms.get("push") or PersonPushForm(user),
        "devices": devices.listed(user),
        "this_device": request.COOKIES.get(DEVICE, ""),
        "push_key": push.public_key(),
        "token_form": forms.get("token") or TokenForm(),
        "tokens": PersonalToken.objects.live(now).filter(person=user),
        "restorable_tokens": tokens.restorable(user, now).filter(person=user),
        "new_token": new_token,
        "base_url": settings.PUBLIC_URL,
        "chat_users": ChatUser.objects.select_related("app__team").filter(person=user),
        "has_mail": mail.is_set_up(),
        "may_decide": user.teams_as(Role.REVIEWER).exists(),
        "section": "preferences",
    }
    return render(request, "metacog/preferences.html", context, status=status)


@login_not_required
@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Go light, dark or as the device, here and wherever the person signs in."""
    theme = request.POST.get("theme", "")
    if theme not in User.Theme.values:
        return HttpResponseBadRequest(_("Unknown theme."), content_type="text/plain; charset=utf-8")
    if isinstance(request.user, User):
        User.objects.filter(pk=request.user.pk).update(theme=theme)
    response = HttpResponseRedirect(_safe_next(request))
    remember(response, "theme", theme)
    return response


@login_not_required
@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Speak another language, here and wherever the person signs in."""
    language = request.POST.get("language", "")
    if isinstance(request.user, User) and language in Language.values:
        User.objects.filter(pk=request.user.pk).update(language=language)
    return i18n.set_language(request)


def _safe_next(request: HttpRequest) -> str:
    url = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())
    return url if is_ours else reverse("queue")


def remember(response: HttpResponse, name: str, value: str) -> None:
    """Keep a choice for when nobody is signed in; the empty choice is the browser's own."""
    if value:
        response.set_cookie(name, value, max_age=YEAR, samesite="Lax", secure=settings.HTTPS, httponly=True)
    else:
        response.delete_cookie(name, samesite="Lax")

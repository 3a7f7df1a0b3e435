"""The addresses of django-allauth that there are here, under the names by which it asks for them."""

from __future__ import annotations

from allauth.account import views as account_views
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from allauth.socialaccount import views as provider_views
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.views.generic import TemplateView

from metacog.pages import account, security, single_sign_on


@login_not_required
def _passkey(request: HttpRequest) -> HttpResponseBase:
    return account.no_passwords(request) if settings.SSO_ONLY else passkeys.login_webauthn(request)


_closed = login_not_required(TemplateView.as_view(template_name="socialaccount/turned_away.html"))


def sign_in_addresses() -> list[URLPattern]:
    """Return them. Pages lead to those of passkeys only where browsers make some for our address."""
    page, again = "preferences/security/", "preferences/security/again/"
    return [
        path("sign-in/", account.sign_in, name="account_login"),
        path("sign-out/", account.sign_out, name="account_logout"),
        path("sign-in/code/", security.second_factor, name="mfa_authenticate"),
        path("sign-in/closed/", _closed, name="account_inactive"),
        path("sign-in/closed/", _closed, name="account_signup"),
        path("sign-in/closed/", _closed, name="socialaccount_signup"),
        path("sign-in/closed/", _closed, name="account_email_verification_sent"),
        path("sign-in/cancelled/", provider_views.login_cancelled, name="socialaccount_login_cancelled"),
        path("sign-in/failed/", provider_views.login_error, name="socialaccount_login_error"),
        path("sign-in/with/<slug:provider_id>/", single_sign_on.begin, name="openid_connect_login"),
        path("sign-in/with/<slug:provider_id>/callback/", single_sign_on.callback, name="openid_connect_callback"),
        path("sign-in/with/<slug:provider_id>/logout/", single_sign_on.log_out, name="openid-connect-logout"),
        path(page, security.security, name="mfa_index"),
        path(page, security.security, name="socialaccount_connections"),
        path(page + "accounts/", single_sign_on.connect_confirm, name="account_connect_confirm"),
        path(page + "accounts/<slug:provider_id>/connect", single_sign_on.connect, name="account_connect"),
        path(page + "accounts/<int:account_id>/disconnect", single_sign_on.disconnect, name="account_disconnect"),
        path(again, account_views.reauthenticate, name="account_reauthenticate"),
        path(again + "code/", mfa.reauthenticate, name="mfa_reauthenticate"),
        path(page + "app/", totp.activate_totp, name="mfa_activate_totp"),
        path(page + "app/remove/", totp.deactivate_totp, name="mfa_deactivate_totp"),
        path(page + "codes/", codes.view_recovery_codes, name="mfa_view_recovery_codes"),
        path(page + "codes/new/", codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
        path(page + "codes/file/", codes.download_recovery_codes, name="mfa_download_recovery_codes"),
        path("sign-in/passkey/", _passkey, name="mfa_login_webauthn"),
        path(page, security.security, name="mfa_list_webauthn"),
        path(
            again + "passkey/",
            passkeys.reauthenticate_webauthn,
            name="mfa_reauthenticate_webauthn",
        ),
        path(page + "passkeys/add/", passkeys.add_webauthn, name="mfa_add_webauthn"),
        path(page + "passkeys/<int:pk>/remove/", passkeys.remove_webauthn, name="mfa_remove_webauthn"),
    ]

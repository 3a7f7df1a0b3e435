"""A passkey, from the browser that makes it to the sign-in that needs no password."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from django.utils.formats import date_format
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_passkey_signs_in_alone(alice: Any, open_page: Any, live_server: Any, settings: Any) -> None:
    settings.HAS_PASSKEYS = settings.MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = True
    here = live_server.url.replace("127.0.0.1", "localhost")  # browsers make passkeys for names alone
    page = open_page(alice)
    page.context.clear_cookies()
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    kind = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    consents = {"isUserVerified": True, "automaticPresenceSimulation": True}
    tools.send("WebAuthn.addVirtualAuthenticator", {"options": kind | consents})

    page.goto(f"{here}/sign-in/?next=/preferences/security/")
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_have_count(0)  # nobody has one
    page.get_by_label("User name").fill("alice")
    page.get_by_label("Password").fill("alice-password")
    page.get_by_label("Password").press("Enter")
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Password").fill("alice-password")
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Sign in with it alone").check()
    page.get_by_role("button", name="Add the passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()

    page.goto(f"{here}/preferences/security/")
    expect(page.get_by_text(f"added {date_format(timezone.localdate())}")).to_be_visible()

    page.context.clear_cookies()
    page.goto(f"{here}/sign-in/")
    page.get_by_label("User name").fill("alice")
    page.get_by_label("Password").fill("alice-password")
    page.get_by_label("Password").press("Enter")
    expect(page.get_by_text("Use your passkey, or type one of your recovery codes.")).to_be_visible()  # she has no app

    page.goto(f"{here}/sign-in/")
    button = page.get_by_role("button", name="Sign in with a passkey")
    page.evaluate("() => { navigator.credentials.get = async () => { throw new DOMException('', 'NotAllowedError') } }")
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("dialog was canceled")

    settings.HAS_PASSKEYS = False
    page.goto(f"{here}/sign-in/")
    expect(page.get_by_text("Passkeys do not work at")).to_be_visible()
    settings.HAS_PASSKEYS = True
    page.reload()
    button.click()
    expect(page).to_have_url(f"{here}/queue/")
    tools.send("WebAuthn.disable")
    page.goto(f"{live_server.url}/healthz")

"""Races about signing in, played with real threads on PostgreSQL."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.utils import encrypt
from django.db.models import F

from metacog.models import Identity, Membership
from metacog.sign_in import second_factor, vouching
from tests.metacog.sign_in.stub import come, running
from tests.metacog.sign_in.test_vouching import logout
from tests.races.test_races import at_once

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_a_code_that_is_sent_at_once_by_several_lets_one_in(alice: Any) -> None:
    secret = totp.generate_totp_secret()
    app = Authenticator.objects.create(user=alice, type="totp", data={"secret": encrypt(secret)})
    code = str(totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30)))
    assert at_once([lambda: second_factor.use_code(app, code)] * 8).count(True) == 1
    codes = Authenticator.objects.create(
        user=alice, type="recovery_codes", data={"seed": encrypt(RecoveryCodes.generate_seed()), "used_mask": 0}
    )
    code = codes.wrap().generate_codes()[0]
    assert at_once([lambda: codes.wrap().validate_code(code)] * 8).count(True) == 1


def test_a_refresh_token_is_used_by_one_worker_and_a_logout_token_once(aurora: Any, settings: Any) -> None:
    with running(settings) as provider:
        provider.refresh_token = "r"  # each works once: a second use of one is refused for good
        come(provider, groups=["eng"])
        Identity.objects.update(asked_at=F("asked_at") - timedelta(minutes=30))
        at_once([vouching.sweep] * 6)
        assert Identity.objects.get().refused_at is None
        assert Membership.objects.get(user__username="dana").role == "reviewer"
        assert sorted(at_once([lambda: logout(provider, sub="u-1")] * 6)) == [200] + [400] * 5

"""`manage.py rekey`: after it, no signing secret needs a former secret key."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from cryptography.fernet import MultiFernet
from django.core.management import CommandError, call_command

from metacog.accounts import agents, keys
from metacog.models import Agent, AgentKey, Channel
from metacog.notices import notices
from reviews.outbox import webhooks

OLD, NEW = "o" * 50, "n" * 50


def run() -> str:
    out = StringIO()
    call_command("rekey", stdout=out)
    return out.getvalue()


@pytest.fixture
def kuro(aurora: Any, settings: Any) -> tuple[Agent, str]:
    """An agent with a secret encrypted under the old key; the new one is in force."""
    settings.SECRET_KEY = OLD
    agent, _, secret = agents.create_agent(aurora, "kuro", None)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    return agent, secret


def test_the_former_key_can_go_after_it(kuro: tuple[Agent, str], settings: Any) -> None:
    agent, secret = kuro
    assert run() == "Secrets encrypted again: 1.\nNone needs METACOG_SECRET_KEY_FALLBACKS.\n"
    settings.SECRET_KEY_FALLBACKS = []
    assert keys.live_secrets(agent) == [secret]


def test_second_factors_need_the_former_key_no_more(alice: Any, settings: Any) -> None:
    settings.SECRET_KEY = OLD
    TOTP.activate(alice, "ABCDEFGH")
    RecoveryCodes.activate(alice)
    codes = RecoveryCodes(Authenticator.objects.get(type="recovery_codes")).get_unused_codes()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    assert run().startswith("Secrets encrypted again: 2.")
    settings.SECRET_KEY_FALLBACKS = []
    assert keys.decrypted(Authenticator.objects.get(type="totp").data["secret"]) == "ABCDEFGH"
    assert RecoveryCodes(Authenticator.objects.get(type="recovery_codes")).get_unused_codes() == codes


def test_a_second_time_changes_nothing(kuro: tuple[Agent, str]) -> None:
    run()
    stored = AgentKey.objects.get().secret_encrypted
    assert run().startswith("Secrets encrypted again: 0.")
    assert AgentKey.objects.get().secret_encrypted == stored


def test_an_address_that_is_set_meanwhile_stays(
    aurora: Any, olga: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def set_address(name: str) -> None:
        address = f"https://chat.example.org/{name}"
        notices.set_channel(aurora, olga, url=address, minutes=15, language="en", texts=False)

    settings.SECRET_KEY = OLD
    set_address("old")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    rotate = MultiFernet.rotate
    monkeypatch.setattr(MultiFernet, "rotate", lambda *given: (set_address("new"), rotate(*given))[1])
    assert run().startswith("Secrets encrypted again: 0.")
    assert keys.decrypted(Channel.objects.get().url_encrypted) == "https://chat.example.org/new"


def test_what_no_key_can_read_is_named_and_the_others_are_saved(
    kuro: tuple[Agent, str], aurora: Any, settings: Any
) -> None:
    settings.SECRET_KEY = "x" * 50
    agents.create_agent(aurora, "stray", None)
    settings.SECRET_KEY = NEW
    with pytest.raises(CommandError, match=r"of stray in Aurora was encrypted with a key that is not given") as told:
        run()
    assert "kuro" not in str(told.value)
    settings.SECRET_KEY_FALLBACKS = []
    assert keys.live_secrets(kuro[0]) == [kuro[1]]


def test_revoked_secrets_go_with_the_key_that_encrypted_them(kuro: tuple[Agent, str], settings: Any) -> None:
    agent, _ = kuro
    _, fresh = agents.rotate(agent, None)
    agents.revoke(agent, None)
    settings.SECRET_KEY_FALLBACKS = []
    assert run().startswith("Secrets encrypted again: 0.")
    assert keys.live_secrets(agent) == [fresh]


def test_it_encrypts_the_addresses_of_chats_too_and_names_those_no_key_can_read(
    aurora: Any, borealis: Any, olga: Any, settings: Any
) -> None:
    fields: dict[str, Any] = {"minutes": 15, "language": "en", "texts": False}
    settings.SECRET_KEY = OLD
    notices.set_channel(aurora, olga, url="https://chat.example.org/a", **fields)
    settings.SECRET_KEY = "x" * 50
    notices.set_channel(borealis, olga, url="https://chat.example.org/b", **fields)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    with pytest.raises(CommandError, match="The address of the chat of Borealis was encrypted with") as told:
        run()
    assert "Aurora" not in str(told.value)
    settings.SECRET_KEY_FALLBACKS = []
    assert keys.decrypted(Channel.objects.get(team=aurora).url_encrypted) == "https://chat.example.org/a"


def test_it_encrypts_both_secrets_of_webhooks_too_and_names_one_no_key_can_read(
    aurora: Any, borealis: Any, olga: Any, settings: Any
) -> None:
    settings.SECRET_KEY = OLD
    webhook, first = webhooks.add(aurora, olga, url="https://x.example/hook", events=["item.held"])
    second = webhooks.rotate(webhook, olga)
    settings.SECRET_KEY = "x" * 50
    webhooks.add(borealis, olga, url="https://y.example/hook", events=["item.held"])
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    with pytest.raises(CommandError, match=r"A secret of the webhook wh_\w+ \(y\.example\) of Borealis was") as told:
        run()
    assert "Aurora" not in str(told.value)
    settings.SECRET_KEY_FALLBACKS = []
    webhook.refresh_from_db()
    stored = (webhook.secret_encrypted, webhook.former_secret_encrypted)
    assert [keys.decrypted(each) for each in stored] == [second, first]

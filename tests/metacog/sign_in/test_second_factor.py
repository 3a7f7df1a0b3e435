"""An authenticator app, recovery codes and sessions, as somebody uses them in a browser."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client

from metacog.models import AuditEvent, Membership

PASSWORD = "alice-password"


@pytest.fixture
def alice(alice: Any) -> Any:
    cache.clear()  # it counts wrong codes by the number of a person, which a test before may have had
    alice.set_password(PASSWORD)
    alice.save()
    return alice


def sign_in(password: str = PASSWORD, client: Client | None = None, agent: str = "") -> tuple[Client, Any]:
    client = client or Client(headers={"user-agent": agent})
    return client, client.post("/sign-in/?next=/agents/", {"username": "alice", "password": password})


def code_of(secret: str, later: int = 0) -> str:
    """Return the code of an app, or that which its next half minute will have."""
    return str(totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30 + later)))


def with_app(client: Client) -> str:
    """Set up an app; return its key."""
    client.post("/preferences/security/again/", {"password": PASSWORD})
    page = client.get("/preferences/security/app/").content.decode()
    found = re.search(r'id="key"[^>]*>((?:\w{4} ){7}\w{4})<', page)
    assert found, "in groups, as people type it"
    secret = found[1].replace(" ", "")
    assert client.post("/preferences/security/app/", {"code": code_of(secret)}).status_code == 302
    return secret


def test_signing_in_asks_for_the_code_of_the_app_and_counts_wrong_ones(
    alice: Any, django_capture_on_commit_callbacks: Any
) -> None:
    client, answer = sign_in()
    assert answer["Location"] == "/agents/"
    with django_capture_on_commit_callbacks(execute=True):
        secret = with_app(client)
    stored = Authenticator.objects.get(user=alice, type="totp").data["secret"]
    assert secret not in stored, "the key is kept encrypted"

    client, answer = sign_in()
    assert answer["Location"] == "/sign-in/code/"
    assert re.search(r'<input[^>]* name="code"[^>]* autofocus', client.get("/sign-in/code/").content.decode())
    assert client.get("/queue/").status_code == 302, "a password alone lets nobody in"
    assert "The code is wrong" in client.post("/sign-in/code/", {"code": "000000"}).content.decode()
    answer = client.post("/sign-in/code/", {"code": code_of(secret, later=1)})
    assert answer["Location"] == "/agents/"
    assert client.get("/queue/").status_code == 200
    told = AuditEvent.objects.filter(action__startswith="second-factor", actor="alice")
    assert [(each.action, each.data["factor"]) for each in told] == [("second-factor-added", "app")], "once, no codes"

    client, _ = sign_in()
    answers = [client.post("/sign-in/code/", {"code": "000000"}).status_code for _ in range(7)]
    assert answers[-1] == 429, answers


def test_a_code_of_the_app_works_once_wherever_it_is_sent(alice: Any, django_capture_on_commit_callbacks: Any) -> None:
    client, _ = sign_in()
    with django_capture_on_commit_callbacks(execute=True):
        secret = with_app(client)
    answers = []
    for later in (0, 1, 1, 0):  # the first made the app active
        client, _ = sign_in()
        cache.clear()  # another process has a memory of its own
        answers.append(client.post("/sign-in/code/", {"code": code_of(secret, later)}).status_code)
    assert answers == [200, 302, 200, 200]
    signed_in_before, _ = sign_in()
    again = signed_in_before.post("/preferences/security/again/code/", {"code": code_of(secret, later=1)})
    assert again.status_code != 200 or "The code is wrong" in again.content.decode()


def test_a_recovery_code_works_once_and_the_command_line_removes_all(alice: Any, capsys: Any) -> None:
    client, _ = sign_in()
    with_app(client)
    code = re.search(r"<pre[^>]*>(\d+)", client.get("/preferences/security/codes/").content.decode())
    assert code
    answers = []
    for _ in range(2):
        client, _answer = sign_in()
        answers.append(client.post("/sign-in/code/", {"code": code[1]}).status_code)
    assert answers == [302, 200]
    call_command("second_factor", "alice")
    assert sign_in()[1]["Location"] == "/agents/"
    assert AuditEvent.objects.filter(action="second-factors-reset").exists()


def test_a_one_time_link_does_not_stand_for_the_second_factor(alice: Any, olga: Any, aurora: Any) -> None:
    from metacog.accounts import members

    with_app(sign_in()[0])
    link = members.make_link(Membership.objects.get(user=alice), olga).partition("//")[2].partition("/")[2]
    client = Client()
    form = client.get(f"/{link}", follow=True)
    password = "another long word 1"
    client.post(form.redirect_chain[-1][0], {"new_password1": password, "new_password2": password})
    assert client.get("/queue/").status_code == 302
    assert sign_in(password)[1]["Location"] == "/sign-in/code/"


def test_what_protects_the_account_is_changed_by_whoever_knows_the_password(alice: Any, as_person: Any) -> None:
    client = as_person(alice)  # signed in long ago
    answer = client.get("/preferences/security/app/")
    assert answer["Location"].startswith("/preferences/security/again/?next=")
    answer = client.post(answer["Location"], {"password": "wrong"})
    assert answer.status_code == 200
    answer = client.post("/preferences/security/again/?next=/preferences/security/app/", {"password": PASSWORD})
    assert answer["Location"] == "/preferences/security/app/"
    assert client.get("/preferences/security/app/").status_code == 200


def test_passkeys_go_by_name_and_where_none_work_the_setting_is_named(
    alice: Any, olga: Any, as_person: Any, settings: Any
) -> None:
    data = {"name": "Blue key", "credential": {}}
    key = Authenticator.objects.create(user=alice, type=Authenticator.Type.WEBAUTHN, data=data)
    client = as_person(alice)
    client.post("/preferences/security/again/", {"password": PASSWORD})
    settings.HAS_PASSKEYS = False
    page = client.get("/preferences/security/").content.decode()
    assert "Passkeys do not work at" in page
    assert "METACOG_PUBLIC_URL" not in page
    assert "METACOG_PUBLIC_URL" in as_person(olga).get("/preferences/security/").content.decode()
    removing = client.get(f"/preferences/security/passkeys/{key.pk}/remove/").content.decode()
    assert "<h1>Remove the passkey Blue key</h1>" in removing


def test_sessions_are_listed_and_ended_by_their_owner_alone(alice: Any, bob: Any, as_person: Any) -> None:
    here, _ = sign_in(agent="Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    there, _ = sign_in(agent="Mozilla/5.0 (iPhone) AppleWebKit/605 Version/19.0 Safari/604.1")
    page = here.get("/preferences/security/").content.decode()
    assert "Firefox, Linux" in page
    assert "Safari, iPhone" in page
    numbers = re.findall(r'name="session" value="(\d+)"', page)
    assert len(numbers) == 1, "one's own is not ended here"
    as_person(bob).post("/preferences/security/sessions/end", {"session": numbers[0]})
    assert there.get("/queue/").status_code == 200
    here.post("/preferences/security/sessions/end", {"session": numbers[0]})
    assert there.get("/queue/").status_code == 302
    assert here.get("/queue/").status_code == 200
    sign_in(client=there)
    here.post("/preferences/security/sessions/end")
    assert there.get("/queue/").status_code == 302
    assert [event.data["count"] for event in AuditEvent.objects.filter(action="sessions-ended")] == [1, 1]

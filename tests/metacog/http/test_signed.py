"""POST /agents/{id}/responses: Standard Webhooks signatures over the raw bytes."""

import time
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import standardwebhooks

from metacog.accounts import keys
from metacog.models import Agent, Policy
from reviews.models import AgentResponse
from tests.tables import table

pytestmark = pytest.mark.django_db

BODY = '{"response": "signed"}'


def headers(secret: str, body: str = BODY, at: float | None = None, message_id: str = "msg_1") -> dict[str, str]:
    """Sign as any client does: with the Standard Webhooks library, not with our own code."""
    moment = datetime.fromtimestamp(int(at or time.time()), UTC)
    return {
        "authorization": "",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": standardwebhooks.Webhook(secret).sign(message_id, moment, body),
    }


def path(agent: Any) -> str:
    return f"/agents/{agent.id}/responses"


def test_it_takes_a_signature_in_place_of_the_key(kuro: Any) -> None:
    answer = kuro.post(path(kuro), BODY, **headers(kuro.secret))
    assert answer.status_code == 201, answer.content
    assert AgentResponse.objects.get().key == "msg_1"


def test_it_takes_either_secret_while_one_is_rotated_and_the_new_one_after(kuro: Any) -> None:
    agent = Agent.objects.get(public_id=kuro.id)
    _, newer = keys.issue(agent, None)
    assert kuro.post(path(kuro), BODY, **headers(kuro.secret, message_id="a")).status_code == 201
    assert kuro.post(path(kuro), BODY, **headers(newer, message_id="b")).status_code == 201
    keys.revoke(agent, None)
    assert kuro.post(path(kuro), BODY, **headers(kuro.secret, message_id="c")).status_code == 401
    assert kuro.post(path(kuro), BODY, **headers(newer, message_id="d")).status_code == 201


@pytest.mark.parametrize(("seconds", "status"), [(-301, 401), (-300, 201), (300, 201), (301, 401)])
def test_it_tolerates_five_minutes(kuro: Any, monkeypatch: pytest.MonkeyPatch, seconds: float, status: int) -> None:
    now = 1_770_000_000
    signed = headers(kuro.secret, at=now + seconds)
    monkeypatch.setattr(keys, "time", SimpleNamespace(time=lambda: float(now)))
    assert kuro.post(path(kuro), BODY, **signed).status_code == status


def spoiled(**changed: Any) -> Any:
    return lambda good: good | changed


DEFECTS = {
    "no headers": lambda good: {"authorization": ""},
    "no id": lambda good: {k: v for k, v in good.items() if k != "webhook-id"},
    "another id": spoiled(**{"webhook-id": "msg_2"}),
    "an id with a space": spoiled(**{"webhook-id": "msg 1"}),
    "no signature": spoiled(**{"webhook-signature": ""}),
    "a version of its own": lambda good: good | {"webhook-signature": good["webhook-signature"].replace("v1,", "v2,")},
    "not base64": spoiled(**{"webhook-signature": "v1,***"}),
    "no comma": spoiled(**{"webhook-signature": "v1"}),
    "beyond ASCII": spoiled(**{"webhook-signature": "v1,ключ"}),
    "cut off": lambda good: good | {"webhook-signature": good["webhook-signature"][:-2]},
    "nan": spoiled(**{"webhook-timestamp": "nan"}),
    "empty timestamp": spoiled(**{"webhook-timestamp": ""}),
    "a float": lambda good: good | {"webhook-timestamp": good["webhook-timestamp"] + ".0"},
    "full-width digits": spoiled(**{"webhook-timestamp": "１２３４５６７８９０"}),
    "a far future": spoiled(**{"webhook-timestamp": "9999999999"}),
}


@pytest.mark.parametrize("spoil", DEFECTS.values(), ids=DEFECTS)
def test_every_defect_is_the_same_401(kuro: Any, spoil: Any) -> None:
    answer = kuro.post(path(kuro), BODY, **spoil(headers(kuro.secret)))
    plain = kuro.post(path(kuro), BODY, authorization="")
    assert answer.status_code == 401
    assert answer.content == plain.content
    assert AgentResponse.objects.count() == 0


@table("message_id", ["m" * 256, "msg 1"], rolled_back=True)
def test_a_signed_id_that_can_be_no_key_is_out_of_shape(kuro: Any, message_id: str) -> None:
    answer = kuro.post(path(kuro), BODY, **headers(kuro.secret, message_id=message_id))
    assert answer.status_code == 422
    assert AgentResponse.objects.count() == 0


def test_it_refuses_another_body_and_another_agents_secret(kuro: Any, other: Any) -> None:
    for bad in (
        headers(kuro.secret, body='{"response": "other"}'),
        headers(other.secret),
    ):
        assert kuro.post(path(kuro), BODY, **bad).status_code == 401
    assert kuro.post("/agents/agt_nobody/responses", BODY, **headers(kuro.secret)).status_code == 401


def test_a_body_that_is_not_utf_8_is_refused_as_such_when_it_is_signed(kuro: Any) -> None:
    import base64

    raw, stamp = b'{"response": "\xff"}', str(int(time.time()))
    signature = keys.sign(kuro.secret, f"m.{stamp}.".encode() + raw).decode()
    good = {"authorization": "", "webhook-id": "m", "webhook-timestamp": stamp, "webhook-signature": f"v1,{signature}"}
    assert base64.b64decode(signature)
    assert kuro.post(path(kuro), raw, **good).status_code == 400
    assert kuro.post(path(kuro), raw, **(good | {"webhook-id": "n"})).status_code == 401


def test_signatures_are_taken_there_only(kuro: Any) -> None:
    assert kuro.post("/responses", BODY, **headers(kuro.secret)).status_code == 401
    assert kuro.get("/held", **headers(kuro.secret, body="")).status_code == 401


def test_the_key_alone_is_not_enough_there(kuro: Any) -> None:
    assert kuro.post(path(kuro), BODY).status_code == 401


def test_a_policy_may_demand_both(kuro: Any, other: Any) -> None:
    Policy.objects.update(require_signature=True)
    signed = headers(kuro.secret)
    assert kuro.post("/responses", BODY).status_code == 401
    assert kuro.post(path(kuro), BODY, **signed).status_code == 401
    assert kuro.post(path(kuro), BODY, **(signed | {"authorization": f"Bearer {other.key}"})).status_code == 401
    both = signed | {"authorization": f"Bearer {kuro.key}"}
    assert kuro.post(path(kuro), BODY, **both).status_code == 201
    assert kuro.post("/responses", BODY, **both).status_code == 200


def test_an_id_that_nobody_has_takes_the_same_work_as_an_agents(
    kuro: Any, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    done = []
    for name in ("decrypted", "sign"):
        real = getattr(keys, name)
        monkeypatch.setattr(keys, name, lambda *given, name=name, real=real: done.append(name) or real(*given))
    took = []
    wrong = headers("whsec_" + "A" * 44)
    for agent_id in (kuro.id, "agt_nobody", "no id at all"):
        done.clear()
        with django_assert_num_queries(1):
            assert kuro.post(f"/agents/{agent_id}/responses", BODY, **wrong).status_code == 401
        took.append(sorted(done))
    assert took == [["decrypted"] * 2 + ["sign"] * 2] * 3

"""The chain of seals: it covers every event once, and shows whatever was done to the record."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from metacog.audit import chain
from metacog.models import AuditEvent, AuditSeal, AuditUnsealed, Team
from tests.audit_triggers import lifted
from tests.conftest import NOON

pytestmark = pytest.mark.django_db


def write(count: int = 1, **fields: Any) -> list[AuditEvent]:
    return AuditEvent.objects.bulk_create(
        AuditEvent(actor_kind="system", action="agent-changed", object_id=f"agt_{n}", data={"n": n}, **fields)
        for n in range(count)
    )


def sealed(*counts: int) -> list[AuditEvent]:
    """Write events and seal them, so many at a time."""
    events = []
    for count in counts:
        events += write(count)
        assert chain.seal() == count
    return events


def sql(statement: str, *values: Any) -> None:
    with lifted(), connection.cursor() as cursor:
        cursor.execute(statement, values)


def problems(kept: Any = None) -> list[str]:
    return chain.verify(kept).problems


# -- what is sealed --------------------------------------------------------------------------------


def test_events_are_sealed_once_each_in_the_order_of_their_ids() -> None:
    events = sealed(3, 2)
    seals = list(AuditSeal.objects.order_by("number"))
    first = events[0].pk
    assert [(seal.number, seal.first_id - first, seal.last_id - first, seal.total) for seal in seals] == [
        (1, 0, 2, 3),
        (2, 3, 4, 5),
    ]
    assert (seals[0].previous, seals[1].previous) == (chain.GENESIS, seals[0].digest)
    assert chain.seal() == 0
    assert not AuditUnsealed.objects.exists()
    assert chain.verify() == chain.Report(seals=2, events=5, sealed_at=seals[1].sealed_at)


def test_more_than_one_batch_is_sealed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "BATCH", 4)
    write(10)
    assert chain.seal() == 10
    assert [seal.total for seal in AuditSeal.objects.order_by("number")] == [4, 8, 10]
    assert problems() == []


@pytest.mark.parametrize("before", [(), (2,)])
def test_what_waits_is_counted_in_batches_too(monkeypatch: pytest.MonkeyPatch, before: tuple[int, ...]) -> None:
    monkeypatch.setattr(chain, "BATCH", 2)
    sealed(*before)
    write(5)
    assert (chain.verify().unsealed, problems()) == (5, [])
    sql("DELETE FROM metacog_auditunsealed")
    assert len(problems()) == 5, "under no seal, and waiting for none"


def test_each_batch_is_looked_for_behind_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "BATCH", 2)
    events = write(5)
    with CaptureQueriesContext(connection) as captured:
        chain.seal()
    looks = [each["sql"] for each in captured if each["sql"].startswith("SELECT") and "unsealed" in each["sql"]]
    assert [int(look.partition(" > ")[2].split()[0]) for look in looks] == [0, events[1].pk, events[3].pk]


def test_a_run_leaves_to_the_next_what_would_keep_the_worker_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "BATCH", 2)
    monkeypatch.setattr(chain, "A_RUN", 4)
    write(5)
    assert [chain.seal() for _ in range(3)] == [4, 1, 0]


def test_reading_in_small_pieces_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    events = sealed(5, 1, 4)
    write(7)
    for name in ("EVENTS_READ", "SEALS_READ", "BATCH"):
        monkeypatch.setattr(chain, name, 2)
    report = chain.verify()
    assert (report.problems, report.events, report.seals, report.unsealed) == ([], 10, 3, 7)
    sql("DELETE FROM metacog_auditevent WHERE id = %s", events[6].pk)
    assert problems() == [f"Event {events[6].pk} is gone; seal 3 covers it."]


@pytest.mark.parametrize("changed", [False, True])
def test_what_is_written_and_sealed_while_it_is_checked_is_no_fault_and_hides_none(
    monkeypatch: pytest.MonkeyPatch, changed: Any
) -> None:
    events = sealed(4, 3, 5)
    kept = chain.anchor()
    for name in ("EVENTS_READ", "SEALS_READ", "BATCH"):
        monkeypatch.setattr(chain, name, 2)
    if changed:
        sql("UPDATE metacog_auditevent SET actor = 'somebody' WHERE id = %s", events[5].pk)
    read = chain._read

    def read_while_it_grows(*arguments: Any) -> Iterator[Any]:
        for number, row in enumerate(read(*arguments)):
            yield row
            write()
            if number % 2:
                chain.seal()

    monkeypatch.setattr(chain, "_read", read_while_it_grows)
    found = problems(kept)
    assert found == ([f"Event {events[5].pk} was changed: it is not what seal 2 covers."] if changed else [])
    assert AuditEvent.objects.count() > 2 * len(events)


def test_what_is_not_sealed_yet_is_counted() -> None:
    assert chain.verify() == chain.Report()
    write(2)
    assert chain.verify() == chain.Report(unsealed=2)


def test_an_event_that_commits_late_gets_a_seal_of_its_own() -> None:
    last = write()[0].pk
    write(id=last + 2)
    assert chain.seal() == 2
    write(id=last + 1, at=timezone.now() - timedelta(minutes=59))  # its transaction was open for so long
    assert chain.verify().unsealed == 1
    assert chain.seal() == 1
    assert list(AuditSeal.objects.order_by("number").values_list("first_id", flat=True)) == [last, last + 2, last + 1]
    report = chain.verify()
    assert (report.problems, report.events, report.unsealed) == ([], 3, 0)


def test_what_is_hashed_is_the_same_on_every_database() -> None:
    at = datetime(2026, 2, 24, 12, 0, 0, 5, tzinfo=UTC)
    AuditEvent(
        pk=41,
        at=at,
        team=Team.objects.create(pk=7, name="Seven"),
        actor_kind="person",
        actor="ana",
        action="chat-approved",
        object_id="held_1",
        before="pending",
        after="approved",
        data={"z": [1, None, True], "a": {"k": "一定", "b": 0.5}, "cycle": 2**62},
        request_id="r-1",
    ).save(force_insert=True)
    chain.seal()
    leaf = sha256(
        b'[41,"2026-02-24T12:00:00.000005Z",7,null,"person","ana","chat-approved","held_1","pending","approved",'
        b'{"a":{"b":0.5,"k":"\\u4e00\\u5b9a"},"cycle":4611686018427387904,"z":[1,null,true]},"r-1"]'
    ).digest()
    seal = AuditSeal.objects.get()
    assert bytes(seal.leaves) == leaf
    head = f'[1,41,41,1,"{64 * "0"}","{chain.instant(seal.sealed_at)}"]\n'
    assert seal.digest == sha256(head.encode() + leaf).hexdigest()


# -- what is found ---------------------------------------------------------------------------------

CHANGES = {
    "at": "2020-01-01 00:00:00+00:00",
    "actor_kind": "person",
    "actor": "mallory",
    "action": "chat-approved",
    "object_id": "held_x",
    "before": "pending",
    "after": "approved",
    "data": '{"n": 7}',
    "request_id": "forged",
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_changed_field_is_found(field: str) -> None:
    events = sealed(3)
    sql(
        f"UPDATE metacog_auditevent SET {connection.ops.quote_name(field)} = %s WHERE id = %s",
        CHANGES[field],
        events[1].pk,
    )
    assert problems() == [f"Event {events[1].pk} was changed: it is not what seal 1 covers."]


@pytest.mark.parametrize("field", ["team_id", "agent_id"])
def test_a_changed_owner_is_found(field: str, kuro: Any, aurora: Any) -> None:
    pk = (aurora if field == "team_id" else aurora.agents.get()).pk
    chain.seal()
    event = sealed(1)[0]
    sql(f"UPDATE metacog_auditevent SET {field} = %s WHERE id = %s", pk, event.pk)
    assert problems() == [f"Event {event.pk} was changed: it is not what seal 2 covers."]


@pytest.mark.parametrize("place", [0, 2, 5], ids=["first", "inner", "last"])
def test_a_deleted_event_is_found(place: Any) -> None:
    events = sealed(3, 3)
    sql("DELETE FROM metacog_auditevent WHERE id = %s", events[place].pk)
    assert problems() == [f"Event {events[place].pk} is gone; seal {1 + place // 3} covers it."]


def test_two_events_that_changed_places_are_found() -> None:
    one, two = sealed(2)
    for before, after in ((one.pk, -1), (two.pk, one.pk), (-1, two.pk)):
        sql("UPDATE metacog_auditevent SET id = %s WHERE id = %s", after, before)
    assert problems() == [
        f"Event {one.pk} was changed: it is not what seal 1 covers.",
        f"Event {two.pk} was changed: it is not what seal 1 covers.",
    ]


@pytest.mark.parametrize("batch", [1, 1000])
def test_an_event_put_in_behind_the_triggers_is_found(monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    last = sealed(3)[-1].pk
    monkeypatch.setattr(chain, "BATCH", batch)
    with lifted():
        write(id=last + 5)
    assert problems() == [f"Event {last + 5} was put in: no seal covers it, and it waits for none."]
    assert chain.seal() == 0


def test_an_event_put_into_the_past_is_found_though_it_was_sealed() -> None:
    last = sealed(1)[0].pk
    write(id=last + 2)
    chain.seal()
    then = timezone.now() - timedelta(days=3)
    write(id=last + 1, at=then)
    chain.seal()
    (problem,) = problems()
    assert problem.startswith(f"Event {last + 1} was put in: it says {chain.instant(then)}, but was not there")


@pytest.mark.parametrize("batch", [1, 1000])
def test_an_event_deleted_before_it_was_sealed_is_found_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, batch: Any
) -> None:
    monkeypatch.setattr(chain, "BATCH", batch)
    events = write(3)
    sql("DELETE FROM metacog_auditevent WHERE id = %s", events[1].pk)
    assert chain.seal() == 2
    assert problems() == [f"Event {events[1].pk} is gone: it was deleted before it was sealed."]
    assert chain.seal() == 0


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("sealed_at = '2020-01-01 00:00:00+00:00'", "Seal 2 was changed."),
        ("leaves = (SELECT leaves FROM metacog_auditseal WHERE number = 1)", "Seal 2 was changed."),
        ("last_id = last_id + 1, total = total + 1", "Seal 3 counts 4 events where there should be 5."),
        ("previous = 'x'", "Seal 2 does not follow seal 1: one of them was changed."),
        ("digest = 'x'", "Seal 3 does not follow seal 2: one of them was changed."),
        ("number = 9", "After seal 1 comes seal 3: seals are missing."),
    ],
)
def test_a_changed_seal_is_found(change: Any, problem: str) -> None:
    sealed(1, 2, 1)
    sql(f"UPDATE metacog_auditseal SET {change} WHERE number = 2")
    assert problem in problems()


def test_a_deleted_seal_is_found() -> None:
    events = sealed(1, 2, 1)
    sql("DELETE FROM metacog_auditseal WHERE number = 2")
    assert problems() == [
        "After seal 1 comes seal 3: seals are missing.",
        f"Event {events[2].pk} was put in: no seal covers it, and it waits for none.",
        f"Event {events[1].pk} was put in: no seal covers it, and it waits for none.",
    ]


def cut_tail(events: Any) -> None:
    """Take away the last seal and all that it covers, so that what is left is whole in itself."""
    sql("DELETE FROM metacog_auditseal WHERE number = 2")
    sql("DELETE FROM metacog_auditevent WHERE id > %s", events[1].pk)


def test_a_cut_tail_is_found_with_an_anchor_only() -> None:
    events = sealed(2, 3)
    kept = chain.anchor()
    assert problems(kept) == []
    cut_tail(events)
    assert problems() == []
    assert problems(kept) == ["The end of the record is cut off: seal 2, which the anchor names, is gone."]


def test_a_tail_that_was_written_anew_is_found_with_the_anchor() -> None:
    events = sealed(2, 3)
    kept = chain.anchor()
    cut_tail(events)
    sealed(3)
    assert problems() == []
    assert problems(kept) == ["Seal 2 is not the one the anchor names: the log was rewritten."]


def test_an_older_anchor_holds_for_the_chain_that_grew_from_it() -> None:
    sealed(2)
    kept = chain.anchor()
    sealed(3, 1)
    assert problems(kept) == []


def test_missing_triggers_are_found() -> None:
    with lifted():
        found = problems()
    assert len(found) == len(chain.TRIGGERS[connection.vendor])
    assert all("the record is not protected" in problem for problem in found)
    assert problems() == []


def test_no_more_problems_are_told_than_help() -> None:
    sealed(50)
    sql("UPDATE metacog_auditevent SET actor = 'x'")
    assert len(problems()) == chain.MOST_PROBLEMS


# -- anchors ---------------------------------------------------------------------------------------


def test_an_anchor_is_kept_once_a_day_and_seals_first(settings: Any, tmp_path: Path, noon: Any) -> None:
    settings.DATA_DIR = tmp_path
    assert chain.keep_anchor() is None, "there is nothing to anchor"
    event = write()[0]
    path = chain.keep_anchor()
    assert path.name == f"{NOON:%Y-%m-%d}.json"
    assert (path.stat().st_mode | path.parent.stat().st_mode) & 0o077 == 0
    text = path.read_text()
    kept = json.loads(text)
    assert list(kept) == ["seal", "last_event", "digest", "at", "count"]
    assert (kept["last_event"], kept["count"]) == (event.pk, 1)
    sealed(2)
    assert chain.keep_anchor() is None
    assert path.read_text() == text
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_an_anchor_that_another_process_kept_meanwhile_stays(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noon: Any
) -> None:
    settings.DATA_DIR = tmp_path
    write()
    seal, theirs = chain.seal, tmp_path / "anchors" / f"{NOON:%Y-%m-%d}.json"

    def seal_while_another_writes() -> Any:
        theirs.parent.mkdir()
        theirs.write_text("theirs")
        return seal()

    monkeypatch.setattr(chain, "seal", seal_while_another_writes)
    assert chain.keep_anchor() is None
    assert [(each.name, each.read_text()) for each in theirs.parent.iterdir()] == [(theirs.name, "theirs")]


def test_an_anchor_is_caught_up_on_the_next_day(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DATA_DIR = tmp_path
    write()
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 2, 24, 23, 59, 59, tzinfo=UTC))
    assert chain.keep_anchor().name == "2026-02-24.json"
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 2, 27, 0, 0, tzinfo=UTC))
    assert chain.keep_anchor().name == "2026-02-27.json"

"""`manage.py audit`: what it prints, and how it ends."""

import json
import os
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections

from metacog.audit import audit, chain
from metacog.management.commands.audit import Command
from metacog.models import AuditEvent
from tests.audit_triggers import lifted
from tests.tables import table

# The seed's log entry, and what we add.
SEED = ["ts", "score", "signals", "action", "cycleId"]
OURS = ["id", "team", "agent", "actor_kind", "actor", "object", "before", "after", "data", "request_id", "seal"]


def run(*arguments: Any) -> str:
    out = StringIO()
    call_command("audit", *map(str, arguments), stdout=out)
    return out.getvalue()


def exported(*arguments: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("export", *arguments).splitlines()]


def test_an_exported_line_has_the_seeds_fields_and_ours(kuro: Any, aurora: Any) -> None:
    held = kuro.hold(cycle=42)
    chain.seal()
    line = exported()[-1]
    assert list(line) == SEED + OURS
    assert line["ts"] == chain.instant(AuditEvent.objects.get(action="chat-held").at)
    assert {name: line[name] for name in SEED[1:]} == {
        "score": 50,
        "signals": ["absolute-claim", "error-pattern"],
        "action": "chat-held",
        "cycleId": 42,
    }
    assert (line["team"], line["agent"], line["object"], line["seal"]) == ("Aurora", kuro.id, held, 1)
    assert (line["actor_kind"], line["actor"], line["before"], line["after"]) == ("agent", "kuro", "", "pending")


def test_an_event_that_has_no_score_or_seal_says_so(db: None) -> None:
    audit.record("owner-created", "1", actor=None, team=None)
    (line,) = exported()
    assert [line[name] for name in ("score", "signals", "cycleId", "team", "agent", "seal")] == [
        None,
        [],
        None,
        None,
        None,
        None,
    ]


def test_the_export_can_be_narrowed(kuro: Any, other: Any, aurora: Any, db: None) -> None:
    for day in (1, 2, 3):
        AuditEvent.objects.create(
            at=datetime(2026, 2, day, 12, tzinfo=UTC), actor_kind="system", action="dated", object_id=str(day)
        )

    def days(*arguments: Any) -> str:
        return "".join(line["object"] for line in exported(*arguments) if line["action"] == "dated")

    assert days() == "123"
    assert days("--since", "2026-02-02") == "23"
    assert days("--until", "2026-02-02") == "12", "the last day is whole"
    assert days("--since", "2026-02-01T12:00:00.000001Z", "--until", "2026-02-03T13:00:00+01:00") == "2"
    assert {line["team"] for line in exported("--team", "Aurora")} == {"Aurora"}
    assert {line["agent"] for line in exported("--agent", "other")} == {other.id}
    assert exported("--agent", kuro.id, "--team", "Aurora") == exported("--agent", "kuro")


@table(
    ("arguments", "told"),
    [
        (["export", "--team", "Nobody"], "There is no team called 'Nobody'."),
        (["export", "--agent", "nobody"], "There is no agent called 'nobody'."),
        (["export", "--agent", "kuro", "--team", "Borealis"], "There is no agent called 'kuro'."),
        (["export", "--since", "yesterday"], "'yesterday' is no date or time"),
        (["verify", "--anchor", "/nowhere/anchor.json"], "/nowhere/anchor.json cannot be read: .* Check its name"),
        (["export", "--anchor", "/nowhere/anchor.json"], "/nowhere/anchor.json cannot be written: .* its folder"),
    ],
    rolled_back=True,
)
def test_what_cannot_be_done_is_said_in_a_sentence(kuro: Any, borealis: Any, arguments: Any, told: Any) -> None:
    with pytest.raises(CommandError, match=told):
        run(*arguments)


def test_there_is_nothing_to_anchor_without_an_event(db: None) -> None:
    with pytest.raises(CommandError, match="nothing to anchor"):
        run("anchor")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"seal": 1}', "7"])
def test_a_file_that_is_no_anchor_is_refused(db: None, tmp_path: Path, text: str) -> None:
    file = tmp_path / "anchor.json"
    file.write_text(text)
    with pytest.raises(CommandError, match="is no anchor"):
        run("verify", "--anchor", file)


def test_the_export_goes_on_from_piece_to_piece(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metacog.audit.log.LINES_READ", 2)
    at = datetime(2026, 2, 1, tzinfo=UTC)
    AuditEvent.objects.bulk_create(
        AuditEvent(at=at, actor_kind="system", action="x", object_id=str(n)) for n in range(5)
    )
    assert [line["object"] for line in exported()] == ["0", "1", "2", "3", "4"]


def test_verify_says_how_far_the_record_is_whole(kuro: Any, tmp_path: Path) -> None:
    kuro.hold()
    count = AuditEvent.objects.count()
    anchor = tmp_path / "anchor.json"
    run("export", "--anchor", anchor)
    audit.record("agent-changed", "agt_1", actor=None, team=None)
    told = run("verify")
    assert told.startswith(f"The record is whole: {count} events under 1 seal, the last of ")
    assert "and 1 not sealed yet. Only an anchor can show that its end was not cut off." in told
    assert run("verify", "--anchor", anchor).endswith("It reaches to the anchor.\n")
    assert json.loads(run("anchor"))["count"] == count + 1


def test_verify_tells_what_is_wrong(kuro: Any) -> None:
    kuro.hold()
    chain.seal()
    event = AuditEvent.objects.get(action="chat-held")
    with lifted(), connection.cursor() as cursor:
        cursor.execute("UPDATE metacog_auditevent SET action = 'chat-noted' WHERE id = %s", [event.pk])
    with pytest.raises(CommandError, match=f"Event {event.pk} was changed") as raised:
        run("verify")
    assert raised.value.returncode == 1


def test_it_ends_with_1_when_the_record_is_not_whole(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(connections, "close_all", lambda: None)  # the command ends, and the test does not
    audit.record("x", "y", actor=None, team=None)
    anchor = tmp_path / "anchor.json"
    anchor.write_text(run("anchor").replace('"seal": 1', '"seal": 2'))
    with pytest.raises(SystemExit) as ended:
        Command().run_from_argv(["manage.py", "audit", "verify", "--anchor", str(anchor)])
    told = "CommandError: The end of the record is cut off: seal 2, which the anchor names, is gone.\n"
    assert (ended.value.code, *capsys.readouterr()) == (1, "", told)


def test_an_anchor_that_cannot_be_written_leaves_the_one_that_is_there(
    kuro: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kuro.hold()
    kept = tmp_path / "anchor.json"
    kept.write_text("yesterday's")

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(json, "dumps", full)
        with pytest.raises(CommandError, match="cannot be written: No space left on device"):
            run("export", "--anchor", kept)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("anchor.json", "yesterday's")]
    pipe = tmp_path / "pipe"  # as /dev/null is no file
    os.mkfifo(pipe)
    with pytest.raises(CommandError, match="pipe cannot be written: it is no file"):
        run("export", "--anchor", pipe)
    assert pipe.is_fifo()
    run("export", "--anchor", kept)
    assert json.loads(kept.read_text())["seal"] == 1

"""`manage.py patterns`: the seeds' hesitation-patterns.json, in and out."""

from __future__ import annotations

import errno
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from metacog.models import AuditEvent
from patterns.models import ErrorPattern

SEED = [
    {
        "id": "ep-2",
        "keywords": ["一定是網路", "it must be DNS"],
        "description": "cause named before it was measured",
        "source": "alex-correction",
        "createdAt": "2026-02-16T08:00:00Z",
        "triggerCount": 4,
    },
    {
        "id": "ep-1",
        "keywords": ["always works"],
        "description": "nothing always works",
        "source": "self-review",
        "createdAt": "2026-02-15T08:00:00+08:00",
        "triggerCount": 0,
    },
]


def forbidden(path: Any, *arguments: Any, **options: Any) -> Any:
    raise PermissionError(errno.EACCES, "Permission denied", str(path))


def run(*words: str) -> str:
    out = StringIO()
    call_command("patterns", *words, stdout=out)
    return out.getvalue()


def wrote(folder: Path, document: Any) -> str:
    file = folder / "hesitation-patterns.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("document", [SEED, {"patterns": SEED}])
def test_it_takes_the_seeds_file_in_its_order(aurora: Any, tmp_path: Path, document: Any) -> None:
    aurora.refresh_from_db()
    version = aurora.patterns_version
    assert "2 patterns added to Aurora" in run("import", wrote(tmp_path, document))
    rows = list(ErrorPattern.objects.exclude(public_id="ep-cache").order_by("id"))
    assert [row.public_id for row in rows] == ["ep-2", "ep-1"]
    assert rows[0].imported_triggers == 4
    assert rows[1].created_at.isoformat() == "2026-02-15T00:00:00+00:00"
    aurora.refresh_from_db()
    assert aurora.patterns_version == version + 1
    assert AuditEvent.objects.filter(action="pattern-imported").count() == 2


def test_what_was_imported_fires_at_once(aurora: Any, kuro: Any, tmp_path: Path) -> None:
    assert kuro.respond("it must be DNS")["hesitation"]["score"] == 0
    run("import", wrote(tmp_path, SEED))
    assert kuro.respond("it must be DNS")["hesitation"]["matched_pattern_ids"] == ["ep-2"]


def test_export_gives_what_import_takes(aurora: Any, kuro: Any, tmp_path: Path) -> None:
    run("import", wrote(tmp_path, SEED))
    kuro.respond("it must be DNS")
    exported = json.loads(run("export"))
    assert [entry["id"] for entry in exported] == ["ep-cache", "ep-2", "ep-1"]
    assert exported[1] == SEED[0] | {"triggerCount": 5}
    run("export", str(tmp_path / "out.json"))
    assert "0 patterns added to Aurora, 0 changed" in run("import", str(tmp_path / "out.json"))
    assert json.loads(run("export")) == exported


def test_an_older_file_takes_no_trigger_back(aurora: Any, kuro: Any, tmp_path: Path) -> None:
    for count, total in ((4, 4), (9, 9), (2, 9)):
        run("import", wrote(tmp_path, [SEED[0] | {"triggerCount": count}]))
        assert json.loads(run("export"))[-1]["triggerCount"] == total
    kuro.respond("it must be DNS")
    for count, total in ((9, 10), (10, 10), (12, 12)):
        run("import", wrote(tmp_path, [SEED[0] | {"triggerCount": count}]))
        assert json.loads(run("export"))[-1]["triggerCount"] == total


@pytest.mark.parametrize("time", ["2026-02-24T12:00:00.120Z", "2026-02-24T12:00:00Z", "2026-02-24T12:00:00.000123Z"])
def test_export_writes_a_time_as_it_was_imported(aurora: Any, tmp_path: Path, time: str) -> None:
    run("import", wrote(tmp_path, [SEED[0] | {"createdAt": time}]))
    assert json.loads(run("export"))[-1]["createdAt"] == time


def test_the_same_id_is_updated_in_its_place(aurora: Any, tmp_path: Path) -> None:
    run("import", wrote(tmp_path, SEED))
    ErrorPattern.objects.filter(public_id="ep-1").update(state="retired")
    changed = [SEED[1] | {"keywords": ["never fails"]}]
    assert "0 patterns added to Aurora, 1 changed" in run("import", wrote(tmp_path, changed))
    row = ErrorPattern.objects.get(public_id="ep-1")
    assert (row.keywords, row.state) == (["never fails"], "retired")
    assert AuditEvent.objects.filter(action="pattern-imported", object_id="ep-1").count() == 2


def test_a_byte_order_mark_is_no_part_of_a_file(aurora: Any, tmp_path: Path) -> None:
    arabic = SEED[1] | {"keywords": ["根本原因是", "السبب الجذري"]}
    assert "1 pattern added" in run("import", wrote(tmp_path, "\ufeff" + json.dumps([arabic], ensure_ascii=False)))
    assert json.loads(run("export"))[-1]["keywords"] == arabic["keywords"]


def test_it_takes_the_patterns_of_the_origins_state_and_names_what_it_leaves(aurora: Any, tmp_path: Path) -> None:
    held = {"type": "chat", "data": {"text": "x"}, "hesitation": {"score": 55}, "heldAt": "2026-03-01T00:00:00.000Z"}
    pattern = SEED[1] | {"keywords": ["fallback", " API "], "triggerCount": 3.0}
    said = run("import", wrote(tmp_path, {"heldTags": [held, held], "errorPatterns": [pattern]}))
    assert "1 pattern added to Aurora, 0 changed." in said
    assert "Not taken, since only patterns are imported: heldTags (2)." in said
    row = ErrorPattern.objects.get(public_id="ep-1")
    assert (row.keywords, row.imported_triggers) == (["fallback", "API"], 3)


def test_it_names_every_defect_and_takes_nothing(aurora: Any, tmp_path: Path) -> None:
    bad = [
        SEED[0],
        SEED[1] | {"keywords": [""], "source": "oracle"},
        "no object",
        SEED[0],
        {"id": "x"},
        SEED[1] | {"triggerCount": -1, "createdAt": "yesterday", "id": "", "extra": 1},
    ]
    with pytest.raises(CommandError) as refused:
        run("import", wrote(tmp_path, bad))
    said = str(refused.value)
    assert said.startswith("Nothing was imported.")
    for part in (
        "Pattern 2: “” is too short", "Pattern 2: source must be one of", "Pattern 3: it is not an object",
        "Pattern 4: its id is that of pattern 1",
        "Pattern 5: keywords, description, source, createdAt, triggerCount are missing",
        "Pattern 6: extra is not a field", "Pattern 6: id must be", "Pattern 6: createdAt", "Pattern 6: triggerCount",
    ):  # fmt: skip
        assert part in said
    assert ErrorPattern.objects.count() == 1


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1, NaN]", '{"a": 1}', "3", '[{"id": "\\u0000"}]', '{"patterns": 1}', '{"errorPatterns": {}}'],
)
def test_what_is_no_such_file_is_refused(aurora: Any, tmp_path: Path, text: str) -> None:
    with pytest.raises(CommandError, match="Nothing was imported"):
        run("import", wrote(tmp_path, text))


def test_a_file_that_is_not_there_is_told(aurora: Any, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"missing\.json cannot be read: No such file.* Check its name"):
        run("import", str(tmp_path / "missing.json"))


def test_a_file_that_this_user_may_not_use_is_named_with_what_to_do(
    aurora: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CommandError, match=f"^{tmp_path} cannot be written: Is a directory. Name a file"):
        run("export", str(tmp_path))
    monkeypatch.setattr("pathlib.Path.open", forbidden)
    monkeypatch.setattr("io.open", forbidden)
    kept = tmp_path / "kept.json"
    what_to_do = "Permission denied. Let this user read and write it, or name another."
    with pytest.raises(CommandError, match=f"^{kept} cannot be written: {what_to_do}"):
        run("export", str(kept))
    with pytest.raises(CommandError, match=f"^Nothing was imported. {kept} cannot be read: {what_to_do}"):
        run("import", str(kept))


def test_a_team_without_agents_is_not_meant_unless_it_is_named(
    aurora: Any, borealis: Any, kuro: Any, tmp_path: Path
) -> None:
    run("import", wrote(tmp_path, SEED))
    assert ErrorPattern.objects.filter(team=aurora).count() > ErrorPattern.objects.filter(team=borealis).count()


def test_the_team_is_needed_when_there_are_several(aurora: Any, borealis: Any, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="say which with --team"):
        run("export")
    with pytest.raises(CommandError, match="There is no team 'Nowhere'"):
        run("export", "--team", "Nowhere")
    run("import", wrote(tmp_path, SEED), "--team", "Borealis")
    assert ErrorPattern.objects.filter(team=borealis).count() == 3
    assert ErrorPattern.objects.filter(team=aurora).count() == 1

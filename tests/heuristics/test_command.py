"""The command line: one JSON object a line in, one a line out, whatever the lines hold."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metacog.heuristics import Scorer
from metacog.heuristics.__main__ import main
from tests.command_line import run
from tests.tables import table

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "metacog.heuristics"]
MEBIBYTE = 1_048_576
# As a user's shell has it; PYTHONUNBUFFERED would hide a missing flush.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def answers(done: subprocess.CompletedProcess[bytes]) -> list[Any]:
    assert done.stdout.endswith(b"\n")
    return [json.loads(line) for line in done.stdout.decode().removesuffix("\n").split("\n")]


def test_it_answers_every_line_in_order_and_a_bad_one_in_its_place() -> None:
    frame = len(b'{"response":""}')
    lines = [
        '{"response": "這一定是 clearly"}'.encode(),
        b"{",
        b"",
        b'{"response": 1}',
        b'{"response":"' + b"a" * (MEBIBYTE - frame) + b'"}\r',
        b'{"response": "' + b"a" * MEBIBYTE * 3 + b'"}',
        b"\xff",
        b'{"response": "<chat>hello</chat>"}\r',
        b'{"response": "' + b"<ask>?</ask>" * 257 + b'"}',
        b'{"response": "last"}',
    ]
    assert len(lines[4]) == MEBIBYTE + 1
    done = run("score", sent=b"\n".join(lines))
    assert done.returncode == 1
    assert done.stderr == b""
    found = answers(done)
    assert [answer.get("error", {}).get("status", "scored") for answer in found] == [
        *["scored", 400, 400, 422, "scored", 413, 400, "scored", 422, "scored"],
    ]
    assert found[0] == Scorer().score({"response": "這一定是 clearly"})
    assert found[3]["error"]["errors"] == [{"pointer": "/response", "detail": "must be a string, not a whole number"}]
    assert found[7]["items"][0]["text"] == "hello"
    assert "這" not in done.stdout.decode("ascii", "ignore")
    assert "一定" in done.stdout.decode()
    assert b'"id":null,' in done.stdout


def test_it_is_content_when_every_line_is_good() -> None:
    done = run("score", "--profile", "seed", sent=b'{"response": ""}\n')
    assert (done.returncode, done.stderr) == (0, b"")
    assert run("score").stdout == b""


def test_it_answers_each_line_before_the_next_is_sent() -> None:
    with subprocess.Popen(
        [*COMMAND, "score"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=BUFFERED
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for response in ("clearly", ""):
            process.stdin.write(json.dumps({"response": response}).encode() + b"\n")
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 60)[0], "no answer came"
            score = json.loads(process.stdout.readline())["hesitation"]["score"]
            assert score == (20 if response else 0)


def test_it_reads_patterns_and_a_policy(tmp_path: Path) -> None:
    patterns, policy = tmp_path / "patterns.json", tmp_path / "policy.json"
    pattern = {
        "id": "ep-1",
        "keywords": ["逾時"],
        "description": "逾時",
        "source": "alex-correction",
        "createdAt": "2026-02-24T12:00:00Z",
        "triggerCount": 3,
    }
    patterns.write_text(json.dumps([pattern], ensure_ascii=False), encoding="utf-8")
    policy.write_text('{"threshold": 5, "hold_at": 30}')
    done = run("score", "--patterns", str(patterns), "--policy", str(policy), sent='{"response": "逾時"}'.encode())
    (verdict,) = answers(done)
    assert verdict["hesitation"]["matched_pattern_ids"] == ["ep-1"]
    assert verdict["hesitation"]["hold_at"] == 30


def test_tool_calls_are_judged_by_the_rules_of_the_policy(tmp_path: Path) -> None:
    policy = tmp_path / "policy.json"
    rules = [
        {"tool": "read_*", "do": "allow"},
        {"tool": "sh", "where": {"/cmd": {"regex": "rm -rf"}}, "do": "deny"},
        {"tool": "sh", "do": "score"},
    ]
    policy.write_text(json.dumps({"rules": rules, "threshold": 20, "hold_at": 20}))
    named = [("read_file", {}), ("sh", {"cmd": "rm -rf /"}), ("sh", {"cmd": "say clearly"}), ("sh", {}), ("pay", 1)]
    items = [{"kind": "tool_call", "name": name, "arguments": arguments} for name, arguments in named]
    sent = json.dumps({"response": "", "items": items}).encode()
    (verdict,) = answers(run("score", "--policy", str(policy), sent=sent))
    assert [(item["disposition"], item["rule"]) for item in verdict["items"]] == [
        *(("pass", rules[0]), ("reject", rules[1]), ("hold", rules[2]), ("pass", rules[2]), ("hold", None)),
    ]  # fmt: skip
    assert {item["held"] for item in verdict["items"]} == {None}


def test_a_teams_rules_come_before_those_of_the_policy(tmp_path: Path) -> None:
    policy = tmp_path / "policy.json"
    deletes = {"tool": "Bash", "effects": {"any": ["delete"]}, "do": "ask"}
    policy.write_text(json.dumps({"team_rules": [deletes], "rules": [{"tool": "*", "do": "allow"}]}))
    items = [{"kind": "tool_call", "name": "Bash", "arguments": {"command": command}} for command in ("ls", "rm a")]
    sent = json.dumps({"response": "", "items": items}).encode()
    (verdict,) = answers(run("score", "--policy", str(policy), sent=sent))
    assert [item["disposition"] for item in verdict["items"]] == ["pass", "hold"]


MARK = b"\xef\xbb\xbf"  # byte order mark
PATTERN = {"id": "ep-1", "keywords": ["timeout", " API "], "description": "d"}


@pytest.mark.parametrize(
    "document", [[PATTERN], {"patterns": [PATTERN]}, {"heldTags": [{}], "errorPatterns": [PATTERN]}]
)
def test_it_takes_patterns_in_each_form_and_files_with_a_byte_order_mark(document: Any, tmp_path: Path) -> None:
    patterns, policy = tmp_path / "patterns.json", tmp_path / "policy.json"
    patterns.write_bytes(MARK + json.dumps(document).encode())
    policy.write_bytes(MARK + b'{"threshold": 5.0}')
    lines = MARK + b'{"response": "It timed out: timeout"}\n{"response": "the api perhaps"}'
    done = run("score", "--patterns", str(patterns), "--policy", str(policy), sent=lines)
    assert done.returncode == 0, done.stdout
    assert [answer["hesitation"]["matched_pattern_ids"] for answer in answers(done)] == [["ep-1"]] * 2
    assert answers(done)[0]["hesitation"]["threshold"] == 5


def test_a_byte_order_mark_begins_intents_and_notes_as_well() -> None:
    done = run("intent", sent=MARK + b'{"lastMode": "rest", "streak": {"mode": "rest", "count": 2.0}}\n')
    assert done.returncode == 0, done.stdout
    done = run("markers", "--now", "2026-02-16T08:00:00Z", sent=MARK + b"[2026-02-15] notes\n")
    assert done.stdout.decode().startswith(MARK.decode() + "[2026-02-15 ⟨")


@pytest.mark.parametrize(
    ("option", "content", "says"),
    [
        ("--patterns", None, "cannot be read: No such file or directory."),
        (
            "--patterns",
            "{}",
            "must hold a JSON list of patterns, or an object with one as `patterns` or `errorPatterns`.",
        ),
        ("--patterns", "[", "The file is not JSON"),
        ("--patterns", '[{"id": "a", "keywords": [""]}]', "pattern 0 (a): keyword 0 is empty"),
        ("--patterns", '[{"id": "a", "keywords": ["ok", "x"]}]', "(a): keyword 1, 'x', is too short; it needs 2"),
        ("--patterns", '[{"id": "a", "keywords": [" x "]}]', "pattern 0 (a): keyword 0, ' x ', is too short"),
        ("--patterns", '[{"id": "a", "keywords": ["\\u200b\\u3000 "]}]', "pattern 0 (a): keyword 0, "),
        ("--policy", "[]", "must hold a JSON object."),
        ("--policy", '{"threshold": 200}', "/threshold: must be a whole number from 0 to 101."),
        ("--policy", '{"profile": "other"}', '/profile: must be "seed" or "aware".'),
    ],
)
def test_it_says_in_one_sentence_why_it_cannot_begin(
    option: str, content: str | None, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = content
    if option != "--profile":
        path = tmp_path / "file.json"
        value = str(path)
        if content is not None:
            path.write_text(content)
    assert value is not None
    assert main(["score", option, value]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert says in captured.err


@pytest.mark.parametrize(
    "arguments",
    [[], ["other"], ["markers"], ["markers", "--now", "today"], ["markers", "--now", "2026-02-16T08:00:00"]],
)
def test_it_explains_wrong_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_it_marks_the_dates_of_a_text_and_keeps_every_other_byte() -> None:
    text = b"- [2026-02-12] \xff\x00\r\n\r\n[02-12] \xe8\xae\x80\n[2026-02-15]"
    done = run("markers", "--now", "2026-02-16T08:00:00Z", sent=text)
    assert done.returncode == 0
    assert done.stdout == text.replace(b"12]", "12 ⟨4d ago⟩]".encode(), 1).replace(b"15]", "15 ⟨yesterday⟩]".encode())


def test_it_marks_every_form_of_date_when_asked_to() -> None:
    text = "- [02-12] read [2026-02-14]\n（2026-02-16）讀 [1]\n".encode()
    done = run("markers", "--every-form", "--now", "2026-02-17T01:00:00+02:00", sent=text)  # the 16th in UTC
    assert done.stdout.decode() == "- [02-12 ⟨4d ago⟩] read [2026-02-14 ⟨2d ago⟩]\n（2026-02-16 ⟨today⟩）讀 [1]\n"


def test_it_puts_intents_into_words() -> None:
    lines = [
        '{"lastMode": "learn", "lastAction": "讀了", "activeThread": null, "streak": null, "recentModes": ["learn"]}',
        "null",
        '{"lastMode": 5}',
        '{"lastMode": "a", "streak": {"mode": "a", "count": -1}}',
        '{"lastMode": "a", "more": 1}',
    ]
    done = run("intent", sent="\n".join(lines).encode())
    assert done.returncode == 1
    texts = answers(done)
    assert texts[:2] == [{"text": "\n\nContinuous intent:\nLast cycle: learn — 讀了"}, {"text": ""}]
    assert [text["error"]["errors"][0]["pointer"] for text in texts[2:]] == ["/lastMode", "/streak/count", "/more"]


def test_it_ends_quietly_when_nobody_reads_on() -> None:
    sent = b'{"response": "x"}\n' * 20_000
    with subprocess.Popen(
        [*COMMAND, "score"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=BUFFERED,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(sent[:18])
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        try:
            process.stdin.write(sent)
            process.stdin.close()
        except BrokenPipeError:
            process.stdin = None
        assert process.stderr.read() == b""
        assert process.wait() == 1


@table(
    ("command", "redirected", "said"),
    [
        ("score", "<&-", "Standard input or output is closed."),
        ("rates", ">&-", "Standard input or output is closed."),
        *(
            pytest.param(
                command,
                "> /dev/full",
                "This cannot be finished: No space left on device.",
                marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has such a disk"),
            )
            for command in ("score", "rates")
        ),
    ],
)
def test_it_says_in_one_sentence_why_it_cannot_go_on(command: str, redirected: str, said: str) -> None:
    arguments = ["sh", "-c", f'"$@" {redirected}', "sh", *COMMAND, command]
    done = subprocess.run(arguments, input=b'{"response": "x"}\n', capture_output=True, cwd=ROOT, env=BUFFERED)
    assert (done.returncode, done.stderr.decode()) == (2, f"metacog.heuristics: {said}\n")


def test_it_keeps_no_line_in_memory() -> None:
    """The bound is generous: one line takes a few megabytes, all of them 120 and more."""
    program = (
        "import sys, tracemalloc\n"
        "from metacog.heuristics.__main__ import main\n"
        "tracemalloc.start()\n"
        "status = main(['score'])\n"
        "print(status, tracemalloc.get_traced_memory()[1] // 1_000_000, file=sys.stderr)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        for _ in range(60):
            process.stdin.write(b'{"response": "' + b"a" * 1_000_000 + b'"}\n')
        for _ in range(60):
            process.stdin.write(b"a" * MEBIBYTE)
        process.stdin.close()
        status, megabytes = map(int, process.stderr.read().split())
    assert status == 1
    assert megabytes < 40


def test_it_prints_how_often_each_signal_fires() -> None:
    lines = [
        {"response": "Clearly so."},
        {"response": "Perhaps. For some reason it fails.", "session": "s"},
        {"response": "I'm out of ideas.", "session": "s"},
        {"response": "", "user_message": "Why?"},
    ]
    done = run("rates", sent=b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert (done.returncode, done.stderr) == (0, b"")
    first, *rest = done.stdout.decode().splitlines()
    assert first == "4 responses"
    rates = {line.rsplit(None, 2)[0]: line.split()[-2:] for line in rest}
    assert {name: rate for name, rate in rates.items() if rate != ["0", "0.00%"]} == {
        "hesitation absolute-claim": ["1", "25.00%"],
        "quality empty": ["1", "25.00%"],
        "quality not passed": ["1", "25.00%"],
        "stuck exhaustion": ["1", "25.00%"],
        "stuck uncertainty": ["1", "25.00%"],  # it stands from then on, and fires no more
    }
    assert {"hesitation overconfidence", "quality off-topic", "stuck error-loop"} < rates.keys()
    sampled = run("sample", "stuck uncertainty", sent=b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert sampled.stdout.decode().splitlines() == ["1 of 1 places", "2: Perhaps. 【For some reason】 it fails."]
    assert "hesitation no-source" not in rates  # the seed looks for none
    assert "hesitation no-source" in run("rates", "--profile", "aware", sent=b'{"response": ""}').stdout.decode()


def test_it_reads_the_fields_it_is_told_to_of_any_lines() -> None:
    lines = [{"answer": "Clearly so.", "outcome": 7}, {"answer": 1}, {"other": "x"}]
    sent = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    done = run("rates", "--fields", "response=answer", sent=sent)
    assert done.returncode == 1
    assert done.stdout.decode().splitlines()[0] == "1 response, 2 lines that are none"
    assert b"The first line that is no response: " in done.stderr
    assert b"--fields" not in done.stderr
    assert b"--fields" in run("rates", sent=sent).stderr
    wrong = run("rates", "--fields", "reply", sent=sent)
    assert wrong.returncode == 2
    assert b"'reply' is no field of a response" in wrong.stderr


def test_many_problems_worked_on_in_turn_keep_their_counters_apart() -> None:
    lines = [{"response": "", "session": f"s{number}", "problem": "p", "errors": ["E"]} for number in range(2_000)]
    found = answers(run("score", sent=b"".join(json.dumps(line).encode() + b"\n" for line in lines * 3)))
    assert [verdict["stuck"]["points"] for verdict in found] == [0] * 4_000 + [3] * 2_000


def test_figures_given_earlier_in_a_session_need_no_source() -> None:
    lines = [
        {"response": "", "session": "s1", "command_output": '{"price": 189.5}'},
        {"response": "Nothing.", "session": "s1"},
        *({"response": "It costs $189.50.", "session": session} for session in ("s1", "s2")),
        {"response": "", "command_output": '{"price": 189.5}'},
        {"response": "It costs $189.50."},
    ]
    sent = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    for profile, scores in (("aware", [0, 0, 0, 10, 0, 10]), ("seed", [0] * 6)):
        found = answers(run("score", "--profile", profile, sent=sent))
        assert [verdict["hesitation"]["score"] for verdict in found] == scores


def test_it_prints_something_of_nothing() -> None:
    assert run("rates").stdout == b"0 responses\n"


def test_it_draws_places_where_a_signal_fires() -> None:
    lines = [
        {"response": "It is clearly so.\nAnd definitely so.", "user_message": "Why is it so?"},
        {"response": "Nothing to see."},
        {"response": "We have " + "bright colours, " * 9, "user_message": "Why so late?"},
        {"response": "[CHAT]Obviously![/CHAT]", "items": [{"kind": "chat", "text": "no such words " * 20}]},
    ]
    sent = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    absolute = run("sample", "hesitation absolute-claim", "--profile", "aware", sent=sent)
    assert absolute.stdout.decode().splitlines() == [
        "3 of 3 places",
        "1: It is 【clearly】 so. And definitely so.",
        "1: It is clearly so. And 【definitely】 so.",
        "4: [CHAT]【Obviously】![/CHAT]",
    ]
    asked = run("sample", "quality question-unanswered", sent=sent).stdout.decode()
    assert asked.splitlines() == ["1 of 1 places", "3: 【Why so late?】"]
    chat = run("sample", "hesitation no-hedge", "--count", "1", sent=sent).stdout.decode()
    assert chat.startswith("1 of 1 places\n4: 【no such words")
    one = ("sample", "hesitation absolute-claim", "--count", "1", "--seed")
    assert len({run(*one, str(seed), sent=sent).stdout for seed in range(5)}) > 1
    assert run("sample", "hesitation absolute-claim", sent=b"{}\n").returncode == 1


@table("signal", ["absolute-claim", "hesitation absolute-claims", "quality no-source", "stuck", ""])
def test_it_draws_from_no_signal_that_there_is_not(signal: str) -> None:
    done = run("sample", signal, sent=b'{"response": "It is clearly so."}\n')
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"hesitation absolute-claim, " in done.stderr
    assert b"quality repetition, " in done.stderr
    assert b"stuck error-loop" in done.stderr


def test_it_says_what_calls_commands_and_sql_would_do(tmp_path: Path) -> None:
    lines = [
        {"name": "Write", "arguments": {"file_path": "a.py"}, "workspace": "/srv/app"},
        {"command": "ls; rm x"},
        {"sql": "delete from t"},
        {"name": "mine", "arguments": {"run": "rm x"}},
        {"name": "mine", "arguments": {"go": "rm x"}, "readers": {"mine": {"/go": "shell"}}},
        {"nothing": "known"},
        {"command": "ls", "readers": {"x": {"y": "z"}}},
    ]
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps({"readers": {"mine": {"/run": "shell"}}}))
    done = run("effects", "--policy", str(policy), sent="\n".join(map(json.dumps, lines)).encode())
    assert done.returncode == 1
    found = answers(done)
    assert found[0]["effects"][0]["object"] == "/srv/app/a.py"
    assert found[0]["shape"] == {"arguments": ["/file_path"], "effects": [["write", "workspace"]]}
    assert [[effect["effect"] for effect in each["effects"]] for each in found[:5]] == [
        ["write"], ["read", "delete"], ["delete", "irreversible"], ["delete"], ["delete"]
    ]  # fmt: skip
    assert [each["readable"] for each in found[:5]] == [True] * 5
    assert found[1]["compound"] == ["/command"]
    assert [each["error"]["status"] for each in found[5:]] == [422, 422]

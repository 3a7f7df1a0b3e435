"""What is read of logs in each format: who said what, with which tool calls, after what."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from reviews.logs.formats import LogReader, UnknownFormat
from reviews.logs.readers.turns import Call, Turn
from reviews.logs.sources import Log
from tests.reviews.logs.conftest import asked, lines, read, result, said, tool, turns
from tests.tables import table

Q, AT = {"role": "user", "content": "How many?"}, "2023-11-14T22:13:20Z"
CALL = {"id": "c1", "type": "function", "function": {"name": "count", "arguments": '{"of": "files"}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
GIVEN = {"role": "tool", "tool_call_id": "c1", "content": "12"}
ANSWER = {"role": "assistant", "content": "There are 12."}


def lc(kind: str, **kwargs: Any) -> dict[str, Any]:
    """Return a message as LangChain serializes it."""
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


def run(id: str, kind: str, name: str = "step", parent: str | None = "r0", **more: Any) -> dict[str, Any]:
    return {"id": id, "trace_id": "t1", "run_type": kind, "name": name, "parent_run_id": parent} | more


def item(kind: str, /, **payload: Any) -> dict[str, Any]:
    """Return a line of Codex."""
    return {"timestamp": "2023-11-14T22:13:20.000Z", "type": kind, "payload": payload}


def message(role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a message of OpenCode."""
    info = {"role": role, "id": f"m-{parts}", "sessionID": "s1", "time": {"created": 1700000000000}}
    return {"info": info | more, "parts": list(parts)}


def used(tool: str, input: dict[str, Any], **state: Any) -> dict[str, Any]:
    """Return a part of OpenCode's message that uses a tool."""
    return {"type": "tool", "tool": tool, "callID": "c1", "state": {"input": input} | state}


def entry(role: str, content: Any, **more: Any) -> dict[str, Any]:
    """Return an entry of SWE-agent's history."""
    return {"role": role, "content": content, "agent": "main"} | more


COUNTS = {"type": "function_call", "call_id": "c1", "name": "count", "arguments": '{"of": "files"}'}
FAILED = json.dumps({"output": "No such file", "metadata": {"exit_code": 1}})
ASKED_LC = {"messages": [[lc("HumanMessage", content="How many?")]]}
MODEL = run(
    "r1", "llm", start_time="2024-05-01T12:00:00.5", inputs=ASKED_LC, extra={"metadata": {"thread_id": "th"}},
    outputs={"generations": [[{"text": "", "message": lc(
        "AIMessage", content="I count.", tool_calls=[{"name": "count", "args": {"of": "files"}, "id": "c1"}])}]]},
)  # fmt: skip
MADE = run("r2", "tool", "count", inputs={"input": "{'of': 'files'}"}, outputs={"output": "12"})
ROOT = run("r0", "chain", parent=None, inputs={"input": "How many?"}, outputs={"output": "There are 12."})
COUNT = [("count", {"of": "files"})]
GENERATION = {
    "id": "o1", "traceId": "t1", "type": "GENERATION", "startTime": "2024-01-01T00:00:00Z",
    "input": [Q], "output": CALLED,
}  # fmt: skip
TOOL = {"id": "o2", "traceId": "t1", "type": "TOOL", "name": "count", "input": {"of": "files"}, "output": "12"}
SPAN = {"id": "o0", "traceId": "t1", "type": "SPAN", "name": "all", "input": "How many?", "output": "There are 12."}
SNAKE = {"id": "o3", "trace_id": "t2", "session_id": "s2", "type": "GENERATION", "start_time": "2024-01-01 10:00:00.5",
         "input": json.dumps([Q, CALLED, GIVEN]), "output": json.dumps(ANSWER)}  # fmt: skip
CSV = (
    b'"id","traceId","type","name","startTime","input","output"\n'
    b'"o1","t1","GENERATION","g","2024-01-01","[{""role"":""user"",""content"":""How many?""}]","Two\nlines"\n'
    b'"o2","t1","TOOL","count","","{""of"":""files""}","12"\n'
)

# A log; its format; of each turn the line, the text, the calls, the message before it, what tools gave back.
LOGS: list[tuple[bytes, str, list[tuple[int, str, list[Any], str, str]]]] = [
    (
        lines(
            asked("u0", "<local-command>", isMeta=True),
            asked("u1", [{"type": "text", "text": "How many?"}]),
            said("a1", {"type": "thinking", "thinking": "Hm."}),
            said("a2", "I count.", tool("count", of="files")),
            asked("u2", result([{"type": "text", "text": "12"}])),
            said("a3", "There are 12."),
            said("a4", "API Error: 500", isApiErrorMessage=True),
            said("a2", "I count.", tool("count", of="files")),
            {"type": "system", "sessionId": "s1", "content": "…"},
        ),
        "claude-code",
        [(4, "I count.", COUNT, "How many?", ""), (6, "There are 12.", [], "How many?", "12")],
    ),
    (
        lines(
            item("session_meta", id="s1", cwd="/srv/app", cli_version="0.171.0"),
            item("response_item", type="message", role="user", content=[{"text": "<environment_context>…"}]),
            item("turn_context", cwd="/srv/app", model="gpt"),
            item("response_item", type="message", role="user", content=[{"type": "input_text", "text": "How many?"}]),
            item("event_msg", type="user_message", message="How many?"),
            item("response_item", type="reasoning", summary=[]),
            item("event_msg", type="agent_message", message="I count."),
            item("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "I…"}]),
            item("response_item", **COUNTS),
            item("response_item", type="custom_tool_call", call_id="c2", name="apply_patch", input="*** Begin Patch"),
            item("response_item", type="function_call_output", call_id="c1", output="12"),
            item("response_item", type="custom_tool_call_output", call_id="c2", output=FAILED),
            item("response_item", type="function_call", name="pay", namespace="mcp__till", arguments='{"eur": 9}'),
            item("response_item", type="local_shell_call", action={"type": "exec", "command": ["ls"]}),
            item("response_item", type="web_search_call", id="w1", action={"type": "search", "query": "x"}),
            item("response_item", type="function_call", name="exec_command", arguments='{"cmd": "ls", "workdir": "/"}'),
            item("compacted", message="There are 12."),
        ),
        "codex",
        [
            (8, "I…", [], "How many?", ""),
            (9, "", COUNT, "How many?", ""),
            (10, "", [("apply_patch", {"command": "*** Begin Patch"})], "How many?", ""),
            (13, "", [("mcp__till__pay", {"eur": 9})], "How many?", "12\nNo such file\nExit code: 1"),
            (14, "", [("Bash", {"type": "exec", "command": ["ls"]})], "How many?", ""),
            (15, "", [("web_search", {"type": "search", "query": "x"})], "How many?", ""),
            (16, "", [("Bash", {"command": "ls", "workdir": "/"})], "How many?", ""),
        ],
    ),
    (
        lines(
            {"id": "s1", "timestamp": "2025-06-01T00:00:00.000Z", "instructions": None},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "How many?"}]},
            COUNTS,
            {"type": "function_call_output", "call_id": "c1", "output": "12"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "There are 12."}]},
        ),
        "codex",
        [(4, "", COUNT, "How many?", ""), (6, "There are 12.", [], "How many?", "12")],
    ),
    (
        json.dumps(
            {
                "info": {"id": "s1", "directory": "/srv/app"},
                "messages": [
                    message(
                        "user", {"type": "text", "text": "How many?"}, {"type": "text", "synthetic": True, "text": "…"}
                    ),
                    message(
                        "assistant",
                        {"type": "reasoning", "text": "Hm."},
                        {"type": "text", "text": "I count."},
                        used("count", {"of": "files"}, status="completed", output="12", metadata={"exit": 3}),
                        used("read", {"filePath": "x"}, status="error", error="No such file"),
                        path={"cwd": "/srv/app"},
                    ),
                    message("assistant", {"type": "text", "text": "So far: 12."}, summary=True),
                    message("assistant", {"type": "text", "text": "There are 12."}),
                ],
            },
            indent=None,
        ).encode(),
        "opencode",
        [
            (1, "I count.", [*COUNT, ("read", {"filePath": "x"})], "How many?", ""),
            (1, "There are 12.", [], "How many?", "12\nExit code: 3\nNo such file"),
        ],
    ),
    (
        json.dumps(
            {
                "trajectory": [{"action": "count", "observation": "12", "state": {"working_dir": "/srv/app"}}],
                "history": [
                    entry("system", "You are…"),
                    entry("assistant", "It is 4.", action="sum", is_demo=True),
                    entry("user", "How many?"),
                    entry("assistant", "I count.\n```count```", thought="I count.", action="count files"),
                    entry("user", "12"),
                    entry("assistant", "More.", tool_calls=[CALL]),
                    entry("tool", [{"type": "text", "text": "13"}]),
                    entry("assistant", "There are 13.", action="submit"),
                ],
            },
            indent=1,
        ).encode(),
        "swe-agent",
        [
            (29, "I count.", [("bash", {"command": "count files"})], "How many?", ""),
            (41, "More.", COUNT, "How many?", "12"),
            (66, "There are 13.", [("bash", {"command": "submit"})], "How many?", "13"),
        ],
    ),
    (
        json.dumps(
            {
                "info": {"config": {"environment": {"cwd": "/srv/app"}}, "mini_version": "2.4.6"},
                "messages": [
                    Q,
                    ANSWER | {"extra": {"actions": [{"command": "ls"}], "timestamp": 1700000000.0}},
                    {"role": "user", "content": "<output>…", "extra": {"raw_output": "12", "returncode": 3}},
                    CALLED | {"extra": {"actions": [{"command": "count", "tool_call_id": "c1"}]}},
                    GIVEN | {"extra": {"raw_output": "12", "returncode": 0}},
                    {"object": "response", "output": [COUNTS], "extra": {"actions": [{"command": "count"}]}},
                    {"role": "exit", "content": "Submitted"},
                ],
                "trajectory_format": "mini-swe-agent-1.1",
            },
            indent=2,
        ).encode(),
        "swe-agent",
        [
            (1, "There are 12.", [("bash", {"command": "ls"})], "How many?", ""),
            (1, "", COUNT, "How many?", "12\nExit code: 3"),
            (1, "", COUNT, "How many?", "12"),
        ],
    ),
    (
        lines({"messages": [Q, CALLED, GIVEN, ANSWER]}),
        "openai",
        [(1, "", COUNT, "How many?", ""), (1, "There are 12.", [], "How many?", "12")],
    ),
    (
        lines({"request": {"messages": [Q, CALLED, GIVEN]}, "response": {"id": "x", "choices": [{"message": ANSWER}]}}),
        "openai",
        [(1, "There are 12.", [], "How many?", "12")],
    ),
    (
        lines(
            {"custom_id": "k", "response": {"status_code": 200, "body": {"id": "x", "choices": [{"message": CALLED}]}}}
        ),
        "openai",
        [(1, "", COUNT, "", "")],
    ),
    (
        lines(
            {
                "object": "response",
                "id": "x",
                "input": "How many?",
                "output": [
                    {"type": "reasoning"},
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Few."}]},
                    {"type": "function_call", "call_id": "c1", "name": "count", "arguments": '{"of": "files"}'},
                ],
            }
        ),
        "openai",
        [(1, "Few.", [], "How many?", ""), (1, "", COUNT, "How many?", "")],
    ),
    (lines({"prompt": "How many?", "completion": "Two."}), "openai", [(1, "Two.", [], "How many?", "")]),
    (
        lines(Q, CALLED, GIVEN, ANSWER),
        "openai",
        [(2, "", COUNT, "How many?", ""), (4, "There are 12.", [], "How many?", "12")],
    ),
    (json.dumps([{"messages": [Q, ANSWER]}], indent=1).encode(), "openai", [(2, "There are 12.", [], "How many?", "")]),
    (
        lines({"messages": [Q, {"role": "assistant", "function_call": {"name": "f", "arguments": "{oops"}}]}),
        "openai",
        [(1, "", [("f", "{oops")], "How many?", "")],
    ),
    (lines(ROOT, MODEL, MADE), "langsmith", [(2, "I count.", COUNT, "How many?", "")]),
    (lines(MADE, MODEL), "langsmith", [(1, "", COUNT, "", ""), (2, "I count.", [], "How many?", "")]),
    (
        json.dumps({"runs": [ROOT | {"child_runs": [MODEL, MADE]}]}).encode(),
        "langsmith",
        [(1, "I count.", COUNT, "How many?", "")],
    ),
    (
        lines(ROOT, MODEL, run("r3", "tool", "other", inputs={"input": "x"})),
        "langsmith",
        [(2, "I count.", COUNT, "How many?", ""), (3, "", [("other", "x")], "", "")],
    ),
    (lines(ROOT), "langsmith", [(1, "There are 12.", [], "How many?", "")]),
    (lines(SPAN, GENERATION, TOOL), "langfuse", [(2, "", COUNT, "How many?", "")]),
    (lines(SNAKE), "langfuse", [(1, "There are 12.", [], "How many?", "12")]),
    (CSV, "langfuse", [(2, "Two\nlines", [], "How many?", ""), (4, "", COUNT, "", "")]),
    (
        json.dumps(
            {
                "id": "t1",
                "projectId": "p",
                "input": {"messages": [Q]},
                "output": "x",
                "observations": [SPAN, GENERATION],
            },
            indent=2,
        ).encode(),
        "langfuse",
        [(22, "", COUNT, "How many?", "")],
    ),
    (
        lines({"id": "t1", "sessionId": "s", "timestamp": "2024-01-01", "input": "How many?", "output": "Two."}),
        "langfuse",
        [(1, "Two.", [], "How many?", "")],
    ),
]


@table("raw, format, wanted", LOGS)
def test_a_log_is_read_for_what_it_is(raw: bytes, format: str, wanted: Any) -> None:
    for each in (raw, gzip.compress(raw), b"\xef\xbb\xbf" + raw):
        for told in ("auto", format):
            found = [
                (turn.line, turn.text, [call[:2] for call in turn.calls], turn.user_message, turn.given)
                for turn in turns(each, told)
            ]
            assert found == wanted


@table("raw", [raw for raw, *_ in LOGS])
def test_reading_goes_on_in_another_process_behind_any_record(raw: bytes) -> None:
    found, state = list[Turn](), None
    while True:
        reader = LogReader(Log(io.BytesIO(raw)), state=state)
        if (record := next(iter(reader), None)) is None:
            break
        found += record[1].turns
        state = json.loads(json.dumps(reader.state))
    assert found == turns(raw)


@table("name", ["session", "session_id", "conversation_id", "thread_id", "chat_id", "custom_id", "metadata"])
def test_a_line_of_openais_says_which_session_it_is_of(name: str) -> None:
    told = {"session_id": "s-17"} if name == "metadata" else "s-17"
    (turn,) = turns(lines({"messages": [Q, ANSWER], name: told}), "openai")
    assert turn.session == "s-17"


def test_what_langchain_itself_traced_is_read() -> None:
    """Recorded from langchain-core 1.8.3 by its LangChainTracer, without what tells of the machine."""
    raw = (Path(__file__).parent / "langchain_runs.jsonl").read_bytes()
    assert [(turn.line, turn.text, turn.given, turn.session) for turn in turns(raw)] == [
        (2, "I count.", "", "th"),
        (4, "There are 12.", "12", "th"),
    ]
    (root,) = turns(raw.partition(b"\n")[0])  # an export of root runs alone
    assert (root.text, [call[:2] for call in root.calls]) == ("I count.\n\nThere are 12.", COUNT)


def test_a_turn_says_when_where_and_as_which_call_it_was() -> None:
    (turn,) = turns(lines(MODEL))
    assert (turn.session, turn.at, turn.key) == ("th", "2024-05-01T12:00:00.500000Z", "r1")
    assert turn.calls == [Call("count", {"of": "files"}, "c1")]
    (turn,) = turns(lines({"messages": [Q, ANSWER], "created": 1700000000, "metadata": {"session_id": "s9"}}))
    assert (turn.session, turn.at) == ("s9", AT)
    first, second = turns(lines(said("a1", "Hi."), said("a2", "Ho.", isSidechain=True, agentId="b7")))
    assert (first.session, second.session) == ("s1", "s1/b7")


@table(
    "format, session, at, told",
    [
        ("codex", "s1", AT, {"model": "gpt", "version": "0.171.0"}),
        ("opencode", "s1", AT, {}),
        ("swe-agent", "trajectory", "", {}),
        ("swe-agent", "trajectory", AT, {"version": "2.4.6"}),
    ],
)
def test_a_turn_of_a_coding_agent_says_where_and_by_what_it_was(format: str, session: str, at: str, told: Any) -> None:
    found = [turns(raw)[0] for raw, name, _ in LOGS if name == format and b"/srv/app" in raw]
    (turn,) = [turn for turn in found if turn.body().get("metadata", {}) == told]
    assert (turn.folder, turn.session, turn.at) == ("/srv/app", session, at)


def test_what_a_rollout_has_besides_is_counted_by_its_name() -> None:
    (raw,) = [raw for raw, name, _ in LOGS if name == "codex" and b"/srv/app" in raw]
    skipped = Counter(found.skipped for _line, found in read(raw) if not found.turns)
    assert skipped == {
        "user": 2, "tool": 2, "session_meta": 1, "turn_context": 1, "reasoning": 1, "compacted": 1,
        "event_msg: user_message": 1, "event_msg: agent_message": 1,
    }  # fmt: skip


PICTURE, THOUGHT = {"type": "image", "source": {}}, {"type": "thinking", "thinking": "Hm."}
SHOWN: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "Look."}, PICTURE]}
THINKS: dict[str, Any] = {
    "role": "assistant",
    "content": [THOUGHT, {"type": "text", "text": "So."}, {"type": "hologram"}],
}
STEP = {"action": "", "observation": ""}
PARTS = {"image": 1, "thinking": 1, "hologram": 1}


@table(
    "raw",
    [
        lines(asked("u1", result(SHOWN["content"])), said("a1", *THINKS["content"]), said("a1", *THINKS["content"])),
        lines(*[item("response_item", type="message", **each) for each in (SHOWN, THINKS)]),
        lines(*[message(each["role"], *each["content"]) for each in (SHOWN, THINKS)]),
        json.dumps({"trajectory": [STEP], "history": [entry(**SHOWN), entry(**THINKS)]}, indent=1).encode(),
        json.dumps({"trajectory_format": "mini-swe-agent-1.1", "messages": [SHOWN, THINKS]}).encode(),
        lines({"messages": [SHOWN, THINKS]}),
        lines(SHOWN, THINKS),
        lines({"request": {"messages": [SHOWN, CALLED, SHOWN]}, "response": {"choices": [{"message": THINKS}]}}),
        lines(run("r1", "llm", inputs={"messages": [SHOWN]}, outputs=THINKS)),
        lines(GENERATION | {"input": [SHOWN], "output": THINKS}),
    ],
)  # fmt: skip
def test_parts_of_messages_that_are_left_out_are_counted_by_their_names(raw: bytes) -> None:
    assert sum((found.parts for _line, found in read(raw)), Counter[str]()) == PARTS


def test_a_forked_rollout_is_a_session_of_its_own() -> None:
    (turn,) = turns(
        lines(
            item("session_meta", id="s2", cwd="/srv/app", forked_from_id="s1"),
            item("session_meta", id="s1", cwd="/srv/other"),
            item("response_item", **COUNTS),
        )
    )
    assert (turn.session, turn.folder) == ("s2", "/srv/app")


@table(
    "raw, line, why",
    [
        (b'{"messages": []}\nhello\n', 2, "It is not JSON: expecting value at character 1."),
        (b'{"messages": []}\n[1]\n', 2, "It is no JSON object."),
        (b'{"messages": []}\n{"a": "\xff"}\n', 2, "It is not UTF-8 (byte 7)."),
        (lines(MODEL, {"id": "x"}), 2, "It has no “run_type”."),
        (lines({"messages": [Q, ANSWER]}, {"a": 1}), 2, "It has no messages and no response."),
        (CSV + b"one,two\n", 5, "It has 2 columns, and the header has 7."),
        (json.dumps([ROOT, MODEL]).encode()[:-40], 1, "The document ends in the middle."),
        (gzip.compress(lines(MODEL) * 2000)[:-50], None, "The compressed file is damaged or cut off here."),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line_and_why(raw: bytes, line: int | None, why: str) -> None:
    faults = [(at, str(found.fault)) for at, found in read(raw) if found.fault]
    assert faults == [(line or faults[0][0], why)]


def test_a_log_of_no_known_format_is_refused() -> None:
    with pytest.raises(UnknownFormat, match="claude-code, codex, opencode, swe-agent, langsmith, langfuse, openai"):
        read(b'{"hello": "world"}\n')

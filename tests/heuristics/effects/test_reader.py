"""A whole call, read: its name, and each of its arguments as what it is."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.effects.calls.reader import Reader
from metacog.heuristics.effects.effect import Reading
from tests.tables import table

TOOLS = Path(__file__).parent / "tools"
HARMLESS = {"read", "fetch"}
ADD_AND_DELETE = "*** Add File: a.py\n+x\n*** Delete File: b.py"
PATCH = {"input": f"*** Begin Patch\n{ADD_AND_DELETE}\n*** Update File: c.py\n*** Move to: ../d.py"}
DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ /dev/null"

# name, arguments, effects with their objects
CALLS: list[tuple[str, Any, str]] = [
    # names
    ("delete_bucket", {"bucket": "logs"}, "delete logs"),
    ("mcp__aws__terminate_instances", {"ids": ["i-1"]}, "delete i-1"),
    ("listUsers", {}, "read"),
    ("kubectl_get", {"resourceType": "secrets", "name": "db"}, "read db | secret db"),
    ("get_order_details", {"order_id": "#W1"}, "read #W1"),
    ("find_one_and_update", {}, "read | write"),
    ("list_remove_member", {"list": "a"}, "read a | delete a | privilege a"),
    ("decrease_replica_count", {}, "write"),
    ("order_status", {}, "read"),
    ("think", {"thought": "delete everything?"}, ""),
    ("frobnicate", {"x": 1}, "unknown"),
    ("删除用户", {}, "unknown"),
    ("get_用户", {}, "read | unknown"),
    # money
    ("stripe.refunds.create", {"amount": 500, "currency": "usd"}, "write | pay 5 USD"),
    ("refund", {"amount": "1.000,50 €"}, "write | pay"),
    ("mcp__bank__transfer", {"eur": 100, "to": "DE89"}, "write DE89 | pay 100 EUR"),
    ("cancel_pending_order", {"order_id": "#W1"}, "write #W1 | pay #W1"),
    # a terminal to type into
    ("exec_command", {"cmd": "ls", "tty": True}, "read | unknown"),
    ("exec", {"command": "ls", "pty": True}, "read | unknown"),
    ("exec_command", {"cmd": "ls", "tty": False}, "read"),
    ("set_options", {"tty": True}, "write"),
    # mail, addresses
    (
        "send_email",
        {"to": "Bob <bob@x.example>", "bcc": ["eve@y.example"], "attachments": [".env"], "body": "rm -rf /"},
        "send bob@x.example | send eve@y.example | read /srv/app/.env | secret /srv/app/.env",
    ),
    ("fetch", {"url": "http://u:p@xn--pypal-4ve.com/"}, "fetch http://xn--pypal-4ve.com/"),
    ("fetch", {"url": "http://2130706433/"}, "fetch http://2130706433/"),
    (
        "fetch",
        {"url": "https://a.example", "method": "POST", "body": "x"},
        "write https://a.example | send https://a.example",
    ),
    # files
    ("Write", {"file_path": "/srv/app/a.py", "content": "rm -rf /"}, "write /srv/app/a.py"),
    ("read_file", {"path": "../id_rsa"}, "read /srv/id_rsa | secret /srv/id_rsa"),
    ("str_replace_based_edit_tool", {"command": "view", "path": "a"}, "read /srv/app/a"),
    ("str_replace_based_edit_tool", {"command": "create", "path": "a"}, "write /srv/app/a"),
    (
        "apply_patch",
        PATCH,
        "write /srv/app/a.py | delete /srv/app/b.py | write /srv/app/c.py | write /srv/d.py",
    ),
    ("patch", {"diff": DIFF}, "write /srv/app/x.py | delete /srv/app/y"),
    ("apply_patch", {"input": "no patch"}, "unknown"),
    ("apply_patch", {"command": "*** Begin Patch\n*** Add File: a.py\n+1\n"}, "write /srv/app/a.py"),  # Codex's hook
    ("apply_patch", {"command": ["rm", "-rf", "/"]}, "unknown"),
    ("apply_patch", {"input": "*** Begin Patch\n*** Add File: a\n+1\n *** Delete File: /b\n*** End Patch"},
     "write /srv/app/a | delete /b"),  # Codex takes blanks away
    ("apply_patch",
     {"input": "<<'E'\n*** Begin Patch\n*** Update File: a\n--- a/x\n+++ b/x\n*** Add File: /b\n*** End Patch\nE"},
     "write /srv/app/a | write /b"),
    ("apply_patch", {"command": "rm -rf /home #\n--- a/x\n+++ b/x"}, "unknown"),
    ("apply_patch", {"command": "*** Begin Patch\n*** Add File: a\n+1\n*** End Patch\nrm -rf /home"}, "unknown"),
    ("apply_patch", {"command": "rm -rf /home\n*** Begin Patch\n*** Add File: a\n+1\n*** End Patch"}, "unknown"),
    ("patch", {"command": "rm -rf /home"}, "delete /home | write"),
    ("github_create_or_update_file", {"owner": "o", "repo": "r", "path": "a.py"}, "write a.py"),
    # code
    ("Bash", {"command": "ls"}, "read"),
    ("shell", {"command": ["bash", "-lc", "rm build"], "workdir": "/srv/app/x"}, "delete /srv/app/x/build"),
    ("write_stdin", {"session_id": 1, "chars": "rm x\n"}, "execute | unknown"),
    ("write_stdin", {"session_id": 1, "chars": ""}, ""),
    ("mcp__postgres__query", {"sql": "select * from t"}, "read t"),
    ("run_query", {"query": "DROP TABLE x"}, "delete x | irreversible x"),
    ("search_docs", {"query": "delete from my life"}, "read"),
    ("execute_promql_query", {"query": "up"}, "read"),
    ("run_cypher", {"query": "MATCH (n) DETACH DELETE n"}, "write | delete | unknown"),
    ("run_code", {"language": "javascript", "code": "1"}, "execute | unknown"),
    ("run_code", {"language": "python", "code": "import os; os.remove('/x')"}, "execute | delete /x"),
    ("exec_in_pod", {"pod": "web", "command": "rm -rf data"}, "delete /srv/app/data"),
    ("foo", {"command": "ls"}, "read | unknown"),
    # requests
    ("http_request", {"method": "GET", "url": "https://a.example/x"}, "fetch https://a.example/x"),
    (
        "http_request",
        {"method": "DELETE", "url": "https://a.example/x"},
        "delete https://a.example/x | send https://a.example/x",
    ),
    ("call_api", {"method": "POST", "path": "/v1/refunds"}, "write /v1/refunds | send /v1/refunds | pay /v1/refunds"),
    ("graphql", {"query": "mutation { deletePost(id: 7) { id } }"}, "delete | send"),
    ("graphql", {"query": "query { posts { id } }"}, "fetch"),
    ("graphql", {"query": "mutation { frobnicate }"}, "write | send | unknown"),
    # what an argument says is done
    ("manage_instance", {"action": "terminate", "instance_id": "i-1"}, "delete i-1"),
    ("manage_instance", {"action": "frobnicate"}, "unknown"),
    ("use_aws", {"service_name": "s3", "operation_name": "delete_bucket", "parameters": {"Bucket": "x"}}, "delete x"),
    ("batch", {"operations": [{"op": "delete", "id": "a"}, {"op": "get", "id": "b"}]}, "delete a | read b"),
    (
        "multi_tool_use.parallel",
        {"tool_uses": [{"recipient_name": "functions.shell", "parameters": {"command": ["rm", "x"]}}]},
        "delete /srv/app/x",
    ),
    ("use_mcp_tool", {"server_name": "aws", "tool_name": "stop_vm", "arguments": '{"vm": "a"}'}, "write a"),
    ("put_bucket_acl", {"bucket": "b", "acl": "public-read"}, "write b | publish b | privilege b"),
]  # fmt: skip


def written(reading: Reading) -> str:
    return " | ".join(" ".join(filter(None, (effect.effect, effect.object))) for effect in reading.effects)


@table(("name", "arguments", "effects"), CALLS)
def test_it_tells_what_a_call_does_and_to_what(name: str, arguments: Any, effects: str) -> None:
    assert written(Reader(workspace="/srv/app").read(name, arguments)) == effects


def share(file: str, is_wrong: Any) -> float:
    calls = [json.loads(line) for line in (TOOLS / file).read_text().splitlines()]
    wrong = [
        (call["name"], kinds)
        for call in calls
        if is_wrong(kinds := {effect.effect for effect in Reader().read(call["name"], call["arguments"]).effects})
    ]
    print(file, len(calls), wrong)
    return len(wrong) / len(calls)


def test_hardly_a_destructive_call_of_a_server_looks_like_reading() -> None:
    assert share("destructive.jsonl", lambda kinds: kinds <= HARMLESS) <= 0.01


def test_most_harmless_calls_of_a_server_are_reading_alone() -> None:
    assert share("harmless.jsonl", lambda kinds: not kinds <= HARMLESS) <= 0.05


def test_it_says_where_each_object_stands() -> None:
    (sent,) = Reader().read("send_email", {"to": "Eve <eve@päyp.example>"}).effects
    assert (sent.object, sent.of, sent.start, sent.end) == ("eve@xn--pyp-qla.example", "address", 5, 21)
    assert (sent.argument, sent.detail) == ("/to", "punycode")
    asked = Reader().read("Bash", {"command": "ls /x; cat y"})
    assert [(each.argument, each.start, each.end) for each in asked.commands] == [
        ("/command", 0, 5),
        ("/command", 7, 12),
    ]
    assert asked.compound == {"/command"}


@table(("path", "inside"), [("a.py", True), ("/srv/app/a", True), ("../a", False), ("~/a", False), ("C:\\a", False)])
def test_paths_are_inside_the_workspace_or_not(path: str, inside: bool) -> None:
    (effect,) = Reader(workspace="/srv/app").read("Write", {"file_path": path}).effects
    assert effect.inside is inside


def test_on_another_machine_nothing_is_inside() -> None:
    found = Reader(workspace="/srv/app").read("ssh_execute", {"host": "db", "command": "rm -rf data"})
    assert {effect.inside for effect in found.effects if effect.of == "path"} == {False}


@table(
    ("readers", "arguments", "effects"),
    [
        ({"x*": {"/q": "sql:postgres"}}, {"q": "drop table t"}, "delete t | irreversible t"),
        ({"x": {"/ops/*/run": "shell"}}, {"ops": [{"run": "rm a"}]}, "delete a"),
        ({"x": {"/f": "path:write"}}, {"f": "a"}, "write a"),
        ({"x": {"/f": "path"}}, {"f": "a"}, "unknown"),
        ({"x": {"/n": "text"}}, {"n": "a"}, "unknown"),
        ({"y": {"/f": "path:write"}}, {"f": "a"}, "unknown"),
    ],
)
def test_a_policy_says_how_arguments_are_read(readers: Any, arguments: Any, effects: str) -> None:
    assert sorted(written(Reader(readers=readers).read("x", arguments)).split(" | ")) == sorted(effects.split(" | "))


def test_a_schema_says_how_arguments_are_read() -> None:
    properties = {
        "where": {"type": "string", "format": "uri"},
        "statement": {"type": "string", "description": "SQL to run"},
        "dry_run": {"type": "boolean"},
    }
    schema = {"type": "object", "properties": properties}
    assert (
        written(Reader().read("get_it", {"where": "https://a.example/"}, schema=schema)) == "fetch https://a.example/"
    )
    assert written(Reader().read("go", {"statement": "drop view v"}, schema=schema)) == "delete v | irreversible v"
    tried = {"id": "a", "dry_run": True}
    assert written(Reader().read("delete_vm", tried, schema=schema)) == "read a"
    assert written(Reader().read("delete_vm", tried)) == "delete a"


@table(
    ("name", "hints", "trusted", "effects"),
    [
        ("s__frob", {"destructiveHint": True}, [], "unknown | delete"),
        ("s__get_x", {"readOnlyHint": False}, [], "read | write"),
        ("s__frob", {"readOnlyHint": True}, [], "unknown"),
        ("s__frob", {"readOnlyHint": True}, ["s"], "read"),
        ("s__sync_x", {"readOnlyHint": True}, ["s*"], "read"),
        ("t__frob", {"readOnlyHint": True}, ["s"], "unknown"),
        ("s__get_x", {"openWorldHint": True}, [], "read | fetch"),
        ("s__add_x", {"openWorldHint": True}, [], "write | send"),
    ],
)
def test_hints_add_effects_and_take_some_away_for_trusted_servers(
    name: str, hints: Any, trusted: list[str], effects: str
) -> None:
    assert written(Reader(trusted=trusted).read(name, {}, hints=hints)) == effects


def test_a_trusted_hint_takes_nothing_from_code() -> None:
    found = Reader(trusted=["s"]).read("s__shell", {"command": "rm a"}, hints={"readOnlyHint": True})
    assert written(found) == "delete a"


@table(
    ("name", "one", "other", "is_alike"),
    [
        ("Write", {"file_path": "a/b", "content": "x"}, {"file_path": "c", "content": "y"}, True),
        ("Write", {"file_path": "a", "content": "x"}, {"file_path": "../a", "content": "x"}, False),
        ("Write", {"file_path": "a", "content": "x"}, {"file_path": ".env", "content": "x"}, False),
        ("fetch", {"url": "https://a.example/x"}, {"url": "https://a.example/y"}, True),
        ("fetch", {"url": "https://a.example/x"}, {"url": "https://b.example/x"}, False),
        ("send_email", {"to": "a@x.example"}, {"to": "b@x.example"}, True),
        ("send_email", {"to": "a@x.example"}, {"to": "a@y.example"}, False),
        ("send_email", {"to": "a@x.example"}, {"to": "a@x.example", "bcc": "c@x.example"}, False),
        ("transfer", {"eur": 10, "to": "DE1"}, {"eur": 99, "to": "DE1"}, False),
        ("update_member", {"id": "a", "role": "viewer"}, {"id": "a", "role": "admin"}, False),
        ("update_member", {"change": {"role": "viewer"}}, {"change": {"role": "admin"}}, False),
        ("scale_web", {"replicas": 3}, {"replicas": 0}, False),
        ("list_users", {"limit": 3}, {"limit": 9}, True),
        ("query", {"sql": "select a from t where id = 1"}, {"sql": "select a from t where id = 2"}, True),
    ],
)
def test_a_shape_is_the_same_for_objects_of_the_same_place(name: str, one: Any, other: Any, is_alike: bool) -> None:
    reader = Reader(workspace="/srv/app")
    shapes = reader.read(name, one).shape, reader.read(name, other).shape
    assert shapes[0] is not None
    assert (shapes[0] == shapes[1]) is is_alike


@table(
    ("name", "arguments"),
    [
        ("frobnicate", {}),
        ("Bash", {"command": "ls && pwd"}),
        ("Task", {"prompt": "Clean up"}),
        ("run_code", {"language": "python", "code": "print(1)"}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Add File: a.py\n+x"}),
    ],
)
def test_what_a_free_text_decides_has_no_shape(name: str, arguments: Any) -> None:
    assert Reader().read(name, arguments).shape is None


DEEP: Any = "rm x"
for _ in range(50):
    DEEP = {"a": DEEP}


@table("arguments", [{f"k{at}": "v" for at in range(10_000)}, {"a": ["x"] * 100_000}, DEEP])
def test_what_is_too_much_to_read_is_unknown_as_a_whole(arguments: Any) -> None:
    found = Reader().read("get_x", arguments)
    assert not found.readable
    assert "" in found.compound


def test_a_long_text_and_a_vector_are_no_trouble() -> None:
    assert Reader(workspace="/s").read("Write", {"file_path": "a", "content": "x" * 1_000_000}).readable
    assert Reader().read("vector_search", {"vector": [0.5] * 5_000}).readable


KEYS = st.text(max_size=8) | st.sampled_from(
    [
        "command",
        "sql",
        "path",
        "url",
        "to",
        "amount",
        "currency",
        "method",
        "action",
        "query",
        "tool",
        "arguments",
        "args",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
NAMES = st.text(max_size=20) | st.sampled_from(
    [
        "Bash",
        "shell",
        "apply_patch",
        "kubectl",
        "http_request",
        "graphql",
        "use_tool",
        "str_replace_editor",
        "send_email",
    ]
)


@given(NAMES, JSON, JSON, JSON)
def test_it_never_raises_and_never_takes_what_it_does_not_know_for_reading(
    name: str, arguments: Any, schema: Any, hints: Any
) -> None:
    found = Reader(workspace="/srv/app").read(
        name,
        arguments,
        schema=schema if isinstance(schema, dict) else None,
        hints=hints if isinstance(hints, dict) else None,
    )
    assert all(0 <= at < len(found.effects) for command in found.commands for at in command.effects)
    strange = Reader().read("frobnicate", arguments)
    assert not strange.readable or any(effect.effect != "read" for effect in strange.effects) or strange.effects == ()

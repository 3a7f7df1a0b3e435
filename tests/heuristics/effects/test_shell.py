"""Shell commands: what every command in them would do, and that nothing dangerous is read as harmless."""

import json
import random
import shlex
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from metacog.heuristics.effects import shell
from metacog.heuristics.effects.programs import Programs
from tests.tables import table

PROGRAMS = Programs()
COMMANDS = json.loads((Path(__file__).parent / "commands.json").read_text(encoding="utf-8"))
HARM = {"delete", "unknown"}


def read(text: str, cwd: str | None = "/srv/app") -> shell.Shell:
    return shell.read(text, programs=PROGRAMS, workspace=cwd)


def kinds(text: str) -> set[str]:
    return {effect.effect for effect in read(text).effects}


@table(("text", "effects"), COMMANDS["effects"].items())
def test_it_tells_the_effects_and_their_objects(text: str, effects: str) -> None:
    found = " ".join(
        effect.effect
        + (f":{effect.object}" if effect.object else "")
        + ("!" if effect.of == "path" and not effect.inside else "")
        for effect in read(text).effects
    )
    assert found == effects


@table("text", COMMANDS["removes"])
def test_it_finds_what_removes_however_it_is_written(text: str) -> None:
    assert kinds(text) & HARM


@table("text", COMMANDS["unknown"])
def test_what_it_cannot_read_is_unknown(text: str) -> None:
    assert "unknown" in kinds(text)


@table("text", COMMANDS["harmless"])
def test_what_does_no_harm_is_read(text: str) -> None:
    assert kinds(text) <= {"read", "execute", "write"}
    assert all(effect.inside is not False for effect in read(text).effects)


SESSIONS = (
    "bash -i; python3; env FOO=1 python3 -i x.py; node; ssh host; psql shop; sqlite3 a.db; mysql -u root; redis-cli"
    "; su; sudo -i; docker run -it ubuntu; docker exec -it web bash; kubectl exec -it pod -- sh; tmux; telnet host"
    "; kubectl run -it x --image=y; rails console; python manage.py shell; gdb ./a; sudo -u postgres psql"
)
NO_SESSIONS = (
    "bash x.sh; bash -ic ls; python3 x.py; python3 -c 'print(1)'; echo 'print(1)' | python3; ssh host ls; docker ps"
    "; ssh -N -L 1:a:2 b; psql -c x; sqlite3 a.db .tables; redis-cli get x; docker run -i ubuntu ls; python3 < x.py"
)


@table(
    ("text", "opens"),
    [(text, True) for text in SESSIONS.split("; ")] + [(text, False) for text in NO_SESSIONS.split("; ")],
)
def test_what_opens_a_session_to_type_into_is_unknown_and_says_why(text: str, opens: bool) -> None:
    said = {effect.detail for effect in read(text).effects if effect.effect == "unknown"}
    assert ("opens a session to type into" in said) is opens


@table(
    ("text", "simple"),
    [
        ("git log --oneline", True),
        ("FOO=1 pytest -q  # quickly", True),
        ("timeout 5 pytest", True),
        ("frobnicate --all", True),
        ("ls *.py", True),
        ("git log $(rm x)", False),
        ("git log <(rm x)", False),
        ("git log > x", False),
        ("git log 2>&1", False),
        ("git log; rm x", False),
        ("git log\nrm x", False),
        ("git log | cat", False),
        ("git log &", False),
        ("git log $X", False),
        ("bash -c 'git log; rm x'", False),
        ("find . -exec rm {} +", False),
        ("(git log)", False),
        ("X=1; git log", False),
        ("LD_PRELOAD=./x git log", False),
        ("git log 'unfinished", False),
        ("git log\r\n", False),
        ("", False),
    ],
)
def test_it_tells_one_simple_command_from_others(text: str, simple: bool) -> None:
    assert read(text).is_simple is simple


def test_a_shape_is_the_same_for_commands_alike_and_for_no_others() -> None:
    push = read("git push origin main").shape
    assert push == {"program": "git", "subcommand": "push", "flags": [], "effects": [["publish", "origin"]]}
    assert push == read("git push origin fix-1").shape
    others = [
        "git push --force origin main",
        "git push elsewhere main",
        "git push origin :main",
        "sudo git push origin",
    ]
    assert push not in [read(text).shape for text in others]
    assert read("rm src/a.py").shape == read("rm /srv/app/tests/b.py").shape
    assert read("rm src/a.py").shape != read("rm ../a.py").shape != read("rm -r src").shape
    assert read("python a.py --fix").shape != read("python a.py --drop").shape


@table("text", ["ls; rm x", "ls $X", "python -c 'print(1)'", "frobnicate", "echo a > b", "ls | wc"])
def test_only_a_simple_command_that_is_understood_has_a_shape(text: str) -> None:
    assert read(text).shape is None


def test_effects_stand_where_their_objects_do_in_code_points() -> None:
    text = "echo '食物 🍜' && rm -rf 'bü ild' ~/x && bash -c 'rm 中'"
    deleted = [effect for effect in read(text).effects if effect.effect == "delete"]
    assert [text[effect.start : effect.end] for effect in deleted] == ["'bü ild'", "~/x", "中"]
    assert [effect.object for effect in deleted] == ["/srv/app/bü ild", "~/x", "/srv/app/中"]


def test_each_simple_command_has_its_place_and_its_effects() -> None:
    text = "cd src && cat a.py | head; git push"
    result = read(text)
    assert [
        (text[one.start : one.end], [result.effects[at].effect for at in one.effects]) for one in result.commands
    ] == [("cd src", []), ("cat a.py", ["read"]), ("head", ["read"]), ("git push", ["publish"])]


def test_a_command_that_comes_as_words_is_read_past_the_shell() -> None:
    found = shell.read_argv(["bash", "-lc", "rm -rf $(cat x)"], programs=PROGRAMS, workspace="/srv/app").effects
    assert {effect.effect for effect in found} >= {"delete", "read"}
    found = shell.read_argv(["rm", "a;b", "c d"], programs=PROGRAMS, workspace="/w").effects
    assert [effect.object for effect in found] == ["/w/a;b", "/w/c d"]


def test_without_a_workspace_paths_stay_as_they_are_written() -> None:
    result = read("rm a ../b ~/c $D/e /f", cwd=None)
    assert [(effect.object, effect.inside) for effect in result.effects] == [
        ("a", True),
        ("../b", False),
        ("~/c", False),
        ("$D/e", False),
        ("/f", False),
    ]


PLACES = [  # where a command may stand
    "{}; ls",
    "ls; {}",
    "ls && {}",
    "ls || {}",
    "ls | {}",
    "ls & {}",
    "ls\n{}",
    "({})",
    "{{ {}; }}",
    "! {}",
    "if {}; then ls; fi",
    "if ls; then {}; fi",
    "if ls; then :; elif {}; then :; else {}; fi",
    "while {}; do ls; done",
    "for i in a b; do {}; done",
    "for ((i=0; i<3; i++)); do {}; done",
    "case a in b) {};; esac",
    "f() {{ {}; }}",
    "ls $({})",
    "ls `{}`",
    'ls "a $({}) b"',
    "ls <({})",
    "ls > >({})",
    "X=$({})",
    "ls ${{X:-$({})}}",
    "ls $(( $({}) ))",
    "[[ -n $({}) ]]",
    "cat <<E\n$({})\nE",
    "cat <<'E' | sh\n{}\nE",
    "cat <<'E' && {}\na\nE",
    "cat <<'E'\na\nE\n{}",
    "sudo {}",
    "env A=1 nice -n 5 timeout 10 {}",
    "bash -c {quoted}",
    "bash <<< {quoted}",
    "echo {quoted} | bash",
    "eval {quoted}",
    "trap {quoted} EXIT",
    "alias x={quoted}",
    "find . -exec sh -c {quoted} \\;",
    "ls | xargs {}",
    "ssh host {quoted}",
    "coproc {}",
    "time {}",
    "exec {}",
    "# a\n{}",
    "ls 'it'\\''s' \"#\" a#b; {}",
]
REMOVES = ["rm -rf x", "'rm' x", "\\rm x", "$'\\x72m' x", "r''m x", "/bin/rm x"]


@settings(max_examples=3 * settings().max_examples)
@given(st.lists(st.sampled_from(PLACES), min_size=0, max_size=3), st.sampled_from(REMOVES))
def test_a_command_that_removes_is_never_lost_wherever_it_stands(places: list[str], text: str) -> None:
    for place in places:
        if "<<" in place and "\n" in text:
            continue  # it would end or become the here-document
        text = place.replace("{quoted}", shlex.quote(text)).replace("{}", text).replace("{{", "{").replace("}}", "}")
    assert kinds(text) & HARM


JOINS = ["; rm -rf x", " && rm -rf x", " || rm -rf x", " | rm", "\nrm -rf x", " & rm -rf x", " $(rm -rf x)"]


@table("join", JOINS)
def test_what_is_added_to_a_harmless_command_is_found(join: str) -> None:
    for text in [*COMMANDS["harmless"], *COMMANDS["effects"]]:
        if "<<" not in text and "#" not in text:
            assert kinds(text + join) & HARM, text + join


PARTS = "rm|ls|'|\"|\\|$(|)|`|#|;|&|{|}|((|))|[[ |]]|case |esac|$'|${|x=|(|<|>|!|<<E\n|E\n|\n| |\r|\0|\u3000|食|\ud800"


@settings(max_examples=3 * settings().max_examples)
@given(st.one_of(st.text(), st.lists(st.sampled_from([*PARTS.split("|"), "|"]), max_size=40).map("".join)))
@example("$(" * 5_000)
@example("[[ ( " * 3_000)
@example("a|" * 8_000)
@example("a=$a$a;" * 30)
@example("x " * 500_000)
@example("x=$\U0010fe0a; echo \U0010fe0a{" * 2_000)
def test_any_text_is_read_without_an_error(text: str) -> None:
    places = [(effect.start, effect.end) for effect in read(text).effects if effect.start is not None]
    assert all(0 <= start <= (end or 0) <= len(text) for start, end in places)


def test_what_is_too_long_or_too_deep_is_unknown() -> None:
    for text in ["ls; " * 2_000, "( " * 200 + "ls" + " )" * 200, "$(" * 60 + "ls" + ")" * 60, "x" * 200_000]:
        assert "unknown" in kinds(text)


def test_the_same_text_is_read_the_same_way_again() -> None:
    texts = list(COMMANDS["effects"])
    before = [read(text) for text in texts]
    order = list(range(len(texts)))
    random.Random(4).shuffle(order)
    assert all(read(texts[at]) == before[at] for at in order)


@table("join", [" && ", "; "])
def test_what_is_written_behind_a_change_of_directory_is_written_there(join: str) -> None:
    written = [effect for effect in read(f"cd .git/hooks{join}echo x > pre-commit").effects if effect.effect == "write"]
    assert [effect.object for effect in written] == ["/srv/app/.git/hooks/pre-commit"]

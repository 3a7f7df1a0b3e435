"""Whose the things are that commands change: a test's own and here, made by the same command, or somebody's."""

from pathlib import Path

from metacog.heuristics.effects import shell, trials
from metacog.heuristics.effects.calls.reader import Reader
from metacog.heuristics.effects.effect import BUILT, KEPT, MADE, TESTS
from metacog.heuristics.effects.programs import Programs

PROGRAMS = Programs()
CASES = Path(__file__).with_name("owned.txt")
CHANGES = {"write", "delete", "irreversible"}


def whose(command: str) -> str:
    """What is said of everything that a command deletes or cannot bring back."""
    found = shell.read(command, programs=PROGRAMS, workspace="/srv/app").effects
    gone = [effect for effect in found if effect.effect in {"delete", "irreversible"}]
    for mark, name in ((TESTS, "test"), (MADE, "made"), (KEPT, "kept")):
        if gone and all(effect.detail.endswith(mark) for effect in gone):
            return name
    return "somebody's"


def test_commands_are_told_apart_by_whose_it_is_that_they_remove() -> None:
    cases = [line.rpartition(" => ") for line in CASES.read_text("utf-8").splitlines() if " => " in line]
    assert {wanted for _, _, wanted in cases} == {"test", "made", "kept", "somebody's"}
    assert [f"{command}: {whose(command)}" for command, _, wanted in cases if whose(command) != wanted] == []


def test_a_name_is_a_tests_own_by_its_parts() -> None:
    own = [
        "app_test",
        "test_app",
        "test-*",
        "ci-db-2",
        "tmp-pg",
        "testing",
        "config.settings.test",
        "docker-compose.test.yml",
    ]
    others = [
        "latest",
        "contest",
        "attestation",
        "test-prod",
        "production_test",
        "app_dev",
        "staging",
        "$TEST",
        "a,test",
        "*test*",
        "TestProdRepo",
    ]
    assert [name for name in own if not trials.is_of_tests(name)] == []
    assert [name for name in others if trials.is_of_tests(name)] == []


def test_a_database_is_a_tests_own_where_its_address_is_here() -> None:
    own = ["postgres://me:x@localhost:5432/app_test?a=b", "mongodb://127.0.0.1/test", "/tmp/a.db", "./test.sqlite3"]
    others = ["postgres://db.example.com/app_test", "postgres://test.example.com/app", "/tmp", "/srv/other/test.db"]
    others += ["~/test.db", "../test.db", "localhost.example.com/test", "app.db"]
    assert [name for name in own if not trials.is_trial(name, "/srv/app")] == []
    assert [name for name in others if trials.is_trial(name, "/srv/app")] == []


def test_sql_of_a_tool_is_about_the_database_that_it_is_told() -> None:
    reader = Reader(workspace="/srv/app")
    sql = "delete from users"
    for arguments, is_own in (
        ({"database": "app_test", "sql": sql}, True),
        ({"database": "app", "sql": sql}, False),
        ({"database": "app_test", "host": "db.example.com", "sql": sql}, False),
        ({"database": "app_test", "sql": "drop database app"}, False),
    ):
        found = reader.read("execute_sql", arguments).effects
        assert found
        assert all(each.detail.endswith(TESTS) == is_own for each in found if each.effect in CHANGES), arguments


def test_what_a_build_makes_again_is_told_by_its_name_below_the_workspace() -> None:
    own = ["rm -rf dist", "rm -rf packages/*/node_modules", "find . -name '*.pyc' -delete", "rm -rf .eslintcache Pods"]
    own += ["rm -rf bin obj", "rm -rf lib && npx tsc -b", "rm -rf vendor && composer install", "rm -rf ./target/debug"]
    own += ["ls -d packages/*/dist | xargs rm -rf", "docker run -v $PWD:/w alpine rm -rf /w/build"]
    others = ["rm -rf src", "rm -rf bin", "rm -rf lib", "rm -rf vendor", "rm -rf src/cache", "rm -rf dist/../src"]
    others += [
        "rm -rf /srv/other/dist",
        "rm -rf ../dist",
        "rm -rf .git/build",
        "rm -rf build*",
        "rm -rf dist && rm -rf src",
    ]
    others += ["mv src build && rm -rf build", "ln -s ~ build && rm -rf build/", "find . -not -name dist -delete"]
    others += ["rm -rf lib; echo tsc", "rm -rf lib # tsc", "rm -rf lib && npx tsc --noEmit", "rm -rf lib || npx tsc"]
    others += ["rm -rf src/lib && npx tsc", "rm -rf vendor; composer install --dry-run", "rm -rf src/esm"]
    others += [
        "mv -t build src; rm -rf build",
        "ln -s -t . ~/build; rm -rf build/",
        "rm -rf ~/../build",
        "rm -rf $X/../dist",
    ]
    for workspace in ("/srv/app", "/srv/build/app"):
        reader = Reader(workspace=workspace)
        marked = {
            command: all(
                effect.detail == BUILT
                for effect in reader.read("Bash", {"command": command}).effects
                if effect.effect == "delete"
            )
            for command in (*own, *others)
        }
        assert [command for command in own if not marked[command]] == []
        assert [command for command in others if marked[command]] == []
    assert Reader(workspace="/srv/app").read("delete_directory", {"path": "/srv/app/dist"}).effects[0].detail == BUILT

"""The system checks: what would fail later is said at start."""

from __future__ import annotations

import os
import re
import runpy
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from metacog.runtime import checks
from metacog.settings import BASE_DIR, SETTINGS
from tests.commands.test_up import free_port
from tests.tables import table

pytestmark = pytest.mark.starts  # nearly all of them


def test_what_settings_found_wrong_is_an_error_with_its_hint(settings: Any) -> None:
    settings.CONFIG_PROBLEMS = [("METACOG_X is wrong.", "Write it right.")]
    (message,) = checks.environment()
    assert (message.msg, message.hint) == ("METACOG_X is wrong.", "Write it right.")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("METACOG_BROKER_URL", "redis://[::1"),
        ("METACOG_BROKER_URL", "redis://host:port/0"),
        ("METACOG_PUBLIC_URL", "https://user:password@metacog.example.org"),
        ("METACOG_PUBLIC_URL", "https://metacog.exa mple.org"),
        ("METACOG_PUBLIC_URL", "https://metacog.example.org\nX-Other: 1"),
        ("METACOG_PUBLIC_URL", "http://後設認知.example.org"),
        ("METACOG_SEARXNG_URL", "http://searx.exa mple.org"),
    ],
)
def test_an_address_that_cannot_be_used_is_told_by_its_name_alone(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    told = str(settings_with(monkeypatch, {name: value})["CONFIG_PROBLEMS"])
    assert f"{name} is not an address that can be used." in told
    assert value not in told


@pytest.mark.parametrize("given", [
    {"METACOG_DATABASE_URL": ""},
    {"METACOG_DATABASE_URL": "postgresql://db/metacog", "METACOG_REPLICA_URL": "sqlite:////copy"},
])  # fmt: skip
def test_a_replica_is_of_postgresql_and_one_itself(monkeypatch: pytest.MonkeyPatch, given: dict[str, str]) -> None:
    given = {"METACOG_REPLICA_URL": "postgresql://replica/metacog"} | given
    told = str(settings_with(monkeypatch, given)["CONFIG_PROBLEMS"])
    assert "METACOG_REPLICA_URL is set, but it or METACOG_DATABASE_URL is no PostgreSQL." in told


def settings_with(monkeypatch: pytest.MonkeyPatch, given: dict[str, str]) -> dict[str, Any]:
    """Read the settings anew where the environment says this as well."""
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(BASE_DIR / "metacog" / "settings.py"))


def test_a_public_address_below_a_path_is_refused_at_start(tmp_path: Path) -> None:
    done = manage(tmp_path, "up", METACOG_PUBLIC_URL="https://metacog.example.org/below/")
    said = "METACOG_PUBLIC_URL has a path, but metacog can only be served at the root of a host."
    hint = "Give metacog a host name or a port of its own: https://metacog.example.org"
    assert (done.returncode, done.stdout, done.stderr.splitlines()[0]) == (1, "", f"{said} {hint}")


@pytest.mark.parametrize("command", [("up",), ("patterns", "export"), ("backup", "copy")])
def test_a_database_file_that_cannot_be_opened_is_named(tmp_path: Path, command: tuple[str, ...]) -> None:
    file = tmp_path / "folder.sqlite3"
    file.mkdir()
    done = manage(tmp_path / "data", *command, METACOG_DATABASE_URL=f"sqlite:///{file}")
    assert (done.returncode, done.stdout) == (1, "")
    said = done.stderr.splitlines()[-1]
    assert f"{file}" in said
    assert "unable to open database file. Check that it is there, and let this user read and write it" in said
    assert command == ("up",) or done.stderr.count("\n") == 1


def test_a_secret_key_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret-key").mkdir()
    done = manage(tmp_path, "up")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[0].startswith(f"{tmp_path}/secret-key cannot be used: Is a directory.")


def test_what_stands_around_an_address_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read = settings_with(monkeypatch, {"METACOG_PUBLIC_URL": " https://metacog.example.org/\r"})
    assert read["PUBLIC_URL"] == "https://metacog.example.org"
    assert read["CSRF_TRUSTED_ORIGINS"] == ["https://metacog.example.org"]


@pytest.mark.parametrize(
    ("url", "has_passkeys"),
    [("https://metacog.example.org", True), ("http://localhost:8000", True), ("http://metacog.example.org", False),
     ("https://192.0.2.7", False), ("https://[2001:db8::a]:8000", False)],
)  # fmt: skip
def test_passkeys_are_for_names_and_this_machine(monkeypatch: pytest.MonkeyPatch, url: str, has_passkeys: bool) -> None:
    assert settings_with(monkeypatch, {"METACOG_PUBLIC_URL": url})["HAS_PASSKEYS"] is has_passkeys


@pytest.mark.parametrize(("named", "is_told"), [("metacog.example.org", False), ("", True)])
def test_behind_a_proxy_hosts_must_be_named_and_this_machines_own_are_there_besides(
    monkeypatch: pytest.MonkeyPatch, named: str, is_told: bool
) -> None:
    given = {"METACOG_PUBLIC_URL": "https://metacog.example.org", "METACOG_ALLOWED_HOSTS": named}
    read = settings_with(monkeypatch, given)
    assert ("METACOG_ALLOWED_HOSTS must be set" in str(read["CONFIG_PROBLEMS"])) is is_told
    assert read["ALLOWED_HOSTS"] == [*filter(None, [named]), "127.0.0.1", "localhost", "[::1]"]


@table(("url", "prefix"), [("https://metacog.example.org", "__Host-"), ("http://127.0.0.1:8000", "")])
def test_behind_tls_browsers_take_the_cookies_from_this_host_alone(url: str, prefix: str) -> None:
    names = "s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.SESSION_COOKIE_SECURE"
    code = f"from django.conf import settings as s; print({names})"
    given = {"METACOG_PUBLIC_URL": url, "DJANGO_SETTINGS_MODULE": "metacog.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | given, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{prefix}sessionid {prefix}csrftoken {bool(prefix)}\n"


DOTENV = """\
# a comment, and names that are not ours
POSTGRES_PASSWORD=x
export METACOG_UNDO_SECONDS = 7  # seconds
METACOG_ADMIN_PASSWORD='a #b "c" $d'
METACOG_METRICS_TOKEN="it's"
METACOG_PUBLIC_URL=
METACOG_SECRET_KEY_FILE=key
METACOG_ALLOWED_HOSTS=a.example.org, b.example.org\r
"""


def test_settings_come_from_the_working_folder_and_from_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("from a file\n\n")
    (tmp_path / "nine").write_text("9\n")
    (tmp_path / "nothing").write_text("\n")
    (tmp_path / "other.env").write_text("METACOG_UNDO_SECONDS=11")
    missing = "cannot be read: No such file or directory."
    both = {"METACOG_SECRET_KEY": "a", "METACOG_SECRET_KEY_FILE": "key"}
    hosts = ["a.example.org", "b.example.org", "127.0.0.1", "localhost", "[::1]"]
    table: list[tuple[str | None, dict[str, str], str, Any]] = [
        (DOTENV, {}, "UNDO_SECONDS", 7),
        (DOTENV, {"METACOG_UNDO_SECONDS": "8"}, "UNDO_SECONDS", 8),  # the environment wins
        (DOTENV, {"METACOG_UNDO_SECONDS_FILE": "nine"}, "UNDO_SECONDS", 9),
        (DOTENV, {"METACOG_DOTENV": ""}, "UNDO_SECONDS", 10),
        (DOTENV, {"METACOG_DOTENV": "other.env"}, "UNDO_SECONDS", 11),
        (DOTENV, {}, "ADMIN_PASSWORD", 'a #b "c" $d'),
        (DOTENV, {}, "METRICS_TOKEN", "it's"),
        (DOTENV, {}, "PUBLIC_URL", "http://127.0.0.1:8000"),
        (DOTENV, {}, "SECRET_KEY", "from a file\n"),
        (DOTENV, {"METACOG_SECRET_KEY": "first"}, "SECRET_KEY", "first"),
        (DOTENV, {}, "ALLOWED_HOSTS", hosts),
        (DOTENV, {}, "CONFIG_PROBLEMS", []),
        (None, {}, "CONFIG_PROBLEMS", []),
        ("\nMETACOG_SECRET_KEY: hush", {}, "CONFIG_PROBLEMS", ["Line 2 of .env is not NAME=VALUE."]),
        ("METACOG_SECRET_KEY='hush", {}, "CONFIG_PROBLEMS", ["Line 1 of .env is not NAME=VALUE."]),
        ("METACOG_SECRET_KEY=\udcff", {}, "CONFIG_PROBLEMS", [".env cannot be read: it is not UTF-8."]),
        (None, {"METACOG_DOTENV": "none.env"}, "CONFIG_PROBLEMS", [f"none.env {missing}"]),
        (None, {"METACOG_SECRET_KEY_FILE": "/none"}, "CONFIG_PROBLEMS", [f"/none {missing}"]),
        (None, {"METACOG_SECRET_KEY_FILE": "nothing"}, "CONFIG_PROBLEMS", ["nothing is empty."]),
        (None, both, "CONFIG_PROBLEMS", ["METACOG_SECRET_KEY and METACOG_SECRET_KEY_FILE are both set."]),
    ]
    wrong = []
    for dotenv, given, name, value in table:
        with monkeypatch.context() as surroundings:
            surroundings.chdir(tmp_path)
            for variable in [variable for variable in os.environ if variable.startswith("METACOG_")]:
                surroundings.delenv(variable)
            for variable, text in ({"METACOG_DATA_DIR": "data"} | given).items():
                surroundings.setenv(variable, text)
            Path(".env").unlink(missing_ok=True)
            if dotenv is not None:
                Path(".env").write_text(dotenv, "utf-8", "surrogateescape")
            found = runpy.run_path(str(BASE_DIR / "metacog" / "settings.py"))[name]
        if name == "CONFIG_PROBLEMS":
            found = [said for said, _ in found]
        if found != value:
            wrong.append(f"{name} is {found!r}, not {value!r}, with {given} and {dotenv!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (PermissionError(13, "Permission denied"), "Let the user that runs metacog read it (chown or chmod)"),
        (FileNotFoundError(2, "No such file or directory"), "Set METACOG_DOTENV to the file that is meant"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "Save it as UTF-8."),
    ],
)
def test_what_to_do_about_a_file_of_settings_depends_on_why_it_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, hint: str
) -> None:
    def refused(*args: Any) -> str:
        raise error

    monkeypatch.setenv("METACOG_DOTENV", str(tmp_path / "its.env"))
    monkeypatch.setenv("METACOG_SECRET_KEY", "k" * 50)  # no other file is read
    monkeypatch.setattr(Path, "read_text", refused)
    ((said, told),) = runpy.run_path(str(BASE_DIR / "metacog" / "settings.py"))["CONFIG_PROBLEMS"]
    assert said.startswith(f"{tmp_path}/its.env cannot be read: ")
    assert told.startswith(hint)


def test_a_name_that_is_no_setting_is_told_and_refuses_nothing(tmp_path: Path) -> None:
    wrong = {
        "METACOG_UNDO_SECOND": "Is METACOG_UNDO_SECONDS meant?",
        "METACOG_SECRETKEY_FILE": "Is METACOG_SECRET_KEY meant?",
        "METACOG_QQ": "docs/operations.md lists all there are.",
    }
    right = ("METACOG_UNDO_SECONDS", "METACOG_TEST_DATABASE_URL", "METACOG_PORT_8000_TCP_ADDR")
    (tmp_path / "key").write_text("k" * 50)
    given = dict.fromkeys((*wrong, *right), "7") | {"METACOG_SECRETKEY_FILE": str(tmp_path / "key")}
    given["METACOG_DATABASE_URL"] = "sqlite:////nowhere/at/all.sqlite3"  # where `up` ends soon
    *told, last = manage(tmp_path, "up", f"--port={free_port()}", **given).stderr.splitlines()
    assert last.startswith("/nowhere/at/all.sqlite3: unable to open")
    assert sorted(told) == sorted(
        f"{name} is no setting of metacog and does nothing. {hint}" for name, hint in wrong.items()
    )


@pytest.mark.parametrize(
    ("url", "length", "lists"),
    [
        ("", 49, "CONFIG_DOUBTS"),
        ("", 50, ""),
        ("https://metacog.example.org", 49, "CONFIG_PROBLEMS"),
        ("https://metacog.example.org", 50, ""),
    ],
)
def test_a_short_key_is_warned_of_here_and_refused_where_others_come(
    monkeypatch: pytest.MonkeyPatch, url: str, length: int, lists: str
) -> None:
    given = {"METACOG_PUBLIC_URL": url, "METACOG_SECRET_KEY": "k" * length, "METACOG_ALLOWED_HOSTS": "a.example.org"}
    found = settings_with(monkeypatch, given)
    told = {name: [said for said, _ in found[name]] for name in ("CONFIG_DOUBTS", "CONFIG_PROBLEMS") if found[name]}
    assert list(told) == list(filter(None, [lists]))
    assert all("METACOG_SECRET_KEY" in said for (said,) in told.values())


def test_every_setting_is_known_by_name_and_described() -> None:
    read = re.findall(r"\"METACOG_([A-Z_]+[A-Z])\"", (BASE_DIR / "metacog" / "settings.py").read_text())
    described = re.findall(r"^\|.*", (BASE_DIR / "docs" / "operations.md").read_text(), re.MULTILINE)
    assert set(read) <= SETTINGS
    named = " ".join(line.split("|")[1] for line in described)
    assert {name for name in SETTINGS if f"`METACOG_{name}`" not in named} == set()


def test_a_package_that_a_release_needs_and_nobody_installed_is_told_at_start(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("import lacking.part")
    done = manage(tmp_path, "up", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    said = "lacking is not installed in this Python. Run `make up`, which installs what this release needs.\n"
    assert done.stderr == said


def test_a_port_that_is_none_is_told_at_start(tmp_path: Path) -> None:
    done = manage(tmp_path, "up", METACOG_LISTEN_PORT="http")
    assert done.stderr == "METACOG_LISTEN_PORT is 'http', not a port. Give one from 1 to 65535.\n"


def test_a_data_folder_that_is_a_file_is_an_error(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "data"
    assert checks.data_folder() == []  # `up` makes it
    settings.DATA_DIR.touch()
    assert [message.id for message in checks.data_folder()] == ["metacog.E002"]


@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "ids"),
    [(0o700, 0o644, []), (0o755, 0o600, []), (0o755, 0o644, ["metacog.W003"])],
)
def test_it_warns_when_others_can_read_the_data(
    settings: Any, tmp_path: Path, folder_mode: int, file_mode: int, ids: list[str]
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    (settings.DATA_DIR / "secret-key").touch()
    (settings.DATA_DIR / "secret-key").chmod(file_mode)
    settings.DATA_DIR.chmod(folder_mode)
    assert [message.id for message in checks.data_folder()] == ids


@pytest.mark.django_db
def test_the_database_in_use_is_new_enough() -> None:
    assert checks.database_versions(databases=["default"]) == []


def test_an_old_sqlite_is_refused(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import connection

    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL brings its own check")
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 31, 1))
    assert [message.id for message in checks.database_versions(databases=["default"])] == ["metacog.E004"]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "The database is not prepared for this version: start `manage.py up` once, or run `manage.py migrate`."),
        ("sqlite:///{folder}/notes", "{folder}/notes: file is not a database. Set METACOG_DATABASE_URL"),
    ],
)
def test_a_command_without_its_database_ends_with_a_sentence(tmp_path: Path, url: str, said: str) -> None:
    (tmp_path / "notes").write_text("Buy milk. " * 100)
    done = manage(tmp_path, "agent", "list", METACOG_DATABASE_URL=url.format(folder=tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith(said.format(folder=tmp_path))
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [("agent", "create", "robin", "--team", "Harbour"), ("import-log", "{folder}/log")])
def test_a_command_that_only_reads_or_is_refused_makes_no_data_folder(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "log").write_text('{"messages": [{"role": "assistant", "content": "Hello"}]}\n')
    folder = tmp_path / "data"
    done = manage(folder, *(part.format(folder=tmp_path) for part in command), METACOG_DATABASE_URL="")
    if command[0] == "agent":
        assert f"It is looked for in {folder}: set METACOG_DATA_DIR if metacog uses another." in done.stderr
        assert done.stderr.count("\n") == 1
    assert done.returncode == (command[0] == "agent")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("started", "named"), [(["-m", "metacog"], "python -m metacog up"), (["{folder}/bin/metacog"], "metacog up")]
)
def test_a_command_to_run_is_named_as_this_one_was_started(tmp_path: Path, started: list[str], named: str) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "metacog").write_text("from metacog.__main__ import main\nmain()\n")  # as pip writes it
    done = subprocess.run(
        [sys.executable, *(part.format(folder=tmp_path) for part in started), "agent", "list"],
        env={
            **os.environ, "METACOG_DATA_DIR": str(tmp_path), "METACOG_DATABASE_URL": "", "PYTHONPATH": str(BASE_DIR)
        },
        capture_output=True, text=True,
    )  # fmt: skip
    assert f"start `{named}` once, or run `" in done.stderr


def test_the_version_is_metacogs_own(tmp_path: Path) -> None:
    packaged = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
    assert manage(tmp_path, "--version").stdout == f"{packaged}\n"


def test_help_lists_our_commands_first_and_what_each_does(tmp_path: Path) -> None:
    (tmp_path / "babel.py").write_text("import lacking")  # as where only what runs is installed
    done = manage(tmp_path, PYTHONPATH=str(tmp_path))  # without a word, Django takes it for "help"
    ours, _, others = done.stdout.partition("Django and other packages:")
    assert re.search(r"\nmetacog:\n    agent +Add agents, rotate and end their keys, let them in or refuse", ours)
    assert re.search(r"\n    up +Prepare the database", ours)
    assert re.search(r"\n    mcp-proxy +Stands before an MCP server", ours)
    assert "messages" not in ours
    assert "changepassword, check," in others


def test_the_database_is_its_owners_alone_whichever_command_makes_it(tmp_path: Path) -> None:
    before = os.umask(0o022)
    use = "from metacog import models, settings; len(settings.SECRET_KEY); models.Team.objects.exists()"
    try:
        manage(tmp_path, "shell", "-c", use, METACOG_DATABASE_URL="")
    finally:
        os.umask(before)
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir()} == {
        "metacog.sqlite3": "0o600",
        "secret-key": "0o600",
    }


def test_a_command_works_without_standard_output(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", sys.executable, str(Path(__file__).parents[2] / "manage.py"), "help"],
        env={**os.environ, "METACOG_DATA_DIR": str(tmp_path)},
        stderr=subprocess.PIPE,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_ends_a_command_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("raise KeyboardInterrupt")  # in the middle of what is imported
    done = manage(tmp_path, "help", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_an_output_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = manage(tmp_path, "help", stdout=full)
    assert (done.returncode, done.stderr) == (1, "This cannot be finished: No space left on device.\n")


def test_whoever_reads_may_have_enough(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = manage(tmp_path, "help", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def manage(folder: Path, *arguments: str, stdout: Any = subprocess.PIPE, **environment: str) -> Any:
    return subprocess.run(
        [sys.executable, str(Path(__file__).parents[2] / "manage.py"), *arguments],
        env={**os.environ, "METACOG_DATA_DIR": str(folder), "PYTHONUNBUFFERED": "", **environment},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )

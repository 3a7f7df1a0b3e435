"""`manage.py up`: what it refuses, whom it lets in first, and the whole of it running for real."""

from __future__ import annotations

import http.client
import io
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from random import SystemRandom
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psutil
import psycopg
import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from metacog.management.commands import up
from metacog.models import AuditEvent, Membership, Team, User
from tests.tables import table


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """A data folder of the test's own."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    return Path(settings.DATA_DIR)


def free_port() -> int:
    """Return a port that nothing listens on, below those that systems give to any socket that asks for none."""
    while True:
        port = SystemRandom().randrange(20_000, 32_768)  # `random` is seeded alike in all processes of a run
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@pytest.mark.django_db
def test_a_database_of_a_newer_release_is_refused() -> None:
    up.migrate()
    recorder = MigrationRecorder(connection)
    recorder.record_applied("reviews", "0000_replaced_long_ago")
    up.migrate()
    recorder.record_applied("reviews", "9999_what_is_to_come")
    with pytest.raises(SystemExit, match=r"by a newer release of metacog \(reviews 9999_what_is_to_come\): start that"):
        up.migrate()


@pytest.mark.django_db
def test_a_database_of_before_each_package_had_one_migration_is_taken_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    applied = MigrationRecorder(connection).migration_qs
    before = set(applied.values_list("app", "name"))
    applied.filter(name="0001_tables").delete()
    up.check_surroundings()
    up.migrate()
    assert capsys.readouterr().out == ""
    assert set(applied.values_list("app", "name")) == before
    assert up.is_prepared()


@pytest.mark.django_db
@pytest.mark.parametrize("last", ["0017_pace", "0047_open_signals"])
def test_a_database_amid_the_migrations_of_then_is_refused(last: str) -> None:
    replaced = import_module("reviews.migrations.0001_tables").Migration.replaces
    done = replaced[: replaced.index(("reviews", last)) + 1]
    applied = MigrationRecorder(connection).migration_qs
    applied.filter(app="reviews").exclude(name__in=[name for _, name in done]).delete()
    said = rf"up to reviews {last}.\s*(HINT: )?Start release 0.1.0 \(commit a6d25836\) on it once, then this one."
    with pytest.raises(SystemExit, match=said):
        up.check_surroundings()
    with pytest.raises(SystemCheckError, match=said):
        call_command("migrate", skip_checks=False)


# The first owner


@pytest.mark.django_db
def test_the_first_owner_gets_the_password_of_the_environment(folder: Path, settings: Any) -> None:
    settings.ADMIN_PASSWORD = "correct horse battery"
    greeting = up.first_owner()
    owner = User.objects.get()
    assert (owner.username, owner.is_superuser, owner.is_staff) == ("admin", True, True)
    assert owner.check_password("correct horse battery")
    assert "correct horse battery" not in greeting
    assert not (folder / "first-owner-link").exists()


@pytest.mark.django_db
def test_a_weak_password_in_the_environment_does_for_this_machine_alone(folder: Path, settings: Any) -> None:
    settings.ADMIN_PASSWORD, settings.PRODUCTION = "password", False
    assert "Change it before others than this machine can reach metacog. This password is too" in up.first_owner()
    assert User.objects.get().check_password("password")


@pytest.mark.django_db
def test_a_weak_password_in_the_environment_is_refused_where_others_reach_it(folder: Path, settings: Any) -> None:
    settings.ADMIN_PASSWORD, settings.PRODUCTION = "password", True
    with pytest.raises(SystemExit, match="METACOG_ADMIN_PASSWORD cannot be used: This password is too"):
        up.first_owner()
    assert not User.objects.exists()


@pytest.mark.django_db
def test_a_terminal_is_shown_a_password_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    password = up.first_owner().split("the password ")[1].split()[0]
    assert User.objects.get().check_password(password)
    assert up.first_owner() == ""
    assert not (folder / "first-owner-link").exists()


@pytest.mark.django_db
def test_without_a_terminal_a_private_file_holds_a_link_that_works(folder: Path) -> None:
    up.first_owner()
    link = folder / "first-owner-link"
    assert stat.S_IMODE(link.stat().st_mode) == 0o600
    assert not User.objects.get().has_usable_password()
    url = urlsplit(link.read_text().strip())
    assert f"{url.scheme}://{url.netloc}" == django_settings.PUBLIC_URL
    client = Client()
    form = client.get(url.path, follow=True)
    chosen = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}
    client.post(form.request["PATH_INFO"], chosen)
    assert User.objects.get().check_password("correct horse battery")
    assert not link.exists()


@pytest.mark.django_db
def test_each_start_writes_the_link_anew_until_the_password_is_set(folder: Path) -> None:
    link = folder / "first-owner-link"
    up.first_owner()
    link.unlink()
    up.first_owner()
    assert link.exists()
    owner = User.objects.get()
    owner.set_password("correct horse battery")
    owner.save()
    assert up.first_owner() == ""
    assert not link.exists()


@pytest.mark.django_db
def test_no_owner_is_made_where_there_are_people(folder: Path) -> None:
    User.objects.create_user("alice", password="correct horse battery")
    assert up.first_owner() == ""
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_the_first_team_and_owner_are_recorded(folder: Path) -> None:
    up.first_owner()
    up.first_owner()
    team = Team.objects.get()
    assert team.name == "Default"
    assert AuditEvent.objects.get(action="team-created").object_id == str(team.pk)
    assert sorted(AuditEvent.objects.values_list("action", flat=True)) == ["owner-created", "team-created"]


@pytest.mark.django_db
def test_a_team_that_was_made_before_the_first_start_is_the_only_one(folder: Path) -> None:
    call_command("agent", "create", "kuro", team="Aurora", json=True, stdout=io.StringIO())
    up.first_owner()
    assert Membership.objects.get().team == Team.objects.get()
    assert Team.objects.get().name == "Aurora"


# What is refused


def test_a_busy_port_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(SystemExit, match=f"Port {port} on 127.0.0.1 is in use"):
            up.check_port("127.0.0.1", port)


@table("host", ["no-such-host.invalid", "192.0.2.1", "a" * 300])
def test_a_host_on_which_nothing_can_listen_is_refused(host: str) -> None:
    with pytest.raises(SystemExit, match="metacog cannot listen on"):
        up.check_port(host, free_port())


@table("workers", [-1, 0])
def test_no_web_process_at_all_is_refused(workers: int) -> None:
    with pytest.raises(SystemExit, match="give 1 or more with --workers"):
        call_command("up", workers=workers)


@table("port", [-1, 0, 65_536])
def test_a_number_that_is_no_port_is_refused(port: int) -> None:
    with pytest.raises(SystemExit, match="is no port"):
        up.check_port("127.0.0.1", port)


def test_a_data_folder_that_cannot_be_made_is_refused(tmp_path: Path, settings: Any) -> None:
    (tmp_path / "file").touch()
    settings.DATA_DIR = tmp_path / "file" / "data"
    with pytest.raises(SystemExit, match="cannot be written: Not a directory"):
        up.take_data_folder()


def test_a_data_folder_in_use_is_refused(folder: Path) -> None:
    held = up.take_data_folder()
    with pytest.raises(SystemExit, match="Another `up` is running"):
        up.take_data_folder()
    os.close(held)
    os.close(up.take_data_folder())


def environment_for(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("METACOG_")}
    return kept | {"METACOG_DATA_DIR": str(folder), "METACOG_DOTENV": ""} | more


def command(port: int) -> list[str]:
    return [sys.executable, str(django_settings.BASE_DIR / "manage.py"), "up", "--port", str(port)]


def run_up(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(free_port()), env=environment_for(folder, **environment), capture_output=True, text=True
    )


@pytest.mark.starts
@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"METACOG_LISTEN_HOST": "0.0.0.0"}, "METACOG_SECRET_KEY must be set"),
        ({"METACOG_DATABASE_URL": "postgresql://metacog@127.0.0.1:1/none"}, "The database cannot be"),
    ],
)
def test_a_bad_environment_is_told_in_plain_sentences(
    tmp_path: Path, environment: dict[str, str], sentence: str
) -> None:
    refused = run_up(tmp_path / "data", **environment)
    assert refused.returncode == 1
    assert refused.stderr.startswith(sentence)
    assert "Traceback" not in refused.stderr


# The whole, running


@pytest.fixture
def database_url(transactional_db: None) -> Iterator[str]:
    """An empty database of the kind that is being tested; the file in the data folder on SQLite."""
    if connection.vendor == "sqlite":
        yield ""
        return
    name = f"up_{uuid4().hex}"
    parameters = connection.get_connection_params()
    for ours in ("pool", "cursor_factory", "context", "prepare_threshold"):
        parameters.pop(ours, None)
    with psycopg.connect(**parameters | {"dbname": "postgres"}, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        configured = os.environ["METACOG_DATABASE_URL"]
        parts = urlsplit(configured)
        yield parts._replace(path=f"/{name}").geturl()
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


class Running:
    """One `up` on a free port."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self.port = free_port()
        self.folder = folder
        self.process = subprocess.Popen(
            [*command(self.port), "--workers", "1"],
            env=environment_for(folder, METACOG_DATABASE_URL=database_url),
            stdout=subprocess.PIPE,
            text=True,
        )
        self.said: list[str] = []

    def await_line(self, word: str) -> str:
        assert self.process.stdout
        for line in self.process.stdout:
            self.said.append(line)
            if word in line:
                return line
        raise AssertionError(f"it ended without saying {word!r}: {self.said}")

    def ready(self) -> dict[str, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/readyz")
        answer: dict[str, str] = json.loads(connection.getresponse().read())
        connection.close()
        return answer

    def everything(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def worker(self) -> psutil.Process | None:
        """Return the worker's first process, if it is there."""
        for process in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):  # it ended meanwhile
                if "worker" in process.cmdline():
                    return process
        return None


@pytest.fixture
def start(tmp_path: Path, database_url: str) -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def start_one(name: str = "data") -> Running:
        started.append(Running(tmp_path / name, database_url))
        return started[-1]

    yield start_one
    for running in started:
        running.process.kill()
        running.process.wait()


def until(condition: Callable[[], object], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


HALF_A_FORM = (
    f"Content-Type: application/x-www-form-urlencoded\r\nCookie: csrftoken={'c' * 32}\r\nContent-Length: 99\r\n\r\nc"
)


@pytest.mark.starts
def test_it_serves_restarts_its_worker_and_stops_cleanly(start: Callable[..., Running]) -> None:
    running = start()
    assert f"http://127.0.0.1:{running.port}" in running.await_line("is ready at")
    assert (running.folder / "first-owner-link").exists()
    assert stat.S_IMODE(running.folder.stat().st_mode) == 0o700
    assert not [path for path in running.folder.glob("*") if path.stat().st_mode & 0o077]

    second = run_up(running.folder)
    assert second.returncode == 1
    assert second.stderr.startswith("Another `up` is running")

    until(lambda: running.ready()["status"] == "ok")  # beat, broker and worker do their parts
    with ExitStack() as stalled:  # clients that announce a body and send one byte of it, more than there are threads
        for _ in range(40):
            client = stalled.enter_context(socket.create_connection(("127.0.0.1", running.port)))
            client.sendall(f"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\n{HALF_A_FORM}".encode())
        assert running.ready()["status"] == "ok"
    worker = running.worker()
    assert worker is not None
    worker.kill()
    running.await_line("The worker was ended by SIGKILL")
    until(lambda: running.worker() not in (None, worker))

    processes = running.everything()
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(120) == 0
    assert not psutil.wait_procs(processes, timeout=60)[1]


def prepared_with(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run `up` with some of its steps replaced; it never gets to serve."""
    port = free_port()
    code = f"""
import django, signal, sys, weakref
django.setup()
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from metacog.management.commands import up
up.Command.prepare = lambda self: "The first owner is admin."
up.serve = sys.exit
{code}
call_command("up", port={port})
"""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=django_settings.BASE_DIR,
        env={**os.environ, "METACOG_DATA_DIR": str(folder), "METACOG_LISTEN_PORT": str(port)},
        capture_output=True,
        text=True,
    )


@pytest.mark.starts
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_while_it_prepares_also_where_an_exception_would_be_lost(tmp_path: Path, number: int) -> None:
    done = prepared_with(
        tmp_path,
        f"""
def interrupted():
    weakref.finalize(type("Thing", (), {{}})(), signal.raise_signal, {number:d})
    sys.exit("It went on.")
up.take_data_folder = interrupted
""",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.starts
def test_the_first_owners_password_is_told_before_anything_else_can_go_wrong(tmp_path: Path) -> None:
    done = prepared_with(tmp_path, "up.collect_static = lambda: sys.exit('There is no room.')")
    assert (done.stdout, done.stderr) == ("The first owner is admin.\n", "There is no room.\n")


@pytest.mark.starts
def test_its_end_by_sigkill_leaves_no_process_behind(start: Callable[..., Running]) -> None:
    running = start()
    running.await_line("is ready at")
    processes = running.everything()
    running.process.kill()
    assert not psutil.wait_procs(processes, timeout=60)[1]


@pytest.mark.starts
@pytest.mark.postgres
def test_two_starts_on_one_database_wait_for_each_other(start: Callable[..., Running]) -> None:
    one, other = start("one"), start("other")
    one.await_line("is ready at")
    other.await_line("is ready at")


# One process each


@pytest.mark.starts
def test_web_worker_and_beat_run_by_themselves_and_stop_cleanly(tmp_path: Path, database_url: str) -> None:
    environment = environment_for(tmp_path / "data", METACOG_DATABASE_URL=database_url)
    port = free_port()
    manage = [sys.executable, str(django_settings.BASE_DIR / "manage.py")]
    with ExitStack() as running:
        processes, said = [], (tmp_path / "said").open("w+")
        for name, *options in (("web", f"--port={port}", "--workers=1"), ("worker",), ("beat",)):
            process = running.enter_context(subprocess.Popen([*manage, name, *options], env=environment, stdout=said))
            running.callback(process.kill)
            processes.append(process)

        def status(path: str) -> str:
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                client.request("GET", path)
                return str(json.loads(client.getresponse().read())["status"])
            except OSError:
                return ""
            finally:
                client.close()

        def waits() -> int:
            return (tmp_path / "said").read_text().count(": waiting for `manage.py migrate`.\n")

        # They are started before the database is prepared, as containers are: each says so once and waits.
        until(lambda: status("/healthz") == "ok")
        assert status("/readyz") == "unavailable"
        for path, kind in (
            ("/api/v1/responses", "application/problem+json"),
            ("/sign-in/", "text/plain; charset=utf-8"),
        ):
            early = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            early.request("POST", path, b"{}" * 1_000, {"Content-Type": "application/json"})
            answer = early.getresponse()
            answered = answer.status, answer.headers["Retry-After"], answer.headers["Content-Type"]
            assert answered == (503, "5", kind), answer.read()
        until(lambda: waits() == 3)
        made = subprocess.check_output([*manage, "migrate", "--no-input"], env=environment, text=True)
        assert "all tables are made in one step" in made
        until(lambda: status("/readyz") in ("degraded", "ok"))
        assert (tmp_path / "data" / "first-owner-link").exists()
        until(lambda: status("/readyz") == "ok")  # beat has asked for the heartbeat, and the worker written it
        for process in processes:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(120) for process in processes] == [0, 0, 0]
        assert waits() == 3

"""`manage.py up`: prepare everything, then run web server, worker and beat as one foreground process."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import signal
import socket
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NoReturn

from django import db
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.contrib.staticfiles.finders import get_finders
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.template.defaultfilters import pluralize
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from metacog import web
from metacog.accounts import members
from metacog.audit.audit import record
from metacog.models import Membership, Role, Team, User
from metacog.notices import push
from metacog.runtime import address, catalogs, checks, supervisor
from metacog.runtime.file_errors import database_remedy
from metacog.runtime.program import command
from metacog.runtime.supervisor import Child
from metacog.sign_in import providers

# Any number: two `up`s on one PostgreSQL database wait for each other under it.
PREPARING = 0x6D657461
LOOK_SECONDS = 1.0  # between two looks whether the database is prepared
LOOKS_AMID = 5  # that find it amid the same older migrations: nobody is at them


def say(line: str) -> None:
    print(line, flush=True)


def refuse(sentence: str) -> NoReturn:
    """End with one sentence on standard error and exit status 1."""
    sys.exit(sentence)


class Command(BaseCommand):
    help = "Prepare the database and files, then run web server, worker and beat until Ctrl-C or SIGTERM."
    requires_system_checks = []  # those that matter here run below, in plain sentences

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_address(parser)

    def handle(self, *args: Any, host: str, port: int, workers: int, **options: Any) -> None:
        check_address(host, port, workers)
        begin()
        check_port(host, port)
        lock = take_data_folder()
        with prepared_alone():
            check_surroundings()
            check_providers()
            greeting = self.prepare()
        if greeting:  # at once: the password in it is nowhere else
            say(greeting)
        catalogs.compile_all()
        collect_static()
        push.ensure_key()
        os.set_inheritable(lock, True)  # the supervisor holds it
        serve(host, port, workers, self.company())

    def prepare(self) -> str:
        """Bring the database to where it can be served; return what to tell whoever started this."""
        migrate()
        return first_owner()

    def company(self) -> list[Child]:
        """Return what runs beside the web server."""
        return [Child("The worker", *WORKER, "--with-beat")]


def add_address(parser: ArgumentParser) -> None:
    parser.add_argument("--host", default=settings.LISTEN_HOST, help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=settings.LISTEN_PORT, help="port to listen on (%(default)s)")
    # On SQLite one writes at a time, whatever the number.
    workers = 1 if db.connection.vendor == "sqlite" else 2
    parser.add_argument("--workers", type=int, default=workers, help="web processes (%(default)s)")


def check_address(host: str, port: int, workers: int) -> None:
    """Make sure that the settings know the address."""
    if workers < 1:
        refuse(f"{workers} web processes answer nobody; give 1 or more with --workers.")
    if (host, str(port)) != (settings.LISTEN_HOST, settings.LISTEN_PORT):
        # The settings depend on the address, so they are read again from the start.
        put_first(os.environ, METACOG_LISTEN_HOST=host, METACOG_LISTEN_PORT=str(port))
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def put_first(environment: MutableMapping[str, str], **given: str) -> None:
    """Set these, whatever `.env` and files say of them."""
    for name, value in given.items():
        environment.pop(f"{name}_FILE", None)
        environment[name] = value


def begin() -> None:
    """Be ready to stop, and refuse bad settings."""
    # Until it serves, it ends at once: an exception raised here is lost where it falls into a finalizer, and
    # leaves a statement unfinished, so that no rollback can be sent. Every step is whole or is done again.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: os._exit(0))
    os.umask(0o077)
    for doubt, hint in settings.CONFIG_DOUBTS:
        print(doubt, hint, file=sys.stderr, flush=True)
    if settings.CONFIG_PROBLEMS:
        refuse("\n".join(f"{problem} {hint}" for problem, hint in settings.CONFIG_PROBLEMS))


def check_port(host: str, port: int) -> None:
    """Refuse an address on which nothing can listen."""
    if not 1 <= port <= 65_535:
        refuse(f"{port} is no port; give one from 1 to 65535 with --port.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            refuse(f"Port {port} on {host} is in use by another program; give another one with --port.")
        reason = getattr(error, "strerror", None) or error
        refuse(f"metacog cannot listen on {host}, port {port}: {reason}.")


def take_data_folder() -> int:
    """Make the data folder and hold it until this process ends, so that a second `up` is refused."""
    lock = open_data_folder("up.lock")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        refuse(f"Another `up` is running on the data folder {settings.DATA_DIR}.")
    return lock


def open_data_folder(name: str) -> int:
    """Make the data folder where there is none, and open a lock file in it."""
    try:
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(settings.DATA_DIR / name, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        reason = error.strerror
        refuse(f"The data folder {settings.DATA_DIR} cannot be written: {reason}. Set METACOG_DATA_DIR.")


@contextmanager
def prepared_alone() -> Iterator[None]:
    """Reach the database, and keep every other `up` on it waiting meanwhile."""
    # A connection beside the pool: the pool hides why the server cannot be reached, and an advisory
    # lock belongs to one connection. SQLite needs no lock: the data folder is held.
    pooled = db.connections["default"]
    plain = {key: value for key, value in pooled.settings_dict["OPTIONS"].items() if key != "pool"}
    connection = type(pooled)({**pooled.settings_dict, "OPTIONS": plain}, "preparing")
    try:
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("SELECT pg_advisory_lock(%s)", [PREPARING])
    except db.Error as error:
        said = " ".join(str(error).split())
        if connection.vendor == "sqlite":  # which names no file
            refuse(f"{pooled.settings_dict['NAME']}: {said}. {database_remedy(said)}".rstrip())
        refuse(f"The database cannot be reached: {said}")
    try:
        yield
    finally:
        connection.close()


def migrate() -> None:
    executor = MigrationExecutor(db.connection)
    refuse_newer(executor.loader)
    steps = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    if steps:
        say(f"Preparing the database ({steps} step{pluralize(steps)}).")
        call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    else:
        executor.check_replacements()  # as `migrate` does: remember the one in place of those that it replaces


def await_prepared(meanwhile: AbstractContextManager[None]) -> None:
    """Wait, in that context, until the database is at this release's migrations: containers start at once."""
    if is_prepared():
        return
    say(f"The database is not prepared for this version: waiting for `{command('migrate')}`.")
    with meanwhile:
        looks, amid = 0, half_way()
        while not is_prepared():
            time.sleep(LOOK_SECONDS)
            before, amid = amid, half_way()
            looks = looks + 1 if amid and amid == before else 0
            if looks == LOOKS_AMID:
                refuse(amid)
    say("The database is prepared.")


def is_prepared() -> bool:
    """Say whether the database is at this release's migrations; refuse one of a newer release."""
    with prepared_alone():
        if half_way():
            return False
        check_surroundings()
        executor = MigrationExecutor(db.connection)
        refuse_newer(executor.loader)
        return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def half_way() -> str:
    """Say what is wrong with a database that stays amid older migrations; `migrate` itself is there for a moment."""
    return "\n".join(f"{message.msg} {message.hint}" for message in checks.half_way(["default"]))


def refuse_newer(loader: MigrationLoader) -> None:
    """Refuse a database that a newer release has prepared: what this one writes might not fit there."""
    latest = dict(sorted(loader.disk_migrations))
    replaced = {each for migration in loader.replacements.values() for each in migration.replaces}
    unknown = loader.applied_migrations.keys() - replaced
    if newer := sorted(f"{app} {name}" for app, name in unknown if name > latest.get(app, "~")):
        refuse(
            f"The database was prepared by a newer release of metacog ({', '.join(newer)}): start that one, "
            "or restore the back-up from before it."
        )


def check_surroundings() -> None:
    """Run the checks of what differs between machines; the others are `make check`'s, and slow."""
    default = ["default"]
    messages = [*checks.chairman_address(), *checks.data_folder()]
    messages += [*checks.database_versions(default), *checks.half_way(default)]
    if serious := [message for message in messages if message.is_serious()]:
        refuse("\n".join(f"{message.msg} {message.hint}" for message in serious))


def check_providers() -> None:
    """Refuse a provider that is not the one that is configured; tell of one that is away, which may come back."""
    for message in providers.check():
        if message.is_serious():
            refuse(f"{message.msg} {message.hint}")
        print(message.msg, message.hint, file=sys.stderr, flush=True)


def first_owner() -> str:
    """Make the first owner and team where there are none; return what to tell whoever started this.

    While nobody has set that owner's password, every start offers a fresh way to do it.
    """
    if not Team.objects.exists():
        members.add_team("Default", None)
    if settings.SSO_ONLY:
        return first_owner_by_provider()
    owner = User.objects.filter(username="admin", is_superuser=True).first()
    if owner is None and not User.objects.exists():
        owner = User(username="admin", is_superuser=True, is_staff=True)
        owner.set_unusable_password()
    link = settings.DATA_DIR / "first-owner-link"
    if owner is None or owner.has_usable_password():
        link.unlink(missing_ok=True)
        return ""
    password = settings.ADMIN_PASSWORD
    if password:
        greeting = "The first owner is admin, with the password in METACOG_ADMIN_PASSWORD."
        try:
            validate_password(password, owner)
        except ValidationError as error:
            weak = " ".join(error.messages)
            if settings.PRODUCTION:
                refuse(f"METACOG_ADMIN_PASSWORD cannot be used: {weak}")
            greeting += f" Change it before others than this machine can reach metacog. {weak}"
    elif sys.stdout.isatty():
        password = secrets.token_urlsafe(15)
        greeting = f"The first owner is admin, with the password {password} (shown this once)."
    else:
        greeting = f"The first owner is admin; the one-time link to set the password lies in {link}."
    if password:
        owner.set_password(password)
    is_new = owner.pk is None
    with db.transaction.atomic():
        owner.save()
        if is_new:
            record("owner-created", owner.username, actor=None, team=None)
            # An owner of every team as it is; among the members of the first one for others to see.
            Membership.objects.bulk_create(
                Membership(user=owner, team=team, role=Role.OWNER) for team in Team.objects.all()
            )
    link.unlink(missing_ok=True)
    if not password:
        write_link(link, owner)
    return greeting


def first_owner_by_provider() -> str:
    """Return how the first owner comes where no password lets anybody in; nothing where there is one."""
    (settings.DATA_DIR / "first-owner-link").unlink(missing_ok=True)
    if User.objects.filter(is_active=True, memberships__role=Role.OWNER, socialaccount__isnull=False).exists():
        return ""
    from metacog.sign_in import openid

    grants = [grant for app in openid.apps() for grant in app.settings["grants"] if grant.role == Role.OWNER]
    if grants:
        return f"The first owner of {grants[0].team} is the first person to sign in from the group {grants[0].group}."
    return "No group gives the role owner, so nobody new becomes one: METACOG_OIDC_…_GROUPS=leads=owner@Default."


def write_link(link: Path, owner: User) -> None:
    key = urlsafe_base64_encode(force_bytes(owner.pk))
    path = f"/welcome/{key}/{members.link_tokens.make_token(owner)}/"  # to ask `reverse` for it would import every page
    with os.fdopen(os.open(link, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{settings.PUBLIC_URL}{path}\n")


def collect_static() -> None:
    """Collect the static files unless those of the last time are still the same."""
    digest = hashlib.sha256(settings.STORAGES["staticfiles"]["BACKEND"].encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            facts = os.stat(storage.path(name))
            digest.update(f"{name}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    stamp = settings.DATA_DIR / "static.stamp"
    if stamp.exists() and stamp.read_text() == digest.hexdigest():
        return
    say("Collecting the static files.")
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", verbosity=0, interactive=False, clear=True, skip_checks=True)
    stamp.write_text(digest.hexdigest())


CELERY = ["celery", "--app=metacog.celery", "--quiet", "--skip-checks"]
WORKER = [
    *CELERY, "worker", "--concurrency=2", "--loglevel=WARNING",
    "--without-gossip", "--without-mingle", "--without-heartbeat",
]  # fmt: skip
BEAT = [*CELERY, "beat", "--loglevel=WARNING", "--pidfile="]


def environment() -> dict[str, str]:
    """Return what the processes that serve and work are given."""
    given = {
        **os.environ,
        "PYTHONSAFEPATH": "1",  # no code is taken from the working folder because it is that
    }
    # The folder is absolute by now; the password is nobody's but the first start's.
    put_first(given, METACOG_DATA_DIR=str(settings.DATA_DIR), METACOG_ADMIN_PASSWORD="")
    if settings.IN_CHECKOUT:
        given["PYTHONPATH"] = os.pathsep.join(filter(None, [str(settings.BASE_DIR), given.get("PYTHONPATH")]))
    return given


def serve(host: str, port: int, workers: int, company: Sequence[Child] = ()) -> NoReturn:
    """Go on as the processes that serve and their company: under a supervisor, if they are more than one."""
    bound = web.listen(host, port)
    address.keep()
    served = ["metacog.web", str(bound.fileno())]
    if workers == 1 and not company:
        become(served)
    names = ["The web server"] if workers == 1 else [f"Web server {number}" for number in range(1, workers + 1)]
    children = [*(Child(name, *served, fds=[bound.fileno()]) for name in names), *company]
    db.connections.close_all()
    greeting = f"metacog is ready at {settings.PUBLIC_URL} (Ctrl-C stops it)."
    supervisor.become(children, environment(), host, port, greeting)


def become(command: list[str]) -> NoReturn:
    """Go on as one of the processes that `serve` starts, without a supervisor."""
    db.connections.close_all()
    os.execve(sys.executable, [sys.executable, "-m", *command], environment())


class OneProcess(BaseCommand):
    """Celery's worker or beat by itself."""

    requires_system_checks = []  # as for `up`
    process: list[str]

    def handle(self, *args: Any, **options: Any) -> None:
        begin()
        os.close(open_data_folder("up.lock"))  # never held: only to see that the folder can be written
        await_prepared(nullcontext())
        catalogs.compile_all()
        become(self.process)

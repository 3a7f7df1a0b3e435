"""People, agents and what they need, for every test. The database is whichever the settings name."""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import re
import socket
import tempfile
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

# Before Django reads its settings: nothing a test writes lands in the project's own data folder.
os.environ.setdefault("METACOG_DATA_DIR", tempfile.mkdtemp(prefix="metacog-tests-"))
os.environ["METACOG_DOTENV"] = ""  # nor is a developer's `.env` read

import pytest
from django.db import connection
from django.template import Template
from django.test import Client, override_settings
from django.test.client import ClientHandler
from django.test.signals import setting_changed
from hypothesis import HealthCheck, settings

from tests.databases import PostgreSQL, made_or_copied
from tests.tables import forget_scorers

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Answer

# How long an example takes is the machine's business; speed is for `make bench`.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# `make test-all` tries four times as many examples as `make test`.
settings.register_profile("often", settings.get_profile("untimed"), max_examples=25)
settings.load_profile("untimed")

pytest_plugins = ["tests.audit_triggers"]

RENDER = vars(Template)["_render"]  # before Django's tests replace it
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
WORDS = ["amber", "birch", "coral", "delta", "ember", "flint", "grove", "haven", "inlet", "jasper"]
HELD = "The cause is clearly the cache."  # 20 for "clearly" and 30 for the pattern `cache` below


def pytest_configure() -> None:
    (Path(os.environ["METACOG_DATA_DIR"]) / "static").mkdir(parents=True, exist_ok=True)  # whitenoise looks for it


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage among what was imported and collected: nearly all of it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(10_000, 10, 10)  # pages make much that is no garbage


T = TypeVar("T")


def with_room(call: Callable[..., T], *arguments: Any) -> T:
    """Call with a megabyte of Python's own stack.

    It comes in pieces of 16 kB; a loop at the end of one would have the next mapped and unmapped by every call.
    """
    return call(*arguments)


with_room.__code__ = with_room.__code__.replace(co_stacksize=2**17 + 1)  # of a piece of twice that, half is left


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> object:
    runner: Any = item.config.pluginmanager.get_plugin("runner")
    return with_room(runner.pytest_runtest_protocol, item, nextitem)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(request: pytest.FixtureRequest) -> None:
    """Give each process of a run a database of its own.

    pytest-django leaves SQLite alone by the name of Django's engine, and ours has another. It is a file, as in use:
    in memory the server of the browser's tests would share its one connection with the test.
    """
    creation: Any = connection.creation
    if connection.vendor == "postgresql":
        request.getfixturevalue("django_db_modify_db_settings_parallel_suffix")
        if folder := os.environ.get("METACOG_TEST_POSTGRESQL"):
            server = PostgreSQL(Path(folder))
            creation.create_test_db = functools.partial(server.made_or_copied, connection, creation.create_test_db)
        return
    process = os.environ.get("PYTEST_XDIST_WORKER", "main")
    connection.settings_dict["TEST"]["NAME"] = str(Path(os.environ["METACOG_DATA_DIR"]) / f"tests-{process}.sqlite3")
    # Nothing here must last.
    connection.settings_dict["OPTIONS"]["init_command"] += " PRAGMA synchronous=OFF;"
    creation.create_test_db = functools.partial(made_or_copied, connection, creation.create_test_db)


@pytest.fixture(autouse=True, scope="session")
def _views_are_imported() -> None:
    """Import every view before a test replaces a constant, which a view first imported then would keep for good."""
    importlib.import_module("metacog.urls")


@pytest.fixture(autouse=True, scope="session")
def copying_contexts(django_test_environment: None) -> Iterator[Any]:
    """Render as in use: Django's tests keep a copy of the context of each template, and a page renders a hundred."""
    with pytest.MonkeyPatch.context() as patch:
        copying = vars(Template)["_render"]
        patch.setattr(Template, "_render", RENDER)
        yield copying


@pytest.fixture(autouse=True, scope="session")
def _clients_share_the_middleware() -> Iterator[None]:
    """Load it once for all clients of a test, as a server does, and anew when a setting has changed."""
    loaded: dict[str, Any] = {}
    load = ClientHandler.load_middleware

    def load_once(handler: ClientHandler) -> None:
        if not loaded:
            load(handler)
            loaded.update(vars(handler))
        vars(handler).update(loaded | {"enforce_csrf_checks": handler.enforce_csrf_checks})

    def forget(**_: Any) -> None:
        loaded.clear()

    setting_changed.connect(forget)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientHandler, "load_middleware", load_once)
        yield


@pytest.fixture
def contexts(copying_contexts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each answer's `context` after all."""
    monkeypatch.setattr(Template, "_render", copying_contexts)


@pytest.fixture(autouse=True, scope="session")
def _the_same_patterns_are_compiled_once() -> Iterator[None]:
    """Share what finds the same few patterns, which never changes: most tests have those of `_team`."""
    from metacog.heuristics.hesitation import patterns, sense
    from metacog.heuristics.text import matcher

    with pytest.MonkeyPatch.context() as patch:
        for kind in (matcher.Matcher, sense.Reader):
            once: Callable[[tuple[str, ...]], object] = functools.lru_cache(64)(kind)
            patch.setattr(patterns, kind.__name__, lambda keywords, once=once: once(tuple(keywords)))
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_name_server() -> Iterator[None]:
    """Find no names: the answers of a network's name servers are that network's affair."""
    look_up = socket.getaddrinfo

    def ask(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host or "")
        if name == "localhost" or set(name) <= set("0123456789.:abcdef"):
            return look_up(host, *args, **kwargs)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", ask)
        yield


@pytest.fixture(autouse=True, scope="session")
def _quick(django_test_environment: None) -> Iterator[None]:
    """Hash fast and find static files unhashed: once, as each change of a setting has all that follows made anew."""
    from django.conf import settings

    storage = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        STORAGES=settings.STORAGES | {"staticfiles": storage},
    ):
        yield


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    """Forget the scorers of rows that were rolled back."""
    forget_scorers()
    yield
    forget_scorers()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out on SQLite what only PostgreSQL can lose."""
    from django.conf import settings

    if "postgresql" not in str(settings.DATABASES["default"]["ENGINE"]):
        reason = "played on PostgreSQL, where writers run side by side"
        for item in items:
            if item.get_closest_marker("postgres"):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(trylast=True, specname="pytest_collection_modifyitems")
def pytest_begin_with_browsers(items: list[pytest.Item]) -> None:
    """Begin with what waits for a browser most of its time, so that one process waits while the others work."""
    items.sort(key=lambda item: "browser" not in item.path.parts)


@dataclass
class Caller:
    """An agent as the outside sees it: an id, a key, a secret."""

    id: str
    key: str
    secret: str
    holds: int = 0  # so many times

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        data = body if isinstance(body, bytes | str) or body is None else json.dumps(body)
        client = Client(headers={"authorization": f"Bearer {self.key}"} | headers, raise_request_exception=False)
        kind = headers.get("content-type", "application/json" if data is not None else "")
        # As an extra, since the client leaves `content_type` out when the body is empty.
        return client.generic(method, "/api/v1" + path, data or "", CONTENT_TYPE=kind)

    def get(self, path: str, **headers: str) -> Answer:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.call("POST", path, body, **headers)

    def respond(self, response: str = HELD, **fields: Any) -> dict[str, Any]:
        """Post a response and return its verdict; by default one chat, the whole text, that is held."""
        body = {"response": response, "items": [{"kind": "chat", "text": response}]} | fields
        answer = self.post("/responses", body)
        assert answer.status_code == 201, answer.content
        verdict: dict[str, Any] = answer.json()
        return verdict

    def hold(self, kind: str = "chat", **fields: Any) -> str:
        """Post a response with one item of this kind that is held, and return the held item's id.

        Each text has words of its own: none is a near-duplicate of another, which would be one row with it.
        """
        self.holds += 1
        text = HELD + "".join(f" {WORDS[int(digit)]}" for digit in str(self.holds) if self.holds > 1)
        verdict = self.respond(items=[{"kind": kind, "text": text}], **fields)
        held: str = verdict["items"][0]["held"]
        assert held
        return held


BLOCK = (
    "article|aside|br|caption|dd|details|div|dl|dt|fieldset|footer|form|h[1-6]|header|label|legend|li|main|nav|ol|option"
    "|p|section|select|summary|svg|table|tbody|td|tfoot|th|thead|title|tr|ul|g|line|path|rect|text"
)
IN_TAG = r"(?:[^<>\"']|\"[^\"]*\"|'[^']*')*"
BEFORE_BLOCKS = re.compile(rf"\n\s*(?=</?(?:{BLOCK})[\s>]|>)")
BEHIND_BLOCKS = re.compile(rf"(</?(?:{BLOCK})(?:\s{IN_TAG})?>)\n\s*")  # each begins with a character to look for
AS_IT_STANDS = re.compile(r"(<(?:pre|textarea)\b.*?</(?:pre|textarea)>)", re.DOTALL)


def as_read(html: str) -> str:
    """Leave out the line breaks and indentation that browsers leave out, as no test is about them."""
    parts = AS_IT_STANDS.split(html)
    for place in range(0, len(parts), 2):
        lines = parts[place].split("\n")
        lines[1:-1] = filter(None, map(str.rstrip, lines[1:-1]))
        part = BEFORE_BLOCKS.sub("", "\n".join(lines))
        parts[place] = re.sub(r"\n +", " ", BEHIND_BLOCKS.sub(r"\1", part))
    return "".join(parts)


class Browser(Client):
    """A client that gets pages without what stands between their lines."""

    def request(self, **request: Any) -> Answer:
        response = super().request(**request)
        if not response.streaming and response.headers.get("Content-Type", "").startswith("text/html"):
            response.content = as_read(response.content.decode()).encode()
        return response


@pytest.fixture
def client() -> Client:
    return Browser()


def _team(name: str) -> Any:
    from metacog.models import Team
    from patterns.models import ErrorPattern

    team = Team.objects.create(name=name)
    ErrorPattern.objects.create(
        team=team, keywords=["cache"], description="cause named before it was measured", public_id="ep-cache"
    )
    return team


@pytest.fixture
def aurora(db: None) -> Any:
    return _team("Aurora")


@pytest.fixture
def borealis(db: None) -> Any:
    return _team("Borealis")


def _person(name: str, team: Any, role: str) -> Any:
    from metacog.models import Membership, User

    person = User.objects.create_user(name, password=f"{name}-password", first_name=name.title())
    Membership.objects.create(user=person, team=team, role=role)
    return person


@pytest.fixture
def alice(aurora: Any) -> Any:
    return _person("alice", aurora, "reviewer")


@pytest.fixture
def bob(aurora: Any) -> Any:
    return _person("bob", aurora, "reviewer")


@pytest.fixture
def victor(aurora: Any) -> Any:
    return _person("victor", aurora, "viewer")


@pytest.fixture
def carla(aurora: Any) -> Any:
    return _person("carla", aurora, "curator")


@pytest.fixture
def olga(aurora: Any) -> Any:
    return _person("olga", aurora, "owner")


@pytest.fixture
def mallory(borealis: Any) -> Any:
    return _person("mallory", borealis, "owner")


def _agent(team: Any, name: str) -> Caller:
    from metacog.accounts.agents import create_agent

    agent, key, secret = create_agent(team, name, None, packs=())
    return Caller(agent.public_id, key, secret)


@pytest.fixture
def kuro(aurora: Any) -> Caller:
    return _agent(aurora, "kuro")


@pytest.fixture
def other(borealis: Any) -> Caller:
    """An agent of another team."""
    return _agent(borealis, "other")


@pytest.fixture
def as_person() -> Any:
    """Return a function that gives a signed-in client, with the session alone that signing in would leave."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

    store = importlib.import_module(settings.SESSION_ENGINE).SessionStore

    def signed_in(person: Any) -> Client:
        session = store()
        session[SESSION_KEY] = str(person.pk)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = person.get_session_auth_hash()
        session.save()
        client = Browser()
        client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key
        return client

    return signed_in


@pytest.fixture
def noon() -> Iterator[Any]:
    """Stop the clock at NOON and give it, to be set: what is told by days must not meet midnight half way."""
    from reviews.demo.clock import turned_back

    with turned_back(NOON) as clock:
        yield clock


@pytest.fixture
def undo_at_once(settings: Any) -> None:
    """Release people's decisions at once."""
    settings.UNDO_SECONDS = 0


@pytest.fixture(scope="session")
def languages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """Compile the other languages' catalogues; give their folder, and where Django keeps what it has read of them."""
    from metacog.runtime import catalogs

    folder = tmp_path_factory.mktemp("locale")
    with override_settings(LOCALE_PATHS=[folder]):
        catalogs.compile_all()
    return folder, {}


@pytest.fixture
def translated(settings: Any, languages: tuple[Path, dict[str, object]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Speak the other languages, too."""
    from django.utils.translation import trans_real

    folder, read = languages
    settings.LOCALE_PATHS = [folder]
    monkeypatch.setattr(trans_real, "_translations", read)


@pytest.fixture
def on_postgres() -> bool:
    return connection.vendor == "postgresql"

"""Things that are there to be tried on, by what they are called, and the machine that somebody works at.

A name is a test's own where one of its parts, split at whatever is no letter, is one of `OWN` and none is of `SHARED`:
`app_test`, `ci-db-2`, `tmp-pg`, but neither `latest`, `contest` nor `test-prod`. The words are those by which the
usual frameworks call a test's database (`app_test` of Rails and Phoenix, `test_app` of Django, `testing` of Laravel),
and what people write on things of no worth. `dev`, `demo` and `qa` are none: somebody works with these.
"""

import re
from functools import lru_cache
from posixpath import normpath

_OWN = """
    test tests testing unittest unittests spec specs ci fixture fixtures dummy
    tmp temp temporary scratch sandbox throwaway disposable ephemeral
"""
_SHARED = """
    prod prd production live stage staging preprod uat master shared real release qa demo
    customer customers client clients backup backups archive
"""
OWN, SHARED = frozenset(_OWN.split()), frozenset(_SHARED.split())
PART = re.compile(r"[^\W\d_]+")
HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # of ProdRepo
HERE = re.compile(
    r"(?:[a-z][a-z\d+.-]*://)?(?:[^/@\s]*@)?(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?)(?::[\d*\[\]-]+)?(?:[/?].*)?"
    r"|(?:unix:)?/(?!/).*|sqlite:.*|file:.*"  # a socket, a file
    r"|(?:kind|k3d)-[\w-]+|minikube|docker-desktop|rancher-desktop|orbstack|colima|microk8s",  # contexts of clusters
    re.IGNORECASE,
)
ADDRESS = re.compile(
    r"(?:[a-z][a-z\d+.-]*://[^/\s]*|[^/\s]*[:@\]][^/\s]*|[\w-]+(?:\.[\w-]+)+(?=/)|localhost)(?:/|$)", re.IGNORECASE
)
CLUSTER = re.compile(r"(?:kind|k3d)-[\w-]+")  # of tools that make them for tests
DATABASES = re.compile(
    r"\s*(?:drop|create)\s+database\s+(?:if\s+(?:not\s+)?exists\s+)?[\"`]?([\w-]+)[\"`]?(?:\s+with\s*\(\s*force\s*\))?\s*(?:;|$)",
    re.IGNORECASE,
)
MOST_LETTERS = 300  # of a name or an address
FILE = re.compile(r"file:(?://(?=/))?|sqlite\d?:(?:///?)?")  # before the path of a database
LIKE_ANY = ("*", ".*")  # how a name begins that stands for many: `*test*` is `latest`, too
MADE_AT_RUN_TIME = frozenset("$`|")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
BEYOND = re.compile(  # one database, in SQL
    r"\b(?:drop|alter|create|rename)\s+(?:(schema)|database|keyspace|role|user|tablespace|server|login|system)\b|\buse\b|\battach\b"
    r"|\bshutdown\b|\bset\s+(?:global|persist)\b|\bdblink|\\c(?:onnect)?\b|\bcopy\b",
    re.IGNORECASE,
)


def is_of_tests(name: str) -> bool:
    """Whether a name, or each of several between commas, says that what it names is there for tests."""
    return len(name) <= MOST_LETTERS and _are_of_tests(name)


@lru_cache(maxsize=1024)
def _are_of_tests(name: str) -> bool:
    return MADE_AT_RUN_TIME.isdisjoint(name) and all(map(_says_so, name.split(",")))


def _says_so(name: str) -> bool:
    return not (name.startswith(LIKE_ANY) or is_shared(name) or _parts(name, PART).isdisjoint(OWN))


def is_shared(name: str) -> bool:
    """Whether a name says that what it names is what people work with, or all there is."""
    name = name[:MOST_LETTERS]
    return not SHARED.isdisjoint(_parts(name, PART) | _parts(name, HUMP))


def _parts(name: str, by: re.Pattern[str]) -> set[str]:
    return {part.lower() for part in by.findall(name)}


def is_here(place: str) -> bool:
    """Whether an address, a host, a socket or a cluster's context is on the machine itself."""
    return len(place) <= MOST_LETTERS and HERE.fullmatch(place) is not None


def is_elsewhere(value: str) -> bool:
    """Whether a value is an address of another machine."""
    return ADDRESS.match(value) is not None and not is_here(value)


def is_trial(value: str, workspace: str | None = None) -> bool:
    """Whether a name, the file or the address of a database says that it is one for tests, and here."""
    value = FILE.sub("", value, count=1).removeprefix("./")
    if len(value) > MOST_LETTERS or "=" in value.partition("?")[0] or "#" in value:  # "dbname=app user=test"
        return False
    if value.startswith(("/", "~")) or ".." in value.split("/"):
        plain = normpath(value)
        room = f"{workspace.rstrip('/')}/" if workspace else None
        if room is None or not plain.startswith(room):
            return re.match(r"/(?:var/)?tmp/.", plain) is not None
        return is_of_tests(plain[len(room) :])
    if re.search(r"[?&](?:dbname|database|host|hostaddr|service)=", value):
        return False
    if (address := ADDRESS.match(value)) is not None:
        return is_here(value) and is_of_tests(value[address.end() :].partition("?")[0])
    return is_of_tests(value) or CLUSTER.fullmatch(value) is not None


def stays_in(sql: str, dialect: str | None = None) -> bool:
    """Whether SQL is about the one database that it is given to."""
    return all(dialect == "postgres" and found[1] is not None for found in BEYOND.finditer(COMMENT.sub(" ", sql)))


def is_about_trials(sql: str) -> bool:
    """Whether SQL does nothing but make and drop databases that are a test's."""
    names = DATABASES.findall(sql)
    return bool(names) and not DATABASES.sub("", sql).strip() and all(map(is_of_tests, names))

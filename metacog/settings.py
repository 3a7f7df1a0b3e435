"""Settings, read once from the environment, from `.env` and from `NAME_FILE`s. docs/operations.md describes each.

What is wrong is collected in `CONFIG_PROBLEMS`, what only looks so in `CONFIG_DOUBTS`, and told by the system checks
(metacog/runtime/checks.py) in one plain sentence each, so that a bad value never ends in a traceback.
"""

import os
import re
import secrets
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from django.utils.functional import lazy

from metacog.heuristics.text.matcher import linear_places
from metacog.runtime import error_reports, oidc, tracing
from metacog.runtime.program import IN_CHECKOUT

BASE_DIR = Path(__file__).resolve().parent.parent
ASSETS = BASE_DIR if IN_CHECKOUT else BASE_DIR / "metacog" / "assets"  # where the wheel has them

CONFIG_PROBLEMS: list[tuple[str, str]] = []  # (what is wrong, hint)
CONFIG_DOUBTS: list[tuple[str, str]] = []

SETTINGS = {  # each as METACOG_NAME
    "ADMIN_PASSWORD", "ALLOWED_HOSTS", "BROKER_URL", "CALLBACK_ALLOW", "CALLBACK_SCHEDULE", "CHAIRMAN_KEY",
    "CHAIRMAN_MODEL", "CHAIRMAN_URL", "DATABASE_URL", "DATA_DIR", "DOTENV", "LISTEN_HOST", "LISTEN_PORT",
    "MAIL_FROM", "METRICS_TOKEN", "OIDC", "PREPARED", "PUBLIC_URL", "REPLICA_URL", "REVIEW_SECONDS", "SEARXNG_URL",
    "SECRET_KEY", "SECRET_KEY_FALLBACKS", "SECRET_SHAPES", "SLACK_URL", "SMTP_URL", "SSO_ONLY", "TELEGRAM_URL",
    "TOKEN_DAYS", "TRACE_URL", "UNDO_SECONDS",
}  # fmt: skip
# For the tests; for clients; and what Kubernetes gives every container beside a service of the name `metacog`.
_OTHERS = re.compile(r"METACOG_(TEST_\w+|URL|API_KEY(_FILE)?|HOOK_\w+|SERVICE_(HOST|PORT)\w*|PORT(_\d+_\w+)?)")

_ENV_LINE = re.compile(r"""(?:export\s+)?(\w+)\s*=\s*(?:'([^']*)'|"([^"]*)"|([^\s'"#].*?)?)(?:\s+#.*)?""")


def _env_file(name: str) -> dict[str, str]:
    """Read NAME=VALUE lines; the working folder needs no `.env`, and a folder of that name is somebody's Python."""
    if not name or (name == ".env" and not os.path.isfile(name)):
        return {}
    found = {}
    try:
        lines = Path(name).read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        if isinstance(error, PermissionError):
            hint = "Let the user that runs metacog read it (chown or chmod), or set METACOG_DOTENV to another file."
        elif isinstance(error, UnicodeError):
            hint = "Save it as UTF-8."
        else:
            hint = "Set METACOG_DOTENV to the file that is meant, or to nothing."
        CONFIG_PROBLEMS.append((f"{name} cannot be read: {reason}.", hint))
        return {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if match := _ENV_LINE.fullmatch(line):
            found[match[1]] = match[2] or match[3] or match[4] or ""
        elif line and not line.startswith("#"):
            CONFIG_PROBLEMS.append((f"Line {number} of {name} is not NAME=VALUE.", 'Write NAME=VALUE or NAME="VALUE".'))
    return found


def _from_files(given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in `given`, those of NAME_FILE=PATH with the content of that file."""
    found = {name: value for name, value in given.items() if name.startswith("METACOG_")}
    for name in [name for name in found if name.endswith("_FILE")]:
        setting, path = name.removesuffix("_FILE"), found.pop(name)
        if path and found.get(setting):
            CONFIG_PROBLEMS.append((f"{setting} and {name} are both set.", "Keep one of them."))
        elif path:
            try:
                found[setting] = Path(path).read_text("utf-8").removesuffix("\n")
            except (OSError, UnicodeError) as error:
                reason = getattr(error, "strerror", None) or "it is not UTF-8"
                CONFIG_PROBLEMS.append((f"{path} cannot be read: {reason}.", f"{name} names it."))
            else:
                if not found[setting]:
                    CONFIG_PROBLEMS.append((f"{path} is empty.", f"{name} names it."))
    return found


def _doubt_unknown(names: Iterable[str]) -> None:
    """Name what is no setting, most likely one that is spelt wrong."""
    for name in sorted({name for name in names if name.startswith("METACOG_")}):
        setting = name.removeprefix("METACOG_").removesuffix("_FILE")
        if setting not in SETTINGS and not _OTHERS.fullmatch(name):
            near = get_close_matches(setting, SETTINGS, 1)
            hint = f"Is METACOG_{near[0]} meant?" if near else "docs/operations.md lists all there are."
            CONFIG_DOUBTS.append((f"{name} is no setting of metacog and does nothing.", hint))


# What the environment says of a setting, in either way, stands before what the file says of it.
_dotenv = _env_file(os.environ.get("METACOG_DOTENV", ".env"))
_ENV = _from_files(_dotenv) | _from_files(os.environ)
SETTINGS |= oidc.setting_names(_ENV)
_doubt_unknown([*_dotenv, *os.environ])


def _data_folder() -> Path:
    """Return the one folder that is written; never one among the installed packages."""
    if given := _ENV.get("METACOG_DATA_DIR"):
        return Path(given).absolute()
    if IN_CHECKOUT:
        return BASE_DIR / "data"
    home = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (home if home.is_absolute() else Path("~/.local/share").expanduser()) / "metacog"


DATA_DIR = _data_folder()


_Default = TypeVar("_Default", int, None)


def _seconds(name: str, default: _Default) -> int | _Default:
    raw = _ENV.get(name, "")
    if not raw:
        return default
    if raw.isascii() and raw.isdigit() and int(raw) <= 10**9:
        return int(raw)
    CONFIG_PROBLEMS.append((f"{name} is {raw!r}, not a whole number of seconds.", "Give 0 or more."))
    return default


def _token_days() -> int | None:
    """Read how long a person's access token may live; None is as long as its form offers."""
    raw = _ENV.get("METACOG_TOKEN_DAYS", "")
    if raw.isascii() and raw.isdigit() and 1 <= int(raw[:6]) <= 3650:
        return int(raw)
    if raw:
        CONFIG_PROBLEMS.append((f"METACOG_TOKEN_DAYS is {raw!r}, not a number of days.", "Give 1 to 3650."))
    return None


def _is_on(name: str) -> bool:
    """Read a switch that is off unless it is set."""
    raw = _ENV.get(name, "")
    if raw not in ("", "0", "1"):
        CONFIG_PROBLEMS.append((f"{name} is {raw!r}, which is neither on nor off.", "Give 1 or 0."))
    return raw == "1"


def _kept_key() -> str:
    """Return the key kept in the data folder; only ever used on loopback. It is made when it is first needed."""
    path = DATA_DIR / "secret-key"
    try:
        return path.read_text() if path.exists() else lazy(_first_key, str)()
    except OSError as error:
        CONFIG_PROBLEMS.append(
            (
                f"{error.filename or DATA_DIR} cannot be used: {error.strerror}.",
                "Let this user read and write it, or set METACOG_DATA_DIR to a folder of this user's own.",
            )
        )
        return secrets.token_urlsafe(50)


@cache
def _first_key() -> str:
    path = DATA_DIR / "secret-key"
    DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Two processes may start at once: the link succeeds for one, and both read what it wrote.
    draft = DATA_DIR / f".secret-key-{os.getpid()}-{secrets.token_hex(4)}"
    if not path.exists():
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(secrets.token_urlsafe(50))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text()


def _broken_url(name: str, wanted: str) -> None:
    # The value itself may hold a password: it is never repeated.
    CONFIG_PROBLEMS.append((f"{name} is not an address that can be used.", f"Write it as {wanted}."))


def _database(name: str) -> dict[str, Any]:
    """Read the address of a database."""
    url = _ENV.get(name, "")
    sqlite: dict[str, object] = {
        "ENGINE": "metacog.db.sqlite",
        "NAME": DATA_DIR / "metacog.sqlite3",
        "CONN_MAX_AGE": None,  # to open one for each post took a quarter of its CPU (docs/decisions/0009)
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            # FULL, since NORMAL answers before the log is synced (0 syncs in 100 commits).
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
        },
    }
    if not url:
        return sqlite
    wanted = "postgresql://user:password@host:5432/name or sqlite:////absolute/path"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        _broken_url(name, wanted)
        return sqlite
    if parts.scheme == "sqlite" and len(parts.path) > 1:
        return sqlite | {"NAME": Path(unquote(parts.path[1:]))}
    if parts.scheme not in ("postgres", "postgresql") or len(parts.path) < 2:
        _broken_url(name, wanted)
        return sqlite
    query = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    host = unquote(query.pop("host", "")) or unquote(parts.hostname or "")
    return {
        "ENGINE": "metacog.db.postgresql",
        "NAME": unquote(parts.path[1:]),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(port or ""),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            **{key: unquote(value) for key, value in query.items()},
            # The server plans what a connection has asked five times no more; every post asks the same.
            "server_side_binding": True,
            "prepare_threshold": 5,
            # A connection for each request costs 7 ms of the server's CPU; the pool keeps them. Its pauses
            # between attempts double for `reconnect_timeout` and then begin anew: left at 5 minutes, a
            # server that was away for one is not looked for again until a second one has passed.
            "pool": {"min_size": 1, "max_size": 20, "timeout": 5, "reconnect_timeout": 2},
        },
    }


def _origins(name: str) -> frozenset[str]:
    """Read origins with their ports; in lower case, as addresses are compared."""
    found = set()
    entries = [entry.strip().lower().rstrip("/") for entry in _ENV.get(name, "").split(",")]
    for number, origin in enumerate(entries, 1):
        try:
            parts = urlsplit(origin)
            is_origin = parts.scheme in ("http", "https") and bool(parts.hostname) and bool(parts.port)
        except ValueError:
            is_origin = False
        if is_origin and origin == f"{parts.scheme}://{parts.netloc}" and "@" not in origin:
            found.add(origin)
        elif origin:
            CONFIG_PROBLEMS.append(
                (
                    f"Entry {number} of {name} is not written scheme://host:port.",
                    "Give each address with its port and nothing after it: http://127.0.0.1:9000",
                )
            )
    return frozenset(found)


def _pauses(name: str) -> tuple[float, ...] | None:
    """Read seconds, comma-separated; None when nothing usable is given."""
    entries = [entry.strip() for entry in _ENV.get(name, "").split(",")]
    if entries == [""]:
        return None
    if len(entries) <= 100 and all(re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,3})?", entry) for entry in entries):
        return tuple(float(entry) for entry in entries)
    CONFIG_PROBLEMS.append(
        (f"{name} is not a list of seconds.", "Give up to 100 numbers with commas between them: 5,30,120")
    )
    return None


def _secret_shapes() -> list[str]:
    """Read the operator's own shapes of secrets: regular expressions with blanks between them."""
    found = []
    for number, expression in enumerate(_ENV.get("METACOG_SECRET_SHAPES", "").split(), 1):
        try:
            linear_places([expression])
        except ValueError as why:
            CONFIG_PROBLEMS.append(
                (
                    f"Entry {number} of METACOG_SECRET_SHAPES {why}.",
                    r"Write expressions with blanks between them, \s for a blank in one: ACME-[0-9]{8} intern_\w{20}",
                )
            )
        else:
            found.append(expression)
    return found


def _is_plain(url: str) -> bool:
    """Tell whether an address can be sent as it is: names in other scripts are written as xn--…."""
    return bool(re.fullmatch(r"[!-~]*", url))


def _address(name: str, example: str) -> str:
    """Read the address of a server that is asked; "" unless it is in order."""
    url = _ENV.get(name, "").strip()
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and _is_plain(url)
    except ValueError:
        is_url = False
    if url and (not is_url or "@" in parts.netloc or parts.query or parts.fragment):
        _broken_url(name, example)
        return ""
    return url.rstrip("/")


def _trace_url() -> str:
    """Read where the page of a trace is; "" unless it is in order."""
    url = _ENV.get("METACOG_TRACE_URL", "").strip()
    before, place, _ = url.partition("{trace_id}")
    parts = _parts(before)
    is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    if url and not (place and is_url and before.count("/") > 2 and _is_plain(url)):
        _broken_url("METACOG_TRACE_URL", "https://traces.example.org/trace/{trace_id}")
        return ""
    return url


def _chairman() -> tuple[str, str, str]:
    """Read where a model that may answer requests for more tool calls is asked; nowhere, unless all is in order."""
    url = _address("METACOG_CHAIRMAN_URL", "https://models.example.org/v1")
    model, key = (_ENV.get(f"METACOG_CHAIRMAN_{part}", "").strip() for part in ("MODEL", "KEY"))
    if _ENV.get("METACOG_CHAIRMAN_URL", "").strip() and not url:
        return "", "", ""
    if bool(url) != bool(model):
        CONFIG_PROBLEMS.append(
            (
                "METACOG_CHAIRMAN_URL and METACOG_CHAIRMAN_MODEL go together.",
                "Set both to have a model answer extension requests, or neither.",
            )
        )
    elif not (key.isascii() and key.isprintable()):
        CONFIG_PROBLEMS.append(("METACOG_CHAIRMAN_KEY holds characters that no key has.", "Set it again."))
    else:
        return url, model, key
    return "", "", ""


_ADDRESS = r"[^@\s<>,\"]+@[^@\s<>,\"]+"


def _mail() -> tuple[SplitResult | None, str]:
    """Read the mail server and who mail is from; neither, unless both are in order."""
    url, sender = (_ENV.get(name, "").strip() for name in ("METACOG_SMTP_URL", "METACOG_MAIL_FROM"))
    if not (url or sender):
        return None, ""
    if not (url and sender):
        CONFIG_PROBLEMS.append(
            ("METACOG_SMTP_URL and METACOG_MAIL_FROM go together.", "Set both to send email, or neither.")
        )
        return None, ""
    try:
        parts = urlsplit(url)
        is_server = parts.scheme in ("smtp", "smtps") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_server = False
    if not is_server or parts.path.strip("/") or parts.query or parts.fragment:
        _broken_url("METACOG_SMTP_URL", "smtp://user:password@host:587 or smtps://user:password@host:465")
    elif not (sender.isprintable() and re.fullmatch(rf"[^@<>,\"]+ <{_ADDRESS}>|{_ADDRESS}", sender)):
        CONFIG_PROBLEMS.append(
            (
                "METACOG_MAIL_FROM is not an email address.",
                "Write it as metacog@example.org or metacog <metacog@example.org>.",
            )
        )
    else:
        return parts, sender
    return None, ""


def _parts(url: str) -> SplitResult:
    """Take an address apart; nothing of it where it is none."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises on a port that is no number
    except ValueError:
        return urlsplit("")
    return parts


_public = _ENV.get("METACOG_PUBLIC_URL", "").strip().rstrip("/")
_public_parts = _parts(_public)
# Nothing after the host: the site stands at its root, and pages show this address.
if _public and (
    _public_parts.scheme not in ("http", "https")
    or not _public_parts.hostname
    or "@" in _public_parts.netloc
    or _public_parts.query
    or _public_parts.fragment
    or not _is_plain(_public)
):
    _broken_url("METACOG_PUBLIC_URL", "https://metacog.example.org")
    _public = ""
elif _public_parts.path:
    CONFIG_PROBLEMS.append(
        (
            "METACOG_PUBLIC_URL has a path, but metacog can only be served at the root of a host.",
            "Give metacog a host name or a port of its own: https://metacog.example.org",
        )
    )
    _public = ""
# `manage.py up` says here on which address it listens; anything but loopback is production.
LISTEN_HOST = _ENV.get("METACOG_LISTEN_HOST") or "127.0.0.1"
LISTEN_PORT = _ENV.get("METACOG_LISTEN_PORT") or "8000"
if not re.fullmatch(r"[0-9]{1,5}", LISTEN_PORT):
    CONFIG_PROBLEMS.append((f"METACOG_LISTEN_PORT is {LISTEN_PORT!r}, not a port.", "Give one from 1 to 65535."))
    LISTEN_PORT = "8000"
LOOPBACK = LISTEN_HOST in ("127.0.0.1", "::1", "localhost")
HTTPS = bool(_public) and _public_parts.scheme == "https"
PRODUCTION = HTTPS or not LOOPBACK
PUBLIC_URL = _public or f"http://{f'[{LISTEN_HOST}]' if ':' in LISTEN_HOST else LISTEN_HOST}:{LISTEN_PORT}"

DEBUG = False
SECRET_KEY = _ENV.get("METACOG_SECRET_KEY", "")
SECRET_KEY_FALLBACKS = [key for key in _ENV.get("METACOG_SECRET_KEY_FALLBACKS", "").split(",") if key]
ALLOWED_HOSTS = [host.strip() for host in _ENV.get("METACOG_ALLOWED_HOSTS", "").split(",") if host.strip()]
_make_key = "Make one: python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
if PRODUCTION and len(SECRET_KEY) < 50:
    CONFIG_PROBLEMS.append(
        (
            "METACOG_SECRET_KEY must be set, to 50 characters or more, "
            "when others than this machine can reach metacog.",
            _make_key,
        )
    )
elif SECRET_KEY and len(SECRET_KEY) < 50:
    CONFIG_DOUBTS.append(("METACOG_SECRET_KEY has fewer than 50 characters, so that it may be guessed.", _make_key))
if PRODUCTION and not ALLOWED_HOSTS:
    CONFIG_PROBLEMS.append(
        (
            "METACOG_ALLOWED_HOSTS must be set when others than this machine can reach metacog.",
            "Give the host names people and agents use, comma-separated: metacog.example.org",
        )
    )
if not SECRET_KEY:
    SECRET_KEY = secrets.token_urlsafe(50) if PRODUCTION else _kept_key()
# Always this machine's too: agents that run beside it, and whoever looks whether it answers. No link is made of a host.
ALLOWED_HOSTS = [*ALLOWED_HOSTS, "127.0.0.1", "localhost", "[::1]"]

ROOT_URLCONF = "metacog.urls"
AUTH_USER_MODEL = "metacog.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "metacog",
    "patterns",
    "reviews",
    "metacog.apps.ConsoleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "axes",
    "ninja",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
]

MIDDLEWARE = [
    "metacog.http.middleware.RequestId",
    "metacog.http.middleware.Probes",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "metacog.http.middleware.Private",  # behind whitenoise: static files may be kept
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "metacog.http.middleware.ContentSecurityPolicy",
    "metacog.http.middleware.Api",  # answers agents itself: what follows is for people
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "metacog.http.middleware.SignInAgain",
    "metacog.sign_in.middleware.StillAllowed",
    "metacog.http.middleware.SignInRequired",
    "metacog.http.middleware.Person",
    "django.contrib.messages.middleware.MessageMiddleware",
    "axes.middleware.AxesMiddleware",
    "metacog.http.middleware.TypedAddress",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ASSETS / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "reviews.context_processors.console",
            ],
            "libraries": {"i18n": "metacog.http.translated"},
            "builtins": ["metacog.http.included"],
        },
    },
]

FORM_RENDERER = "metacog.http.form_renderer.Renderer"

DATABASES = {"default": _database("METACOG_DATABASE_URL")}
if _ENV.get("METACOG_REPLICA_URL"):  # for pages that may be a little late: metacog/http/replica.py
    DATABASES["replica"] = _replica = _database("METACOG_REPLICA_URL")
    _given = _replica["OPTIONS"]
    _given["options"] = f"{_given.get('options', '')} -c default_transaction_read_only=on".strip()
    _given["pool"] = {**_given.get("pool", {}), "timeout": 1}  # second: then the database itself is asked
    if any("sqlite" in each["ENGINE"] for each in DATABASES.values()):
        CONFIG_PROBLEMS.append(
            (
                "METACOG_REPLICA_URL is set, but it or METACOG_DATABASE_URL is no PostgreSQL.",
                "Give both as postgresql://…, or leave the replica out.",
            )
        )

# What limits how often something is tried is the same for all processes and machines.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "metacog_cacheentry",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    }
}

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "queue"
LOGOUT_REDIRECT_URL = "sign-in"
PASSWORD_RESET_TIMEOUT = 3 * 24 * 3600

# Signing in: the page is ours, what follows a password is django-allauth's; see docs/sign-in.md.
ACCOUNT_ADAPTER = "metacog.sign_in.single_sign_on.AccountAdapter"
SOCIALACCOUNT_ADAPTER = "metacog.sign_in.single_sign_on.ProviderAdapter"
_providers = oidc.apps(_ENV, CONFIG_PROBLEMS)
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {"APPS": _providers, "provider_class": "metacog.sign_in.single_sign_on.Provider"}
}
HAS_PROVIDERS = bool(_providers)
SSO_ONLY = _is_on("METACOG_SSO_ONLY")  # passwords and passkeys let nobody in
if SSO_ONLY and not HAS_PROVIDERS:
    CONFIG_PROBLEMS.append(
        (
            "METACOG_SSO_ONLY is 1, but METACOG_OIDC names no provider that people could sign in with.",
            "Set one up (docs/sign-in.md), or let passwords be used.",
        )
    )
TOKEN_DAYS = _token_days()
ACCOUNT_EMAIL_VERIFICATION = SOCIALACCOUNT_EMAIL_VERIFICATION = "none"  # the provider has, or nobody has
MFA_ADAPTER = "metacog.sign_in.single_sign_on.SecondFactorAdapter"
ACCOUNT_FORMS = {"reauthenticate": "metacog.sign_in.forms.PasswordAgainForm"}
MFA_FORMS = {
    "activate_totp": "metacog.sign_in.forms.SetUpAppForm",
    "authenticate": "metacog.sign_in.forms.CodeForm",
    "reauthenticate": "metacog.sign_in.forms.CodeAgainForm",
}
MFA_TOTP_ISSUER = "metacog"
MFA_ALLOW_UNVERIFIED_EMAIL = True  # nobody signs up here: owners wrote the addresses
MFA_TOTP_TOLERANCE = 1  # half a minute that a clock may be wrong
# Browsers make passkeys for a name over https alone, or for this machine; a number at the end makes a host an address.
HAS_PASSKEYS = _public_parts.hostname == "localhost" or (
    HTTPS and not re.search(r":|(^|\.)[0-9]+$", str(_public_parts.hostname))
)
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True  # where there are any
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = _public_parts.hostname == "localhost"

AXES_HANDLER = "metacog.sign_in.sign_ins.Handler"
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "metacog.pages.account.locked_out"
AXES_CLIENT_IP_CALLABLE = "metacog.http.middleware.client_address"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # the wait that was announced is the wait there is
AXES_ENABLE_ADMIN = False  # its tables know no teams and no language but English; a lock-out ends by itself
AXES_VERBOSE = False
AXES_SENSITIVE_PARAMETERS = ["username"]  # a password may have been typed there; where guesses come from is told
AXES_DISABLE_ACCESS_LOG = True

TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
LANGUAGE_CODE = "en"
FORMAT_MODULE_PATH = "metacog.formats"
LANGUAGES = [("en", "English"), ("zh-hant", "繁體中文"), ("zh-hans", "简体中文")]
LANGUAGE_COOKIE_NAME = "language"
LANGUAGE_COOKIE_SAMESITE = "Lax"
# The sources are locale/<language>/django.po; `up` compiles them into the data folder. The wheel has them compiled.
LOCALE_SOURCE = ASSETS / "locale"
LOCALE_PATHS = [DATA_DIR / "locale" if IN_CHECKOUT else LOCALE_SOURCE]

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [ASSETS / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "metacog.http.static_files.StaticFiles"},
}

SESSION_ENGINE = "metacog.sign_in.sessions"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
if HTTPS:  # with this name browsers take them from this very host alone, not from a neighbour below the same domain
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
CSRF_FAILURE_VIEW = "metacog.pages.account.form_too_old"
CSRF_TRUSTED_ORIGINS = [f"{_public_parts.scheme}://{_public_parts.netloc}"] if _public else []
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SECURE_SSL_REDIRECT = False  # TLS ends at the proxy in front, which redirects
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = False
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SILENCED_SYSTEM_CHECKS = [
    "files.E001",
    "security.W005",  # HSTS for subdomains is the operator's to promise, not ours
    "security.W008",  # see SECURE_SSL_REDIRECT
    "security.W021",  # HSTS preload likewise
    "templates.W003",  # metacog.http.translated takes the place of Django's i18n
]

MAX_BODY_BYTES = 1_048_576
# An edited text of 1 MiB grows in form encoding: a byte may take three, a line's end six. Beside it stands little.
DATA_UPLOAD_MAX_MEMORY_SIZE = 6 * MAX_BODY_BYTES + 65_536
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000  # the roles of a team of thousands, two fields each
# Of a log that is uploaded (reviews/logs/imports.py), with the rest of its form. It goes to disk, not into memory.
MAX_UPLOAD_BYTES = 50 * MAX_BODY_BYTES + 65_536
UPLOADS_TO_DISK = ("/log-imports/",)
FILE_UPLOAD_TEMP_DIR = str(DATA_DIR)  # where the system keeps temporary files may be memory

PREPARED = os.environ.get("METACOG_PREPARED", "").strip() != "0"  # metacog/db/prepared.py says what that is
REVIEW_SECONDS = _seconds("METACOG_REVIEW_SECONDS", None)  # None: as each agent's policy says
UNDO_SECONDS = _seconds("METACOG_UNDO_SECONDS", 10)
CALLBACK_ALLOW = _origins("METACOG_CALLBACK_ALLOW")  # what may be reached although it is not public
CALLBACK_SCHEDULE = _pauses("METACOG_CALLBACK_SCHEDULE")  # None: reviews/outbox/deliveries.py has the usual one
CHAIRMAN_URL, CHAIRMAN_MODEL, CHAIRMAN_KEY = _chairman()
SLACK_URL = _address("METACOG_SLACK_URL", "https://slack-gov.com/api")  # empty: https://slack.com/api
TELEGRAM_URL = _address("METACOG_TELEGRAM_URL", "http://127.0.0.1:8081")  # empty: https://api.telegram.org
SEARXNG_URL = _address("METACOG_SEARXNG_URL", "http://127.0.0.1:8888")  # of one that answers in JSON

# Mail goes out encrypted, or not at all, to any server but one on this machine.
_smtp, MAIL_FROM = _mail()  # MAIL_FROM is empty where no mail is set up
if _smtp is not None:
    EMAIL_HOST = _smtp.hostname or ""
    EMAIL_USE_SSL = _smtp.scheme == "smtps"
    EMAIL_USE_TLS = not EMAIL_USE_SSL and EMAIL_HOST not in ("127.0.0.1", "::1", "localhost")
    EMAIL_PORT = _smtp.port or (465 if EMAIL_USE_SSL else 587)
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(_smtp.username or ""), unquote(_smtp.password or "")
EMAIL_BACKEND = "metacog.notices.mail.Backend"
EMAIL_TIMEOUT = 10

# Others' variables, not in `.env`: their own packages read them from the environment.
TRACE_EXPORTERS = tracing.installed(tracing.exporters(os.environ), CONFIG_DOUBTS)
TRACE_URL = _trace_url()
SECRET_SHAPES = _secret_shapes()  # what is masked for people beside heuristics/tool_calls/secret_shapes.py
SENTRY_DSN = error_reports.dsn(os.environ, CONFIG_PROBLEMS, CONFIG_DOUBTS)

METRICS_TOKEN = _ENV.get("METACOG_METRICS_TOKEN", "")
ADMIN_PASSWORD = _ENV.get("METACOG_ADMIN_PASSWORD", "")  # the first owner's; see `up`

BROKER_URL = _ENV.get("METACOG_BROKER_URL", "")
if BROKER_URL and _parts(BROKER_URL).scheme not in ("redis", "rediss", "amqp", "amqps"):
    _broken_url("METACOG_BROKER_URL", "redis://host:6379/0 or amqp://user:password@host:5672//")
    BROKER_URL = ""

# The broker carries nudges; rows are the truth. What a lost message left, the sweep finds.
CELERY_BROKER_URL = BROKER_URL or "metacog://localhost"  # metacog/runtime/broker/file.py: one in the data folder
CELERY_TASK_TIME_LIMIT = 60
CELERY_TASK_SOFT_TIME_LIMIT = 45
# How long a message stays with a worker that does not answer: longer than two tasks in a row may take.
_LEASE_SECONDS = 150
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object]
if not BROKER_URL:
    CELERY_BROKER_TRANSPORT_OPTIONS = {"path": str(DATA_DIR / "broker.sqlite3"), "lease_seconds": _LEASE_SECONDS}
elif BROKER_URL.startswith("redis"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": _LEASE_SECONDS,
        "socket_connect_timeout": 1,
        "socket_timeout": 5,
    }
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {"confirm_publish": True}
CELERY_BROKER_CONNECTION_TIMEOUT = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker for ever
# Once more, at once: that is what makes beat connect anew after RabbitMQ was away. Never longer: a nudge that
# is lost costs nothing.
CELERY_TASK_PUBLISH_RETRY = True
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
CELERY_TASK_DEFAULT_QUEUE = "metacog"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_CONSUMER = "metacog.runtime.worker:Consumer"
CELERY_DB_REUSE_MAX = 1_000_000  # Celery would open a connection for each task; metacog/runtime/worker.py sees to it
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = TIME_ZONE
# In memory: what is done once a period is kept from happening twice by a row, not by beat's own file,
# which a kill -9 corrupts.
CELERY_BEAT_SCHEDULER = "metacog.runtime.beat:Scheduler"
SWEEP_ACTIVITY, SWEEP_WORK = "reviews.activity.latest", "reviews.activity.has_work"
# Messages that waited while no worker ran are dropped when they expire: the next one does their work.
CELERY_BEAT_SCHEDULE = {
    "settle": {"task": "reviews.tasks.settle", "schedule": 2.0, "options": {"expires": 10}},
    "deliver": {"task": "reviews.tasks.deliver", "schedule": 1.0, "options": {"expires": 5}},
    **({"chair": {"task": "reviews.tasks.chair", "schedule": 2.0, "options": {"expires": 5}}} if CHAIRMAN_URL else {}),
    "seal-audit": {"task": "reviews.tasks.seal_audit", "schedule": 5.0, "options": {"expires": 10}},
    "keep-anchor": {"task": "reviews.tasks.keep_anchor", "schedule": 600.0, "options": {"expires": 600}},
    "erase": {"task": "reviews.tasks.erase", "schedule": 600.0, "options": {"expires": 600}},
    "count-days": {"task": "reviews.tasks.count_days", "schedule": 300.0, "options": {"expires": 300}},
    "group-alike": {"task": "reviews.tasks.group_alike", "schedule": 60.0, "options": {"expires": 60}},
    "pick-samples": {"task": "reviews.tasks.pick_samples", "schedule": 1800.0, "options": {"expires": 1800}},
    "fit-weights": {"task": "reviews.tasks.fit_weights", "schedule": 600.0, "options": {"expires": 600}},
    "learn-risk": {"task": "reviews.tasks.learn_risk", "schedule": 600.0, "options": {"expires": 600}},
    "ask-providers": {"task": "reviews.tasks.ask_providers", "schedule": 60.0, "options": {"expires": 60}},
    "reflect": {"task": "reviews.tasks.reflect", "schedule": 600.0, "options": {"expires": 600}},
    "learn": {"task": "reviews.tasks.learn", "schedule": 10.0, "options": {"expires": 10}},
    "contrast": {"task": "reviews.tasks.contrast", "schedule": 30.0, "options": {"expires": 30}},
    "try-proposals": {"task": "reviews.tasks.try_proposals", "schedule": 30.0, "options": {"expires": 30}},
    "learn-corrections": {"task": "reviews.tasks.learn_corrections", "schedule": 600.0, "options": {"expires": 600}},
    "index-memory": {"task": "reviews.tasks.index_memory", "schedule": 60.0, "options": {"expires": 60}},
    "index-search": {"task": "reviews.tasks.index_search", "schedule": 2.0, "options": {"expires": 5}},
    "cards": {"task": "reviews.tasks.cards", "schedule": 2.0, "options": {"expires": 5}},
    "notify": {"task": "reviews.tasks.notify", "schedule": 20.0, "options": {"expires": 20}},
    "search": {"task": "reviews.tasks.search", "schedule": 5.0, "options": {"expires": 10}},
    "import-logs": {"task": "reviews.tasks.import_logs", "schedule": 2.0, "options": {"expires": 5}},
    "heartbeat": {"task": "reviews.tasks.heartbeat", "schedule": 10.0, "options": {"expires": 20}},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "metacog.runtime.logs.Line", "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s"},
    },
    "filters": {"broker": {"()": "metacog.runtime.broker.reach.Quiet"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["broker"]}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    # Refused requests are the callers' affair and are answered in full; only our own failures are logged.
    "loggers": {
        "django.request": {"level": "ERROR"},
        "metacog": {"level": "INFO"},
        "patterns": {"level": "INFO"},
        "reviews": {"level": "INFO"},
    },
}

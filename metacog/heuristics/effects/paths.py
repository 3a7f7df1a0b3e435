"""Paths: normalised, inside a directory or not, and known to hold secrets or not."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from posixpath import normpath

MOST_KEPT = 200  # characters of a path that is remembered
NO_OBJECTS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "-"})
WHOLE = frozenset({"", "~", "$HOME", "${HOME}", "/home", "/root", "/Users", "/etc", "/run", "/proc"})  # with keys below
HOME = re.compile(r"/(?:home|Users)/[^/]+")
UP = frozenset({"..", ".*", ".?"})  # an old shell's `.*` finds ".." too
SECRET = re.compile(
    r"(?:^|/)(?:"
    r"\.env(?:rc)?(?:\.(?!(?:example|sample|template|dist|test|testing|ci)$)[\w.-]+)?"
    r"|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.git-credentials|\.htpasswd|\.vault-token|\.boto"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_\w+)?"
    r"|\.ssh(?:/(?!known_hosts|config$|[\w.-]+\.pub$).*)?"
    r"|\.aws/credentials|\.aws|\.gnupg(?:/.*)?|\.kube(?:/config)?|kubeconfig(?:\.\w+)?|\.docker/config\.json"
    r"|\.azure/.*|\.config/gcloud/.*|application_default_credentials\.json|\.config/gh/hosts\.yml|\.password-store/.*"
    r"|\.terraform\.d/credentials.*|\.cargo/credentials(?:\.toml)?|\.gem/credentials|\.m2/settings\.xml"
    r"|(?:client_)?secrets?(?:\.(?!py$|rst$|md$|txt$|html$|go$|js$|ts$|rb$|c$|h$|java$)[\w.-]+)?|credentials(?:\.(?:json|ya?ml|csv|ini|toml|db))?"
    r"|service[-_]?account[\w.-]*\.json|[\w.-]*firebase-adminsdk[\w.-]*\.json|[\w.-]*\.tfstate(?:\.backup)?"
    r"|(?!(?:example|sample|template|dist|default|test|testing|ci)\.)[\w-]+\.env|\.dev\.vars|wp-config\.php"
    r"|appsettings\.(?:production|staging|secrets)\.json|local\.settings\.json|application-prod(?:uction)?\.(?:ya?ml|properties)"
    r"|secrets?/[\w.-]+\.(?:ya?ml|json|env|txt|toml|ini|conf)|\.?vault[-_]pass\w*(?:\.\w+)?|auth\.json|wallet\.json"
    r"|\.s3cfg|\.terraformrc|rclone\.conf|\.databrickscfg|[^/]*\.(?:keyring|keychain(?:-db)?)"
    r"|(?:\.mozilla|\.thunderbird|\.config/(?:google-chrome|chromium|BraveSoftware|microsoft-edge))/.*"
    r"|(?:Application Support|AppData)/.*(?:Firefox|Chrome|Chromium|Brave-Browser|Microsoft Edge)/.*"
    r"|cookies\.sqlite|Web Data"
    r"|run/secrets/.*|var/run/secrets/.*|etc/(?:g?shadow-?|sudoers(?:\.d/.*)?|ssl/private/.*|ssh/ssh_host_\w+_key)"
    r"|proc/(?:[^/]+)/(?:environ|mem)|proc/kcore|dev/(?:k?mem|video\d+|snd/.*|input/.*)|etc/kubernetes/.*\.conf"
    r"|\.(?:bash|zsh|psql|mysql|python)_history|Login Data|logins\.json|key[34]\.db|wallet\.dat"
    r"|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc\.key|ovpn)"
    r")/?$",
    re.IGNORECASE,
)

EXAMPLE = re.compile(r"[._-](?:example|sample|template|dist|schema)s?(?:\.\w+)?$", re.IGNORECASE)
HIDDEN = re.compile(r"(?:~|\$HOME|\$\{HOME\}|/root|/(?:home|Users)/[^/]+)/((?:\.(?!\.?(?:/|$))|Library/)[^/]*(?:/.*)?)")
OPEN = re.compile(  # of what a home hides: settings of shells and editors, and what tools have downloaded
    r"\.(?:(?:bash|zsh|z)(?:rc|env|_profile|profile|_aliases|_logout)|profile|inputrc|g?vimrc|tmux\.conf|screenrc"
    r"|git(?:config|ignore\w*|message)|hgrc|editorconfig|condarc|Rprofile|irbrc|pryrc|gemrc|ackrc|[\w-]+-version(?:s)?"
    r"|nvmrc|clang-format|(?:prettier|eslint)rc[\w.]*"
    r"|(?:cache|rustup|nvm|npm|pnpm-store|yarn|bun|deno|pyenv|rbenv|rvm|asdf|sdkman|jenv|volta|fnm|conda|mamba|tox|ivy2"
    r"|virtualenvs|sbt|gem|cpan\w*|cabal|stack|ghcup|opam|julia|nuget|dotnet|hex|mix|pub-cache|vim|emacs\.d|oh-my-zsh"
    r"|matplotlib|ipython|keras|torch|node-gyp|android|gradle/(?:caches|wrapper|daemon)|m2/(?:repository|wrapper)"
    r"|cargo/(?:registry|git|bin|env|config[\w.]*)|bundle/cache|composer/(?:cache|vendor)|vscode[\w-]*|cursor|claude"
    r"|codex/(?!auth)[^/]+|local/(?:bin|lib|state|share/(?!keyrings|kwalletd)[^/]+)"
    r"|config/(?:nvim|fish|git|htop|pip|matplotlib|yapf|black|ruff|uv|flake8|pycodestyle|systemd|autostart|tmux|zsh|bat"
    r"|alacritty|kitty|starship\.toml|direnv))(?:/.*)?"
    r"|ssh/(?:known_hosts|config|[\w.-]+\.pub))|Library/(?:Caches|Logs|Developer|Python|Fonts)(?:/.*)?"
)
GLOB = re.compile(r"[*?\[]")
USUAL_SECRETS = (".env", ".netrc", ".npmrc", ".pgpass", "id_rsa", "id_ed25519", "credentials", "shadow", "kubeconfig")


def normal(path: str, *, cwd: str | None = None, workspace: str | None = None) -> str:
    """`path` without "." and "..", absolute where `cwd` or `workspace` is; one that begins with "~" or "$" stays."""
    if not path.startswith(("/", "~", "$")):
        base = cwd or workspace
        path = f"{base}/{path}" if base else path
    if path.startswith(("~", "$")):  # what ".." leads to from there is not known
        start, slash, rest = path.partition("/")
        return f"{start}/{normpath(rest)}" if slash and normpath(rest) != "." else start
    if not path:
        return "."
    if "//" not in path and "/." not in path and path[0] != "." and path[-1] != "/":  # as most are
        return path
    plain = normpath(path)
    return plain[1:] if plain.startswith("//") else plain


def is_inside(path: str, directories: Sequence[str]) -> bool:
    """Whether `path` is one of `directories` or below one of them.

    A relative path is below the working directory, and so inside, unless the directories are relative ones that it
    is not below. What a variable or ".." may lead out of is outside.
    """
    return is_below(normal(path), [normal(directory) for directory in directories])


def is_below(plain: str, rooms: Sequence[str]) -> bool:
    """`is_inside` of a path and directories that are normalised."""
    for room in rooms:
        if room == "." or (not plain.startswith(("/", "~", "$")) and room.startswith(("/", "~", "$"))):
            rest = plain
        elif plain == room:
            return True
        elif plain.startswith(room.rstrip("/") + "/"):
            rest = plain[len(room.rstrip("/")) + 1 :]
        else:
            continue
        is_loose = "$" in rest or rest.startswith("/") or (rest == plain and rest.startswith("~"))
        has_dots = "/." in rest or rest[:1] == "."  # or no part of it begins with one
        if not is_loose and (not has_dots or UP.isdisjoint(rest.split("/"))):
            return True
    return False


def is_secret(path: str) -> bool:
    """Whether a file of this name usually holds a key, a password or a token; of a glob, whether it finds one."""
    return _is_secret(path) if len(path) <= MOST_KEPT else _is_secret.__wrapped__(path)


@lru_cache(maxsize=4096)  # an agent works on the same files for a while
def _is_secret(path: str) -> bool:
    if EXAMPLE.search(path):
        return False
    if SECRET.search(path):
        return True
    hidden = HIDDEN.fullmatch(path)
    if hidden is not None and OPEN.fullmatch(hidden[1].rstrip("/")) is None:
        return True
    name = path.rstrip("/").rpartition("/")[2]
    if not GLOB.search(name) or len(re.sub(r"\W", "", name)) < 2:
        return False
    return any(fnmatchcase(secret, name) for secret in USUAL_SECRETS)


def holds_secrets(folder: str) -> bool:
    """Whether somewhere below a folder there usually are keys or passwords: a home, the whole machine."""
    return folder in WHOLE or HOME.fullmatch(folder) is not None


def is_device(path: str) -> bool:
    """Whether writing to `path` overwrites a disk, memory or a setting of the kernel."""
    return path.startswith(("/dev/", "/proc/", "/sys/", "/boot/")) and not path.startswith(
        ("/dev/fd/", "/dev/shm/", "/dev/pts/")
    )

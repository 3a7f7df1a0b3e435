"""The variables that a text gives values to, and what those make other programs do."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import trials
from ..programs import Word
from .out import OUTSIDE, SHARED, Span
from .state import Given, State
from .texts import checks
from .words import CODE, words

if TYPE_CHECKING:
    from tree_sitter import Node

    from .walk import Text

MOST_VALUE = 1_000  # letters of a variable's value that is kept
DANGEROUS = re.compile(  # variables that make a program run something, load something or ask somebody else
    r"PATH|LD_\w+|DYLD_\w+|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_FUNC\w*|PROMPT_COMMAND|PS[0-4]|CDPATH|FPATH|ZDOTDIR"
    r"|PYTHON(?:STARTUP|HOME|INSPECT|BREAKPOINT)|PERL5\w+|PERLLIB|RUBY(?:OPT|LIB)|NODE_(?:OPTIONS|PATH)|LUA_\w+"
    r"|_?JAVA_(?:TOOL_)?OPTIONS|JDK_JAVA_OPTIONS|GIT_\w+|S(?:SH|UDO)_ASKPASS|RSYNC_\w+|TAR_OPTIONS|CVS_RSH"
    r"|SVN_SSH|\w*PAGER|(?:GH_|GLAB_)?(?:EDITOR|VISUAL|BROWSER)|LESSOPEN|LESSCLOSE|SHELL|GREP_OPTIONS|GCONV_PATH|LOCPATH|TERMINFO"
    r"|TERMCAP|HIST(?:FILE|SIZE|FILESIZE)|OPENSSL_\w+|HOME|XDG_CONFIG_HOME|MAKEFLAGS|GOFLAGS|(?:npm|NPM)_(?:config|CONFIG)_\w+"
    r"|RUSTC|RUSTDOC|RUSTC_\w*WRAPPER|CARGO_\w+_(?:RUNNER|LINKER)|CARGO_(?:HOME|REGISTR\w+|SOURCE_\w+|BUILD_\w+)"
    r"|CC|CXX|CPP|LD|AR|AS|CMAKE_\w+_LAUNCHER|\w+_(?:OPTS|ADDOPTS)|MAVEN_\w+|PYTEST_PLUGINS|DOTNET_STARTUP_HOOKS"
    r"|CORECLR_\w+|GO(?:PROXY|SUMDB|NOSUMDB|INSECURE|NOSUMCHECK|ROOT|ENV)|BUNDLE_\w*(?:MIRROR|SOURCE)\w*|GEM_(?:HOME|PATH|HOST)"
    r"|YARN_\w*(?:REGISTRY|PATH)\w*|COMPOSER_\w+|ANSIBLE_\w+|TF_CLI_\w+|HELM_\w*PLUGINS\w*|MANOPT|LESS|CURL_HOME|WGETRC"
    r"|(?:\w+_)?SSL_CERT_\w+|\w+_CA_BUNDLE|NODE_TLS_\w+|NODE_EXTRA_\w+|PYTHONHTTPSVERIFY|SSH_AUTH_SOCK"
    r"|PIP_\w+|UV_\w*INDEX\w*|DOCKER_\w+|KUBECONFIG|AWS_ENDPOINT\w*|\w+_(?:proxy|PROXY)"
)
CHECKS = r"VERIFY|VERIFICATION|CERTS?|CERTIFICATES?|SIGNATURES?|CHECKSUMS?|ATTESTATIONS?"
LETS_BY = re.compile(  # variables that switch off a check of whom or what is trusted, unless they say no
    rf"(?:\w+_)?(?:NO|SKIP|DISABLE|IGNORE|BYPASS)_(?:\w+_)?(?:{CHECKS})(?:_\w+)?|(?:\w+_)?(?:INSECURE|UNSAFE)(?:_\w+)?"
    r"|(?:\w+_)?IGNORE_(?:SSL|TLS|HTTPS)(?:_\w+)?|COMPOSER_DISABLE_TLS|(?:\w+_)?TRUSTED_HOST|GONOSUMCHECK"
    r"|DISABLE_DATABASE_ENVIRONMENT_CHECK",
    re.IGNORECASE,
)
LOOKS = re.compile(  # and those that have one made, where they say no
    r"\w+_(?:VERIFY(?:_(?:SSL|TLS|MODE|PEER|CERTS?))?|SIGNATURE_VERIFICATION|REJECT_UNAUTHORIZED|STRICT_SSL|CONTENT_TRUST"
    r"|HOST_KEY_CHECKING|CHECK_REVOKE|REQUIRE_HASHES|CHECKSUM_BEHAVIOR)|PYTHONHTTPSVERIFY|GOSUMDB",
    re.IGNORECASE,
)
BY_BEING_SET = frozenset({"GIT_SSL_NO_VERIFY"})  # whatever it says
NO = re.compile(r"|0|n|no|f|false|off|none|never|ignore|skip|disabled?", re.IGNORECASE)
SEARCHED = frozenset({"PYTHONPATH", "CLASSPATH", "GOPATH", "BUNDLE_GEMFILE"})  # lists of folders and files with code
LIVE = re.compile(  # NAME=value that has a program work on what runs for everybody
    r"(?:\w*_)?(?:ENV|ENVIRONMENT|STAGE|SETTINGS_MODULE|SETTINGS)=(?:[\w.]*\.)?(?:prod|production|live)"
    r"|(?:\w*_)?(?:DATABASE_URL|DB_URL|DSN|MONGO_URL|REDIS_URL)=(?:\$\{?\w*PROD\w*\}?|\w+://(?:[^/@]*@)?(?!localhost\b)(?:[\w-]*prod[\w-]*|[\w-]+(?:\.[\w-]+)*\.[a-z]+)[:/].*)"
    r"|(?:PGHOST|DB_HOST|MYSQL_HOST)=(?:[\w-]*prod[\w-]*|[\w-]+(?:\.[\w-]+)*\.[a-z]+)",
    re.IGNORECASE,
)
SAFE_NAMES = re.compile(
    r"GIT_(?:AUTHOR|COMMITTER)_\w+|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|GIT_PS1\w*|GIT_ADVICE|PIP_(?:NO|DISABLE)_\w+"
    r"|DOCKER_BUILDKIT|(?:npm|NPM)_(?:config|CONFIG)_(?:loglevel|audit|fund|progress|cache|update_notifier)"
    r"|ANSIBLE_(?:NOCOLOR|FORCE_COLOR|STDOUT_CALLBACK)|COMPOSER_(?:NO_INTERACTION|MEMORY_LIMIT|NO_AUDIT|ALLOW_SUPERUSER)",
    re.IGNORECASE,
)
SAFE_FLAGS = re.compile(  # of GOFLAGS, NODE_OPTIONS, MAKEFLAGS and the like
    r"(?:-(?:mod=\w+|v|race|short|trimpath|count=\d+|buildvcs=\w+|tags=[\w,]+|p=\d+|vet=\w+|j\d*|-jobs=\d+|s|k|-silent)"
    r"|--(?:max[-_]old[-_]space[-_]size=\d+|max-semi-space-size=\d+|stack-trace-limit=\d+|trace-warnings|no-warnings"
    r"|no-deprecation|trace-deprecation|enable-source-maps|experimental-vm-modules|openssl-legacy-provider"
    r"|unhandled-rejections=\w+)|-X(?:m[sx]|ss|mn)\d+[kmgKMG]?|-XX:[+\w:=-]+|-D[\w.]+(?:=[\w.:-]*)?|-ea|-da"
    r"|-(?:q|x|vv?|s|rA|n ?\w+|p no:\w+)|--(?:tb=\w+|no-cov|maxfail=\d+|timeout=\d+|color=\w+|strict-markers|no-daemon)"
    r")(?:\s+|$)"
)
SAFE_VALUES = re.compile(
    r"|cat|less|more|true|:|/bin/true|/bin/cat|dumb|0|1|xterm[\w-]*|ignore|default|always|error|never|direct|off"
    r"|prod|production|dev|development|test|testing|staging|local|ci"
    r"|(?:[\w]+-)*(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+|ld|lld|mold|ar|as|tcc|icc|icx)(?:-[\d.]+)?"
    r"|(?:ccache|sccache)(?: (?:gcc|g\+\+|clang|clang\+\+))?|https://proxy\.golang\.org(?:,direct)?|\$\(go env \w+\)"
)
MACHINES = frozenset({"DOCKER_CONTEXT", "DOCKER_HOST"})  # they name the one that is worked on
MACHINES_HERE = re.compile(r"|default|desktop-\w+|rootless|colima|orbstack|unix://.*")
SAFE_PATHS = re.compile(
    r"\$PATH|\$\{PATH\}|/(?:usr/|usr/local/)?s?bin|\$HOME/go/bin"
    r"|(?:\$PWD/|\$\{PWD\}/|\./|\$\(pwd\)/|\$VIRTUAL_ENV/)?(?:node_modules/\.bin|\.?venv/bin|vendor/bin|bin)"
    r"|(?:\$HOME|~)/\.(?:local|cargo|npm-global|pyenv|nvm)[\w./-]*/bin"
)


def assignment(text: "Text", node: "Node", state: State, *, kept: bool = True, given: bool = False) -> None:
    """NAME=value, for what follows (`kept`) or for one command; `given` to programs, as it is for one command."""
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    if name is None:
        return
    if checks.is_torn(text.source(node), node):
        text.doubt("a line that ends elsewhere", text.span(node))
    if name.type == "subscript":
        text.out.arithmetic = True
        text.substitutions(name, state)
    made: list[Word] = []
    if value is not None and value.type == "array":
        words(text, value.named_children, state)
    elif value is not None:
        made = words(text, [value], state)
    adds = any(child.type == "+=" for child in node.children)
    word = made[0] if len(made) == 1 and not adds else None if made or adds or value is None else Word("")
    if value is not None and value.type == "array":
        word = None
    label = text.source(name).partition("[")[0]
    assign(text, label, word if name.type != "subscript" else None, state, text.span(node), kept=kept)
    if given or not kept or label in state.given:
        state.given = {**state.given, label: word}


def assign(text: "Text", name: str, value: Word | None, state: State, span: Span, *, kept: bool = True) -> None:
    """Take note of a variable, and of those that make something run."""
    if value is not None and CODE.search(value.text) and value.exact:
        text.out.hidden = True
    if value is not None and LIVE.fullmatch(f"{name}={value.text}"):
        text.out.live = True
    if name in SEARCHED:
        for part in value.text.split(":") if value is not None else ():
            if part.startswith(OUTSIDE) and not part.startswith(SHARED):
                text.out.searched(Word(part, *span), state.cwd)
    elif switches_off(name, value):
        text.doubt(f"sets {name}", span)
    elif DANGEROUS.fullmatch(name) and not SAFE_NAMES.fullmatch(name):
        _dangerous(text, name, value, span)
    if kept and name == "IFS" and (value is None or value.text.strip() not in ("", "$'\\n'", "\\n")):
        text.doubt("words that are parted by another sign", span)
    if kept:
        is_known = value is not None and len(value.text) <= MOST_VALUE and (value.exact or not value.loose)
        state.variables[name] = value if is_known else None


def switches_off(name: str, value: Word | None) -> bool:
    """Whether a variable has a program trust what it would not."""
    says_no = value is not None and NO.fullmatch(value.text) is not None
    if LETS_BY.fullmatch(name) is not None:
        return not says_no or name in BY_BEING_SET
    return says_no and LOOKS.fullmatch(name) is not None


def _dangerous(text: "Text", name: str, value: Word | None, span: Span) -> None:
    given = value.text if value is not None else "$"
    if name == "PATH" and all(part and _is_safe_path(text, part) for part in given.split(":")):
        return
    if name.startswith("AWS_ENDPOINT") and value is not None and value.exact and trials.is_here(given):
        return
    safe = MACHINES_HERE if name in MACHINES else SAFE_VALUES
    if value is not None and value.exact and (safe.fullmatch(given) or _are_safe(given)):
        return
    if name == "PATH" and value is not None:
        text.out.add("execute", name, "name", span=span, detail="programs from another place")
    text.doubt(f"sets {name}", span)


def _is_safe_path(text: "Text", part: str) -> bool:
    """Whether programs are looked for where the system has them, or where package managers put a project's."""
    own = part.removeprefix(f"{text.out.room[0]}/")
    if own != part or not part.startswith(("/", "$PATH", "${PATH}", "~", "$HOME")):
        place = text.out.place(Word(own), None)
        if any(name.startswith(f"{place}/") for name in {*text.out.made, *text.out.written}):
            return False
    return SAFE_PATHS.fullmatch(own) is not None


def assignments(text: "Text", node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
    text.odd(extra, state)
    for child in [node] if node.type == "variable_assignment" else node.named_children:
        assignment(text, child, state)


def declaration(text: "Text", node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
    """export, declare, local, readonly, typeset."""
    flags = [text.source(child) for child in node.named_children]
    if not extra and all(flag.startswith("-") and not {"f", "F"} & set(flag) for flag in flags):  # not functions
        text.out.add("read", "environment", "name", span=text.span(node))
        text.out.add("secret", "environment", "name", span=text.span(node))
    if any(flag.startswith("-") and "f" in flag for flag in flags):
        text.exported([flag for flag in flags if flag in state.functions], state)
    for child in [*node.named_children, *extra]:
        if child.type == "variable_assignment":
            assignment(text, child, state, given=node.children[0].type == "export")
        elif child.type == "variable_name":
            continue
        elif child.type != "comment":
            for word in words(text, [child], state):
                declared(text, word, state)


def declared(text: "Text", word: Word, state: State) -> None:
    if word.exact and word.text.startswith(("-", "+")):
        state.blind |= word.text.startswith("-") and "n" in word.text
        text.out.arithmetic |= "i" in word.text
        return
    name, equals, value = word.text.partition("=")
    if not name.isidentifier():
        text.doubt("variables made at run time", (word.start, word.end))
        state.blind = True
    elif equals:
        assign(text, name, word._replace(text=value, at=None), state, (word.start, word.end))


def unset(text: "Text", node: "Node", state: State, given: Given | None, extra: Sequence["Node"]) -> None:
    for child in [*node.named_children, *extra]:
        for word in [Word(text.source(child))] if child.type == "variable_name" else words(text, [child], state):
            state.variables[word.text] = None
            if word.text in state.given:
                state.given = {name: value for name, value in state.given.items() if name != word.text}
            if CODE.search(word.text) or word.text == "HISTFILE":
                text.doubt("a name that is run" if word.text != "HISTFILE" else "hides what is run", text.span(child))


def _are_safe(flags: str) -> bool:
    """Whether all flags that a variable gives to a program only say how it does its work."""
    return bool(flags) and not SAFE_FLAGS.sub("", flags.strip() + " ")

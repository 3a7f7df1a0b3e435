"""What builds, tests and package managers of a project make, and make again: by its name, below the workspace.

Names are those that GitHub's collection of `.gitignore` files has for a language's or a tool's own output
(https://github.com/github/gitignore). Names that as often hold sources (`lib`, `bin`, `vendor`, `deps`) are no output
by themselves: only where something beside them in the same command says so.
"""

import re
from functools import lru_cache

from .paths import normal

_FOLDERS = r"""
    build cmake-build-[\w-]+ builddir _build dist dist-ssr dist-newstyle target out output obj buck-out bazel-[\w-]+
    coverage htmlcov test-results test-reports TestResults playwright-report allure-(?:results|report) storybook-static
    node_modules bower_components jspm_packages web_modules __pycache__ __pypackages__ venv \.venv \.virtualenv \.tox
    \.nox \.eggs \.next \.nuxt \.turbo \.nyc_output \.svelte-kit \.vite \.output \.astro \.angular \.docusaurus \.expo
    \.ipynb_checkpoints \.hypothesis \.gradle \.kotlin \.cxx \.dart_tool \.build DerivedData Pods \.zig-cache zig-cache
    zig-out \.stack-work elm-stuff nimcache \.lake \.rebar3 \.elixir_ls \.cpcache \.shadow-cljs \.bloop \.metals
    \.terraform \.terragrunt-cache \.serverless \.aws-sam cdk\.out _site \.quarto \.pnpm-store \.pdm-build
    generated __generated__ \.vscode-test
    pip-wheel-metadata \.pants\.d \.phpunit\.cache \.[\w-]*[_.-]?cache
"""
_BELOW = r"""
    \.idea/caches
    vendor/bundle cypress/(?:videos|screenshots|downloads) \.yarn/(?:cache|unplugged) Carthage/Build var/cache
    bootstrap/cache storage/framework/(?:cache|views) public/packs(?:-test)? resources/_gen \.vitepress/(?:cache|dist)
"""
_FILES = r"""
    \.coverage[\w.-]* coverage\.(?:xml|out|lcov) lcov\.info [^/]*\.egg-info [^/]*\.py[co] [^/]*\.tsbuildinfo
    \.\w+\.result\.cache \.DS_Store (?:npm|yarn|pnpm)-(?:debug|error)\.log\*?
"""
_GLOBS = r"\*\.(?:o|obj|class|beam|gcda|gcno|gcov|profraw|log|tmp|bak|orig|rej|sw[op])"
_ALL = "|".join([*_FOLDERS.split(), *_BELOW.split(), *_FILES.split()])
OUTPUT = re.compile(rf"(?:^|/)(?:(?:{_ALL})(?:/|$)|{_GLOBS}$)")

# Of a name that may hold sources: what is deleted with it where it is an output, and what is run to make it again.
WITH = {
    "bin": re.compile(r"[\s/{,]obj(?=$|[\s/;,}])"),
    "lib": re.compile(r"[\s/{,](?:esm|cjs|umd)(?=$|[\s/;,}])"),
    "esm": re.compile(""),
    "cjs": re.compile(""),
    "umd": re.compile(""),
}
RUN = {
    "bin": r"dotnet (?:build|clean|restore|test|publish)\b",
    "lib": r"(?:tsc|babel)\b",
    "deps": r"(?:mix )?deps\.get\b",
    "vendor": r"composer (?:install|update|i)\b|go mod vendor\b",
    "site": r"mkdocs\b",
    "public": r"(?:hugo|gatsby|hexo)\b",
    "env": r"(?:virtualenv|venv) ",
    "gen": r"(?!echo|printf|cat|grep)(?:\w+ )?(?:[\w:-]*generate|codegen|gen|protoc)\b",
    "api": r"(?:typedoc|sphinx-apidoc|dartdoc)\b",
}
BEFORE = (
    r"\s*(?:\w+=\S*\s+)*(?:(?:npx|bunx|pnpm|yarn|npm run|npm exec|poetry run|uv run|bundle exec|python3? -m|make|go)"
    r"\s+(?:-\S+\s+)*)?(?:\S*/)?"
)
MAKES = {name: re.compile(f"{BEFORE}(?:{what})") for name, what in RUN.items()}
MAKES_NOTHING = re.compile(r"\s(?:--version|--help|--noEmit|--no-emit|--dry-run|-n|-h|-V|version|help)(?=\s|$)")
SAID = re.compile(r"'[^']*'|\"[^\"]*\"|(?:^|(?<=\s))#[^\n]*")
SOURCES = frozenset(["src", "app", "apps", "scripts", "tools", "backend", "frontend", "server", "models", "internal"])


def is_output(path: str, workspace: str | None, beside: str = "") -> bool:
    """Whether a path in the workspace is what a tool makes again; `beside` is the command that it stands in."""
    rest = path.removeprefix(_room(workspace)) if workspace else path
    if rest.startswith(("/", "~", "$", "../")) or ".git" in rest.split("/"):
        return False
    if OUTPUT.search(rest):
        return True
    *above, name = rest.rstrip("/").split("/")
    said = SAID.sub(" ", beside)
    if name == "bin" and WITH[name].search(said):
        return True
    if not SOURCES.isdisjoint(above):
        return False
    return (name in WITH and WITH[name].search(said) is not None) or (name in MAKES and _is_made(name, said))


def _is_made(name: str, said: str) -> bool:
    """Whether a command is run that makes such a folder, not only if another has failed."""
    runs = (part.partition("||")[0] for part in re.split(r"&&|;|\n", said))
    return any(MAKES[name].match(part) and not MAKES_NOTHING.search(part) for part in runs)


@lru_cache(maxsize=64)
def _room(workspace: str) -> str:
    return normal(workspace).rstrip("/") + "/"

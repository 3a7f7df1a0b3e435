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

# Of a name that may hold sources: what has to stand beside it for it to be an output, deleted with it or run after it.
BESIDE = {
    "bin": re.compile(r"(?:^|[\s/{,])obj(?=$|[\s/;,}])|\bdotnet (?:build|clean|restore|test|publish)\b"),
    "lib": re.compile(r"(?:^|[\s/{,])(?:esm|cjs|umd)(?=$|[\s/;,}])|\btsc\b|\bbabel\b"),
    "deps": re.compile(r"\bmix deps\.get\b"),
    "vendor": re.compile(r"\bcomposer (?:install|update|i)\b|\bgo mod vendor\b"),
    "site": re.compile(r"\bmkdocs\b"),
    "public": re.compile(r"\b(?:hugo|gatsby|hexo)\b"),
    "env": re.compile(r"\b(?:virtualenv|venv) "),
    "gen": re.compile(r"\b(?:generate|codegen|protoc)\b"),
    "api": re.compile(r"\b(?:typedoc|sphinx-apidoc|dartdoc)\b"),
    "esm": re.compile(""),
    "cjs": re.compile(""),
    "umd": re.compile(""),
}


def is_output(path: str, workspace: str | None, beside: str = "") -> bool:
    """Whether a path in the workspace is what a tool makes again; `beside` is the command that it stands in."""
    rest = path.removeprefix(_room(workspace)) if workspace else path
    if rest.startswith(("/", "~", "$")) or ".git" in rest.split("/"):
        return False
    if OUTPUT.search(rest):
        return True
    name = rest.rstrip("/").rpartition("/")[2]
    sign = BESIDE.get(name)
    return sign is not None and sign.search(beside) is not None


@lru_cache(maxsize=64)
def _room(workspace: str) -> str:
    return normal(workspace).rstrip("/") + "/"

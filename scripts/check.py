"""Everything that can be checked without running the product; each check's name, then what it found."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Agent text is data: autoescape stays on, and the content security policy allows nothing inline.
FORBIDDEN_IN_TEMPLATES = {
    r"\|\s*safe\b": "|safe",
    r"{%\s*autoescape\s+off": "autoescape off",
    r"<script(?![^>]*\s(?:src=|type=\"application/json\"))": "an inline script",
    r"<style\b": "an inline style sheet",
    r"\sstyle\s*=": "a style attribute",
    r"\son[a-z]+\s*=\s*[\"']": "an event handler attribute",
    r"{%\s*load\s+partials": "a dependency on django-template-partials",
    r"javascript:": "a javascript: address",
    r"{%(?!.*%})": "a tag over two lines, which is shown as text",
}
FORBIDDEN_IN_CODE = {r"\bmark_safe\b": "mark_safe", r"\bSafe(String|Text)\b": "SafeString"}
ESCAPES = "metacog/http/included.py"  # where values are escaped in Django's place; tests compare it with Django's

# What may be shipped with MIT-licensed code without asking anybody.
GOOD_LICENCES = re.compile(
    r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla|LGPL|Lesser General)\b"
    r"|\b(Unlicense|0BSD|Zlib|Public Domain)\b",
    re.IGNORECASE,
)


# Besides the Python client itself, whose adapters are checked beside what they adapt (clients/run_tests.py).
IN_CLIENTS = ("clients/run_tests.py", "clients/testing", "clients/python/tests/conftest.py")


class Skipped(Exception):
    """What a check needs is not on this machine; the words say what."""


def run(*command: str, **environment: str) -> Iterator[str]:
    """Give the output of a command that failed, nothing for one that succeeded."""
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    if done.returncode:
        yield done.stdout.strip() or f"exit status {done.returncode}"


def manage(*arguments: str, **environment: str) -> Iterator[str]:
    return run(sys.executable, "manage.py", *arguments, **environment)


def lint() -> Iterator[str]:
    return run(sys.executable, "-m", "ruff", "check", "--quiet", "--output-format=concise", ".")


def types() -> Iterator[str]:
    yield from run(sys.executable, "-m", "mypy", "metacog", "patterns", "reviews", "tests", "scripts", *IN_CLIENTS)
    # As the oldest Python that may run it reads it.
    yield from run(sys.executable, "-m", "mypy", "--config-file", "clients/python/pyproject.toml")


def scripts() -> Iterator[str]:
    """Read the pages' scripts as TypeScript does: their types stand in JSDoc."""
    node, compiler = shutil.which("node"), ROOT / "clients/typescript/node_modules/typescript/bin/tsc"
    if node is None:
        raise Skipped("no Node")
    if not compiler.exists():
        raise Skipped("no TypeScript; `npm ci --ignore-scripts` in clients/typescript installs it")
    for project in ("tsconfig.json", "tsconfig.strict.json"):
        yield from run(node, str(compiler), "--project", f"tests/node/{project}", "--pretty", "false")


def migrations() -> Iterator[str]:
    return manage("makemigrations", "--check", "--dry-run", "--verbosity=1")


def deployment() -> Iterator[str]:
    return manage(
        "check", "--deploy", "--fail-level=WARNING",
        METACOG_PUBLIC_URL="https://metacog.example.org",
        METACOG_ALLOWED_HOSTS="metacog.example.org",
        METACOG_SECRET_KEY="a-key-for-this-check-only-0123456789-abcdefghijklmnopqrstuvwxyz",
    )  # fmt: skip


def translations() -> Iterator[str]:
    return manage("messages", "--check")


def templates() -> Iterator[str]:
    import django
    from django.template import TemplateSyntaxError
    from django.template.loader import get_template

    os.environ["DJANGO_SETTINGS_MODULE"] = "metacog.settings"
    django.setup()
    for path in sorted((ROOT / "templates").rglob("*.*")):
        name = path.relative_to(ROOT / "templates").as_posix()
        try:
            get_template(name)
        except TemplateSyntaxError as error:
            yield f"{name}: {error}"
        yield from forbidden(path, FORBIDDEN_IN_TEMPLATES)
    for folder in ("metacog", "patterns", "reviews"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.relative_to(ROOT).as_posix() != ESCAPES:
                yield from forbidden(path, FORBIDDEN_IN_CODE)


def layout() -> Iterator[str]:
    """Ask of templates the indentation that djhtml gives, and lines under 140 columns."""
    yield from run(sys.executable, "-m", "djhtml", "--tabwidth=2", "--check", "templates")
    for path in sorted((ROOT / "templates").rglob("*.html")):
        shown = False  # what stands in <pre> is shown as it is
        for number, line in enumerate(path.read_text().splitlines(), 1):
            shown = "<pre" in line or (shown and "</pre" not in line)
            if len(line) >= 140 and not shown and "</pre" not in line:
                yield f"{path.relative_to(ROOT)}:{number}: {len(line)} columns"


def forbidden(path: Path, patterns: dict[str, str]) -> Iterator[str]:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for pattern, name in patterns.items():
            if re.search(pattern, line, re.IGNORECASE):
                yield f"{path.relative_to(ROOT)}:{number}: {name}"


def unused() -> Iterator[str]:
    """Name the code, the templates and their blocks that nothing uses."""
    return run(sys.executable, "scripts/unused.py")


def vendored() -> Iterator[str]:
    """Hold each file of others against the integrity its package gives, and ask for its licence.

    static/vendor/VENDORED.json: {"htmx.min.js": {"package": "htmx.org", "version": "2.0.8",
    "integrity": "sha512-…", "licence": "htmx.LICENSE"}}
    """
    folder = ROOT / "static" / "vendor"
    if not folder.is_dir():
        return
    listed = json.loads((folder / "VENDORED.json").read_text())
    licences = {entry["licence"] for entry in listed.values()}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or name == "VENDORED.json" or name in licences:
            continue
        if name not in listed:
            yield f"{name} is not in VENDORED.json"
            continue
        digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        if listed[name]["integrity"] != f"sha512-{digest}":
            yield f"{name} is not the file that VENDORED.json names"
    for name, entry in listed.items():
        for needed in (name, entry["licence"]):
            if not (folder / needed).is_file():
                yield f"{needed} is missing"


def signals() -> Iterator[str]:
    """Compare the table of signals in the docs with their specs, and say what signals cost."""
    subprocess.run([sys.executable, "scripts/signal_cost.py"], cwd=ROOT)
    return run(sys.executable, "scripts/signal_table.py", "--check")


def clients() -> Iterator[str]:
    """Compare the Python client without `await` with the one it is made from."""
    return run(sys.executable, "scripts/sync_client.py", "--check")


def links() -> Iterator[str]:
    """Follow every relative link in the Markdown files, and its anchor."""
    anchors: dict[Path, set[str]] = {}
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    pages += [*(ROOT / "clients").glob("*/*.md")]
    for page in sorted(pages):
        text = re.sub(r"^( *)(`{3,}).*?^ *\2$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^()\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            if re.match(r"[a-z]+:", link):
                continue
            place, _, anchor = link.partition("#")
            target = (page.parent / place).resolve() if place else page
            if not target.exists():
                yield f"{page.relative_to(ROOT)}: {link} does not exist"
            elif anchor and anchor not in anchors.setdefault(target, set(_anchors(target))):
                yield f"{page.relative_to(ROOT)}: {link} names no heading"


def _anchors(page: Path) -> Iterator[str]:
    """Give the anchors that GitHub makes of a page's headings."""
    text = re.sub(r"^( *)(`{3,}).*?^ *\2$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ +(.+)$", text, re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        yield re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")


def licences() -> Iterator[str]:
    """Read the licence of every package that `make up` installs."""
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if not (match := re.match(r"([\w.-]+)==", line)):
            continue
        try:
            package = importlib.metadata.metadata(match[1])
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform or Python
        classifiers = [value for value in package.get_all("Classifier", []) if value.startswith("License")]
        fields = [package[name][:200] for name in ("License-Expression", "License") if name in package]
        said = " ".join(fields + classifiers)
        if not GOOD_LICENCES.search(said):
            yield f"{match[1]}: {said.strip() or 'names no license'}"


CHECKS: tuple[Callable[[], Iterator[str]], ...] = (
    lint, types, scripts, migrations, deployment, templates, layout, translations, signals, clients, unused, links,
    vendored, licences,
)  # fmt: skip


def main(names: list[str]) -> int:
    known = [check.__name__ for check in CHECKS]
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"There is no check {', '.join(unknown)}; there are {', '.join(known)}.")
    failed = False
    with tempfile.TemporaryDirectory(prefix="metacog-check-") as folder:
        os.environ |= {"METACOG_DATA_DIR": folder, "METACOG_DOTENV": ""}
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process compiles all of it anew
        for check in CHECKS:
            if names and check.__name__ not in names:
                continue
            try:
                found = list(check())
            except Skipped as why:
                print(f"{check.__name__}: skipped: {why}", flush=True)
                continue
            failed |= bool(found)
            print(f"{check.__name__}: {'FAILED' if found else 'ok'}", *found, sep="\n", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

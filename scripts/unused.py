"""Name what nothing uses: functions, classes and attributes, templates, their blocks, tags and filters.

    .venv/bin/python scripts/unused.py

Vulture reads the code; tests do not count as use. What templates and strings name is used, and so is what has the name
of something in a base class that is not ours. What is neither, and is used all the same, stands in CALLED_BY_NAME.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import vulture

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PACKAGES = ("metacog", "patterns", "reviews")
KINDS = ("function", "class", "method", "property", "import")
# Whoever is registered by these is called by what registers it.
REGISTERED = [
    "@*.get", "@*.post", "@*.put", "@*.delete", "@*.api_operation", "@*.exception_handler", "@shared_task",
    "@register.*", "@receiver", "@admin.*", "@*_validator", "@*.connect", "@sync_and_async_middleware",
    "@*.simple_tag", "@*.filter",
]  # fmt: skip
# Who calls it goes by its name, without a base class that has it.
CALLED_BY_NAME = re.compile(
    r"clean_\w+"  # a form, of each of its fields
    r"|process_(view|exception)|\w+Config"  # Django: of middleware, of apps
    r"|collect"  # prometheus_client
    r"|_(verify|export|anchor)"  # `manage.py audit`, of its actions
    r"|Messages|initialize|finalize"  # hatchling, of its hook
    r"|find_words"  # signals to come, see docs/heuristics.md
)
OF_DJANGO = re.compile(r"(4\d\d|500)\.html|registration/login\.html")  # which its own views show
_IN_TAGS = re.compile(r"{[{%](.*?)[%}]}", re.DOTALL)
_NAMED = re.compile(r"[\"']([\w./{}-]+\.(?:html|txt|xml))[\"']")
_TAG = re.compile(r"(?:{%\s*(?:filter\s+)?|\|)(\w+)")
OUR_I18N = "metacog.http.translated"  # Django's tags, a few of them ours
_BLOCK = re.compile(r"{%-?\s*block\s+(\w+)")


def sources() -> list[Path]:
    found = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return [*found, *(ROOT / "scripts").glob("*.py"), ROOT / "manage.py"]


@functools.cache
def templates() -> dict[str, str]:
    folder = ROOT / "templates"
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.*")}


def code() -> Iterator[str]:
    """Name the functions, classes, methods and imports that nothing uses."""
    found = vulture.Vulture(ignore_decorators=REGISTERED)
    for path in sources():
        found.scan(path.read_text(), filename=path)
        found.used_names.update(_named_in_strings(path))
    for text in templates().values():
        for tag in _IN_TAGS.findall(text):
            found.used_names.update(re.findall(r"\w+", tag))
    for item in found.get_unused_code(min_confidence=60):
        place = item.filename.relative_to(ROOT)
        if item.typ not in KINDS or "migrations" in place.parts or CALLED_BY_NAME.fullmatch(item.name):
            continue
        if not _overrides(place, item.name):
            yield f"{place}:{item.first_lineno}: {item.typ} {item.name}"


def _named_in_strings(path: Path) -> Iterator[str]:
    for text in re.findall(r"[\"']([\w.:]+)[\"']", path.read_text()):
        yield from re.split(r"[.:]", text)


def _overrides(place: Path, name: str) -> bool:
    """Say whether a class in that file has something of that name from a class that is not ours."""
    if place.parts[0] not in PACKAGES:
        return False
    module = importlib.import_module(".".join(place.with_suffix("").parts).removesuffix(".__init__"))
    classes = [each for each in vars(module).values() if isinstance(each, type) and name in vars(each)]
    return any(
        hasattr(base, name) and not base.__module__.startswith(PACKAGES)
        for each in classes
        for base in each.__mro__[1:]
    )


def pages() -> Iterator[str]:
    """Name the templates that nothing shows, and the blocks that nothing fills or that fill nothing."""
    from django.template.utils import get_app_template_dirs

    folders = [each for each in map(Path, get_app_template_dirs("templates")) if each != ROOT / "templates"]
    theirs = {
        path.relative_to(folder).as_posix(): path.read_text() for folder in folders for path in folder.rglob("*.*")
    }
    texts = [*templates().values(), *(path.read_text() for path in sources())]
    named = {re.sub(r"\\{[^{}]*\\}", ".+", re.escape(name)) for text in texts for name in _NAMED.findall(text)}
    is_named = re.compile("|".join(sorted(named)))
    blocks = Counter(name for text in (*templates().values(), *theirs.values()) for name in set(_BLOCK.findall(text)))
    for name, text in sorted(templates().items()):
        if not (name in theirs or is_named.fullmatch(name) or OF_DJANGO.fullmatch(name)):
            yield f"templates/{name}: nothing shows it"
        for block in dict.fromkeys(_BLOCK.findall(text)):
            if blocks[block] == 1:
                yield f"templates/{name}: no other template has its block {block}"


def tags() -> Iterator[str]:
    """Name our tags and filters that no template has."""
    from django.template import engines

    engine = engines["django"].engine  # type: ignore[attr-defined]
    used = {name for text in templates().values() for name in _TAG.findall(text)}
    for name, module in engine.libraries.items():
        if module.startswith(PACKAGES) and module != OUR_I18N:
            library = engine.template_libraries[name]
            for tag in sorted((library.tags.keys() | library.filters.keys()) - used):
                yield f"{module}: no template has {tag}"


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "metacog.settings")
    import django

    django.setup()
    found = [*code(), *pages(), *tags()]
    print(*found, sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

"""`manage.py messages`: bring the translations' sources up to date with the texts in code and templates.

Django's makemessages needs gettext on the machine; this needs Babel only, which comes with what the tests need.
"""

from __future__ import annotations

import io
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_python
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.translation.template import templatize

LOCALES = ("zh_Hant", "zh_Hans")
FOLDERS = ("metacog", "patterns", "reviews", "templates")
KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[sd]|\{\w*\}")


class SteadyCatalog(Catalog):
    """A catalogue whose header holds no dates and names, so that it changes only with its messages."""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        return [
            ("Language", str(self.locale_identifier)),
            ("Plural-Forms", self.plural_forms),
            ("Content-Type", "text/plain; charset=utf-8"),
        ]


def texts_in(path: Path) -> Iterator[tuple[Any, str | None]]:
    """Give (message id, context) for every translatable text of one file."""
    source = path.read_text()
    if path.suffix == ".html":
        lines = templatize(source, origin=str(path)).splitlines()
        source = "\n".join(map(str.lstrip, lines))  # it is read as Python, to which indentation means something
    found = extract_python(io.BytesIO(source.encode()), KEYWORDS, [], {"encoding": "utf-8"})
    for _line, function, arguments, _comments in found:
        values: Any = arguments if isinstance(arguments, tuple) else (arguments,)
        spec = KEYWORDS[str(function)] or (1,)
        context = next((values[part[0] - 1] for part in spec if isinstance(part, tuple)), None)
        ids = tuple(values[part - 1] for part in spec if isinstance(part, int))
        if all(ids):
            yield ids if len(ids) > 1 else ids[0], context


def extracted() -> Catalog:
    """Return the texts of the whole project, in the order of the files that hold them."""
    catalog = Catalog()
    for folder in FOLDERS:
        for path in sorted((settings.BASE_DIR / folder).rglob("*")):
            if path.suffix in (".py", ".html", ".txt"):
                for text, context in texts_in(path):
                    place = (path.relative_to(settings.BASE_DIR).as_posix(), 0)
                    catalog.add(text, locations=[place], context=context)
    return catalog


def refreshed(locale: str, template: Catalog) -> Catalog:
    """Return one language's catalogue: the template's messages, with the translations there are."""
    path = source_of(locale)
    known = read_po(io.BytesIO(path.read_bytes()), locale=locale) if path.exists() else Catalog(locale=locale)
    catalog = SteadyCatalog(locale=locale, header_comment="", fuzzy=False)
    for message in template:
        if message.id:
            old = known.get(message.id, message.context)
            if old is None or old.fuzzy or type(old.id) is not type(message.id):  # one that got a plural is another
                old = None
            text = old.string if old else ""
            catalog.add(message.id, text or None, message.locations, context=message.context)
    return catalog


def source_of(locale: str) -> Path:
    return Path(settings.LOCALE_SOURCE) / locale / "django.po"


def as_source(catalog: Catalog) -> bytes:
    out = io.BytesIO()
    write_po(out, catalog, width=100, include_lineno=False, sort_by_file=True)
    return out.getvalue()


def problem_of(message: Message) -> str:
    """Say what is wrong with one translation; empty when nothing is."""
    texts = forms_of(message.string)
    if not all(texts):
        return "is not translated"
    # A singular may leave the number out ("one item"), so either original will do.
    allowed = [sorted(PLACEHOLDER.findall(text)) for text in forms_of(message.id)]
    if any(sorted(PLACEHOLDER.findall(text)) not in allowed for text in texts):
        return "has other placeholders than its original"
    return ""


def forms_of(text: Any) -> tuple[str, ...]:
    """Return a message's singular and plurals, also where there is only one form."""
    return text if isinstance(text, tuple) else (text,)


class Command(BaseCommand):
    help = "Bring locale/*/django.po up to date with the texts in code and templates."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing; fail where a translation is missing")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        template = extracted()
        problems = []
        for locale in LOCALES:
            catalog = refreshed(locale, template)
            path = source_of(locale)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(as_source(catalog))
            elif not path.exists() or path.read_bytes() != as_source(catalog):
                problems.append(f"{path.relative_to(settings.BASE_DIR)} is out of date: make messages")
            for message in catalog:
                if message.id and (problem := problem_of(message)):
                    problems.append(f"{locale}: {message.id!r} {problem}")
        for problem in problems:
            self.stderr.write(problem)
        if problems and check:
            sys.exit(1)

"""Texts are found in code and templates, and compiled without gettext."""

from __future__ import annotations

import ast
import gettext
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command

from metacog.management.commands import messages
from metacog.runtime import catalogs

CODE = """
from django.utils.translation import gettext_lazy as _, ngettext, pgettext
TITLE = _("Held items")
def count(n): return ngettext("%(n)d item", "%(n)d items", n) % {"n": n}
def verb(): return pgettext("to the queue", "Hold")
"""
TEMPLATE = """
{% load i18n %}{% translate "Held items" %} {% translate "Sign in" context "button" %}
{% blocktranslate trimmed count n=n %}
  {{ n }} waits
{% plural %}
  {{ n }} wait
{% endblocktranslate %}
"""
TRANSLATED = {
    "Held items": "保留項目",
    "%(n)d item": "%(n)d 項",
    "Hold": "保留",
    "Sign in": "登入",
    "%(n)s waits": "%(n)s 項等待中",
}


@pytest.fixture
def project(tmp_path: Path, settings: Any) -> Path:
    for name, text in (("reviews/texts.py", CODE), ("templates/page.html", TEMPLATE)):
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(text)
    settings.BASE_DIR = tmp_path
    settings.LOCALE_SOURCE = tmp_path / "locale"
    settings.LOCALE_PATHS = [tmp_path / "compiled"]
    return tmp_path


def translate(project: Path, change: Callable[[str, str], str] = lambda original, text: text) -> None:
    """Fill in every translation, each through `change`."""
    call_command("messages", stderr=open("/dev/null", "w"))  # noqa: SIM115 - it says what is missing
    for source in project.glob("locale/*/django.po"):
        lines = []
        original = ""
        for line in source.read_text().splitlines():
            if line.startswith('msgid "'):
                original = line[7:-1]
            if line in ('msgstr ""', 'msgstr[0] ""') and original:
                line = line[:-1] + change(original, TRANSLATED[original]) + '"'
            lines.append(line)
        source.write_text("\n".join(lines) + "\n")


def test_texts_of_code_and_templates_are_found(project: Path) -> None:
    translate(project)
    text = (project / "locale/zh_Hant/django.po").read_text()
    assert text.count('msgid "Held items"') == 1
    assert "#: reviews/texts.py templates/page.html" in text
    assert 'msgctxt "button"' in text
    assert 'msgid_plural "%(n)s wait"' in text
    call_command("messages", check=True)


def test_a_text_that_got_a_plural_is_translated_anew(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "reviews/texts.py").write_text('TITLE = gettext("one item")')
    call_command("messages")
    for source in project.glob("locale/*/django.po"):
        source.write_text(source.read_text().replace('"one item"\nmsgstr ""', '"one item"\nmsgstr "一項"'))
    (project / "reviews/texts.py").write_text('TITLE = ngettext("one item", "%(n)s items", n)')
    capsys.readouterr()
    call_command("messages")
    assert "('one item', '%(n)s items') is not translated" in capsys.readouterr().err


def test_nothing_changes_where_nothing_changed(project: Path) -> None:
    translate(project)
    source = project / "locale/zh_Hans/django.po"
    before = source.read_bytes()
    call_command("messages")
    assert source.read_bytes() == before


def test_a_missing_translation_fails_the_check(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    translate(project, lambda original, text: "" if original == "Hold" else text)
    with pytest.raises(SystemExit):
        call_command("messages", check=True)
    assert "zh_Hant: 'Hold' is not translated" in capsys.readouterr().err


def test_a_lost_placeholder_fails_the_check(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    translate(project, lambda original, text: text.replace("%(n)d", ""))
    with pytest.raises(SystemExit):
        call_command("messages", check=True)
    assert "has other placeholders than its original" in capsys.readouterr().err


def test_a_new_text_fails_the_check(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    translate(project)
    with (project / "reviews/texts.py").open("a") as file:
        file.write('NEW = _("Something new")\n')
    with pytest.raises(SystemExit):
        call_command("messages", check=True)
    assert "is out of date" in capsys.readouterr().err


def test_compiled_catalogues_translate(project: Path) -> None:
    translate(project)
    catalogs.compile_all()
    translation = gettext.translation("django", project / "compiled", ["zh_Hant"])
    assert translation.gettext("Held items") == "保留項目"
    assert translation.pgettext("to the queue", "Hold") == "保留"
    assert translation.ngettext("%(n)d item", "%(n)d items", 3) == "%(n)d 項"


def test_catalogues_are_compiled_again_only_when_their_source_changed(project: Path) -> None:
    translate(project)
    catalogs.compile_all()
    compiled = project / "compiled/zh_Hant/LC_MESSAGES/django.mo"
    first = compiled.stat().st_ino
    catalogs.compile_all()
    assert compiled.stat().st_ino == first
    source = project / "locale/zh_Hant/django.po"
    source.write_text(source.read_text().replace("保留項目", "等待項目"))
    catalogs.compile_all()
    assert gettext.translation("django", project / "compiled", ["zh_Hant"]).gettext("Held items") == "等待項目"


def test_no_text_stands_in_an_f_string_where_only_python_3_12_and_later_find_it() -> None:
    folders = (django_settings.BASE_DIR / folder for folder in messages.FOLDERS)
    between_braces = re.compile(rf"{{[^}}]*\b(?:{'|'.join(messages.KEYWORDS)})\(")  # so may it stand, too, in a dict
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        source = path.read_text()
        for written in ast.walk(ast.parse(source)) if between_braces.search(source) else ():
            if isinstance(written, ast.JoinedStr):
                called = {getattr(node.func, "id", "") for node in ast.walk(written) if isinstance(node, ast.Call)}
                assert not called & set(messages.KEYWORDS), f"{path}, line {written.lineno}"

"""Imports and foreign keys point one way: reviews → patterns → metacog → metacog.heuristics."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps

ROOT = Path(__file__).resolve().parent.parent
LEVELS = ["metacog.heuristics", "metacog", "patterns", "reviews"]  # from the ground up
SEES_ALL = {"metacog/settings.py", "metacog/urls.py", "metacog/celery.py"}


def level(module: str) -> int | None:
    for name in ("metacog.heuristics", "metacog", "patterns", "reviews"):
        if module == name or module.startswith(name + "."):
            return LEVELS.index(name)
    return None


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def sources() -> list[Path]:
    return [
        path
        for package in ("metacog", "patterns", "reviews")
        for path in sorted((ROOT / package).rglob("*.py"))
        if "migrations" not in path.parts and str(path.relative_to(ROOT)) not in SEES_ALL
    ]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_nothing_above_it(path):
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    own = level(module)
    above = sorted(name for name in imports(path) if (other := level(name)) is not None and other > own)
    assert above == []


def test_foreign_keys_point_down():
    for model in apps.get_models():
        own = level(model.__module__)
        for field in model._meta.get_fields():
            if own is None or not field.is_relation or field.auto_created or field.related_model is None:
                continue
            other = level(field.related_model.__module__)
            assert other is None or other <= own, f"{model.__name__}.{field.name}"


def test_importing_the_heuristics_loads_neither_django_nor_celery():
    code = "import sys, metacog.heuristics; print(sorted({'django', 'celery', 'ninja'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert found.stdout.strip() == "[]"


def test_only_the_settings_read_the_environment():
    readers = {
        str(path.relative_to(ROOT))
        for path in sources()
        if "os.environ" in path.read_text() or "getenv" in path.read_text()
    }
    # `manage.py up` hands its options to the processes it starts; the others name the settings.
    starts = {"metacog/__main__.py", "metacog/runtime/supervisor.py", "metacog/asgi.py"}
    assert readers <= {"metacog/management/commands/up.py", *starts}

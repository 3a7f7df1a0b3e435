"""Imports and foreign keys point one way: reviews → patterns → metacog → metacog.heuristics, and so between folders."""

import ast
import importlib.util
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
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


def module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Give the statements of a file, in whatever they stand: imports and functions are no part of an expression."""
    found: list[ast.AST] = list(ast.parse(path.read_text()).body)
    for node in found:  # grows meanwhile
        for inner in (vars(node).get(field, ()) for field in ("body", "orelse", "handlers", "finalbody", "cases")):
            found += inner
    return found


@cache
def imports(path: Path) -> set[str]:
    """Return what a file imports, with what it imports from: `from a import b` gives `a` and `a.b`."""
    found = set()
    package = module(path) if path.name == "__init__.py" else module(path).rpartition(".")[0]
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            name = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            found |= {name, *(f"{name}.{alias.name}" for alias in node.names)}
    return found


def sources() -> list[Path]:
    return [
        path
        for package in ("metacog", "patterns", "reviews")
        for path in sorted((ROOT / package).rglob("*.py"))
        if "migrations" not in path.parts and str(path.relative_to(ROOT)) not in SEES_ALL
    ]


def test_a_module_imports_nothing_above_it() -> None:
    above = [
        f"{module(path)} imports {name}"
        for path in sources()
        for name in sorted(imports(path))
        if (other := level(name)) is not None and other > level(module(path))
    ]
    assert above == []


@pytest.mark.parametrize("depth", [1, 9])
def test_arrows_between_folders_go_round_in_no_circle(depth: int) -> None:
    """Neither between the folders of a level, with all that is in them, nor between those that lie deeper.

    A module that lies in a package itself is a place of its own.
    """
    paths = {module(path): path for path in sources()}

    def place(name: str) -> str:
        package = LEVELS[level(name) or 0]
        folders = name.removeprefix(package).strip(".").split(".")
        own = folders if paths[name].name == "__init__.py" else folders[:-1] or folders
        return ".".join([package, *own[:depth]]).strip(".")

    arrows: dict[str, set[str]] = {}
    for name, path in paths.items():
        known = {place(other) for other in imports(path) if other in paths and other not in LEVELS}
        arrows.setdefault(place(name), set()).update(known - {place(name), *LEVELS})
    TopologicalSorter(arrows).prepare()  # a CycleError names the folders


def test_no_folder_has_more_than_fifteen_modules() -> None:
    paths = [*sources(), *(ROOT / "tests").rglob("*.py")]
    modules = Counter(path.parent for path in paths if path.name != "__init__.py")
    assert [(str(folder.relative_to(ROOT)), n) for folder, n in modules.items() if n > 15] == []


def test_no_function_takes_more_than_seven_parameters() -> None:
    """What more belongs together is a value with a name."""
    long = []
    for path in [*sources(), *sorted((ROOT / "scripts").glob("*.py"))]:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                if sum(each.arg not in ("self", "cls") for each in taken) > 7:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert long == []


def test_each_folder_says_what_lives_there() -> None:
    silent = [
        str(path.parent.relative_to(ROOT))
        for path in sources()
        if path.name == "__init__.py" and not (ast.get_docstring(ast.parse(path.read_text())))
    ]
    assert silent == []


def test_foreign_keys_point_down() -> None:
    for model in apps.get_models():
        own = level(model.__module__)
        for field in model._meta.get_fields():
            if own is None or not field.is_relation or field.auto_created or field.related_model is None:
                continue
            other = level(field.related_model.__module__)
            assert other is None or other <= own, f"{model.__name__}.{field.name}"


def test_importing_the_heuristics_loads_neither_django_nor_celery() -> None:
    code = "import sys, metacog.heuristics; print(sorted({'django', 'celery', 'ninja'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert found.stdout.strip() == "[]"


def test_only_who_gathers_texts_needs_babel() -> None:
    needs = {module(path) for path in sources() if any(name.startswith("babel") for name in imports(path))}
    assert needs == {"metacog.management.commands.messages"}
    assert "babel==" not in (ROOT / "requirements.txt").read_text()


def test_only_the_settings_read_the_environment() -> None:
    readers = {
        str(path.relative_to(ROOT))
        for path in sources()
        if "os.environ" in path.read_text() or "getenv" in path.read_text()
    }
    # `manage.py up` hands its options to the processes it starts; the others name the settings.
    starts = {"metacog/__main__.py", "metacog/runtime/supervisor.py", "metacog/asgi.py"}
    assert readers <= {"metacog/management/commands/up.py", *starts}

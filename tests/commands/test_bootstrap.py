"""The first step of every `make`: finds a Python, says in one sentence what is missing."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from django.conf import settings


@pytest.fixture
def bootstrap() -> ModuleType:
    path = settings.BASE_DIR / "scripts" / "bootstrap.py"
    spec = importlib.util.spec_from_file_location("bootstrap", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, path in (("VENV", ".venv"), ("STAMP", ".venv/installed"), ("LOG", ".venv/install.log")):
        monkeypatch.setattr(bootstrap, name, str(tmp_path / path))
    monkeypatch.setattr(bootstrap, "ROOT", str(tmp_path))
    return tmp_path


def put_on_path(folder: Path, name: str, script: str) -> None:
    command = folder / name
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)


def test_a_python_that_does_not_fit_hands_over_to_one_that_does(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on_path(tmp_path, "python3.13", "echo 'pyenv: python3.13: command not found' >&2; exit 127")
    put_on_path(tmp_path, "python3.12", "exit 0")
    became: list[str] = []
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr(os, "execvp", lambda name, arguments: became.append(name) or sys.exit(0))
    with pytest.raises(SystemExit):
        bootstrap.find_python()
    assert became == ["python3.12"]


def test_no_python_that_fits_is_one_sentence(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "version_info", (2, 7, 18))
    with pytest.raises(SystemExit, match="1"):
        bootstrap.find_python()
    assert capsys.readouterr().err.startswith("This is Python 2.7; metacog needs Python 3.11 to 3.14")


def test_a_python_without_venv_is_one_sentence(
    bootstrap: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(SystemExit, match="1"):
        bootstrap.install(dev=False)
    assert "apt install python3." in capsys.readouterr().err
    assert not (checkout / ".venv").exists()


def test_a_failed_download_is_one_sentence(
    bootstrap: ModuleType, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / ".venv").mkdir()
    with pytest.raises(SystemExit, match="1"):
        bootstrap.run("Installing uv", [sys.executable, "-c", "raise OSError('no route to host')"])
    said = capsys.readouterr().err
    assert said.startswith("Installing uv failed")
    assert "Traceback" not in said
    assert "no route to host" in (checkout / ".venv" / "install.log").read_text()


@pytest.mark.parametrize("made", ["", ".venv"])
def test_a_folder_that_cannot_be_written_is_one_sentence(
    bootstrap: ModuleType,
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    made: str,
) -> None:
    """Also one in which a release before this one has been installed."""
    (checkout / made).mkdir(exist_ok=True)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(SystemExit, match="1"):
        bootstrap.install(dev=False)
    said = f"The folder {checkout / made} cannot be written, so nothing can be installed in it.\n"
    assert capsys.readouterr().err == said


def test_what_is_installed_is_not_installed_again(
    bootstrap: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(bootstrap, "run", lambda what, command: steps.append(command[-1]))
    monkeypatch.setattr("venv.create", lambda path, **options: Path(path).mkdir())
    bootstrap.install(dev=False)
    assert steps == [bootstrap.UV_LOCK, bootstrap.RUNTIME_LOCK]
    bootstrap.install(dev=False)
    assert len(steps) == 2
    bootstrap.install(dev=True)
    assert steps[2:] == [bootstrap.DEV_LOCK]
    bootstrap.install(dev=False)  # what the tests need holds all that runs needs
    assert len(steps) == 3


def test_make_names_a_python_that_is_not_there() -> None:
    made = subprocess.run(
        ["make", "up", "PYTHON=python9"], cwd=settings.BASE_DIR, capture_output=True, text=True
    )
    assert made.returncode != 0
    assert made.stderr.startswith("python9 is not on the PATH; metacog needs Python 3.11 to 3.14.")

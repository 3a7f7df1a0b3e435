"""The wheel: all that a checkout has for running, and nothing written where packages lie.

It is built from what .dockerignore leaves of the checkout, as in the container image.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from django.conf import settings

from metacog.__main__ import OF_CLIENT
from tests.commands.test_up import free_port

UV = Path(sys.executable).with_name("uv")


def left_by_dockerignore() -> Iterator[str]:
    """Give the files of the checkout that Docker is sent; the last line that fits a file or a folder of it counts."""
    lines = (settings.BASE_DIR / ".dockerignore").read_text().splitlines()
    rules = [(line.removeprefix("!"), line[0] == "!") for line in lines if line and line[0] != "#"]
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=settings.BASE_DIR, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    for name in listed:
        places = [name, *map(str, Path(name).parents)]
        *_, is_left = [told for pattern, told in rules if any(fnmatchcase(place, pattern) for place in places)]
        if is_left and (settings.BASE_DIR / name).exists():
            yield name


def test_the_image_has_all_that_its_wheel_is_built_from() -> None:
    left = list(left_by_dockerignore())
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    wanted = [*wheel["packages"], *wheel["force-include"], wheel["hooks"]["custom"]["path"], "locale", "LICENSE"]
    wanted += re.findall(r"^COPY ([^.\n-]\S+)", (settings.BASE_DIR / "deploy" / "Dockerfile").read_text(), re.MULTILINE)
    missing = [each for each in wanted if not any(f"{name}/".startswith(f"{each}/") for name in left)]
    assert missing == []
    assert not [name for name in left if name.startswith(("tests/", "data/", ".git"))]


NAMED = re.compile(
    r"\b(?:(?:pip3?|pipx|uv|uv pip|uv tool|npm|pnpm|yarn|bun) (?:install|add|i|run|exec|dlx)|uvx|npx)\b"
    r"[^\n`#]*?[\s\"']metacog(?![-\w./:])|\bmetacog\[[a-z]+\]"
    r"|(?:pypi\.org/project|npmjs\.com/package)/metacog\b(?!-)"
)


def test_nothing_leads_to_the_packages_of_others_that_have_our_name() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True)
    here = Path(__file__).relative_to(settings.BASE_DIR).as_posix()
    found = []
    for name in listed.stdout.splitlines():
        path = settings.BASE_DIR / name
        if name != here and path.is_file() and path.suffix not in (".png", ".sqlite3", ".gz", ".bin"):
            text = path.read_text(errors="replace")
            found += [f"{name}: {match[0]}" for match in NAMED.finditer(text)]
    assert found == []


def fetch(url: str, language: str = "en") -> str:
    with urlopen(Request(url, headers={"Accept-Language": language, "Host": "metacog.test"}), timeout=60) as answer:
        text: str = answer.read().decode()
        return text


@pytest.mark.starts
def test_what_the_wheel_installs_runs_outside_the_checkout(tmp_path: Path) -> None:
    for name in left_by_dockerignore():
        target = tmp_path / "context" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(settings.BASE_DIR / name, target)
    build: list[Any] = [UV, "build", "--wheel", "--quiet", "--out-dir", tmp_path / "dist", tmp_path / "context"]
    built = subprocess.run(build, capture_output=True, text=True)
    if "Failed to fetch" in built.stderr:
        pytest.skip("hatchling cannot be fetched")
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv"], check=True)
    install: list[Any] = [UV, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", python, wheel]
    subprocess.run(install, check=True)
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    installed = set(packages.iterdir())

    kept = {name: value for name, value in os.environ.items() if not name.startswith(("METACOG_", "PYTHON", "XDG_"))}
    (tmp_path / ".env").write_text("METACOG_ALLOWED_HOSTS=metacog.test\n")  # the web server reads it too
    # Port 0 is none: the command line is read from anywhere, and says so in a sentence.
    refused = subprocess.run(
        [python, "-m", "metacog", "web", "--port=0"],
        cwd=tmp_path, env=kept | {"HOME": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert (refused.returncode, refused.stderr) == (1, "0 is no port; give one from 1 to 65535 with --port.\n")

    assert wheel.name.startswith("metacog_review-")
    for command in OF_CLIENT:
        told = subprocess.run(
            [tmp_path / "venv" / "bin" / "metacog", command, "--help"], cwd=tmp_path, env=kept, capture_output=True
        )
        assert (told.returncode, told.stderr) == (0, b"")

    port = free_port()
    with subprocess.Popen(
        [tmp_path / "venv" / "bin" / "metacog", "up", f"--port={port}", "--workers=1"],
        cwd=tmp_path, env=kept | {"HOME": str(tmp_path)}, stdout=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        try:
            assert running.stdout
            assert any("is ready at" in line for line in running.stdout)
            site = f"http://127.0.0.1:{port}"
            page = fetch(f"{site}/sign-in/", "zh-TW")
            assert ">登入<" in page
            (sheet,) = re.findall(r'href="(/static/metacog/console\.[0-9a-f]+\.css)"', page)
            assert "{" in fetch(site + sheet)
        finally:
            running.send_signal(signal.SIGTERM)
    assert running.returncode == 0
    assert (tmp_path / ".local" / "share" / "metacog" / "metacog.sqlite3").exists()
    assert set(packages.iterdir()) == installed

"""The wheel: all that a checkout has for running, and nothing written where packages lie."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from django.conf import settings

from tests.commands.test_up import free_port

UV = Path(sys.executable).with_name("uv")


def fetch(url: str, language: str = "en") -> str:
    with urlopen(Request(url, headers={"Accept-Language": language, "Host": "metacog.test"}), timeout=60) as answer:
        text: str = answer.read().decode()
        return text


@pytest.mark.starts
def test_what_the_wheel_installs_runs_outside_the_checkout(tmp_path: Path) -> None:
    build: list[Any] = [UV, "build", "--wheel", "--quiet", "--out-dir", tmp_path / "dist", settings.BASE_DIR]
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

    subprocess.run([python, "-c", "from metacog_client import Client"], cwd=tmp_path, env=kept, check=True)

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

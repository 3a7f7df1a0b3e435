"""The command line of the heuristics, run within the test: starting Python takes most of the time of a run."""

from __future__ import annotations

import io
import subprocess
from contextlib import redirect_stderr
from unittest.mock import patch

from metacog.heuristics.__main__ import main


def run(*arguments: str, sent: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `python -m metacog.heuristics` with these arguments, as far as a process of its own makes no difference."""
    out, said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with (
        patch("sys.stdin", io.TextIOWrapper(io.BytesIO(sent), encoding="utf-8")),
        patch("sys.stdout", out),
        redirect_stderr(said),
    ):
        try:
            status = main(list(arguments))
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
    out.flush()
    written = out.buffer
    assert isinstance(written, io.BytesIO)
    return subprocess.CompletedProcess(arguments, status, written.getvalue(), said.getvalue().encode())

"""`metacog hook`, `mcp`, `mcp-plugin` and `mcp-proxy`: the client's commands, without Django on the way."""

from __future__ import annotations

import re
import subprocess
import sys

from django.conf import settings

from metacog.__main__ import OF_CLIENT
from metacog.management.utility import Utility
from tests.tables import table

# Each command's module says what it was given, and whether anything slow was loaded before it.
STAND_IN = """
import sys, types
from metacog.__main__ import main

def called(arguments):
    print(arguments, sorted({"django", "httpx2", "celery"} & set(sys.modules)))
    return 3

sys.argv = ["metacog", *sys.argv[1:]]
sys.modules[NAME] = stands_in = types.ModuleType(NAME)
stands_in.main = called
main()
"""


def test_the_help_names_the_commands_of_the_client() -> None:
    listed = re.findall(r"^    (\S+)", Utility(["metacog"]).main_help_text(), re.MULTILINE)
    assert set(OF_CLIENT) <= set(listed)


@table(
    "command, module",
    [("hook", ".hooks"), ("mcp", ".mcp"), ("mcp-plugin", ".mcp.plugin"), ("mcp-proxy", ".mcp.proxy")],
)
def test_a_command_of_the_client_is_handed_over(command: str, module: str) -> None:
    code = STAND_IN.replace("NAME", repr(f"metacog_client{module}"))
    done = subprocess.run(
        [sys.executable, "-c", code, command, "--help", "x"],
        cwd=settings.BASE_DIR, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "['--help', 'x'] []\n"), done.stderr

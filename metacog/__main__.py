"""Run one of the project's commands: `metacog up` where it is installed, `manage.py up` in a checkout."""

import contextlib
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from metacog import __version__
from metacog.runtime.file_errors import database_remedy, remedy
from metacog.runtime.program import IN_CHECKOUT, command

LISTENS = ("up", "web", "demo")
OF_CLIENT = ("hook", "mcp", "mcp-plugin", "mcp-proxy")  # what agents call: quick to start, and no business of Django's
FROM_WHEEL = "Install metacog's wheel (metacog_review-*.whl) with pip, which brings what this release needs."


def main() -> None:
    if sys.stdout is None:  # `>&-`: a daemon's start
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process runs
    if sys.argv[1:] in (["--version"], ["version"]):
        print(__version__)
        return
    if sys.argv[1:2] == ["help"] and sys.argv[2:] and sys.argv[2] in OF_CLIENT:
        sys.argv[1:] = [sys.argv[2], "--help"]
    if len(sys.argv) > 1 and sys.argv[1] in OF_CLIENT:
        if IN_CHECKOUT:
            sys.path.insert(0, str(Path(__file__).parents[1] / "clients/python/src"))
        from metacog_client.__main__ import run

        sys.exit(run(sys.argv[1], sys.argv[2:]))
    if sys.argv[1:2] and sys.argv[1] in LISTENS:
        use_address(sys.argv)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "metacog.settings")
    try:
        from metacog.management.utility import Utility
    except ImportError:
        how = "Run `make up`, which makes .venv, or use .venv/bin/python." if IN_CHECKOUT else FROM_WHEEL
        sys.exit(f"Django is not installed in this Python. {how}")
    from django.db import DatabaseError

    try:
        Utility(sys.argv).execute()
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Whoever reads has enough (`| head`). Python would complain once more when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ModuleNotFoundError as error:  # a newer release's code under the packages of the one before
        name = (error.name or "").partition(".")[0]
        if name in ("", "metacog", "patterns", "reviews") or "--traceback" in sys.argv:
            raise
        how = "Run `make up`, which installs what this release needs." if IN_CHECKOUT else FROM_WHEEL
        sys.exit(f"{name} is not installed in this Python. {how}")
    except OSError as error:  # a full disk, a folder that cannot be written
        if "--traceback" in sys.argv:
            raise
        with contextlib.suppress(OSError):
            sys.stdout.close()  # or Python says it once more
        if error.filename is None:
            sys.exit(f"This cannot be finished: {error.strerror or error}.")
        sys.exit(f"{error.filename}: {error.strerror or error}. {remedy(error)}")
    except DatabaseError as error:
        if "--traceback" in sys.argv:
            raise
        from django.conf import settings

        said, name = " ".join(str(error).split()), str(settings.DATABASES["default"]["NAME"])
        is_kept_there = Path(name).parent == settings.DATA_DIR
        # A table or column, in SQLite's words or PostgreSQL's.
        if "no such" in said or "does not exist" in said or (is_kept_there and not settings.DATA_DIR.exists()):
            where = f" It is looked for in {settings.DATA_DIR}: set METACOG_DATA_DIR if metacog uses another."
            do = f"start `{command('up')}` once, or run `{command('migrate')}`."
            told = f"The database is not prepared for this version: {do}"
            sys.exit(f"{told}{where if is_kept_there else ''} ({said})")
        if what_to_do := database_remedy(said):
            sys.exit(f"{name}: {said}. {what_to_do}")
        sys.exit(f"The database cannot take this now: {said}")


def use_address(words: Sequence[str]) -> None:
    """Have the settings read the address that is given, for which the command would start once more."""
    parts = [*(part for word in words for part in word.split("=", 1)), ""]
    for option, setting in (("--host", "METACOG_LISTEN_HOST"), ("--port", "METACOG_LISTEN_PORT")):
        for part, value in pairwise(parts):
            if part == option:
                os.environ.pop(f"{setting}_FILE", None)
                os.environ[setting] = value


if __name__ == "__main__":
    main()

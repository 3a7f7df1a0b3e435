"""A file that only its owner reads."""

import os
from contextlib import suppress


def make_private(path: str | os.PathLike[str]) -> None:
    """Make an empty file there unless there is one; what is wrong with the place is told by whoever opens it.

    Never opens a file that is there: closing it would end the locks that SQLite has on it in this process.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))

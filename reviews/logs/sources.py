"""The bytes of a log, whatever holds them: a file, standard input, rows of the database; plain or gzip."""

from __future__ import annotations

import gzip
import io
import shutil
import tempfile
import zlib
from typing import IO

CORRUPT = (EOFError, gzip.BadGzipFile, zlib.error)
_GZIP = b"\x1f\x8b"
_BLOCK = 1_048_576


def on_disk(stream: IO[bytes]) -> IO[bytes]:
    """Return a stream that can be read from any place on: one that comes through a pipe goes to a file first."""
    if stream.seekable():
        return stream
    kept = tempfile.TemporaryFile(prefix="metacog-log-")  # noqa: SIM115 - whoever reads it closes it
    shutil.copyfileobj(stream, kept, _BLOCK)
    kept.seek(0)
    return kept


class Log:
    """A log's bytes, unpacked. `packed` tells how much of what is stored has been read."""

    def __init__(self, stored: IO[bytes]) -> None:
        self.stored = stored
        stored.seek(0)
        is_packed = stored.read(2) == _GZIP
        stored.seek(0)
        self.bytes: IO[bytes] = gzip.GzipFile(fileobj=stored, mode="rb") if is_packed else stored  # type: ignore[assignment]

    @property
    def packed(self) -> int:
        return self.stored.tell()

    def head(self, size: int) -> bytes:
        """Return how the log begins; what is left to be read afterwards is all of it."""
        self.bytes.seek(0)
        try:
            found = self.bytes.read(size)
        except CORRUPT:
            found = self._readable(size)
        self.bytes.seek(0)
        return found

    def _readable(self, size: int) -> bytes:
        """Return what can be read of a file that is cut off or damaged."""
        self.bytes.seek(0)
        found = io.BytesIO()
        try:
            while found.tell() < size and (block := self.bytes.read1(size - found.tell())):  # type: ignore[attr-defined]
                found.write(block)
        except CORRUPT:
            pass
        return found.getvalue()

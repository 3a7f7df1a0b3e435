"""How a line of the log looks."""

import logging
import re

from metacog.heuristics.tool_calls.secrets import masked_text

# Of an address what signs in, decides or stops mail: whoever has it may. Our ids are shorter, and stay.
_SECRET = re.compile(r"(?<=/)[^/\s]{36,}")


class Line(logging.Formatter):
    """Write a record without the secrets of an address that it names.

    What Django refuses as suspicious takes a line: a traceback tells of a fault of our own.
    """

    def format(self, record: logging.LogRecord) -> str:
        if record.name.startswith("django.security."):
            record.exc_info = None
        return without_secrets(super().format(record))


def without_secrets(text: str) -> str:
    return _SECRET.sub("…", masked_text(text))

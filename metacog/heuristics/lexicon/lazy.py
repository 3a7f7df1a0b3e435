"""Regular expressions that are compiled when they are first used: to compile all of them at once makes every start
slower, of programs that score nothing, too.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


class _Expression:
    """Passes for the expression once it is compiled: what is asked of that is kept here, so that it costs no more."""

    def __init__(self, *given: Any) -> None:
        self.__given = given

    @cached_property
    def __compiled(self) -> re.Pattern[str]:
        return re.compile(*self.__given)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.__compiled, name)
        setattr(self, name, found)
        return found


def compile(expression: str, flags: int = 0) -> re.Pattern[str]:
    """Do as `re.compile`, only later: what is wrong with an expression is said when it is used."""
    return cast(re.Pattern[str], _Expression(expression, flags))

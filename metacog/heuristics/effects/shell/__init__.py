"""Shell commands read by the grammar of bash: what every command in them would do.

What cannot be read for certain is `unknown`, beside whatever else could be read. Nothing here runs, expands or looks
anything up: a word that only the shell could finish stays as it was written.
"""

from collections.abc import Sequence

from ..programs import Programs, Word
from .out import Out, Shell
from .state import State
from .walk import Text

__all__ = ["Shell", "read", "read_argv"]


def read(text: str, *, programs: Programs, workspace: str | None = None, cwd: str | None = None) -> Shell:
    """The effects of `text`, run by bash in `cwd`."""
    out = Out(programs, workspace, cwd)
    out.guard(lambda: Text(text, out, (0, len(text)), at=0).read(State(cwd or workspace)), (0, len(text)))
    return out.shell()


def read_argv(
    argv: Sequence[str], *, programs: Programs, workspace: str | None = None, cwd: str | None = None
) -> Shell:
    """The effects of a command that comes as its words, past any shell; its effects have no place in a text."""
    out = Out(programs, workspace, cwd)
    words = [Word(word) for word in argv]
    out.guard(lambda: Text("", out, (None, None)).run(words, State(cwd or workspace)), (None, None))
    return out.shell()

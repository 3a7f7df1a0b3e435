"""The table of programs: what a program, its subcommand and its flags make of the words of a command.

Rows are data: those of `table/*.json`, and a policy's own before them. docs/programs.md tells their format.
"""

from .lookup import Programs, table
from .places import empties, is_called_output, told
from .powers import effect_of_script, is_about_data
from .reading import of_place
from .rows import FIELDS
from .whose import Whose, whose
from .words import Applied, Found, Word, is_input, tail

__all__ = [
    "FIELDS",
    "Applied",
    "Found",
    "Programs",
    "Whose",
    "Word",
    "effect_of_script",
    "empties",
    "is_about_data",
    "is_called_output",
    "is_input",
    "of_place",
    "table",
    "tail",
    "told",
    "whose",
]

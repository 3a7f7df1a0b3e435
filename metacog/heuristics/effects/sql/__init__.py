"""SQL: what each statement of a text does, and to which tables.

Queries and what changes rows are parsed by sqlglot; statements that only name what they are about (DROP, GRANT,
VACUUM) are read word by word. Words and functions are data: `words.json`. A function that is not known to do nothing
but compute is `unknown`, and so is whatever a grammar does not take.
"""

from .dialects import MAX_LENGTH, Sql, read
from .words import is_dialect

__all__ = ["MAX_LENGTH", "Sql", "is_dialect", "read"]

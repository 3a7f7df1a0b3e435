"""MongoDB's shell: what its code changes in the database that it is given."""

import re
from collections.abc import Iterator

from ..effect import Kind
from ..python_code import Found
from .known import are_known

CHANGE = re.compile(
    r"\bdb\s*\.\s*(?:(dropDatabase)|(?:getCollection\(\s*[\"']([\w.-]+)[\"']\s*\)|(\w+))\s*\.\s*"
    r"(drop|dropIndex(?:es)?|delete(?:One|Many)|remove|findOneAndDelete|insert(?:One|Many)?|update(?:One|Many)?|replaceOne|save"
    r"|findOneAnd(?:Update|Replace)|createIndex(?:es)?|bulkWrite|renameCollection))\s*\("
)
ELSEWHERE = re.compile(r"\b(?:getSiblingDB|getMongo|Mongo|connect)\b|\$(?:out|merge|where|function|accumulator)\b")
OPERATORS = re.compile(r"\$(?:set|unset|inc|pull|rename|setOnInsert|currentDate)\b")
LOSES = re.compile(r"drop(?:Database)?|deleteMany|remove")
DELETES = re.compile(r"drop\w*|delete\w+|remove|findOneAndDelete")


def read(code: str) -> list[Found] | None:
    """The changes that `code` makes, None where it does something that is not known."""
    found = list(_changes(code))
    if not found or ELSEWHERE.search(code) is not None:
        return None
    rest = CHANGE.sub(lambda one: "db.x.find(" if one[4] else "db.getName(", code)
    return (
        found
        if are_known("mongo", re.sub(r"\$(?:set|unset|inc|pull|rename|setOnInsert|currentDate)\b", "x", rest))
        else None
    )


def _changes(code: str) -> Iterator[Found]:
    for one in CHANGE.finditer(code):
        does, name = one[1] or one[4], one[2] or one[3]
        effect: Kind = "delete" if DELETES.fullmatch(does) else "write"
        kinds: list[Kind] = [effect, "irreversible"] if LOSES.fullmatch(does) else [effect]
        yield from (Found(kind, name, "table", one.start(), one.end()) for kind in kinds)

"""The index of words: FTS5 on SQLite, a GIN index on PostgreSQL; what is written to it, and what is asked of it.

A document's key is the time of its row, so both databases give the newest first, and a page goes on below a key. The
index tells where words may stand together; whether they do is looked up in the documents' texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import blake2b
from typing import Any

from django.db import connection, transaction

from reviews.models import SearchDocument, SearchDue
from reviews.search.words import Wanted, cut

KINDS = ("resp", "held", "prob", "ep", "thr", "mem", "les", "agt")  # in this order for good: keys hold the place
MOST_ALIKE = 32  # words of one beginning that SQLite is asked for one by one
FEW = 20_000  # documents that PostgreSQL may read to sort them
_FILTER = "\ue000"  # begins what is indexed beside the words; no word begins so
_DOCUMENT, _WORDS, _DUE = SearchDocument._meta.db_table, "reviews_searchwords", SearchDue._meta.db_table
_VOCABULARY = "reviews_searchvocabulary"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Document:
    """What is searched of one row."""

    kind: str
    row_id: int
    at: datetime
    team: int
    agent: int | None
    session: str
    state: str
    labels: str  # see `labelled`
    text: str  # folded

    @property
    def key(self) -> int:
        """Return the document's key, unless another has it: milliseconds, the kind, some of the row's key."""
        return first_key(self.at) | KINDS.index(self.kind) << 12 | self.row_id & 0xFFF

    @property
    def row(self) -> tuple[Any, ...]:
        return (self.kind, self.row_id, self.team, self.agent, self.session, self.state, self.labels, self.text)

    @cached_property
    def words(self) -> list[str]:
        """All that is indexed of it."""
        return _words(self.row)


@dataclass(frozen=True)
class Asked:
    """What is looked for in documents of one kind."""

    kind: str
    teams: tuple[int, ...] | None  # None: all there are
    words: tuple[Wanted, ...] = ()
    agent: int | None = None
    session: str = ""
    state: str = ""
    labels: tuple[str, ...] = ()
    since: int = 0  # keys
    before: int = (1 << 63) - 1

    @property
    def is_narrow(self) -> bool:
        """Tell whether more than words is asked for."""
        return bool(self.agent or self.session or self.state or self.labels)

    @property
    def is_indexed(self) -> bool:
        """Tell whether the index narrows it down."""
        return self.is_narrow or any(word.whole or word.prefix for word in self.words)

    def matches(self, document: Document, key: int) -> bool:
        return (
            document.kind == self.kind
            and (self.teams is None or document.team in self.teams)
            and self.agent in (None, document.agent)
            and self.session in ("", document.session)
            and self.state in ("", document.state)
            and all(labelled([label]) in document.labels for label in self.labels)
            and self.since <= key < self.before
            and self.reads(document.text)
        )

    def reads(self, text: str) -> bool:
        """Tell whether all words stand in a folded text."""
        return all(word.folded in text and word.pattern.search(text) for word in self.words)


def first_key(moment: datetime) -> int:
    """Return the least key of what is as old as that, to the millisecond."""
    return max(0, int((moment - _EPOCH).total_seconds() * 1000)) << 16


def moment_of(key: int) -> datetime:
    return datetime.fromtimestamp((key >> 16) / 1000, UTC)


def labelled(labels: Iterable[str]) -> str:
    """Write labels one a line, so that each is found as a whole."""
    lines = [label.replace("\n", " ") for label in labels]
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def _is_sqlite() -> bool:
    return connection.vendor == "sqlite"


# -- writing -------------------------------------------------------------------------------------


def _filters(
    kind: str, team: int | None, agent: int | None, session: str, state: str, labels: Iterable[str]
) -> list[str]:
    """Return the words that stand for what a document is, and not for what it says."""
    told = [f"k{kind}", *([f"t{team}"] if team is not None else []), *([f"a{agent}"] if agent else [])]
    named = [("n", session), ("z", state), *(("l", label) for label in labels)]
    told += [letter + blake2b(name.encode(), digest_size=8).hexdigest() for letter, name in named if name]
    return [_FILTER + each for each in told]


def _words(row: Sequence[Any]) -> list[str]:
    kind, _row_id, team, agent, session, state, labels, text = row
    return [*_filters(kind, team, agent, session, state, labels.split("\n")), *cut(text)]


_COLUMNS = "kind, row_id, team_id, agent_id, session, state, labels, text"


def write(documents: Sequence[Document], gone: Sequence[tuple[str, int]] = ()) -> None:
    """Have the index hold these documents as they are now, and none of what is gone; in the caller's transaction."""
    rows = [*((document.kind, document.row_id) for document in documents), *gone]
    with connection.cursor() as cursor:
        before = _stored(cursor, rows)
        changed = [each for each in documents if before.get((each.kind, each.row_id), (0, None))[1] != each.row]
        stale = [before[row] for row in [*((each.kind, each.row_id) for each in changed), *gone] if row in before]
        _forget(cursor, stale)
        taken = _taken(cursor, [each.key for each in changed])
        for document in changed:
            kept = before.get((document.kind, document.row_id))
            key = kept[0] if kept else document.key
            while not kept and key in taken:
                key += 1
            taken.add(key)
            _add(cursor, key, document)


def _stored(cursor: Any, rows: Sequence[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, tuple[Any, ...]]]:
    """Return the key and the content of what is there of these rows."""
    found = {}
    for kind in dict.fromkeys(kind for kind, _ in rows):
        ids = [row_id for each, row_id in rows if each == kind]
        places = ", ".join(["%s"] * len(ids))
        cursor.execute(f"SELECT id, {_COLUMNS} FROM {_DOCUMENT} WHERE kind = %s AND row_id IN ({places})", [kind, *ids])
        found.update({(row[1], row[2]): (row[0], tuple(row[1:])) for row in cursor.fetchall()})
    return found


def _taken(cursor: Any, keys: Sequence[int]) -> set[int]:
    if not keys:
        return set()
    near = [key + ahead for key in keys for ahead in range(3)]
    cursor.execute(f"SELECT id FROM {_DOCUMENT} WHERE id IN ({', '.join(['%s'] * len(near))})", near)
    return {key for (key,) in cursor.fetchall()}


def _forget(cursor: Any, stored: Sequence[tuple[int, tuple[Any, ...]]]) -> None:
    for key, row in stored:
        if _is_sqlite():  # its index keeps no text, and is told which words to forget
            cursor.execute(
                f"INSERT INTO {_WORDS} ({_WORDS}, rowid, words) VALUES ('delete', %s, %s)", [key, " ".join(_words(row))]
            )
        cursor.execute(f"DELETE FROM {_DOCUMENT} WHERE id = %s", [key])


def _add(cursor: Any, key: int, document: Document) -> None:
    row = document.row
    if _is_sqlite():
        cursor.execute(f"INSERT INTO {_WORDS} (rowid, words) VALUES (%s, %s)", [key, " ".join(document.words)])
        places, values = "%s", []
    else:
        places, values = "array_to_tsvector(%s::text[]), %s", [document.words]
    columns = _COLUMNS if _is_sqlite() else f"words, {_COLUMNS}"
    cursor.execute(
        f"INSERT INTO {_DOCUMENT} ({columns}, id) VALUES ({places}{', %s' * len(row)})", [*values, *row, key]
    )


# -- asking --------------------------------------------------------------------------------------


def walk(asked: Asked, before: int, most: int) -> tuple[list[int], int, int]:
    """Look through the newest documents of the kind, below a key.

    Returns the keys of those that may match, how many were looked through, and the key of the last.
    """
    outer, values = _conditions(asked, "d")
    # Written out: of a kind or team that it is not told, PostgreSQL would take there to be as many as of any other.
    assert asked.kind in KINDS
    inner = [f"kind = '{asked.kind}'", "id < %s", "id >= %s"]
    if asked.agent:
        inner.append(f"agent_id = {asked.agent:d}")
    elif asked.teams and len(asked.teams) == 1:
        inner.append(f"team_id = {asked.teams[0]:d}")
    sql = (
        f"SELECT id, CASE WHEN {' AND '.join(outer) or '1 = 1'} THEN 1 ELSE 0 END FROM (SELECT * FROM {_DOCUMENT} "
        f"WHERE {' AND '.join(inner)} ORDER BY id DESC LIMIT {most}) d ORDER BY id DESC"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [*values, before, asked.since])
        seen = cursor.fetchall()
    return [key for key, fits in seen if fits], len(seen), seen[-1][0] if seen else before


def walk_alike(asked: Asked, before: int, most: int) -> tuple[list[int], int, int]:
    """Do the same among those that are what is asked for, whatever they say, which the index tells."""
    outer, values = _conditions(asked, "d")
    fits = f"CASE WHEN {' AND '.join(outer) or '1 = 1'} THEN 1 ELSE 0 END"
    alike = replace(asked, words=())
    with _asking() as cursor:
        if _is_sqlite():
            cursor.execute(
                f"SELECT d.id, {fits} FROM (SELECT rowid FROM {_WORDS} WHERE {_WORDS} MATCH %s AND rowid < %s AND "
                f"rowid >= %s ORDER BY rowid DESC LIMIT {most}) w CROSS JOIN {_DOCUMENT} d ON d.id = w.rowid",
                [*values, _fts5(cursor, alike), before, asked.since],
            )
        elif _is_frequent(cursor, query := _tsquery(alike)):
            return [], most, before
        else:
            cursor.execute(
                f"SELECT id, {fits} FROM (SELECT * FROM {_DOCUMENT} WHERE words @@ %s::tsquery AND id < %s "
                f"AND id >= %s ORDER BY id + 0 DESC LIMIT {most}) d ORDER BY id DESC",
                [*values, query, before, asked.since],
            )
        seen = cursor.fetchall()
    return [key for key, fits in seen if fits], len(seen), seen[-1][0] if seen else before


def find(asked: Asked, before: int, most: int) -> list[int] | None:
    """Return the keys, below a key, of the newest documents that may match; None where the index is of no use."""
    outer, values = _conditions(asked, "d")
    where = " AND ".join(["d.id < %s", "d.id >= %s", *outer])
    narrow = [before, asked.since, *values]
    with _asking() as cursor:
        if _is_sqlite():
            # In the order of the index, and so that it stops at the limit.
            cursor.execute(
                f"SELECT d.id FROM {_WORDS} w CROSS JOIN {_DOCUMENT} d ON d.id = w.rowid WHERE w.{_WORDS} MATCH %s "
                f"AND w.rowid < %s AND w.rowid >= %s AND {where} ORDER BY w.rowid DESC LIMIT {most}",
                [_fts5(cursor, asked), before, asked.since, *narrow],
            )
        elif _is_frequent(cursor, query := _tsquery(asked)):
            return None
        else:
            # All that match are read and sorted: by `id` alone it might walk along the key instead, to the end.
            cursor.execute(
                f"SELECT d.id FROM {_DOCUMENT} d WHERE d.words @@ %s::tsquery AND {where} "
                f"ORDER BY d.id + 0 DESC LIMIT {most}",
                [query, *narrow],
            )
        return [key for (key,) in cursor.fetchall()]


def read(asked: Asked, keys: Sequence[int]) -> list[tuple[int, int]]:
    """Return the keys and rows of the documents in which all words stand, but of what changed since it was indexed."""
    if not keys:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id, row_id, text FROM {_DOCUMENT} d WHERE id IN ({', '.join(['%s'] * len(keys))}) AND NOT EXISTS "
            f"(SELECT 1 FROM {_DUE} due WHERE due.kind = d.kind AND due.row_id = d.row_id) ORDER BY id DESC",
            list(keys),
        )
        return [(key, row_id) for key, row_id, text in cursor.fetchall() if asked.reads(text)]


def _conditions(asked: Asked, of: str) -> tuple[list[str], list[Any]]:
    """Return what the columns of a document have to be, with the values."""
    there = "instr({}, %s) > 0" if _is_sqlite() else "strpos({}, %s) > 0"
    found: list[tuple[str, Any]] = []
    if asked.agent:
        found.append((f"{of}.agent_id = %s", asked.agent))
    found += [(f"{of}.{name} = %s", value) for name in ("session", "state") if (value := getattr(asked, name))]
    found += [(there.format(f"{of}.labels"), labelled([label])) for label in asked.labels]
    found += [(there.format(f"{of}.text"), word.folded) for word in asked.words]
    conditions, values = [sql for sql, _ in found], [value for _, value in found]
    if asked.teams is not None:
        conditions = [f"{of}.team_id IN ({', '.join(['%s'] * len(asked.teams)) or 'NULL'})", *conditions]
        values = [*asked.teams, *values]
    return conditions, values


@contextmanager
def _asking() -> Iterator[Any]:
    """Give a cursor for what the index is asked."""
    with connection.cursor() as cursor:
        if _is_sqlite():
            yield cursor
            return
        with transaction.atomic():
            # Processes to help it, and code compiled for it, take longer to make than the answer.
            cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off")
            yield cursor


def _is_frequent(cursor: Any, query: str) -> bool:
    """Tell whether PostgreSQL, by its statistics, would have to read more documents than it may."""
    cursor.execute(f"EXPLAIN (FORMAT JSON) SELECT 1 FROM {_DOCUMENT} WHERE words @@ %s::tsquery", [query])
    plan = cursor.fetchone()[0]
    rows: int = (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]["Plan Rows"]
    return rows > FEW


def _fts5(cursor: Any, asked: Asked) -> str:
    parts = [f'"{word}"' for word in _filters(asked.kind, None, asked.agent, asked.session, asked.state, asked.labels)]
    if asked.teams:
        parts.append("(" + " OR ".join(f'"{_FILTER}t{team}"' for team in asked.teams) + ")")
    for word in asked.words:
        parts += [f'"{each}"' for each in word.whole] + ([_beginning(cursor, word.prefix)] if word.prefix else [])
    return " AND ".join(dict.fromkeys(parts))


def _beginning(cursor: Any, prefix: str) -> str:
    """Ask for the words that begin so, each by itself where they are few: those FTS5 reads only as far as it must.

    Of a beginning it would first put together all places that any of them has.
    """
    cursor.execute(
        f"SELECT term FROM {_VOCABULARY} WHERE term >= %s AND term < %s LIMIT {MOST_ALIKE + 1}",
        [prefix, prefix + "\U0010ffff"],
    )
    words = [word for (word,) in cursor.fetchall()]
    if len(words) > MOST_ALIKE or not words:
        return f'"{prefix}" *'
    return "(" + " OR ".join(f'"{word}"' for word in words) + ")"


def _tsquery(asked: Asked) -> str:
    parts = [f"'{word}'" for word in _filters(asked.kind, None, asked.agent, asked.session, asked.state, asked.labels)]
    if asked.teams:
        parts.append("(" + " | ".join(f"'{_FILTER}t{team}'" for team in asked.teams) + ")")
    for word in asked.words:
        parts += [f"'{each}'" for each in word.whole] + ([f"'{word.prefix}':*"] if word.prefix else [])
    return " & ".join(dict.fromkeys(parts))

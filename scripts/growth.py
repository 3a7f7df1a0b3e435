"""Measure what a PostgreSQL database grows by, and try partitions on one of ten million responses.

    export METACOG_DATABASE_URL=postgresql://…/measured      # one to throw away
    .venv/bin/python scripts/large_database.py --responses 100000
    .venv/bin/python scripts/growth.py sizes                 # bytes a response, of each table and index
    .venv/bin/python scripts/growth.py multiply 10           # to 1,000,000, as they are
    .venv/bin/python scripts/growth.py multiply 100 --slim   # in its place: to 10,000,000, only the newest with texts
    .venv/bin/python scripts/growth.py audit                 # the audit log in partitions, without copying it
    .venv/bin/python scripts/growth.py responses             # the responses copied into 24 partitions, one dropped

`multiply` writes so many copies of the rows by INSERT … SELECT, each with ids, keys and times of its own, spread over
two years; only the newest copy has pending items. scripts/page_cost.py says what pages cost before and after each.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

RESPONSES, AUDIT = "reviews_agentresponse", "metacog_auditevent"
MONTHS = 24
DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # of ids, in order
SPAN = f"interval '{MONTHS} months'"
Columns = dict[str, str]

# Of each table: the time that its other times are counted from, and what else a copy has of its own. {k} is the
# number of the copy, {last} whether it is the newest, {of_…} how far the keys of a table are moved with each.
COPIED: dict[str, tuple[str, Columns]] = {
    RESPONSES: (
        "received_at",
        {
            "public_id": "{public_id}",
            "key": "left(key, 5) || '{mark}' || substr(key, 6)",
            "second_look_at_id": "second_look_at_id + {k} * {of_reviews_helditem}",
        },
    ),
    "reviews_signal": (
        "",
        {"response_id": f"response_id + {{k}} * {{of_{RESPONSES}}}", "is_open": "is_open AND {last}"},
    ),
    "reviews_helditem": (
        "held_at",
        {
            "public_id": "{public_id}",
            "response_id": f"response_id + {{k}} * {{of_{RESPONSES}}}",
            "state": "CASE WHEN state = 'pending' AND NOT {last} THEN 'expired' ELSE state END",
            "closed_at": "CASE WHEN closed_at IS NULL AND NOT {last} THEN {time} ELSE closed_at - held_at + {time} END",
        },
    ),
    "reviews_decision": (
        "decided_at",
        {
            "public_id": "{public_id}",
            "held_id": "held_id + {k} * {of_reviews_helditem}",
            "seq": "seq + {k} * (SELECT max(seq) FROM base_reviews_decision)",
        },
    ),
    "reviews_heldcall": ("asked_at", {"held_id": "held_id + {k} * {of_reviews_helditem}"}),
    AUDIT: (
        "at",
        {"object_id": "CASE WHEN object_id ~ '^[a-z]+_.{{26}}$' THEN {object_id} ELSE object_id END"},
    ),
}
KEYS = {"reviews_heldcall": "held_id"}  # where they are not `id`
TEXTS = {"body": "''", "verdict": "'{{}}'", "history": "''", "fingerprint": "''", "excerpt": "left(excerpt, 40)"}
EMPTIED = (
    "reviews_sample", "reviews_searchdue", "reviews_searchdocument", "metacog_auditunsealed",
    "metacog_auditseal",
)  # fmt: skip


@contextmanager
def timed(what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    print(f"{time.monotonic() - began:7.1f} s  {what}", flush=True)


def rows(database: Any, query: str, *values: Any) -> list[Any]:
    return list(database.execute(query, values or None))


def one(database: Any, query: str, *values: Any) -> Any:
    return rows(database, query, *values)[0][0]


# -- sizes -----------------------------------------------------------------------------------------


def sizes(database: Any) -> None:
    """Print what each table and index takes of a response."""
    database.execute("VACUUM ANALYZE")
    responses = one(database, f"SELECT count(*) FROM {RESPONSES}")
    found = rows(
        database,
        """
        SELECT c.relname, i.relname, pg_relation_size(i.oid), i.reltuples FROM pg_class c
        JOIN LATERAL (
            SELECT c.relname, c.oid, c.reltuples UNION ALL
            SELECT 'out of line', t.oid, t.reltuples FROM pg_class t WHERE t.oid = c.reltoastrelid UNION ALL
            SELECT x.relname, x.oid, x.reltuples FROM pg_index n JOIN pg_class x ON x.oid = n.indexrelid
            WHERE n.indrelid IN (c.oid, c.reltoastrelid)
        ) i ON true
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
        """,
    )
    whole: dict[str, int] = {}
    for table, _, size, _ in found:
        whole[table] = whole.get(table, 0) + size
    print(f"{responses:,} responses, {sum(whole.values()) / 1e9:.2f} GB\n")
    print("| table, index | rows a response | bytes a response |\n|---|---|---|")
    for table, name, size, count in sorted(found, key=lambda row: (-whole[row[0]], row[0], row[0] != row[1], -row[2])):
        if name == table and whole[table] >= responses:
            print(f"| **{table}** | | **{whole[table] / responses:.0f}** |")
        if whole[table] >= responses and size >= responses:
            print(f"| {'rows' if name == table else name} | {count / responses:.3f} | {size / responses:.0f} |")
    print(f"| **all** | | **{sum(whole.values()) / responses:.0f}** |")


# -- copies ----------------------------------------------------------------------------------------


def multiply(database: Any, times: int, *, slim: bool) -> None:
    """Write so many copies of the rows in the place of what there is."""
    database.execute("SET session_replication_role = replica")  # no triggers, no checks of foreign keys
    count = one(database, f"SELECT count(*) FROM {RESPONSES}")
    moved = {}
    for table in COPIED:
        database.execute(f"CREATE UNLOGGED TABLE base_of AS SELECT * FROM {table}")
        database.execute(f"ALTER TABLE base_of RENAME TO base_{table}")
        moved[f"of_{table}"] = one(database, f"SELECT coalesce(max({KEYS.get(table, 'id')}), 0) + 1 FROM {table}")
    database.execute(f"TRUNCATE {', '.join((*COPIED, *EMPTIED))} CASCADE")
    dropped = _drop_indexes(database) if slim else []
    for table, (main, changed) in COPIED.items():
        with timed(f"{table}, {times} copies"):
            for copy in range(times):
                is_last = copy == times - 1
                own = changed | (TEXTS if slim and not is_last and table == RESPONSES else {})
                _copy(database, table, main, own, moved, (copy, times))
        database.execute(f"DROP TABLE base_{table}")
        if table not in KEYS:
            database.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
    for sql in dropped:
        with timed(sql[:110]):
            database.execute(sql)
    with timed("VACUUM ANALYZE"):
        database.execute("SET session_replication_role = origin")
        database.execute("VACUUM ANALYZE")
    print(f"{count:,} responses are {one(database, f'SELECT count(*) FROM {RESPONSES}'):,} now")


def _copy(database: Any, table: str, main: str, own: Columns, moved: dict[str, int], number: tuple[int, int]) -> None:
    copy, times = number
    key = KEYS.get(table, "id")
    place = f"({key} + {copy} * {moved[f'of_{table}']})"
    words = {
        "k": str(copy),
        "last": "true" if copy == times - 1 else "false",
        "time": f"(now() - {SPAN} + {SPAN} * ({place}::float / {times * moved[f'of_{table}']}))",
        "mark": DIGITS[copy // 32] + DIGITS[copy % 32],
        **{name: _of_copy(name, copy) for name in ("public_id", "object_id")},
        **{name: str(value) for name, value in moved.items()},
    }
    columns = rows(
        database,
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s ORDER BY ordinal_position",
        table,
    )
    made = []
    for name, kind in columns:
        if name == "id":
            made.append(place)
        elif name in own:
            made.append(own[name].format(**words))
        elif kind == "timestamp with time zone":
            made.append(f"{words['time']} + ({name} - {main})")
        else:
            made.append(f'"{name}"')
    named = ", ".join(f'"{name}"' for name, _ in columns)
    copies = f"SELECT {', '.join(made)} FROM base_{table} ORDER BY {key}"
    database.execute(f"INSERT INTO {table} ({named}) OVERRIDING SYSTEM VALUE {copies}")


def _of_copy(column: str, copy: int) -> str:
    """Return an id of that copy: after those of the copies before it."""
    mark = DIGITS[copy // 32] + DIGITS[copy % 32]
    return f"regexp_replace({column}, '_(.{{24}}).{{2}}$', '_{mark}\\1')"


def _drop_indexes(database: Any) -> list[str]:
    """Drop what indexes no constraint needs; return how they are made again."""
    found = rows(
        database,
        "SELECT indexname, indexdef FROM pg_indexes JOIN pg_index ON indexrelid = indexname::regclass "
        "WHERE tablename = ANY(%s) AND NOT indisunique",
        list(COPIED),
    )
    for name, _ in found:
        database.execute(f"DROP INDEX {name}")
    return [sql for _, sql in found]


# -- partitions ------------------------------------------------------------------------------------


def audit(database: Any) -> None:
    """Make the audit log a partitioned table whose first partition is what there is."""
    last = one(database, f"SELECT max(id) FROM {AUDIT}")
    indexes = _indexes(database, AUDIT)
    past = f"{AUDIT}_past"
    with timed("say up to which id the past goes: NOT VALID, then VALIDATE, which reads it beside the posts"):
        database.execute(f"ALTER TABLE {AUDIT} ADD CONSTRAINT of_the_past CHECK (id <= {last + 1_000_000}) NOT VALID")
        database.execute(f"ALTER TABLE {AUDIT} VALIDATE CONSTRAINT of_the_past")
    what = "rename it, make its parent, attach it and the next partition: in one transaction"
    with timed(what), database.transaction():
        _partitioned(database, AUDIT, past, indexes)
        bound = last + 1_000_001
        database.execute(f"ALTER TABLE {AUDIT} ATTACH PARTITION {past} FOR VALUES FROM (MINVALUE) TO ({bound})")
        database.execute(f"CREATE TABLE {AUDIT}_next PARTITION OF {AUDIT} FOR VALUES FROM ({bound}) TO (MAXVALUE)")
        triggers = rows(
            database,
            "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal",
            past,
        )
        for (trigger,) in triggers:
            database.execute(trigger.replace(f"public.{past}", AUDIT))


def responses(database: Any) -> None:
    """Copy the responses into a partition a month, by id; drop the oldest with what hangs on it."""
    first, last = rows(database, f"SELECT min(id), max(id) FROM {RESPONSES}")[0]
    indexes = _indexes(database, RESPONSES)
    foreign = rows(
        database,
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE confrelid = %s::regclass AND contype = 'f'",
        RESPONSES,
    )
    old = f"{RESPONSES}_old"
    with timed(f"let go of {len(foreign)} foreign keys, rename it, make its parent with {MONTHS} partitions"):
        for table, name, _ in foreign:
            database.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        _partitioned(database, RESPONSES, old, {})
        step = (last - first) // MONTHS + 1
        for month in range(MONTHS):
            until = "MAXVALUE" if month == MONTHS - 1 else first + (month + 1) * step
            since = "MINVALUE" if month == 0 else first + month * step
            database.execute(
                f"CREATE TABLE {RESPONSES}_{month:02d} PARTITION OF {RESPONSES} FOR VALUES FROM ({since}) TO ({until})"
            )
    with timed("copy all rows"):
        database.execute(f"INSERT INTO {RESPONSES} OVERRIDING SYSTEM VALUE SELECT * FROM {old}")
    with timed("make the indexes"):
        for name, sql in indexes.items():
            if "UNIQUE" in sql and "(id)" not in sql:
                for month in range(MONTHS):  # the parent's would need the id in them
                    leaf = f"{RESPONSES}_{month:02d}"
                    database.execute(
                        sql.replace(f"INDEX {name}", f"INDEX {name}_{month:02d}").replace(f"public.{RESPONSES}", leaf)
                    )
            elif "(id)" not in sql:
                database.execute(sql.replace(f"INDEX {name}", f"INDEX {name}_p"))
    with timed(f"make the {len(foreign)} foreign keys again"):
        for table, name, sql in foreign:
            database.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {sql}')
    database.execute(f"DROP TABLE {old} CASCADE")
    with timed("VACUUM ANALYZE"):
        database.execute(f"VACUUM ANALYZE {RESPONSES}")
    retire(database)


def retire(database: Any) -> None:
    """Drop the oldest month of responses, and erase the texts of the next as the worker does, to compare."""
    bound = one(database, f"SELECT max(id) FROM {RESPONSES}_00")
    count = one(database, f"SELECT count(*) FROM {RESPONSES}_00")
    print(f"a month has {count:,} responses")
    try:
        database.execute(f"ALTER TABLE {RESPONSES} DETACH PARTITION {RESPONSES}_00")
    except psycopg.errors.ForeignKeyViolation as error:
        print(f"refused while rows point there: {error}".strip())
    with timed("delete what points there: calls, decisions, held items, signals"):
        held = f"SELECT id FROM reviews_helditem WHERE response_id <= {bound}"
        database.execute(f"DELETE FROM reviews_heldcall WHERE held_id IN ({held})")
        database.execute(f"DELETE FROM reviews_decision WHERE held_id IN ({held})")
        database.execute(f"DELETE FROM reviews_helditem WHERE response_id <= {bound}")
        database.execute(f"DELETE FROM reviews_signal WHERE response_id <= {bound}")
    with timed("detach the month, which looks for what points there, and drop it"):
        database.execute(f"ALTER TABLE {RESPONSES} DETACH PARTITION {RESPONSES}_00")
        database.execute(f"DROP TABLE {RESPONSES}_00")
    before = one(database, "SELECT pg_current_wal_lsn()")
    with timed("erase the texts of the next month's rows instead, in place"):
        database.execute(
            f"UPDATE {RESPONSES}_01 SET body = '', verdict = '{{}}', excerpt = '', history = '', fingerprint = '', "
            "erased_at = now()"
        )
    log = one(database, "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), %s)", before)
    erased, whole = (one(database, f"SELECT pg_total_relation_size('{RESPONSES}_0{month}')") / 1e9 for month in (1, 2))
    print(f"which wrote {float(log) / 1e9:.2f} GB of log; that month takes {erased:.2f} GB now, another {whole:.2f}")


def _indexes(database: Any, table: str) -> dict[str, str]:
    return dict(rows(database, "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s", table))


def _partitioned(database: Any, table: str, past: str, indexes: dict[str, str]) -> None:
    """Put a partitioned table in the place of one, which keeps its rows and indexes under another name."""
    key = one(database, "SELECT coalesce(max(id), 0) + 2000000 FROM " + table)
    foreign = rows(
        database,
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'f'",
        table,
    )
    database.execute(f"ALTER TABLE {table} RENAME TO {past}")
    database.execute(
        f"CREATE TABLE {table} (LIKE {past} INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (id)) "
        "PARTITION BY RANGE (id)"
    )
    database.execute(f"ALTER TABLE {past} ALTER id DROP IDENTITY")
    database.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS of_the_past")
    database.execute(f"ALTER TABLE {table} ALTER id ADD GENERATED BY DEFAULT AS IDENTITY (START {key})")
    for name, sql in indexes.items():
        if "UNIQUE" not in sql:
            database.execute(sql.replace(f"INDEX {name}", f"INDEX {name}_p"))
    for name, sql in foreign:
        database.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}_p" {sql}')


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["sizes", "multiply", "audit", "responses"])
    parser.add_argument("times", nargs="?", type=int, default=10, help="copies (%(default)s)")
    parser.add_argument("--slim", action="store_true", help="all but the newest copy without texts")
    options = parser.parse_args()
    with psycopg.connect(os.environ["METACOG_DATABASE_URL"], autocommit=True) as database:
        database.execute("SET maintenance_work_mem = '512MB'")
        if options.what == "multiply":
            multiply(database, options.times, slim=options.slim)
        else:
            {"sizes": sizes, "audit": audit, "responses": responses}[options.what](database)


if __name__ == "__main__":
    main()

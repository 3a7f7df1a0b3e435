"""A nightly batch: it cleans a list of customers, and does not wait for anybody.

Each run is a night. First it hears what was decided since the last one, and makes the changes that were approved; then
it asks about tonight's, and ends. What it knows is in `batch.sqlite3`, written before anything is done: a night that is
killed goes on where it was. What it reads goes into the spool `records.sqlite3`, and is sent even if metacog is away.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

from metacog_client import Client, ToolCall

CUSTOMERS = [
    {"id": 1, "name": "Ana Lima", "mail": "ana@customer.example", "orders": 12},
    {"id": 2, "name": "Ana  Lima", "mail": "ANA@customer.example", "orders": 1},
    {"id": 3, "name": "Ben Okafor", "mail": "ben(at)customer.example", "orders": 3},
    {"id": 4, "name": "Test Test", "mail": "test@test.example", "orders": 0},
    {"id": 5, "name": "Chen Wei", "mail": "chen@customer.example", "orders": 7},
]
TABLES = """
    CREATE TABLE IF NOT EXISTS customer (id INTEGER PRIMARY KEY, name TEXT, mail TEXT, orders INTEGER);
    CREATE TABLE IF NOT EXISTS change (key TEXT PRIMARY KEY, tool TEXT, arguments TEXT, held TEXT, became TEXT);
    CREATE TABLE IF NOT EXISTS heard (seq INTEGER);
"""
EXPIRES = 3 * 86_400  # seconds: a question that nobody answers for three nights is not answered


def proposals(rows: list[sqlite3.Row]) -> list[tuple[str, str, dict[str, Any]]]:
    """Say what tonight's list needs: key, tool and arguments of each change."""
    found, seen = [], {}
    for row in rows:
        mail = row["mail"].lower().replace("(at)", "@")
        if first := seen.get(mail):
            arguments = {"keep": first, "remove": row["id"]}
            found.append((f"merge-{first}-{row['id']}", "merge_customers", arguments))
        elif row["orders"] == 0 and row["name"].startswith("Test"):
            found.append((f"delete-{row['id']}", "delete_customer", {"id": row["id"]}))
        elif mail != row["mail"]:
            found.append((f"mail-{row['id']}-{mail}", "update_customer", {"id": row["id"], "mail": mail}))
        seen.setdefault(mail, row["id"])
    return found


def make(database: sqlite3.Connection, tool: str, arguments: dict[str, Any]) -> None:
    """Change the list."""
    match tool:
        case "merge_customers":
            database.execute(
                "UPDATE customer SET orders = orders + (SELECT orders FROM customer WHERE id = ?) WHERE id = ?",
                (arguments["remove"], arguments["keep"]),
            )
            database.execute("DELETE FROM customer WHERE id = ?", (arguments["remove"],))
        case "delete_customer":
            database.execute("DELETE FROM customer WHERE id = ?", (arguments["id"],))
        case "update_customer":
            database.execute("UPDATE customer SET mail = ? WHERE id = ?", (arguments["mail"], arguments["id"]))


def finish(database: sqlite3.Connection, key: str, verdict: str, arguments: Any) -> None:
    """Make a change that was released and note what became of it, both or neither."""
    (tool,) = database.execute("SELECT tool FROM change WHERE key = ?", (key,)).fetchone()
    with database:
        if verdict in ("pass", "approve", "edit"):
            make(database, tool, arguments)
        database.execute("UPDATE change SET became = ? WHERE key = ?", (verdict, key))
    print(f"{key}: {verdict}")


def hear(client: Client, database: sqlite3.Connection) -> None:
    """Go through what was decided since the last night, each decision once."""
    (last,) = database.execute("SELECT coalesce(max(seq), 0) FROM heard").fetchone()
    while decided := client.decisions(last):
        for decision in decided:
            row = database.execute("SELECT key, became FROM change WHERE held = ?", (decision["held"],)).fetchone()
            if row and row["became"] is None:
                finish(database, row["key"], decision["verdict"], decision["arguments"])
                if decision["verdict"] in ("approve", "edit"):
                    client.report(decision["held"], "done")
            last = decision["seq"]
        with database:
            database.execute("DELETE FROM heard")
            database.execute("INSERT INTO heard VALUES (?)", (last,))


def ask(client: Client, database: sqlite3.Connection) -> None:
    """Ask about what tonight's list needs and was not asked before; wait for nothing."""
    rows = database.execute("SELECT * FROM customer ORDER BY id").fetchall()
    client.record(f"Read {len(rows)} customers.", session="nightly")
    for key, tool, arguments in proposals(rows):
        with database:
            database.execute(
                "INSERT OR IGNORE INTO change (key, tool, arguments) VALUES (?, ?, ?)",
                (key, tool, json.dumps(arguments)),
            )
    for row in database.execute("SELECT * FROM change WHERE became IS NULL AND held IS NULL").fetchall():
        call = ToolCall(row["tool"], json.loads(row["arguments"]), call_id=row["key"])
        told = client.ask(call, session="nightly", expires_in=EXPIRES)
        if told.verdict == "unreachable":
            print(f"{row['key']}: could not be asked, the next night does")
        elif told.verdict == "pending":
            with database:
                database.execute("UPDATE change SET held = ? WHERE key = ?", (told.held, row["key"]))
            print(f"{row['key']}: waits, {told.review_url}")
        else:
            finish(database, row["key"], told.verdict, told.arguments)


def main() -> None:
    with closing(sqlite3.connect("batch.sqlite3")) as database:
        database.row_factory = sqlite3.Row
        database.executescript(TABLES)
        if not database.execute("SELECT 1 FROM change").fetchone():
            with database:
                database.executemany("INSERT OR IGNORE INTO customer VALUES (:id, :name, :mail, :orders)", CUSTOMERS)
        with Client(run="nightly-batch", spool="records.sqlite3") as client:
            hear(client, database)
            ask(client, database)
        (left,) = database.execute("SELECT count(*) FROM change WHERE became IS NULL").fetchone()
        (customers,) = database.execute("SELECT count(*) FROM customer").fetchone()
    print(f"\n{customers} customers, {left} changes wait. The same command again is the next night.")


if __name__ == "__main__":
    main()

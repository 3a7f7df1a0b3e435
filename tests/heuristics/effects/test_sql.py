"""SQL: what each statement does, to which tables."""

import sys
from itertools import product
from subprocess import run

from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.effects.sql import MAX_LENGTH, Sql, read
from tests.tables import table

# text, dialect, effects with their objects in order of place
CASES = [
    ("select * from orders where id = 4711", None, "read orders"),
    ("SELECT 1; DELETE FROM orders", None, "read | delete orders (no WHERE) | irreversible orders (no WHERE)"),
    ("with gone as (delete from orders where id = 1 returning *) select * from gone", None, "read | delete orders"),
    ("update orders set state = 'x'", None, "write orders (no WHERE)"),
    ("select pg_sleep(1000)", None, "read | unknown pg_sleep (function)"),
    ("explain analyze delete from orders", None, "delete orders (no WHERE) | irreversible orders (no WHERE)"),
    ("explain delete from orders", None, "read"),
    ("EXPLAIN (ANALYZE, BUFFERS) UPDATE t SET a = 1 WHERE b = 2", "postgres", "write t"),
    ("-- select\nDROP TABLE orders", None, "delete orders | irreversible orders"),
    # WHERE that leaves no row out
    *(
        (f"delete from t where {where}", None, "delete t (no WHERE) | irreversible t (no WHERE)")
        for where in ("1=1", "true", "1", "(1 = 1)", "id = id", "a = 5 or 1=1", "not false", "'a'='a'", "n like '%'")
    ),
    ("delete from t where id = 1 and 1=1", None, "delete t"),
    ("delete from s.t where id in (1, 2)", None, "delete s.t"),
    ("insert into t (a) values (1)", None, "write t"),
    ("insert into t select * from u", None, "write t | read u"),
    ("replace into t values (1)", "mysql", "write t"),
    ("insert overwrite table t select 1", "spark", "write t | delete t | irreversible t"),
    ("merge into a using b on a.id = b.id when matched then delete", None, "write a | delete a | read b"),
    ("merge into a using b on a.id = b.id when matched then update set x = 1", None, "write a | read b"),
    ("truncate table a, b", None, "delete a | irreversible a | delete b | irreversible b"),
    ("drop table if exists a, s.b cascade", None, "delete a | irreversible a | delete s.b | irreversible s.b"),
    ("drop schema public cascade", None, "delete public | irreversible public"),
    ("truncate public.users cascade", None, "delete public.users | irreversible public.users"),
    ("truncate temp restart identity", None, "delete temp | irreversible temp"),
    ("vacuum full", None, "write"),
    ("begin; delete from t; select 1 from t; rollback", None, "read t | read t"),
    ("begin; delete from t; commit; rollback", None, "delete t (no WHERE) | irreversible t (no WHERE)"),
    ("begin; delete from t where a = 1; drop table u; rollback", None, "delete t | delete u | irreversible u"),
    ("delete from t where a = 1; rollback", None, "delete t"),
    ("drop user bob", None, "privilege bob | delete bob | irreversible bob"),
    ("drop database shop", None, "delete shop | irreversible shop"),
    ("alter table t add column c int", None, "write t"),
    ("alter table t drop column c", None, "write t | delete t | irreversible t"),
    ("alter table t owner to bob", "postgres", "write t | privilege t"),
    ("alter user bob with superuser", None, "write bob | privilege bob"),
    ("create table t (id int references u on delete cascade)", None, "write t"),
    ("create table t as select * from u", None, "write t | read u"),
    ("create or replace table t as select 1", "snowflake", "read | write t | delete t | irreversible t"),
    ("create extension dblink", "postgres", "write dblink | install dblink"),
    ("create function f() returns int as $$ select 1 $$ language sql", "postgres", "write f | unknown f (runs later)"),
    ("grant select, delete on t to bob", None, "privilege t"),
    ("revoke all on t from bob", None, "privilege t"),
    ("copy t from '/srv/x.csv'", "postgres", "write t | read /srv/x.csv"),
    ("copy (select * from t) to '/srv/x.csv'", "postgres", "read t | write /srv/x.csv"),
    ("copy t to program 'sh'", "postgres", "read t | execute | unknown (runs a program)"),
    ("copy into @stage from t", "snowflake", "send | read"),
    ("load data infile '/x' into table t", "mysql", "read /x | write t"),
    ("select * into t2 from t", None, "write t2 | read t"),
    ("select a from t into outfile '/tmp/x'", "mysql", "read t | write /tmp/x"),
    ("select * from t for update", "postgres", "write (locks rows) | read t"),
    ("attach database 'x.db' as y", "sqlite", "write x.db"),
    ("pragma table_info(x)", "sqlite", "read"),
    ("pragma journal_mode = off", "sqlite", "write"),
    ("vacuum", None, "write"),
    ("vacuum into 'x.db'", "sqlite", "write | write x.db"),
    ("show tables", None, "read"),
    ("show create table t", "mysql", "read"),
    ("describe t", None, "read t"),
    ("\\d+ orders", "postgres", "read"),
    (".schema orders", "sqlite", "read"),
    ("\\! rm -rf x", "postgres", "unknown (cannot be read)"),
    (".shell rm -rf x", "sqlite", "unknown (cannot be read)"),
    ("begin", None, ""),
    ("begin; update t set a = 1 where b = 2; commit", None, "write t"),
    ("BEGIN DROP TABLE x; END", "tsql", "unknown (cannot be read)"),
    ("set statement_timeout = 5", None, ""),
    ("set global read_only = 0", "mysql", "write | privilege"),
    ("set role admin", "postgres", "privilege"),
    ("call f(1)", None, "unknown (cannot be read)"),
    ("do $$ begin delete from t; end $$", "postgres", "unknown (cannot be read)"),
    ("exec sp_help 't'", "tsql", "read sp_help"),
    ("exec xp_cmdshell 'dir'", "tsql", "execute | unknown (cannot be read)"),
    ("notify c, 'x'", "postgres", "send"),
    ("select * from pg_shadow", "postgres", "read pg_shadow | secret pg_shadow"),
    # functions
    ("select lower(a), count(*), coalesce(b, 1), now() from t", None, "read t"),
    ("select pg_catalog.lower(a), jsonb_path_query(b, '$.c') from t", "postgres", "read t"),
    ("select mine.lower(a) from t", "postgres", "unknown lower (function) | read t"),
    ("select nextval('s')", "postgres", "read | unknown nextval (function)"),
    ("select * from pg_ls_dir('/')", "postgres", "read | unknown pg_ls_dir (function)"),
    ("select * from dblink('x', 'drop table t') as d(a int)", "postgres", "read | unknown dblink (function)"),
    ("select query_to_xml('delete from t', true, true, '')", "postgres", "read | unknown query_to_xml (function)"),
    ("select load_file('/etc/passwd')", "mysql", "read | unknown load_file (function)"),
    ("select * from generate_series(1, 3)", "postgres", "read"),
    # hidden
    ("select 1 /*! ; drop table x */", "mysql", "read | delete x | irreversible x"),
    ("select 1 /*! ; drop table x */", None, "read | delete x | irreversible x"),
    ("select 1 /*! ; drop table x */", "postgres", "read"),
    ("select 1 --1; drop table x", "mysql", "read | delete x | irreversible x"),
    ("select '\\'; drop table x; --'", None, "read | delete x | irreversible x"),
    ("select 1 #; drop table x", None, "read | delete x | irreversible x"),
    ("select 1\nGO\ndrop table x", "tsql", "read | delete x | irreversible x"),
    ("select 1 shutdown", "tsql", "read | unknown (cannot be read)"),
    ("select a, (select drop_table from t) from u", None, "read t | read u"),
    ("select 'drop table x' from t", None, "read t"),
    ("{{ query }}", None, "unknown (cannot be read)"),
    ("select * from :name", None, "unknown (the table is not named) | read"),
    ("frobnicate t", None, "unknown (cannot be read)"),
    ("", None, ""),
]  # fmt: skip


def written(found: Sql) -> str:
    return " | ".join(
        " ".join(filter(None, (effect.effect, effect.object, effect.detail and f"({effect.detail})")))
        for effect in found.effects
    )


@table(("text", "dialect", "effects"), CASES)
def test_it_says_what_a_statement_does(text: str, dialect: str | None, effects: str) -> None:
    assert written(read(text, dialect)) == effects


def test_objects_stand_where_they_are_said_to() -> None:
    text = "select '😀' from \"Mein Schema\".t join u using (id); truncate v"
    found = read(text, "postgres")
    assert [text[effect.start : effect.end] for effect in found.effects] == ['"Mein Schema".t', "u", "v", "v"]
    assert [text[each.start : each.end] for each in found.commands] == text.split("; ")
    assert [each.effects for each in found.commands] == [(0, 1), (2, 3)]


@table(
    ("text", "is_simple"),
    [
        ("select * from t", True),
        ("delete from t where id = 1", True),
        ("select 1; select 2", False),
        ("select * from t where id in (select id from u)", False),
        ("select 1 union select 2", False),
        ("with a as (select 1) select * from a", False),
    ],
)
def test_one_statement_with_no_query_inside_is_simple(text: str, is_simple: bool) -> None:
    assert read(text).is_simple is is_simple


@table(
    ("one", "other", "is_alike"),
    [
        ("select a from t where id = 1 limit 5", "select a from t where id = 2 limit 9", True),
        ("select a from t where id in (1)", "select a from t where id in (1, 2)", True),
        ("delete from t where id = 1", "delete from t where id = 2", True),
        ("delete from t where id = 1", "delete from t where 1 = 1", False),
        ("delete from t where id < 5", "delete from t where id < 500", False),
        ("delete from t where id = 1 limit 1", "delete from t where id = 1 limit 9", False),
        ("update t set a = 1 where id = 1", "update t set a = 2 where id = 3", True),
        ("update t set a = 1 where id = 1", "update t set b = 1 where id = 1", False),
        ("select a from t", "select a from u", False),
    ],
)
def test_a_shape_leaves_out_values_only(one: str, other: str, is_alike: bool) -> None:
    shapes = read(one).shape, read(other).shape
    assert shapes[0] is not None
    assert (shapes[0] == shapes[1]) is is_alike


@table("text", ["select pg_sleep(1)", "select 1; select 2", "frobnicate"])
def test_what_is_not_read_whole_has_no_shape(text: str) -> None:
    assert read(text).shape is None


HARMLESS = ["select 1", "select * from t where a = 'x'", "with a as (select 1) select * from a", "show tables", "begin"]
HARMFUL = ["drop table x", "delete from x", "grant all on x to y", "call p()", "select pg_terminate_backend(1)"]


@table(("before", "after"), [*product(HARMLESS, HARMFUL)])
def test_what_follows_a_semicolon_is_always_seen(before: str, after: str) -> None:
    found = {effect.effect for effect in read(f"{before};{after}").effects}
    assert found & {"delete", "privilege", "unknown"}


@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "select",
                "(",
                ")",
                "from",
                "'",
                ";",
                "--",
                "/*",
                "*/",
                "$$",
                "x",
                ",",
                "delete",
                "1",
                "=",
                "\\",
                "with",
                "as",
                "\n",
            ]
        ),
        max_size=20,
    ).map(" ".join)
)
def test_it_never_raises(text: str) -> None:
    for effect in read(text).effects:
        assert effect.start is None or 0 <= effect.start < effect.end <= len(text)


@table("text", ["select " + "(" * 5000 + "1", "select 1" + "+1" * 40_000, "x" * (MAX_LENGTH + 1)])
def test_what_is_too_deep_or_too_long_is_unknown(text: str) -> None:
    assert [effect.effect for effect in read(text).effects][-1] == "unknown"


def test_a_call_without_sql_does_not_load_sqlglot() -> None:
    program = (
        "import sys; from metacog.heuristics.effects.calls.reader import Reader;"
        "Reader().read('get_order', {'id': 'x'}); sys.exit('sqlglot' in sys.modules)"
    )
    assert run([sys.executable, "-c", program], check=False).returncode == 0

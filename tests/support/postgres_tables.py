"""A PostgreSQL database with Plait's tables that tests use in turn.

Making the tables by all migrations takes longer than what most tests do with them. So they stay, and lose
their rows. A database that a test changed in any other way is noticed, and made anew.
"""

import asyncio

from plait.stores.postgres import PostgresStore
from tests.support.postgres import Postgres

_CHANGED = "more than rows was changed in this database"

# What a table, a column, a constraint, a function or a setting is; not where its rows are, which `truncate` changes.
_SHAPE = """
with ours as (
    select oid from pg_namespace
    where nspname not like 'pg\\_%' and nspname not in ('information_schema', 'as_new')
)
select md5(string_agg(part, ',' order by part)) as shape from (
    select concat_ws(' ', oid, relname, relkind, relpersistence, relrowsecurity, relacl, reloptions, relowner) as part
    from pg_class where relnamespace in (table ours)
    union all select concat_ws(' ', 'schema', oid, xmin) from pg_namespace where oid in (table ours)
    union all select concat_ws(' ', attrelid, attnum, a.xmin) from pg_attribute a join pg_class c on c.oid = attrelid
        where relnamespace in (table ours)
    union all select concat_ws(' ', oid, xmin) from pg_constraint where connamespace in (table ours)
    union all select concat_ws(' ', oid, xmin) from pg_proc where pronamespace in (table ours)
    union all select concat_ws(' ', oid, xmin) from pg_type where typnamespace in (table ours)
    union all select concat_ws(' ', oid, xmin) from pg_attrdef
    union all select concat_ws(' ', oid, xmin) from pg_trigger
    union all select concat_ws(' ', oid, xmin) from pg_extension
) parts
"""

_REMEMBER = f"""
do $$ declare found text; filled boolean; begin
    create schema as_new;
    for found in select tablename from pg_tables where schemaname = 'plait' loop
        execute format('select exists (select 1 from plait.%I)', found) into filled;
        if filled then
            execute format('create table as_new.%1$I as table plait.%1$I', found);
        end if;
    end loop;
    create table as_new."shape of all" as {_SHAPE};
end $$
"""

_RENEW = f"""
do $$ declare found record; begin
    if (select shape from as_new."shape of all") is distinct from (select shape from ({_SHAPE}) now) then
        raise exception '{_CHANGED}';
    end if;
    for found in
        select relname as name, pg_relation_size(oid) > 65536 as is_large from pg_class
        where relnamespace = 'plait'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0
    loop
        execute format(case when found.is_large then 'truncate plait.%I' else 'delete from plait.%I' end, found.name);
    end loop;
    for found in select tablename as name from pg_tables where schemaname = 'as_new' and tablename <> 'shape of all'
    loop
        execute format('insert into plait.%1$I select * from as_new.%1$I', found.name);
    end loop;
    perform setval(format('%I.%I', schemaname, sequencename), start_value, false)
        from pg_sequences where schemaname = 'plait' and last_value is not null;
end $$
"""


class PlaitDatabase:
    """One of a server's databases."""

    def __init__(self, server: Postgres) -> None:
        self.url = server.create_database()
        self._server = server
        self._is_made = False

    def renew(self) -> None:
        """Cuts whoever is connected, and leaves the tables as Plait makes them."""
        if not (self._is_made and self._is_emptied()):
            self._make()

    def drop(self) -> None:
        self._server.drop_database(self.url)

    def _is_emptied(self) -> bool:
        """False: a test changed more than rows."""
        try:
            self._server.reset(self.url, _RENEW)
        except RuntimeError as error:
            if _CHANGED not in str(error):
                raise
            return False
        return True

    def _make(self) -> None:
        self._server.empty(self.url)
        asyncio.run(_open_once(self.url))
        Postgres(self.url).execute(_REMEMBER)
        self._is_made = True


async def _open_once(url: str) -> None:
    store = PostgresStore(url)
    await store.open()
    await store.close()

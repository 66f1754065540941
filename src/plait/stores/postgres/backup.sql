-- columns: what a backup holds: all tables but the version, and all columns that are not computed
select c.table_name, c.column_name
from information_schema.columns c
join pg_tables t on t.schemaname = c.table_schema and t.tablename = c.table_name
where c.table_schema = 'plait' and c.table_name <> 'schema_version' and c.is_generated = 'NEVER'
order by c.table_name, c.ordinal_position;

-- sequences: where each of them is; those that were never used stay where a new one begins
select sequencename, last_value from pg_sequences where schemaname = 'plait' and last_value is not null;

-- empty: a table before its rows are copied
delete from plait.any_table;

-- set_sequence: it goes on after the value
select setval($1::text::regclass, $2);

-- columns: what a backup holds: all tables but the version, and all columns that are not computed; what is in a partition
-- is in its table
select c.table_name, c.column_name
from information_schema.columns c
join pg_class t on t.relnamespace = to_regnamespace('plait') and t.relname = c.table_name
  and t.relkind in ('r', 'p') and not t.relispartition
where c.table_schema = 'plait' and c.table_name <> 'schema_version' and c.is_generated = 'NEVER'
order by c.table_name, c.ordinal_position;

-- keep_logs: the events of runs that are removed meanwhile stay; before anything is read
lock table plait.log in access share mode;

-- rows: of a table, those of its partitions too
select any_columns from plait.any_table;

-- sequences: where each of them is; those that were never used stay where a new one begins
select sequencename, last_value from pg_sequences where schemaname = 'plait' and last_value is not null;

-- empty: a table before its rows are copied
delete from plait.any_table;

-- set_sequence: it goes on after the value
select setval($1::text::regclass, $2);

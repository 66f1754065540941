-- columns: the contents of a backup: all tables but the version, and all columns that are not computed; rows of
-- partitions are in their table
select c.table_name, c.column_name
from information_schema.columns c
join pg_class t on t.relnamespace = to_regnamespace('plait') and t.relname = c.table_name
  and t.relkind in ('r', 'p') and not t.relispartition
where c.table_schema = 'plait' and c.table_name <> 'schema_version' and c.is_generated = 'NEVER'
order by c.table_name, c.ordinal_position;

-- keep_logs: keeps the events of runs removed meanwhile; runs before anything is read
lock table plait.log in access share mode;

-- rows: the rows of a table, including its partitions
select any_columns from plait.any_table;

-- sequences: the position of each sequence; unused ones stay at their start
select sequencename, last_value from pg_sequences where schemaname = 'plait' and last_value is not null;

-- empty: empties a table before its rows are copied
delete from plait.any_table;

-- set_sequence: the sequence continues after the value
select setval($1::text::regclass, $2);

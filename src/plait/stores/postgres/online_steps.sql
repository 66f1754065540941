-- wait_shortly: whoever comes after us for a table waits as long as we do
set local lock_timeout = '200ms';

-- set_step: how many steps of the next migration are done
update plait.schema_version set step = $1;

-- unfinished_indexes: statements that drop what is left of them
select format('drop index concurrently %s', i.indexrelid::regclass)
from pg_index i join pg_class c on c.oid = i.indexrelid
where c.relnamespace = to_regnamespace('plait') and c.relkind = 'i' and not i.indisvalid;

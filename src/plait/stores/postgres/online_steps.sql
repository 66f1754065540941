-- wait_shortly: limits the wait for a lock, because later users of the table wait as long
set local lock_timeout = '200ms';

-- set_step: the number of completed steps of the next migration
update plait.schema_version set step = $1;

-- unfinished_indexes: statements that drop unfinished indexes
select format('drop index concurrently %s', i.indexrelid::regclass)
from pg_index i join pg_class c on c.oid = i.indexrelid
where c.relnamespace = to_regnamespace('plait') and c.relkind = 'i' and not i.indisvalid;

-- sqlite: bytes of each table and its indexes; the parts of a full-text index are one
with owned as (
    select name as part, case when tbl_name like 'run_text_groups%' then 'run_text_groups' else tbl_name end as owner
    from sqlite_master where type in ('table', 'index')
)
select owner, sum(pgsize) from dbstat('main', 1) join owned on owned.part = dbstat.name
where aggregate group by owner order by owner;

-- postgres: bytes of each table, its indexes and its large values; a partitioned one with its parts
select coalesce(p.inhparent, c.oid)::regclass::text as owner, sum(pg_total_relation_size(c.oid))::bigint
from pg_class c left join pg_inherits p on p.inhrelid = c.oid
where c.relnamespace = to_regnamespace('plait') and c.relkind = 'r'
group by 1 order by 1;

-- pass_time: partitions of the log are that much older
update plait.log_partitions set opened_at = opened_at - $1::bigint, removing_since = removing_since - $1::bigint;

-- announce: stores the code of an engine; other engines are notified if it is new
with noted as (
    update plait.engines set code = $2::text[] where owner = $1 and code is distinct from $2::text[] returning 1
)
select pg_notify('plait', $3) from noted;

-- pools_with_engines: all pools, with the number of engines that have their code
select pool, (select count(*) from plait.engines where string_to_array(pool, ' + ') <@ code)
from plait.shards where pool <> '' group by pool;

-- pool_of: the pool of a shard, and how many live engines have its code
select pool, (select count(*) from plait.engines
              where string_to_array(pool, ' + ') <@ code and expires > plait.ms(clock_timestamp()))
from plait.shards where shard = $1;

-- pools: facts about the pools, for people
select pool, (select count(*) from plait.engines
              where string_to_array(pool, ' + ') <@ code and expires > plait.ms(clock_timestamp())),
       count(*) filter (where owner is not null and expires > plait.ms(clock_timestamp())),
       (select count(*) from plait.runs r
        where r.status = 'running' and r.shard >= 64
          and r.shard in (select shard from plait.shards where pool = p.pool)),
       array_agg(shard order by shard)
from plait.shards p where pool <> '' group by pool order by pool;

-- pool_shards: the shards of a pool
select shard from plait.shards where pool = $1 order by shard;

-- lock_pools: one process at a time creates a pool
select pg_advisory_xact_lock(hashtextextended('plait pools', 0));

-- make_pool: adds its shards after all others; `remove_pools` keeps the last, so that no number is reused
insert into plait.shards (shard, pool)
select (select max(shard) from plait.shards) + place, $1 from generate_series(1, $2) as place;

-- abandoned: shards of pools without an owner whose code no engine has
select shard from plait.shards p
where pool <> '' and (owner is null or expires <= plait.ms(clock_timestamp()))
  and not exists (select from plait.engines where string_to_array(pool, ' + ') <@ code)
order by shard;

-- raise_epochs: raises the epochs of those of these shards without an owner. This fences their previous owners like a
-- takeover; the caller may write until someone claims one, which need not wait
with free as (
    select shard from plait.shards
    where shard = any ($1::integer[]) and (owner is null or expires <= plait.ms(clock_timestamp()))
    order by shard for update
)
update plait.shards s set owner = null, epoch = epoch + 1, expires = 0, guarded_at = null
from free where s.shard = free.shard
returning s.shard, s.epoch;

-- free_slots: claims of workers that were not heard of in time, in shards where nobody says what becomes of them
update plait.queued_tasks set limited = false
where limited and shard = any ($1::integer[]) and expires <= plait.ms(clock_timestamp());

-- emptied: pools without a run or an input, but for the last, among those of some shards
select pool from plait.shards p
where pool <> ''
group by pool
having bool_and(shard = any ($1::integer[])) and max(shard) < (select max(shard) from plait.shards)
   and bool_and(not exists (select from plait.runs r where r.shard = p.shard and r.shard >= 64))
   and not exists (select from plait.inbox i
                   where not i.taken and i.shard in (select shard from plait.shards where pool = p.pool));

-- wait_shortly: limits the wait for a lock, because later users of the table wait as long
set local lock_timeout = '100ms';

-- lock_shards: blocks commits until the end, so that no run moves. A move reads the shards after it has locked that of
-- its run; so do earlier releases
lock table plait.shards in exclusive mode;

-- remove_pools: deletes all of their shards
delete from plait.shards where pool = any ($1::text[]) and pool <> '';

-- tell: notifies other engines
select pg_notify('plait', $1);

-- move: moves runs to other shards, with inputs that arrived after they had left
with moved as (
    select * from unnest($1::text[], $2::integer[], $3::integer[]) as m (run_id, origin, shard)
), runs as (
    update plait.runs r set shard = m.shard from moved m where r.id = m.run_id and r.shard = m.origin
), inbox as (
    update plait.inbox i set shard = m.shard from moved m
    where i.run_id = m.run_id and i.shard = m.origin and not i.taken
), timers as (
    update plait.timers t set shard = m.shard from moved m where t.run_id = m.run_id and t.shard = m.origin
)
update plait.queued_tasks q set shard = m.shard from moved m where q.run_id = m.run_id and q.shard = m.origin;

-- follow: moves inputs of runs that arrived in their previous shards
with moved as (
    select m.run_id, m.origin, r.shard from unnest($1::text[], $2::integer[]) as m (run_id, origin)
    join plait.runs r on r.id = m.run_id and r.shard <> m.origin
), inbox as (
    update plait.inbox i set shard = m.shard from moved m
    where i.run_id = m.run_id and i.shard = m.origin and not i.taken
), timers as (
    update plait.timers t set shard = m.shard from moved m where t.run_id = m.run_id and t.shard = m.origin
)
update plait.queued_tasks q set shard = m.shard from moved m where q.run_id = m.run_id and q.shard = m.origin;

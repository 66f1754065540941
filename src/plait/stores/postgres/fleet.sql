-- announce: which code an engine has; others are told when that is new
with noted as (
    update plait.engines set code = $2::text[] where owner = $1 and code is distinct from $2::text[] returning 1
)
select pg_notify('plait', $3) from noted;

-- pools_with_engines: the pools that there are, and how many engines have their code
select pool, (select count(*) from plait.engines where string_to_array(pool, ' + ') <@ code)
from plait.shards where pool <> '' group by pool;

-- pool_of: whose shard it is, and how many living engines have that code
select pool, (select count(*) from plait.engines
              where string_to_array(pool, ' + ') <@ code and expires > plait.ms(clock_timestamp()))
from plait.shards where shard = $1;

-- pools: what people want to know of them
select pool, (select count(*) from plait.engines
              where string_to_array(pool, ' + ') <@ code and expires > plait.ms(clock_timestamp())),
       count(*) filter (where owner is not null and expires > plait.ms(clock_timestamp())),
       (select count(*) from plait.runs r
        where r.status = 'running' and r.shard >= 64
          and r.shard in (select shard from plait.shards where pool = p.pool)),
       array_agg(shard order by shard)
from plait.shards p where pool <> '' group by pool order by pool;

-- pool_shards: those of one pool
select shard from plait.shards where pool = $1 order by shard;

-- lock_pools: one process makes a pool, the others wait for it
select pg_advisory_xact_lock(hashtextextended('plait pools', 0));

-- make_pool: its shards, after all that there are; `remove_pools` leaves the last, so that no number is given twice
insert into plait.shards (shard, pool)
select (select max(shard) from plait.shards) + place, $1 from generate_series(1, $2) as place;

-- abandoned: shards of pools that nobody holds, and whose code no engine has
select shard from plait.shards p
where pool <> '' and (owner is null or expires <= plait.ms(clock_timestamp()))
  and not exists (select from plait.engines where string_to_array(pool, ' + ') <@ code)
order by shard;

-- raise_epochs: of those of some shards that nobody holds. Whoever held one is fenced as by a takeover; who raised them may
-- write until somebody claims one, who need not wait
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

-- wait_shortly: whoever comes after us for a table waits as long as we do
set local lock_timeout = '100ms';

-- lock_shards: until we are done nobody commits, so no run moves. A move reads which shards there are after it has locked
-- that of its run; those of an earlier release do so, too
lock table plait.shards in exclusive mode;

-- remove_pools: all of their shards
delete from plait.shards where pool = any ($1::text[]) and pool <> '';

-- tell: others have something to look at
select pg_notify('plait', $1);

-- move: runs from their shards to others, and what came for them after they had gone
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

-- follow: what came for runs where they were before they moved
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

-- forget_holders: the runs with these ids have ended, so others may have them
delete from plait.queued_runs q
using unnest($1::text[], $2::text[], $3::text[]) as w (namespace, queue, dedup_id)
where q.namespace = w.namespace and q.queue = w.queue and q.dedup_id = w.dedup_id and q.admitted_at is not null
  and not exists (select from plait.runs r where r.id = q.run_id and r.status = 'running');

-- put: queues runs
insert into plait.queued_runs (run_id, namespace, queue, partition, priority, dedup_id, debounced, due, deadline,
                               enqueued_at)
select run_id, namespace, queue, partition, priority, dedup_id, debounced, now.at + delay, deadline, now.at
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::boolean[], $8::bigint[],
            $9::bigint[]) with ordinality
       as p (run_id, namespace, queue, partition, priority, dedup_id, debounced, delay, deadline, place),
     (select plait.ms(clock_timestamp()) as at) as now
order by place;

-- put_children: queues children, except those whose dedup ids are taken; returns the queued ones
insert into plait.queued_runs (run_id, namespace, queue, partition, priority, dedup_id, debounced, due, deadline,
                               enqueued_at)
select run_id, namespace, queue, partition, priority, dedup_id, debounced, now.at + delay, deadline, now.at
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::boolean[], $8::bigint[],
            $9::bigint[]) with ordinality
       as p (run_id, namespace, queue, partition, priority, dedup_id, debounced, delay, deadline, place),
     (select plait.ms(clock_timestamp()) as at) as now
order by place
on conflict (namespace, queue, dedup_id) where dedup_id is not null do nothing
returning run_id;

-- refused: children whose parents have an untaken input whose key has this prefix, with a colon as its last character
select c.id from unnest($1::text[], $2::text[], $3::text[]) as c (id, parent, prefix)
where exists (select from plait.inbox i
              where i.run_id = c.parent and i.key >= c.prefix and i.key < left(c.prefix, -1) || ';' and not i.taken);

-- hold: holds back their inputs; an empty reply means that the answer is still to come
update plait.inbox set taken = true, reply = '' where run_id = any ($1::text[]) and not taken;

-- insert_inbox: inputs for runs, each in its run's shard. Some may wait; these can't be admitted meanwhile. The same
-- key twice is one input
with waiting as (
    select run_id from plait.queued_runs where run_id = any ($1::text[]) and admitted_at is null for share
)
insert into plait.inbox (run_id, shard, key, body, at, taken, reply)
select m.run_id, coalesce((select r.shard from plait.runs r where r.id = m.run_id), m.shard), m.key, m.body, m.at,
       w.run_id is not null, case when w.run_id is not null then '' end
from unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::bigint[])
  with ordinality as m (run_id, shard, key, body, at, place)
left join waiting w on w.run_id = m.run_id
order by m.place
on conflict (run_id, key) do nothing;

-- leave: runs leave their queues without a slot
delete from plait.queued_runs where run_id = any ($1::text[]) and admitted_at is null returning run_id;

-- let_go: releases held-back inputs to the owners; an input that is only answered later has no body
update plait.inbox set taken = false, reply = null
where run_id = any ($1::text[]) and taken and reply = '' and body is not null;

-- delay: restarts the delay of waiting runs
update plait.queued_runs q set due = plait.ms(clock_timestamp()) + d.delay
from unnest($1::text[], $2::bigint[]) as d (run_id, delay)
where q.run_id = d.run_id and q.admitted_at is null
returning q.run_id;

-- put_start: replaces held-back starts
update plait.inbox i set body = s.body, at = s.at
from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as s (run_id, key, body, at)
where i.run_id = s.run_id and i.key = s.key and i.taken and i.reply = '' and i.body is not null;

-- queues: queues with waiting runs, one step along the index each
with recursive found as (
    (select namespace, queue from plait.queued_runs where admitted_at is null and due is null
     order by namespace, queue limit 1)
    union all
    select next.namespace, next.queue
    from found cross join lateral (
        select q.namespace, q.queue from plait.queued_runs q
        where q.admitted_at is null and q.due is null and (q.namespace, q.queue) > (found.namespace, found.queue)
        order by q.namespace, q.queue limit 1
    ) as next
)
select namespace, queue from found
union
select namespace, queue from plait.queued_runs where admitted_at is null and due is not null;

-- lock_limits: the limits of a queue and of its namespace; always in this order, so that no other process admits now
select name, settings from plait.queues where namespace = $1 and name in ('*', $2) order by name for update;

-- limits: the same without a lock
select name, settings from plait.queues where namespace = $1 and name in ('*', $2);

-- limited: queues that have limits
select namespace, name from plait.queues;

-- now: the database's time
select plait.ms(clock_timestamp());

-- add: a queue without limits yet
insert into plait.queues (namespace, name, settings) values ($1, $2, $3) on conflict (namespace, name) do nothing;

-- lock_settings: locks them: the next change sees ours
select settings from plait.queues where namespace = $1 and name = $2 for update;

-- set: the limits of a queue
update plait.queues set settings = $3 where namespace = $1 and name = $2;

-- count_claimed: entries in flight count from now on
update plait.queued_tasks set limited = true
where namespace = $1 and ($2 = '*' or queue = $2) and claim is not null and not limited;

-- get_settings: the limits of a queue
select settings from plait.queues where namespace = $1 and name = $2;

-- sweep: deletes the slots of runs that have ended or are gone
delete from plait.queued_runs q
where q.namespace = $1 and q.queue = $2 and q.admitted_at is not null
  and not exists (select from plait.runs r where r.id = q.run_id and r.status = 'running');

-- ripe: ends delays that are over
update plait.queued_runs set due = null
where namespace = $1 and queue = $2 and admitted_at is null and due is not null and due <= $3;

-- overdue: waiting runs whose deadlines have passed
select run_id from plait.queued_runs
where namespace = $1 and queue = $2 and admitted_at is null and deadline is not null and deadline <= $3
order by deadline limit $4;

-- next_moments: when the next delay ends and the next waiting run is overdue; and whether one waits for a slot
select (select min(due) from plait.queued_runs
        where namespace = $1 and queue = $2 and admitted_at is null and due is not null),
       (select min(deadline) from plait.queued_runs
        where namespace = $1 and queue = $2 and admitted_at is null and deadline is not null),
       exists (select from plait.queued_runs
               where namespace = $1 and queue = $2 and admitted_at is null and due is null);

-- running_runs: slots held by runs, by key
select q.partition, count(*) from plait.queued_runs q
where q.namespace = $1 and ($2 = '*' or q.queue = $2) and q.admitted_at is not null
  and exists (select from plait.runs r where r.id = q.run_id and r.status = 'running')
group by q.partition;

-- runs_of_processes: slots held by runs, by the owning engine; an empty name for those without an owner
select coalesce(s.owner, ''), count(*)
from plait.queued_runs q
join plait.runs r on r.id = q.run_id and r.status = 'running'
left join plait.shards s on s.shard = r.shard
where q.namespace = $1 and ($2 = '*' or q.queue = $2) and q.admitted_at is not null
group by s.owner;

-- running_tasks: slots held by tasks, by key
select partition, count(*) from plait.queued_tasks
where namespace = $1 and ($2 = '*' or queue = $2) and limited
group by partition;

-- tasks_of_processes: slots held by a worker's tasks
select $3::text, count(*) from plait.queued_tasks
where namespace = $1 and ($2 = '*' or queue = $2) and limited and worker = $3;

-- forget_starts: deletes starts of earlier periods
delete from plait.queue_starts where namespace = $1 and queue = $2 and kind = $3 and at <= $4;

-- settle_starts: starts in the future, because the clock was set back, count as just now: otherwise they would count
-- for as long as that was
update plait.queue_starts set at = $4 where namespace = $1 and queue = $2 and kind = $3 and at > $4;

-- starts: recent starts, by key
select partition, count(*), min(at) from plait.queue_starts
where namespace = $1 and queue = $2 and kind = $3 and at > $4 group by partition;

-- note_starts: records starts for a rate limit
insert into plait.queue_starts (namespace, queue, kind, partition, at)
select $1, $2, $3, partition, $5 from unnest($4::text[]) as p (partition);

-- next: the first waiting runs, except for keys at their limits
select id, partition from plait.queued_runs
where namespace = $1 and queue = $2 and admitted_at is null and due is null and partition <> all ($3::text[])
order by priority, id limit $4;

-- next_by_engine: the same with the owning engine, except for engines at their limits
select q.id, q.partition, coalesce(s.owner, '')
from plait.queued_runs q
left join plait.runs r on r.id = q.run_id
left join plait.shards s on s.shard = r.shard
where q.namespace = $1 and q.queue = $2 and q.admitted_at is null and q.due is null
  and q.partition <> all ($3::text[]) and coalesce(s.owner, '') <> all ($5::text[])
order by q.priority, q.id limit $4;

-- admit: runs take their slots
update plait.queued_runs
set admitted_at = $2, dedup_id = case when debounced then null else dedup_id end
where id = any ($1::bigint[]) and admitted_at is null
returning run_id;

-- holder: the run that has a dedup id
select q.run_id from plait.queued_runs q
where q.namespace = $1 and q.queue = $2 and q.dedup_id = $3
  and (q.admitted_at is null or exists (select from plait.runs r where r.id = q.run_id and r.status = 'running'));

-- place: the position of a waiting run
select q.namespace, q.queue, q.partition, q.priority, q.id, q.due, coalesce(s.owner, '')
from plait.queued_runs q
left join plait.runs r on r.id = q.run_id
left join plait.shards s on s.shard = r.shard
where q.run_id = $1 and q.admitted_at is null;

-- ahead: how many runs are ahead
select count(*) from (
    select from plait.queued_runs
    where namespace = $1 and queue = $2 and admitted_at is null and due is null and (priority, id) < ($3, $4)
    limit $5
) as before;

-- count_waiting: how many runs wait
select count(*) from plait.queued_runs
where namespace = $1 and ($2 = '*' or queue = $2) and admitted_at is null and ($3::text is null or partition = $3);

-- states: the queues of a namespace, with their entries
select name, max(settings), sum(waiting_runs), sum(delayed_runs), sum(running_runs), sum(waiting_tasks),
       sum(running_tasks)
from (
    select name, settings, 0 as waiting_runs, 0 as delayed_runs, 0 as running_runs, 0 as waiting_tasks,
           0 as running_tasks
    from plait.queues where namespace = $1
    union all
    select q.queue, null, count(*) filter (where q.admitted_at is null and q.due is null),
           count(*) filter (where q.admitted_at is null and q.due is not null),
           count(*) filter (where q.admitted_at is not null and r.id is not null), 0, 0
    from plait.queued_runs q left join plait.runs r on r.id = q.run_id and r.status = 'running'
    where q.namespace = $1 and (q.admitted_at is null or r.id is not null) group by q.queue
    union all
    select queue, null, 0, 0, 0, count(*) filter (where claim is null), count(*) filter (where claim is not null)
    from plait.queued_tasks where namespace = $1 group by queue
) as each group by name order by name;

-- backlogs: how many runs each queue has, and since when the longest-waiting one waits for a slot
select q.namespace, q.queue, count(*) filter (where q.admitted_at is null and q.due is null),
       count(*) filter (where q.admitted_at is null and q.due is not null),
       count(*) filter (where q.admitted_at is not null and r.id is not null),
       min(q.enqueued_at) filter (where q.admitted_at is null and q.due is null)
from plait.queued_runs q left join plait.runs r on r.id = q.run_id and r.status = 'running'
where q.admitted_at is null or r.id is not null
group by q.namespace, q.queue order by q.namespace, q.queue;

-- holders: slot holders, longest first
select * from (
    select 'run' as kind, q.run_id, r.definition, q.admitted_at as since, q.partition, null as worker
    from plait.queued_runs q join plait.runs r on r.id = q.run_id
    where q.namespace = $1 and q.queue = $2 and q.admitted_at is not null and r.status = 'running'
    union all
    select 'task', run_id, label, claimed_at, partition, worker
    from plait.queued_tasks where namespace = $1 and queue = $2 and claim is not null
) as held order by since limit $3;

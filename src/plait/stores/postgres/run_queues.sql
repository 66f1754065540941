-- forget_holders: the runs that had these ids have ended, so others may have them
delete from plait.queued_runs q
using unnest($1::text[], $2::text[], $3::text[]) as w (namespace, queue, dedup_id)
where q.namespace = w.namespace and q.queue = w.queue and q.dedup_id = w.dedup_id and q.admitted_at is not null
  and not exists (select from plait.runs r where r.id = q.run_id and r.status = 'running');

-- put: runs wait
insert into plait.queued_runs (run_id, namespace, queue, partition, priority, dedup_id, debounced, due, deadline,
                               enqueued_at)
select run_id, namespace, queue, partition, priority, dedup_id, debounced, now.at + delay, deadline, now.at
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::boolean[], $8::bigint[],
            $9::bigint[]) with ordinality
       as p (run_id, namespace, queue, partition, priority, dedup_id, debounced, delay, deadline, place),
     (select plait.ms(clock_timestamp()) as at) as now
order by place;

-- put_children: the same for children, but for those whose dedup ids are taken; says which wait
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

-- refused: of children, those whose parents have an input whose key begins so, with a colon as its last character
select c.id from unnest($1::text[], $2::text[], $3::text[]) as c (id, parent, prefix)
where exists (select from plait.inbox i
              where i.run_id = c.parent and i.key >= c.prefix and i.key < left(c.prefix, -1) || ';' and not i.taken);

-- hold: what was sent to them is kept for later; an empty reply says that the answer is still to come
update plait.inbox set taken = true, reply = '' where run_id = any ($1::text[]) and not taken;

-- insert_inbox: inputs for runs, each to where its run is. Some may wait: a run that does can't be admitted meanwhile.
-- The same key twice is one
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

-- leave: runs wait no longer, and take no slots
delete from plait.queued_runs where run_id = any ($1::text[]) and admitted_at is null returning run_id;

-- let_go: their owners get what was held back; an input that is only answered later has no body
update plait.inbox set taken = false, reply = null
where run_id = any ($1::text[]) and taken and reply = '' and body is not null;

-- delay: runs that wait begin to do so anew
update plait.queued_runs q set due = plait.ms(clock_timestamp()) + d.delay
from unnest($1::text[], $2::bigint[]) as d (run_id, delay)
where q.run_id = d.run_id and q.admitted_at is null
returning q.run_id;

-- put_start: other starts in place of those that are held back
update plait.inbox i set body = s.body, at = s.at
from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as s (run_id, key, body, at)
where i.run_id = s.run_id and i.key = s.key and i.taken and i.reply = '' and i.body is not null;

-- queues: those that runs wait on, one step along the index each
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

-- lock_limits: of a queue, and of all of its namespace together; always in this order, and nobody else admits meanwhile
select name, settings from plait.queues where namespace = $1 and name in ('*', $2) order by name for update;

-- limits: the same, to look at
select name, settings from plait.queues where namespace = $1 and name in ('*', $2);

-- limited: the queues that have limits
select namespace, name from plait.queues;

-- now: by the database's clock
select plait.ms(clock_timestamp());

-- add: a queue that nobody has set limits of
insert into plait.queues (namespace, name, settings) values ($1, $2, $3) on conflict (namespace, name) do nothing;

-- lock_settings: who changes them next sees what we make of them
select settings from plait.queues where namespace = $1 and name = $2 for update;

-- set: the limits of a queue
update plait.queues set settings = $3 where namespace = $1 and name = $2;

-- count_claimed: what is under way counts from now on
update plait.queued_tasks set limited = true
where namespace = $1 and ($2 = '*' or queue = $2) and claim is not null and not limited;

-- get_settings: the limits of a queue
select settings from plait.queues where namespace = $1 and name = $2;

-- sweep: the slots of runs that have ended or are gone
delete from plait.queued_runs q
where q.namespace = $1 and q.queue = $2 and q.admitted_at is not null
  and not exists (select from plait.runs r where r.id = q.run_id and r.status = 'running');

-- ripe: delays that are over
update plait.queued_runs set due = null
where namespace = $1 and queue = $2 and admitted_at is null and due is not null and due <= $3;

-- overdue: runs that wait and whose deadlines have passed
select run_id from plait.queued_runs
where namespace = $1 and queue = $2 and admitted_at is null and deadline is not null and deadline <= $3
order by deadline limit $4;

-- next_moments: when the next delay is over, and the next run that waits is overdue; and whether one waits for a slot
select (select min(due) from plait.queued_runs
        where namespace = $1 and queue = $2 and admitted_at is null and due is not null),
       (select min(deadline) from plait.queued_runs
        where namespace = $1 and queue = $2 and admitted_at is null and deadline is not null),
       exists (select from plait.queued_runs
               where namespace = $1 and queue = $2 and admitted_at is null and due is null);

-- running_runs: slots that runs hold, by key
select q.partition, count(*) from plait.queued_runs q
where q.namespace = $1 and ($2 = '*' or q.queue = $2) and q.admitted_at is not null
  and exists (select from plait.runs r where r.id = q.run_id and r.status = 'running')
group by q.partition;

-- runs_of_processes: slots that runs hold, by the engine that owns them; those of nobody are under an empty name
select coalesce(s.owner, ''), count(*)
from plait.queued_runs q
join plait.runs r on r.id = q.run_id and r.status = 'running'
left join plait.shards s on s.shard = r.shard
where q.namespace = $1 and ($2 = '*' or q.queue = $2) and q.admitted_at is not null
group by s.owner;

-- running_tasks: slots that tasks hold, by key
select partition, count(*) from plait.queued_tasks
where namespace = $1 and ($2 = '*' or queue = $2) and limited
group by partition;

-- tasks_of_processes: slots that a worker's tasks hold
select $3::text, count(*) from plait.queued_tasks
where namespace = $1 and ($2 = '*' or queue = $2) and limited and worker = $3;

-- forget_starts: those of earlier periods
delete from plait.queue_starts where namespace = $1 and queue = $2 and kind = $3 and at <= $4;

-- settle_starts: those that are yet to come, because the clock was set back, were just now: else they would count for as long
-- as that was
update plait.queue_starts set at = $4 where namespace = $1 and queue = $2 and kind = $3 and at > $4;

-- starts: what began lately, by key
select partition, count(*), min(at) from plait.queue_starts
where namespace = $1 and queue = $2 and kind = $3 and at > $4 group by partition;

-- note_starts: something begins, and a rate limits how often
insert into plait.queue_starts (namespace, queue, kind, partition, at)
select $1, $2, $3, partition, $5 from unnest($4::text[]) as p (partition);

-- next: who is first of those that wait, but for keys that are at their limits
select id, partition from plait.queued_runs
where namespace = $1 and queue = $2 and admitted_at is null and due is null and partition <> all ($3::text[])
order by priority, id limit $4;

-- next_by_engine: the same, with the engine that owns each, but for engines that are at their limits
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

-- holder: the run that has an id
select q.run_id from plait.queued_runs q
where q.namespace = $1 and q.queue = $2 and q.dedup_id = $3
  and (q.admitted_at is null or exists (select from plait.runs r where r.id = q.run_id and r.status = 'running'));

-- place: how a run waits
select q.namespace, q.queue, q.partition, q.priority, q.id, q.due, coalesce(s.owner, '')
from plait.queued_runs q
left join plait.runs r on r.id = q.run_id
left join plait.shards s on s.shard = r.shard
where q.run_id = $1 and q.admitted_at is null;

-- ahead: how many are before it
select count(*) from (
    select from plait.queued_runs
    where namespace = $1 and queue = $2 and admitted_at is null and due is null and (priority, id) < ($3, $4)
    limit $5
) as before;

-- count_waiting: how many runs wait
select count(*) from plait.queued_runs
where namespace = $1 and ($2 = '*' or queue = $2) and admitted_at is null and ($3::text is null or partition = $3);

-- states: the queues of a namespace, and what is on them
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

-- backlogs: how many runs each queue has, and since when the first of those that wait for a slot does
select q.namespace, q.queue, count(*) filter (where q.admitted_at is null and q.due is null),
       count(*) filter (where q.admitted_at is null and q.due is not null),
       count(*) filter (where q.admitted_at is not null and r.id is not null),
       min(q.enqueued_at) filter (where q.admitted_at is null and q.due is null)
from plait.queued_runs q left join plait.runs r on r.id = q.run_id and r.status = 'running'
where q.admitted_at is null or r.id is not null
group by q.namespace, q.queue order by q.namespace, q.queue;

-- holders: who holds slots, the longest first
select * from (
    select 'run' as kind, q.run_id, r.definition, q.admitted_at as since, q.partition, null as worker
    from plait.queued_runs q join plait.runs r on r.id = q.run_id
    where q.namespace = $1 and q.queue = $2 and q.admitted_at is not null and r.status = 'running'
    union all
    select 'task', run_id, label, claimed_at, partition, worker
    from plait.queued_tasks where namespace = $1 and queue = $2 and claim is not null
) as held order by since limit $3;

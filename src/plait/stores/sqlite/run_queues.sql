-- forget_holder: the run with an id has ended, so another may have it
delete from queued_runs
where namespace = ?1 and queue = ?2 and dedup_id = ?3 and admitted_at is not null
  and not exists (select 1 from runs where id = run_id and status = 'running');

-- put: queues a run
insert into queued_runs (run_id, namespace, queue, partition, priority, dedup_id, debounced, due, deadline, enqueued_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- hold: holds back its inputs; an empty reply means that the answer is still to come
update inbox set taken = 1, reply = '' where run_id = ?1 and taken = 0;

-- waits: whether a run is on a queue
select 1 from queued_runs where run_id = ?1 and admitted_at is null;

-- insert_held: an input for a waiting run; the same key twice is one
insert into inbox (run_id, shard, key, body, at, taken, reply) values (?1, ?2, ?3, ?4, ?5, 1, '')
on conflict (run_id, key) do nothing;

-- refused: whether an untaken input's key has this prefix, with a colon as its last character
select 1 from inbox
where run_id = ?1 and key >= ?2 and key < substr(?2, 1, length(?2) - 1) || ';' and taken = 0;

-- leave: a run leaves its queue without a slot
delete from queued_runs where run_id = ?1 and admitted_at is null;

-- let_go: releases held-back inputs to the owner; an input that is only answered later has no body
update inbox set taken = 0, reply = null where run_id = ?1 and taken = 1 and reply = '' and body is not null;

-- delay: restarts the delay of a waiting run
update queued_runs set due = ?2 where run_id = ?1 and admitted_at is null;

-- put_start: replaces the held-back start
update inbox set body = ?3, at = ?4 where run_id = ?1 and key = ?2 and taken = 1 and reply = '' and body is not null;

-- queues: queues with waiting runs, one step along the index each
with recursive found (namespace, queue) as (
    select * from (
        select namespace, queue from queued_runs where admitted_at is null and due is null
        order by namespace, queue limit 1
    )
    union all
    select (select q.namespace from queued_runs q
            where q.admitted_at is null and q.due is null and (q.namespace, q.queue) > (found.namespace, found.queue)
            order by q.namespace, q.queue limit 1),
           (select q.queue from queued_runs q
            where q.admitted_at is null and q.due is null and (q.namespace, q.queue) > (found.namespace, found.queue)
            order by q.namespace, q.queue limit 1)
    from found where found.namespace is not null
)
select namespace, queue from found where namespace is not null
union
select distinct namespace, queue from queued_runs where admitted_at is null and due is not null;

-- limits: the limits of a queue and of its namespace
select name, settings from queues where namespace = ?1 and name in ('*', ?2);

-- any_limits: whether any of these queues has limits
select 1 from queues where namespace = ?1 and (name = '*' or name in (select value from json_each(?2))) limit 1;

-- set: the limits of a queue
insert into queues (namespace, name, settings) values (?1, ?2, ?3)
on conflict (namespace, name) do update set settings = excluded.settings;

-- count_claimed: entries in flight count from now on
update queued_tasks set limited = 1 where namespace = ?1 and (?2 = '*' or queue = ?2) and claim is not null;

-- get_settings: the limits of a queue
select settings from queues where namespace = ?1 and name = ?2;

-- sweep: deletes the slots of runs that have ended or are gone
delete from queued_runs
where namespace = ?1 and queue = ?2 and admitted_at is not null
  and not exists (select 1 from runs where id = run_id and status = 'running');

-- ripe: ends delays that are over
update queued_runs set due = null
where namespace = ?1 and queue = ?2 and admitted_at is null and due is not null and due <= ?3;

-- overdue: waiting runs whose deadlines have passed
select run_id from queued_runs
where namespace = ?1 and queue = ?2 and admitted_at is null and deadline is not null and deadline <= ?3
order by deadline limit ?4;

-- next_due: when the next delay is over
select min(due) from queued_runs
where namespace = ?1 and queue = ?2 and admitted_at is null and due is not null and typeof(due) = 'integer';

-- next_deadline: when the next deadline of a waiting run passes
select min(deadline) from queued_runs
where namespace = ?1 and queue = ?2 and admitted_at is null and deadline is not null and typeof(deadline) = 'integer';

-- any_waiting: whether a run waits for a slot
select 1 from queued_runs where namespace = ?1 and queue = ?2 and admitted_at is null and due is null limit 1;

-- running_runs: slots held by runs, by key
select partition, count(*) from queued_runs
where namespace = ?1 and (?2 = '*' or queue = ?2) and admitted_at is not null
  and exists (select 1 from runs where id = run_id and status = 'running')
group by partition;

-- runs_of_processes: slots held by runs, by the owning engine; an empty name for those without an owner
select coalesce(s.owner, ''), count(*)
from queued_runs q
join runs r on r.id = q.run_id and r.status = 'running'
left join shards s on s.shard = r.shard
where q.namespace = ?1 and (?2 = '*' or q.queue = ?2) and q.admitted_at is not null
group by s.owner;

-- running_tasks: slots held by tasks, by key
select partition, count(*) from queued_tasks
where namespace = ?1 and (?2 = '*' or queue = ?2) and limited = 1
group by partition;

-- tasks_of_processes: slots held by a worker's tasks
select ?3, count(*) from queued_tasks
where namespace = ?1 and (?2 = '*' or queue = ?2) and limited = 1 and worker = ?3;

-- forget_starts: deletes starts of earlier periods
delete from queue_starts where namespace = ?1 and queue = ?2 and kind = ?3 and at <= ?4;

-- settle_starts: starts in the future, because the clock was set back, count as just now: otherwise they would count
-- for as long as that was
update queue_starts set at = ?4 where namespace = ?1 and queue = ?2 and kind = ?3 and at > ?4;

-- starts: recent starts, by key
select partition, count(*), min(at) from queue_starts
where namespace = ?1 and queue = ?2 and kind = ?3 and at > ?4 group by partition;

-- note_start: records a start for a rate limit
insert into queue_starts (namespace, queue, kind, partition, at) values (?1, ?2, ?3, ?4, ?5);

-- next: the first waiting runs, except for keys at their limits
select id, partition from queued_runs
where namespace = ?1 and queue = ?2 and admitted_at is null and due is null
  and (?3 is null or partition not in (select value from json_each(?3)))
order by priority, id limit ?4;

-- next_by_engine: the same with the owning engine, except for engines at their limits
select q.id, q.partition, coalesce(s.owner, '')
from queued_runs q
left join runs r on r.id = q.run_id
left join shards s on s.shard = r.shard
where q.namespace = ?1 and q.queue = ?2 and q.admitted_at is null and q.due is null
  and (?3 is null or q.partition not in (select value from json_each(?3)))
  and coalesce(s.owner, '') not in (select value from json_each(?5))
order by q.priority, q.id limit ?4;

-- admit: a run takes its slot
update queued_runs
set admitted_at = ?2, dedup_id = case when debounced then null else dedup_id end
where id = ?1
returning run_id;

-- holder: the run that has a dedup id
select run_id from queued_runs
where namespace = ?1 and queue = ?2 and dedup_id = ?3
  and (admitted_at is null or exists (select 1 from runs where id = run_id and status = 'running'));

-- place: the position of a waiting run
select q.namespace, q.queue, q.partition, q.priority, q.id, q.due, coalesce(s.owner, '')
from queued_runs q
left join runs r on r.id = q.run_id
left join shards s on s.shard = r.shard
where q.run_id = ?1 and q.admitted_at is null;

-- ahead: how many runs are ahead
select count(*) from (
    select 1 from queued_runs
    where namespace = ?1 and queue = ?2 and admitted_at is null and due is null and (priority, id) < (?3, ?4)
    limit ?5
);

-- count_waiting: how many runs wait
select count(*) from queued_runs
where namespace = ?1 and (?2 = '*' or queue = ?2) and admitted_at is null and (?3 is null or partition = ?3);

-- states: the queues of a namespace, with their entries
select name, max(settings), sum(waiting_runs), sum(delayed_runs), sum(running_runs), sum(waiting_tasks),
       sum(running_tasks)
from (
    select name, settings, 0 as waiting_runs, 0 as delayed_runs, 0 as running_runs, 0 as waiting_tasks,
           0 as running_tasks
    from queues where namespace = ?1
    union all
    select queue, null, sum(admitted_at is null and due is null), sum(admitted_at is null and due is not null),
           sum(admitted_at is not null), 0, 0
    from queued_runs
    where namespace = ?1
      and (admitted_at is null or exists (select 1 from runs where id = run_id and status = 'running'))
    group by queue
    union all
    select queue, null, 0, 0, 0, sum(claim is null), sum(claim is not null)
    from queued_tasks where namespace = ?1 group by queue
) group by name order by name;

-- backlogs: how many runs each queue has, and since when the longest-waiting one waits for a slot
select namespace, queue, sum(admitted_at is null and due is null), sum(admitted_at is null and due is not null),
       sum(admitted_at is not null),
       min(case when admitted_at is null and due is null then enqueued_at end)
from queued_runs
where admitted_at is null or exists (select 1 from runs where id = run_id and status = 'running')
group by namespace, queue order by namespace, queue;

-- holders: slot holders, longest first
select * from (
    select 'run', q.run_id, r.definition, q.admitted_at as since, q.partition, null
    from queued_runs q join runs r on r.id = q.run_id
    where q.namespace = ?1 and q.queue = ?2 and q.admitted_at is not null and r.status = 'running'
    union all
    select 'task', run_id, label, claimed_at, partition, worker
    from queued_tasks where namespace = ?1 and queue = ?2 and claim is not null
) order by since limit ?3;

-- enqueue: a task for workers; a new attempt replaces the one before, unclaimed and at the end of the queue
insert or replace into queued_tasks (run_id, shard, namespace, token, opening, attempt, queue, kind, handler, label,
                                     node, key, input, blobs, timeout, heartbeat, terms, progress, enqueued_at, priority,
                                     partition)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21);

-- dequeue: withdraws a task from workers
delete from queued_tasks where run_id = ?1 and token = ?2;

-- finish: the task of a claim has ended
delete from queued_tasks where run_id = ?1 and token = ?2 and claim = ?3 and opening = ?4 and attempt = ?5;

-- has_input: whether a result is known already
select 1 from inbox where run_id = ?1 and key = ?2;

-- any_free: whether polling for tasks is worth a transaction
select 1 from queued_tasks
where namespace = ?1 and queue in (select value from json_each(?2)) and claim is null
  and (?3 is null or kind in (select value from json_each(?3)))
  and (?4 is null or handler in (select value from json_each(?4)))
limit 1;

-- free: the next tasks of a queue, oldest first within a priority; the index has them in that order
select id from queued_tasks
where namespace = ?1 and queue = ?2 and claim is null
  and (?3 is null or kind in (select value from json_each(?3)))
  and (?4 is null or handler in (select value from json_each(?4)))
order by priority, id limit ?5;

-- free_under_limits: the same for a queue with limits, except for keys at theirs
select id, partition from queued_tasks
where namespace = ?1 and queue = ?2 and claim is null
  and (?3 is null or kind in (select value from json_each(?3)))
  and (?4 is null or handler in (select value from json_each(?4)))
  and (?5 is null or partition not in (select value from json_each(?5)))
order by priority, id limit ?6;

-- claim: claims a free task for a worker; under limits, it counts
update queued_tasks
set claim = ?2, worker = ?3, claimed_at = ?4, lease = ?5, deadline = ?4 + timeout + ?6, limited = ?7,
    expires = min(?4 + min(?5, coalesce(heartbeat, ?5)), coalesce(?4 + timeout + ?6, ?4 + ?5))
where id = ?1
returning run_id, shard, namespace, token, opening, attempt, queue, kind, handler, label, node, key, input, blobs,
          timeout, heartbeat, terms, progress, enqueued_at, priority, partition, claim, worker, claimed_at, lease;

-- claimed: a task just claimed by a worker
select run_id, shard, namespace, token, opening, attempt, queue, kind, handler, label, node, key, input, blobs,
       timeout, heartbeat, terms, progress, enqueued_at, priority, partition, claim, worker, claimed_at, lease
from queued_tasks where id = ?1;

-- lengths: how many tasks of each queue wait, and how many are claimed
select namespace, queue, count(*) - count(claim), count(claim) from queued_tasks group by 1, 2 order by 1, 2;

-- unclaimed: queues with free tasks, one step along the index each
with recursive found (namespace, queue) as (
    select * from (
        select namespace, queue from queued_tasks where claim is null order by namespace, queue limit 1
    )
    union all
    select (select t.namespace from queued_tasks t
            where t.claim is null and (t.namespace, t.queue) > (found.namespace, found.queue)
            order by t.namespace, t.queue limit 1),
           (select t.queue from queued_tasks t
            where t.claim is null and (t.namespace, t.queue) > (found.namespace, found.queue)
            order by t.namespace, t.queue limit 1)
    from found where found.namespace is not null
)
select namespace, queue from found where namespace is not null;

-- beat: renews a claim
update queued_tasks
set expires = min(?6 + min(lease, coalesce(heartbeat, lease)), coalesce(deadline, ?6 + lease)),
    progress = coalesce(?7, progress)
where run_id = ?1 and token = ?2 and claim = ?3 and opening = ?4 and attempt = ?5;

-- release: its worker releases it
update queued_tasks
set claim = null, worker = null, claimed_at = null, lease = null, expires = null, deadline = null, limited = 0
where run_id = ?1 and token = ?2 and claim = ?3 and opening = ?4 and attempt = ?5;

-- held: the rows of a run
select run_id, shard, namespace, token, opening, attempt, queue, kind, handler, label, node, key, input, blobs,
       timeout, heartbeat, terms, progress, enqueued_at, priority, partition, claim, worker, claimed_at, lease
from queued_tasks where run_id = ?1 and (?2 is null or token = ?2) order by id;

-- expired: claims that have expired
select run_id, token, opening, worker,
       case when deadline <= ?2 then 'timeout' when heartbeat <= lease then 'heartbeat' else 'lease' end, progress
from queued_tasks
where claim is not null and expires <= ?2 and (?1 is null or shard in (select value from json_each(?1)))
order by expires limit ?3;

-- any_set_back: whether a claim would outlast its lease, because the clock was set back
select 1 from queued_tasks where claim is not null and expires > ?1 + lease limit 1;

-- set_back: such claims last for a lease from now on
update queued_tasks
set claimed_at = ?1, deadline = ?1 + timeout + ?2,
    expires = min(?1 + min(lease, coalesce(heartbeat, lease)), coalesce(?1 + timeout + ?2, ?1 + lease))
where claim is not null and expires > ?1 + lease;

-- any_queued: whether any tasks are queued
select 1 from queued_tasks where ?1 is null or shard in (select value from json_each(?1)) limit 1;

-- note_worker: records that it polled a queue
insert into queue_workers (namespace, queue, worker, seen_at) values (?1, ?2, ?3, ?4)
on conflict (namespace, queue, worker) do update set seen_at = excluded.seen_at;

-- forget_workers: deletes workers that have not polled for long
delete from queue_workers where seen_at < ?1;

-- seen_workers: workers that polled recently
select queue, worker, seen_at from queue_workers where namespace = ?1 and seen_at >= ?2 order by queue, worker;

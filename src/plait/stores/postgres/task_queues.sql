-- enqueue: tasks for workers; a new attempt replaces the one before, unclaimed and at the end of the queue
insert into plait.queued_tasks (run_id, shard, namespace, token, opening, attempt, queue, kind, handler, label,
                                node, key, input, blobs, timeout, heartbeat, terms, progress, enqueued_at, priority,
                                partition, code)
select * from unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::bigint[], $6::integer[], $7::text[],
                     $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
                     $15::bigint[], $16::bigint[], $17::text[], $18::text[], $19::bigint[], $20::integer[],
                     $21::text[], $22::text[])
on conflict (run_id, token) do update
set id = excluded.id, opening = excluded.opening, attempt = excluded.attempt, queue = excluded.queue,
    kind = excluded.kind, handler = excluded.handler, label = excluded.label, node = excluded.node, key = excluded.key,
    input = excluded.input, blobs = excluded.blobs, timeout = excluded.timeout, heartbeat = excluded.heartbeat,
    terms = excluded.terms, progress = excluded.progress, enqueued_at = excluded.enqueued_at,
    priority = excluded.priority, partition = excluded.partition, code = excluded.code, claim = null, worker = null, claimed_at = null,
    lease = null, expires = null, deadline = null, limited = false;

-- dequeue: withdraws tasks from workers
delete from plait.queued_tasks q using unnest($1::text[], $2::text[]) as d (run_id, token)
where q.run_id = d.run_id and q.token = d.token;

-- report: ends workers' claims and sends their results, in one round trip; nothing if one of the claims is not valid
with claims as (
    select q.id from plait.queued_tasks q
    join unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::integer[])
      as f (run_id, token, claim, opening, attempt) using (run_id, token, claim, opening, attempt)
    for update of q
), proof as (
    select count(*) = cardinality($1::text[]) as sound from claims
), ended as (
    delete from plait.queued_tasks q using unnest($1::text[], $2::text[]) as f (run_id, token)
    where q.run_id = f.run_id and q.token = f.token and (select sound from proof)
), sent as (
    insert into plait.inbox (run_id, shard, key, body, at)
    select run_id, coalesce((select r.shard from plait.runs r where r.id = m.run_id), shard), key, body, at
    from unnest($6::text[], $7::integer[], $8::text[], $9::text[], $10::bigint[])
      with ordinality as m (run_id, shard, key, body, at, place)
    where (select sound from proof)
    order by place
    on conflict (run_id, key) do nothing
)
select sound, (select pg_notify('plait', $11::text) where sound) from proof;

-- has_inputs: how many of these inputs are known already
select count(*) from plait.inbox i join unnest($1::text[], $2::text[]) as r (run_id, key) using (run_id, key);

-- claim: claims free tasks for a worker, queue by queue, oldest first within a priority, as the index has them; rows
-- that another worker is claiming are skipped, and so are queues with limits. It does not wait for the disk: a claim
-- undone by a crash of the server is no claim, and its worker's result is late
with now as (
    select plait.ms(clock_timestamp()) as at, set_config('synchronous_commit', 'off', true)
), free as (
    select next.id
    from unnest($2::text[]) with ordinality as wanted (queue, place)
    cross join lateral (
        select id, priority from plait.queued_tasks t
        where t.namespace = $1 and t.queue = wanted.queue and t.claim is null
          and not exists (select from plait.queues s where s.namespace = $1 and s.name in ('*', wanted.queue))
          and ($3::text[] is null or t.kind = any ($3)) and ($4::text[] is null or t.handler = any ($4))
        order by t.priority, t.id limit $5 for update skip locked
    ) as next
    order by wanted.place limit $5
)
update plait.queued_tasks q
set claim = $6, worker = $7, claimed_at = now.at, lease = $8::bigint, deadline = now.at + q.timeout + $9::bigint,
    expires = least(now.at + least($8::bigint, q.heartbeat), now.at + q.timeout + $9::bigint)
from free, now
where q.id = free.id
returning q.run_id, q.shard, q.namespace, q.token, q.opening, q.attempt, q.queue, q.kind, q.handler, q.label, q.node,
          q.key, q.input, q.blobs, q.timeout, q.heartbeat, q.terms, q.progress, q.enqueued_at, q.priority,
          q.partition, q.claim, q.worker, q.claimed_at, q.lease, q.id;

-- claim_by_code: the same for an engine, for tasks that it has the code for; namespaces take turns. Some more are read
-- than needed, as others may take some of them
with now as (
    select plait.ms(clock_timestamp()) as at, set_config('synchronous_commit', 'off', true)
), found as (
    select id, priority, row_number() over (partition by namespace order by priority, id) as turn
    from plait.queued_tasks t
    where t.claim is null and t.code = any ($1::text[])
      and not exists (select from plait.queues s where s.namespace = t.namespace and s.name in ('*', t.queue))
), first as (
    select id, priority, turn from found order by turn, priority, id limit 4 * $2
), free as (
    select t.id from plait.queued_tasks t join first on first.id = t.id
    where t.claim is null
    order by first.turn, first.priority, first.id limit $2 for update of t skip locked
)
update plait.queued_tasks q
set claim = $3, worker = $4, claimed_at = now.at, lease = $5::bigint, deadline = now.at + q.timeout + $6::bigint,
    expires = least(now.at + least($5::bigint, q.heartbeat), now.at + q.timeout + $6::bigint)
from free, now
where q.id = free.id
returning q.run_id, q.shard, q.namespace, q.token, q.opening, q.attempt, q.queue, q.kind, q.handler, q.label, q.node,
          q.key, q.input, q.blobs, q.timeout, q.heartbeat, q.terms, q.progress, q.enqueued_at, q.priority,
          q.partition, q.claim, q.worker, q.claimed_at, q.lease, q.id;

-- limited_by_code: queues with limits that have such tasks
select distinct t.namespace, t.queue from plait.queued_tasks t
where t.claim is null and t.code = any ($1::text[])
  and exists (select from plait.queues s where s.namespace = t.namespace and s.name in ('*', t.queue));

-- free_under_limits: the next tasks of a queue with limits, except for keys at theirs
select id, partition from plait.queued_tasks
where namespace = $1 and queue = $2 and claim is null
  and ($3::text[] is null or kind = any ($3)) and ($4::text[] is null or handler = any ($4))
  and ($5::text[] is null or code = any ($5)) and partition <> all ($6::text[])
order by priority, id limit $7;

-- claim_under_limits: claims these for a worker, and counts them. Some may be gone
with now as (
    select plait.ms(clock_timestamp()) as at, set_config('synchronous_commit', 'off', true)
)
update plait.queued_tasks q
set claim = $2, worker = $3, claimed_at = now.at, lease = $4::bigint, deadline = now.at + q.timeout + $5::bigint,
    expires = least(now.at + least($4::bigint, q.heartbeat), now.at + q.timeout + $5::bigint), limited = true
from now
where q.id = any ($1::bigint[]) and q.claim is null
returning q.run_id, q.shard, q.namespace, q.token, q.opening, q.attempt, q.queue, q.kind, q.handler, q.label, q.node,
          q.key, q.input, q.blobs, q.timeout, q.heartbeat, q.terms, q.progress, q.enqueued_at, q.priority,
          q.partition, q.claim, q.worker, q.claimed_at, q.lease, q.id;

-- lengths: how many tasks of each queue wait, and how many are claimed
select namespace, queue, count(*) - count(claim), count(claim) from plait.queued_tasks group by 1, 2 order by 1, 2;

-- unclaimed: queues with free tasks, one step along the index each
with recursive found as (
    (select namespace, queue from plait.queued_tasks where claim is null order by namespace, queue limit 1)
    union all
    select next.namespace, next.queue
    from found cross join lateral (
        select t.namespace, t.queue from plait.queued_tasks t
        where t.claim is null and (t.namespace, t.queue) > (found.namespace, found.queue)
        order by t.namespace, t.queue limit 1
    ) as next
)
select namespace, queue from found;

-- beat: renews a claim
update plait.queued_tasks
set expires = least(plait.ms(clock_timestamp()) + least(lease, heartbeat), deadline), progress = coalesce($6, progress)
where run_id = $1 and token = $2 and claim = $3 and opening = $4 and attempt = $5
returning 1;

-- release: its worker releases it, and others are notified
with given_back as (
    update plait.queued_tasks
    set claim = null, worker = null, claimed_at = null, lease = null, expires = null, deadline = null, limited = false
    where run_id = $1 and token = $2 and claim = $3 and opening = $4 and attempt = $5
    returning 1
)
select (select pg_notify('plait', $6::text)) is not null from given_back;

-- held: the rows of a run
select run_id, shard, namespace, token, opening, attempt, queue, kind, handler, label, node, key, input, blobs,
       timeout, heartbeat, terms, progress, enqueued_at, priority, partition, claim, worker, claimed_at, lease
from plait.queued_tasks where run_id = $1 and ($2::text is null or token = $2) order by id;

-- expired: claims that have expired. Those that would outlast their lease, because the database's clock was set back,
-- last for a lease from now on
with now as (
    select plait.ms(clock_timestamp()) as at
), set_back as (
    update plait.queued_tasks q
    set claimed_at = now.at, deadline = now.at + q.timeout + $3::bigint,
        expires = least(now.at + least(q.lease, q.heartbeat), now.at + q.timeout + $3::bigint)
    from now
    where q.claim is not null and q.expires > now.at + q.lease and q.shard = any ($1::integer[])
)
select run_id, token, opening, worker,
       case when deadline <= now.at then 'timeout' when heartbeat <= lease then 'heartbeat' else 'lease' end, progress
from plait.queued_tasks, now
where claim is not null and expires <= now.at and shard = any ($1::integer[])
order by expires limit $2;

-- any_queued: whether any tasks are queued
select 1 from plait.queued_tasks where shard = any ($1::integer[]) limit 1;

-- note_worker: records that it polled queues; workers that have not polled for long are deleted
with forgotten as (
    delete from plait.queue_workers where seen_at < plait.ms(clock_timestamp()) - $4::bigint
)
insert into plait.queue_workers (namespace, queue, worker, seen_at)
select $1, queue, $3, plait.ms(clock_timestamp()) from unnest($2::text[]) as q (queue)
on conflict (namespace, queue, worker) do update set seen_at = excluded.seen_at;

-- seen_workers: workers that polled recently
select queue, worker, seen_at from plait.queue_workers
where namespace = $1 and seen_at >= plait.ms(clock_timestamp()) - $2::bigint order by queue, worker;

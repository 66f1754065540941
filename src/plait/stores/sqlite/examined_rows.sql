-- examine_approvals: all approvals, for a deep check
select * from approvals;

-- examine_dead_letters: all dead letters
select id, run_id, namespace, token, label, attempts, error, at, status from dead_letters;

-- examine_inbox: inputs not yet taken
select run_id, shard, key, body, at from inbox where taken = 0;

-- examine_timers: all timers
select run_id, shard, token, due from timers;

-- examine_tasks: all queued tasks
select run_id, shard, namespace, token, opening, attempt, queue, kind, handler, label, node, key, input, blobs,
       timeout, heartbeat, terms, progress, enqueued_at, priority, partition, claim, worker, claimed_at, lease
from queued_tasks;

-- examine_queues: queues with limits
select name, settings from queues;

-- examine_queued_runs: all that wait on queues, or hold slots of them
select run_id, namespace, queue, partition, priority, due, deadline, enqueued_at, admitted_at from queued_runs;

-- examine_records: all documents
select kind, namespace, id, body, at from records;

-- epoch_of: the epoch a write must prove
select shard, epoch from shards where shard = ?1;

-- epochs: the epochs of all shards, for many writes at once; as one text, the same for group after group
select json_group_object(shard, epoch) from shards;

-- insert_run: a new run, in column order like `insert_log`; the null is for its number
insert or fail into runs values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,null,?,?);

-- insert_child: a new run, unless its id is taken
insert into runs (id, namespace, dialect, definition, version, shard, status, awake, parent, parent_token, depth,
                  labels, start_hash, created_at, ended_at, deadline, output, error, blocked, recoveries, full,
                  waiting, past)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
        ?23)
on conflict (id) do nothing;

-- insert_label: a label of a new run
insert into run_labels (namespace, key, value, created_at, run_id) values (?1, ?2, ?3, ?4, ?5);

-- child_of: the parent of the run with a taken id
select parent, parent_token from runs where id = ?1;

-- patch_runs: the changing parts of many runs' rows: see `run_patches.sql`
insert or fail into run_patches values (?,?,?,?,?,?,?,?,?,?,?);

-- patch_run: the same for one; in few letters, which are hashed too
update runs set status=?2,awake=?3,ended_at=?4,output=?5,error=?6,blocked=?7,recoveries=?8,full=?9,waiting=?10,past=?11
where number=?1;

-- insert_log: the events of one decision. Without names of columns: the driver hashes the text anew; see `many_rows`
insert or fail into log values (?,?,?,?,?,?,?);

-- number_of: the number of a run, under which its log is kept
select number from runs where id = ?1;

-- insert_blob: a value by its hash; the same value twice is one
insert into blobs (digest, body) values (?1, ?2) on conflict (digest) do nothing;

-- take_inbox: an input was decided on; its body is in the log now
update inbox set taken = 1, body = null, reply = ?3 where run_id = ?1 and key = ?2;

-- insert_inbox: an input for a run; the same key twice is one
insert into inbox (run_id, shard, key, body, at) values (?1, ?2, ?3, ?4, ?5) on conflict (run_id, key) do nothing;

-- status_of: whether a run can still take a message
select status from runs where id = ?1;

-- set_timer: a timer, or its new time
insert into timers (run_id, token, shard, due) values (?1, ?2, ?3, ?4)
on conflict (run_id, token) do update set due = excluded.due;

-- clear_timer: a timer fired or was cleared
delete from timers where run_id = ?1 and token = ?2;

-- clear_timers: clears all timers of a run
delete from timers where run_id = ?1;

-- insert_approval: an approval, unless one is open already; an id that is taken gets a number
with recursive again (number) as (
    select 2 union all
    select number + 1 from again where exists (select 1 from approvals where id = ?1 || '~' || number)
)
insert into approvals (id, run_id, namespace, token, title, asked, asked_at, deadline, form, evidence, required,
                       approvers, escalations, level, status, votes, decided_at, decided_by, answer, delegations)
select case when exists (select 1 from approvals where id = ?1)
            then ?1 || '~' || (select max(number) from again) else ?1 end,
       ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20
where true
on conflict (run_id, token) where status = 'open' do nothing;

-- change_approval: a vote, a delegation, an escalation, or a decision; null leaves a column unchanged
update approvals
set status = ?3, decided_at = ?4, decided_by = ?5, answer = ?6,
    votes = coalesce(?7, votes), approvers = coalesce(?8, approvers), level = coalesce(?9, level),
    delegations = coalesce(?10, delegations)
where run_id = ?1 and token = ?2 and status = 'open';

-- withdraw_approvals: withdraws all open approvals of a run
update approvals indexed by approvals_open set status = 'withdrawn', decided_at = ?2 where run_id = ?1 and status = 'open';

-- insert_dead_letter: a task that exhausted its attempts; a new failure of the same task replaces the old one
insert into dead_letters (id, run_id, namespace, token, label, attempts, error, at, status)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
on conflict (id) do update set attempts = excluded.attempts, error = excluded.error, at = excluded.at, status = excluded.status;

-- settle_dead_letter: retried or discarded
update dead_letters set status = ?2 where id = ?1;

-- put_snapshot: a snapshot; only the latest is kept
insert into snapshots (run_id, seq, at, body) values (?1, ?2, ?3, ?4)
on conflict (run_id) do update set seq = excluded.seq, at = excluded.at, body = excluded.body;

-- drop_compacted: deletes events that a snapshot made superfluous, except the run's first two rows
delete from log
where run = (select number from runs where id = ?1) and seq <= ?2
  and seq > (select count + 1 from log where run = (select number from runs where id = ?1) and seq = 1);

-- mark_compacted: the second row now stands for all of them; it belongs to no decision, and has no checksum
update log set count = ?2 - seq + 1, at = ?3, events = ?4, blobs = null, checksum = null
where run = (select number from runs where id = ?1) and seq <= ?2
  and seq = (select count + 1 from log where run = (select number from runs where id = ?1) and seq = 1);

-- insert_line: a log line of a task
insert into lines (run_id, node, attempt, at, level, text) values (?1, ?2, ?3, ?4, ?5, ?6);

-- insert_record: a new record
insert into records (kind, namespace, id, at, body) values (?1, ?2, ?3, ?4, ?5);

-- record_time: the current version of a record
select at from records where kind = ?1 and namespace = ?2 and id = ?3;

-- put_record: a new or replaced record
insert into records (kind, namespace, id, at, body) values (?1, ?2, ?3, ?4, ?5)
on conflict (kind, id, namespace) do update set at = excluded.at, body = excluded.body;

-- remove_record: deletes a record
delete from records where kind = ?1 and namespace = ?2 and id = ?3;

-- take_shards: takes free shards; a new owner, a new epoch
update shards set owner = ?3, epoch = epoch + 1, expires = ?4
where shard in (select shard from shards where owner is null or expires <= ?1 order by shard limit ?2)
returning shard, epoch;

-- free_all: the process that held them is gone
update shards set owner = null;

-- count_owned: how many shards have an owner
select count(*) from shards where owner is not null;

-- renew_shards: the owner is alive
update shards set expires = ?2 where owner = ?1 returning shard, epoch;

-- note_engine: this engine is alive
insert into engines (owner, expires) values (?1, ?2) on conflict (owner) do update set expires = excluded.expires;

-- forget_engines: deletes dead engines
delete from engines where expires <= ?1;

-- count_engines: how many engines share the shards
select count(*) from engines;

-- forget_engine: this engine stops
delete from engines where owner = ?1;

-- release_shards: releases all shards of an owner
update shards set owner = null, expires = 0 where owner = ?1;

-- release_shard: releases one shard
update shards set owner = null, expires = 0 where owner = ?1 and shard = ?2;

-- count_recovery: an awake run changes owners because its owner died; a blocked one had nothing in flight
update runs set recoveries = recoveries + 1
where shard in (select value from json_each(?1)) and awake = 1 and status = 'running' and blocked is null
  and recoveries < ?2;

-- awake_runs: the runs that a new owner must load
select *, 0 as claimed from runs
where shard in (select value from json_each(?1)) and awake = 1 and status = 'running' order by created_at, id;

-- waiting_inbox: inputs nobody has taken, oldest first; those of runs that are to start also beyond the limit, as one that
-- was cancelled while it waited on a queue must hear of it before it does anything
with page as materialized (
    select id, run_id, shard, key, body, at from inbox
    where taken = 0 and (?1 is null or shard in (select value from json_each(?1))) order by id limit ?2
), whole as (
    select max(id) as last from page having count(*) = ?2
)
select run_id, shard, key, body, at from (
    select * from page
    union all
    select i.id, i.run_id, i.shard, i.key, i.body, i.at
    from whole cross join page cross join inbox i indexed by inbox_key
    where page.key = '~start' and i.run_id = page.run_id and i.taken = 0 and i.id > whole.last
) order by id;

-- due_timers: timers that are due
select run_id, shard, token, due from timers
where due <= ?2 and (?1 is null or shard in (select value from json_each(?1))) order by due limit ?3;

-- next_due: when the next timer is due
select due from timers
where due > ?2 and (?1 is null or shard in (select value from json_each(?1))) order by due limit 1;

-- get_run: one run
select *, awake = 0 and exists (select 1 from queued_tasks where run_id = ?1 and claim is not null) as claimed
from runs where id = ?1;

-- read_log: a run's events, in order, from the row that holds number ?2 to the one that holds ?3
select run, seq, count, at, events, blobs, checksum from log
where run = (select number from runs where id = ?1) and seq + count > ?2 and seq <= ?3
  and seq >= (select coalesce(max(seq), 0) from log where run = (select number from runs where id = ?1) and seq <= ?2)
order by seq limit ?4;

-- heads: the number of the last event of some runs
select runs.id, (select seq + count - 1 from log where run = runs.number order by seq desc limit 1)
from json_each(?1) join runs on runs.id = value;

-- read_snapshot: the snapshot of a run
select seq, at, body from snapshots where run_id = ?1;

-- read_blob: a value by its hash
select body from blobs where digest = ?1;

-- read_reply: the reply to an input; an empty one means that it is still to come
select key, reply from inbox where run_id = ?1 and key = ?2 and taken = 1 and (reply is null or reply <> '');

-- owners: the owners of shards
select owner, count(*), max(expires) from shards where owner is not null group by owner order by owner;

-- get_approval: one approval
select * from approvals where id = ?1;

-- list_approvals: approvals of a status, oldest first
select * from approvals where namespace = ?1 and status = ?2 and (asked_at, id) > (?3, ?4)
order by asked_at, id limit ?5;

-- list_newest_approvals: the same, newest first
select * from approvals where namespace = ?1 and status = ?2 and (asked_at, id) < (?3, ?4)
order by asked_at desc, id desc limit ?5;

-- list_all_approvals: approvals of any status, newest first
select * from approvals where namespace = ?1 and (asked_at, id) < (?2, ?3) order by asked_at desc, id desc limit ?4;

-- list_approvals_of_run: approvals of a run, oldest first, of one status or (null) of any
select * from approvals where run_id = ?1 and (?2 is null or status = ?2) and (asked_at, id) > (?3, ?4)
order by asked_at, id limit ?5;

-- get_dead_letter: one dead letter
select id, run_id, namespace, token, label, attempts, error, at, status from dead_letters where id = ?1;

-- list_dead_letters: dead letters of one status
select id, run_id, namespace, token, label, attempts, error, at, status from dead_letters
where namespace = ?1 and status = ?2 and (at, id) > (?3, ?4) order by at, id limit ?5;

-- list_dead_letters_of_namespace: dead letters of every status; the index gives each in order, to be merged
select id, run_id, namespace, token, label, attempts, error, at, status from dead_letters
where namespace = ?1 and status = 'pending' and (at, id) > (?2, ?3)
union all
select id, run_id, namespace, token, label, attempts, error, at, status from dead_letters
where namespace = ?1 and status = 'retried' and (at, id) > (?2, ?3)
union all
select id, run_id, namespace, token, label, attempts, error, at, status from dead_letters
where namespace = ?1 and status = 'discarded' and (at, id) > (?2, ?3)
order by at, id limit ?4;

-- list_all_dead_letters: dead letters of every namespace, for `plait doctor`; no index has them in order
select id, run_id, namespace, token, label, attempts, error, at, status from dead_letters
where (?1 is null or status = ?1) and (at, id) > (?2, ?3) order by at, id limit ?4;

-- list_dead_letters_of_run: dead letters of one run
select id, run_id, namespace, token, label, attempts, error, at, status from dead_letters
where run_id = ?3 and (?1 is null or namespace = ?1) and (?2 is null or status = ?2)
  and (at, id) > (?4, ?5) order by at, id limit ?6;

-- list_lines: log lines of a run's tasks
select run_id, node, attempt, at, level, text, id from lines
where run_id = ?1 and id > ?3 and (?2 is null or node = ?2) order by id limit ?4;

-- get_record: one record
select kind, namespace, id, body, at from records where kind = ?1 and namespace = ?2 and id = ?3;

-- list_records: the records of a kind; the comparison with `coalesce` lets the index skip what is before ?2
select kind, namespace, id, body, at from records
where kind = ?1 and id >= coalesce(?2, '') and (?2 is null or id > ?2) order by id limit ?3;

-- list_records_newest: the same in reverse order
select kind, namespace, id, body, at from records
where kind = ?1 and (?2 is null or id < ?2) order by id desc limit ?3;

-- list_records_of_namespace: the records of a kind in one namespace
select kind, namespace, id, body, at from records indexed by records_namespace
where kind = ?1 and namespace = ?3 and id >= coalesce(?2, '') and (?2 is null or id > ?2) order by id limit ?4;

-- list_records_of_namespace_newest: the same in reverse order
select kind, namespace, id, body, at from records indexed by records_namespace
where kind = ?1 and namespace = ?3 and (?2 is null or id < ?2) order by id desc limit ?4;

-- list_stalled: runs that nothing will move, and that have not moved since a moment
select r.id from runs r
where status = 'running' and blocked is null
  and ((waiting is null and awake = 0) or substr(waiting, 3, 4) = 'join' or substr(waiting, 3, 4) = 'stuc')
  and (?2 is null or r.namespace = ?2)
  and coalesce((select l.at from log l where l.run = r.number order by l.seq desc limit 1), r.created_at) < ?1
  and not exists (select 1 from inbox i where i.run_id = r.id and i.taken = 0)
order by r.created_at, r.id limit ?3;

-- census: the backlog of the whole store
select (select count(*) from inbox where taken = 0),
       (select count(*) from approvals where status = 'open'),
       (select count(*) from dead_letters where status = 'pending'),
       (select count(*) from runs where blocked is not null and status = 'running'),
       (select min(due) from timers),
       (select at from inbox where taken = 0 order by id limit 1);

-- file_facts: the schema's version and the size of the file
select version.user_version, pages.page_count, size.page_size
from pragma_user_version version, pragma_page_count pages, pragma_page_size size;

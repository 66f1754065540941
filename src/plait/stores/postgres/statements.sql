-- find_schema: whether the version table exists, and how many relations a schema of our name holds
select to_regclass('plait.schema_version') is not null,
       (select count(*) from pg_class where relnamespace = to_regnamespace('plait')),
       to_regnamespace('plait') is not null;

-- schema_version: the state of the migrations; its fields depend on the release that created it
select to_jsonb(v)::text from plait.schema_version v;

-- lock_schema: one process migrates, the others wait until it is done
select pg_try_advisory_lock(hashtextextended('plait migrations', 0));

-- unlock_schema: ends the migration
select pg_advisory_unlock(hashtextextended('plait migrations', 0));

-- make_schema: creates our schema
create schema plait;

-- make_version: creates the version table. Earlier releases know `version` only, and refuse one higher than theirs: it
-- is the last migration that a release must know. `made` is the number of complete migrations, and `step` the number of
-- completed steps of the next one
create table plait.schema_version (
    version integer not null,
    made    integer not null default 0,
    step    integer not null default 0
);

-- add_made: extends the version table of an earlier release
alter table plait.schema_version add column made integer, add column step integer not null default 0;

-- copy_made: it had one number
update plait.schema_version set made = version where made is null;

-- start_version: nothing has been migrated yet
insert into plait.schema_version (version) values (0);

-- set_version: the complete migrations
update plait.schema_version set version = $1, made = $2, step = 0;

-- commit: proves the epochs ($1, $2), writes some of the parts below and tells others ($3), in one round trip; all or
-- nothing. The server pays for each part, whether there is anything in it or not: few commits need all
with held as (
    select shard, epoch from plait.shards where shard = any ($1::integer[]) order by shard for share
), proof as (
    select count(*) = cardinality($1::integer[]) as sound
    from held join unnest($1::integer[], $2::bigint[]) as claimed (shard, epoch) using (shard, epoch)
), {parts}
select sound, (select pg_notify('plait', $3::text) where sound and $3::text is not null) from proof;

-- log_parts: events
logged as (
    insert into plait.log (run, seq, count, at, events, blobs, checksum)
    select * from unnest($4::bigint[], $5::bigint[], $6::integer[], $7::bigint[], $8::text[], $9::text[],
                         $10::bigint[])
    where (select sound from proof)
);

-- run_parts: rows of runs that are created, moved or ended, and their new searchable texts
created as (
    insert into plait.runs (id, namespace, dialect, definition, version, shard, status, awake, parent, parent_token,
                            depth, labels, start_hash, created_at, ended_at, deadline, output, error, blocked,
                            recoveries, is_full, waiting, past, number)
    select id, namespace, dialect, definition, version, shard, status, awake, parent, parent_token,
           depth, labels::jsonb, start_hash, created_at, ended_at, deadline, output, error, blocked,
           recoveries, is_full, waiting, past, number
    from unnest($11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::integer[], $17::text[],
                $18::boolean[], $19::text[], $20::text[], $21::integer[], $22::text[], $23::text[], $24::bigint[],
                $25::bigint[], $26::bigint[], $27::text[], $28::text[], $29::text[], $30::integer[], $31::boolean[],
                $32::text[], $33::text[], $34::bigint[])
      as r (id, namespace, dialect, definition, version, shard, status, awake, parent, parent_token,
            depth, labels, start_hash, created_at, ended_at, deadline, output, error, blocked, recoveries, is_full,
            waiting, past, number)
    where (select sound from proof)
), patched as (
    update plait.runs r
    set status = p.status, awake = p.awake, ended_at = p.ended_at, output = p.output, error = p.error,
        blocked = p.blocked, recoveries = p.recoveries, is_full = p.is_full, waiting = p.waiting,
        past = p.past
    from unnest($35::text[], $36::text[], $37::boolean[], $38::bigint[], $39::text[], $40::text[], $41::text[],
                $42::integer[], $43::boolean[], $44::text[], $45::text[])
      as p (id, status, awake, ended_at, output, error, blocked, recoveries, is_full, waiting, past)
    where r.id = p.id and (select sound from proof)
), due as (
    insert into plait.due_texts (run)
    select number from unnest($46::bigint[]) as new (number) where (select sound from proof)
    union all
    select number from plait.runs where id = any ($47::text[]) and (select sound from proof)
);

-- other_parts: the other rows that decisions usually have
taken as (
    update plait.inbox i set taken = true, body = null, reply = t.reply
    from unnest($48::text[], $49::text[], $50::text[]) as t (run_id, key, reply)
    where i.run_id = t.run_id and i.key = t.key and (select sound from proof)
), sent as (
    insert into plait.inbox (run_id, shard, key, body, at)
    select run_id, coalesce((select r.shard from plait.runs r where r.id = m.run_id), shard), key, body, at
    from unnest($51::text[], $52::integer[], $53::text[], $54::text[], $55::bigint[])
      with ordinality as m (run_id, shard, key, body, at, place)
    where (select sound from proof)
    order by place
    on conflict (run_id, key) do nothing
), hushed as (
    delete from plait.timers where run_id = any ($56::text[]) and (select sound from proof)
), withdrawn as (
    update plait.approvals a set status = 'withdrawn', decided_at = w.at
    from unnest($57::text[], $58::bigint[]) as w (run_id, at)
    where a.run_id = w.run_id and a.status = 'open' and (select sound from proof)
), cleared as (
    delete from plait.timers t using unnest($59::text[], $60::text[]) as c (run_id, token)
    where t.run_id = c.run_id and t.token = c.token and (select sound from proof)
), timed as (
    insert into plait.timers (run_id, token, shard, due)
    select * from unnest($61::text[], $62::text[], $63::integer[], $64::bigint[])
    where (select sound from proof)
    on conflict (run_id, token) do update set due = excluded.due
), labelled as (
    insert into plait.run_labels (namespace, key, value, created_at, run_id)
    select * from unnest($65::text[], $66::text[], $67::text[], $68::bigint[], $69::text[])
    where (select sound from proof)
);

-- numbers_of: the numbers of some runs, under which their logs are kept
select id, number from plait.runs where id = any ($1::text[]);

-- draw_numbers: draws numbers for new runs
select nextval('plait.run_numbers') from generate_series(1, $1);

-- limit_idle: limits how long a transaction of this connection may idle, in milliseconds
select set_config('idle_in_transaction_session_timeout', $1, false);

-- hold_epochs: locks the epochs that writes must prove; a takeover waits until they are written
select shard, epoch from plait.shards where shard = any ($1::integer[]) order by shard for share;

-- insert_blobs: values by their hashes; the same value twice is one. Its row is locked against removal
insert into plait.blobs (digest, body) select * from unnest($1::text[], $2::bytea[])
on conflict (digest) do update set digest = excluded.digest;

-- set_timers: timers, or their new times
insert into plait.timers (run_id, token, shard, due)
select * from unnest($1::text[], $2::text[], $3::integer[], $4::bigint[])
on conflict (run_id, token) do update set due = excluded.due;

-- insert_children: new runs, unless their ids are taken; says which are new
insert into plait.runs (id, namespace, dialect, definition, version, shard, status, awake, parent, parent_token,
                        depth, labels, start_hash, created_at, ended_at, deadline, output, error, blocked,
                        recoveries, is_full, waiting, past)
select id, namespace, dialect, definition, version, shard, status, awake, parent, parent_token,
       depth, labels::jsonb, start_hash, created_at, ended_at, deadline, output, error, blocked, recoveries, is_full,
       waiting, past
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[], $8::boolean[],
            $9::text[], $10::text[], $11::integer[], $12::text[], $13::text[], $14::bigint[], $15::bigint[],
            $16::bigint[], $17::text[], $18::text[], $19::text[], $20::integer[], $21::boolean[], $22::text[],
            $23::text[])
  as r (id, namespace, dialect, definition, version, shard, status, awake, parent, parent_token,
        depth, labels, start_hash, created_at, ended_at, deadline, output, error, blocked, recoveries, is_full,
        waiting, past)
on conflict (id) do nothing returning id;

-- remove_children: deletes runs just created that can't be queued
delete from plait.runs where id = any ($1::text[]);

-- children_of: the parents of runs with taken ids
select id, parent, parent_token from plait.runs where id = any ($1::text[]);

-- running: which of these runs can still take a message
select id from plait.runs where id = any ($1::text[]) and status = 'running';

-- insert_inbox: inputs for runs, in order, each in its run's shard; the same key twice is one
insert into plait.inbox (run_id, shard, key, body, at)
select run_id, coalesce((select r.shard from plait.runs r where r.id = m.run_id), shard), key, body, at
from unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::bigint[])
  with ordinality as m (run_id, shard, key, body, at, place)
order by place
on conflict (run_id, key) do nothing;

-- insert_approvals: an approval, unless one is open already
insert into plait.approvals (id, run_id, namespace, token, title, asked, asked_at, deadline, form, evidence, required,
                             approvers, escalations, level, status, votes, decided_at, decided_by, answer,
                             delegations)
select plait.approval_id(id), run_id, namespace, token, title, asked, asked_at, deadline, form, evidence, required,
       approvers, escalations, level, status, votes, decided_at, decided_by, answer, delegations
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
            $9::text[], $10::text[], $11::integer[], $12::text[], $13::text[], $14::integer[], $15::text[],
            $16::text[], $17::bigint[], $18::text[], $19::text[], $20::text[])
  as a (id, run_id, namespace, token, title, asked, asked_at, deadline, form, evidence, required,
        approvers, escalations, level, status, votes, decided_at, decided_by, answer, delegations)
on conflict (run_id, token) where status = 'open' do nothing;

-- change_approvals: votes, delegations, escalations and decisions; null leaves a column unchanged
update plait.approvals a
set status = c.status, decided_at = c.decided_at, decided_by = c.decided_by, answer = c.answer,
    votes = coalesce(c.votes, a.votes), approvers = coalesce(c.approvers, a.approvers),
    level = coalesce(c.level, a.level), delegations = coalesce(c.delegations, a.delegations)
from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[],
            $9::integer[], $10::text[])
  as c (run_id, token, status, decided_at, decided_by, answer, votes, approvers, level, delegations)
where a.run_id = c.run_id and a.token = c.token and a.status = 'open';

-- withdraw_approvals: withdraws all open approvals of some runs
update plait.approvals a set status = 'withdrawn', decided_at = w.at
from unnest($1::text[], $2::bigint[]) as w (run_id, at)
where a.run_id = w.run_id and a.status = 'open';

-- insert_dead_letters: tasks that exhausted their attempts; a new failure of the same task replaces the old one
insert into plait.dead_letters (id, run_id, namespace, token, label, attempts, error, at, status)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[],
                     $8::bigint[], $9::text[])
on conflict (id) do update
set attempts = excluded.attempts, error = excluded.error, at = excluded.at, status = excluded.status;

-- settle_dead_letters: retried or discarded
update plait.dead_letters d set status = s.status from unnest($1::text[], $2::text[]) as s (id, status)
where d.id = s.id;

-- put_snapshots: snapshots; only the latest of a run is kept
insert into plait.snapshots (run_id, seq, at, body)
select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[])
on conflict (run_id) do update set seq = excluded.seq, at = excluded.at, body = excluded.body;

-- drop_compacted: deletes events that a snapshot made superfluous, except the run's first two rows
delete from plait.log
where run = $1 and seq <= $2 and seq > (select count + 1 from plait.log where run = $1 and seq = 1);

-- mark_compacted: the second row now stands for all of them; it belongs to no decision, and has no checksum
update plait.log set count = $2 - seq + 1, at = $3, events = $4, blobs = null, checksum = null
where run = $1 and seq <= $2 and seq = (select count + 1 from plait.log where run = $1 and seq = 1);

-- insert_lines: log lines of tasks
insert into plait.lines (run_id, node, attempt, at, level, text)
select run_id, node, attempt, at, level, text
from unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::text[], $6::text[])
  with ordinality as l (run_id, node, attempt, at, level, text, place)
order by place;

-- insert_records: new records
insert into plait.records (kind, namespace, id, at, body)
select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[]);

-- hold_records: locks records that are still the expected version; in one order, so that two writers never deadlock
select r.kind, r.namespace, r.id from plait.records r
join unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as u (kind, namespace, id, at)
  on r.kind = u.kind and r.namespace = u.namespace and r.id = u.id and r.at = u.at
order by r.kind, r.id, r.namespace for update of r;

-- put_records: new or replaced records
insert into plait.records (kind, namespace, id, at, body)
select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
on conflict (kind, id, namespace) do update set at = excluded.at, body = excluded.body;

-- remove_records: deletes records
delete from plait.records r using unnest($1::text[], $2::text[], $3::text[]) as u (kind, namespace, id)
where r.kind = u.kind and r.namespace = u.namespace and r.id = u.id;

-- guard: takes the lock of an owner's name; it lasts as long as this connection
select pg_try_advisory_lock(plait.owner_key($1));

-- unguard: releases it
select pg_advisory_unlock(plait.owner_key($1));

-- claim_shards: a new owner, a new epoch. Free shards were released, have expired, or belong to an owner whose lock is
-- gone; that proves nothing for owners not seen since the server started, or first seen after this statement began
with free as (
    select shard from plait.shards
    where pool = $5
      and (owner is null
           or expires <= plait.ms(clock_timestamp())
           or (guarded_at > plait.ms(pg_postmaster_start_time()) and guarded_at < plait.ms(statement_timestamp())
               and plait.owner_key(owner) not in (select key from plait.living)))
    order by shard limit $3 for update skip locked
)
update plait.shards s
set owner = $1, epoch = epoch + 1, expires = plait.ms(clock_timestamp()) + $2::bigint,
    guarded_at = case when $4::boolean then plait.ms(clock_timestamp()) end
from free where s.shard = free.shard
returning s.shard, s.epoch;

-- renew_shards: the owner is alive
with mine as (
    select shard from plait.shards where owner = $1 order by shard for update
)
update plait.shards s
set expires = plait.ms(clock_timestamp()) + $2::bigint,
    guarded_at = case when $3::boolean then plait.ms(clock_timestamp()) end
from mine where s.shard = mine.shard
returning s.shard, s.epoch;

-- note_engine: this engine is alive
insert into plait.engines (owner, expires, guarded_at)
values ($1, plait.ms(clock_timestamp()) + $2::bigint, case when $3::boolean then plait.ms(clock_timestamp()) end)
on conflict (owner) do update set expires = excluded.expires, guarded_at = excluded.guarded_at;

-- forget_engines: deletes dead engines
delete from plait.engines where owner in (
    select owner from plait.engines
    where owner <> $1
      and (expires <= plait.ms(clock_timestamp())
           or (guarded_at > plait.ms(pg_postmaster_start_time()) and guarded_at < plait.ms(statement_timestamp())
               and plait.owner_key(owner) not in (select key from plait.living)))
    for update skip locked
);

-- count_engines: how many engines share the shards
select count(*) from plait.engines where expires > plait.ms(clock_timestamp());

-- forget_engine: this engine stops
delete from plait.engines where owner = $1;

-- release_shards: releases all shards of an owner, or ($2) some of them
with mine as (
    select shard from plait.shards
    where owner = $1 and ($2::integer[] is null or shard = any ($2)) order by shard for update
)
update plait.shards s set owner = null, expires = 0, guarded_at = null from mine where s.shard = mine.shard;

-- notify: notifies other engines
select pg_notify('plait', $1);

-- count_recoveries: awake runs change owners because theirs died; blocked ones had nothing in flight
update plait.runs set recoveries = recoveries + 1
where shard = any ($1::integer[]) and awake and status = 'running' and blocked is null and recoveries < $2;

-- awake_runs: the runs that a new owner must load
select *, false as claimed from plait.runs
where shard = any ($1::integer[]) and awake and status = 'running' order by created_at, id;

-- waiting_inbox: inputs nobody has taken, oldest first; those of runs that are to start also beyond the limit, as one that
-- was cancelled while it waited on a queue must hear of it before it does anything
with page as materialized (
    select id, run_id, shard, key, body, at from plait.inbox
    where not taken and shard = any ($1::integer[]) order by id limit $2
), whole as (
    select max(id) as last from page having count(*) = $2
)
select run_id, shard, key, body, at from (
    select * from page
    union all
    select rest.* from whole, page cross join lateral (
        select i.id, i.run_id, i.shard, i.key, i.body, i.at from plait.inbox i
        where i.run_id = page.run_id and not i.taken and i.id > whole.last offset 0
    ) as rest
    where page.key = '~start'
) as found order by id;

-- due_timers: timers that are due
select run_id, shard, token, due from plait.timers
where due <= $2 and shard = any ($1::integer[]) order by due limit $3;

-- next_due: when the next timer is due
select min(due) from plait.timers where due > $2 and shard = any ($1::integer[]);

-- get_run: one run
select *, not awake and exists (select from plait.queued_tasks where run_id = $1 and claim is not null) as claimed
from plait.runs where id = $1;

-- read_log: a run's events, in order, from the row that holds number $2 to the one that holds $3. $5 is the run's number,
-- and nothing is found if it is not any more: given as a value, it leads to one partition
select run, seq, count, at, events, blobs, checksum from plait.log
where run = $5::bigint and exists (select from plait.runs where id = $1 and number = $5::bigint)
  and seq + count > $2 and seq <= $3
  and seq >= (select coalesce(max(seq), 0) from plait.log where run = $5::bigint and seq <= $2)
order by seq limit $4;

-- read_logs: all events of some runs, each run's in order; their numbers, given as values, lead to their partitions
select run, seq, count, at, events, blobs, checksum from plait.log where run = any ($1::bigint[]) order by run, seq;

-- heads: the number of the last event of some runs
select id, (plait.log_end(number)).head from plait.runs where id = any ($1::text[]);

-- read_snapshots: the snapshots of some runs
select run_id, seq, at, body from plait.snapshots where run_id = any ($1::text[]);

-- read_blob: a value by its hash
select body from plait.blobs where digest = $1;

-- read_reply: the reply to an input; an empty one means that it is still to come
select key, reply from plait.inbox where run_id = $1 and key = $2 and taken and reply is distinct from '';

-- get_approval: one approval
select * from plait.approvals where id = $1;

-- list_approvals: approvals of a status, oldest first
select * from plait.approvals where namespace = $1 and status = $2 and (asked_at, id) > ($3, $4)
order by asked_at, id limit $5;

-- list_newest_approvals: the same, newest first
select * from plait.approvals where namespace = $1 and status = $2 and (asked_at, id) < ($3, $4)
order by asked_at desc, id desc limit $5;

-- list_all_approvals: approvals of any status, newest first
select * from plait.approvals where namespace = $1 and (asked_at, id) < ($2, $3)
order by asked_at desc, id desc limit $4;

-- list_approvals_of_run: approvals of a run, oldest first, of one status or (null) of any
select * from plait.approvals where run_id = $1 and ($2::text is null or status = $2) and (asked_at, id) > ($3, $4)
order by asked_at, id limit $5;

-- get_dead_letter: one dead letter
select id, run_id, namespace, token, label, attempts, error, at, status from plait.dead_letters where id = $1;

-- list_dead_letters: dead letters of one status
select id, run_id, namespace, token, label, attempts, error, at, status from plait.dead_letters
where namespace = $1 and status = $2 and (at, id) > ($3, $4) order by at, id limit $5;

-- list_dead_letters_of_namespace: dead letters of every status; the index gives a page of each in order
(select id, run_id, namespace, token, label, attempts, error, at, status from plait.dead_letters
 where namespace = $1 and status = 'pending' and (at, id) > ($2, $3) order by at, id limit $4)
union all
(select id, run_id, namespace, token, label, attempts, error, at, status from plait.dead_letters
 where namespace = $1 and status = 'retried' and (at, id) > ($2, $3) order by at, id limit $4)
union all
(select id, run_id, namespace, token, label, attempts, error, at, status from plait.dead_letters
 where namespace = $1 and status = 'discarded' and (at, id) > ($2, $3) order by at, id limit $4)
order by at, id limit $4;

-- list_all_dead_letters: dead letters of every namespace, for `plait doctor`; no index has them in order
select id, run_id, namespace, token, label, attempts, error, at, status from plait.dead_letters
where ($1::text is null or status = $1) and (at, id) > ($2, $3) order by at, id limit $4;

-- list_dead_letters_of_run: dead letters of one run
select id, run_id, namespace, token, label, attempts, error, at, status from plait.dead_letters
where run_id = $3 and ($1::text is null or namespace = $1) and ($2::text is null or status = $2)
  and (at, id) > ($4, $5) order by at, id limit $6;

-- owners: the owners of shards
select owner, count(*) filter (where pool = ''), max(expires), count(*) filter (where pool <> '')
from plait.shards where owner is not null group by owner order by owner;

-- facts: facts about the server
select current_setting('server_version'), (select made from plait.schema_version),
       pg_database_size(current_database()), current_setting('fsync'), current_setting('synchronous_commit'),
       exists (select from pg_extension where extname = 'amcheck');

-- list_lines: log lines of a run's tasks
select run_id, node, attempt, at, level, text, id from plait.lines
where run_id = $1 and id > $3 and ($2::text is null or node = $2) order by id limit $4;

-- get_record: one record
select kind, namespace, id, body, at from plait.records where kind = $1 and namespace = $2 and id = $3;

-- get_records: several records of a kind
select r.kind, r.namespace, r.id, r.body, r.at
from unnest($2::text[], $3::text[]) as n (namespace, id)
join plait.records r on r.kind = $1 and r.namespace = n.namespace and r.id = n.id;

-- list_records: the records of a kind; the comparison with `coalesce` lets the index skip what is before $2
select kind, namespace, id, body, at from plait.records
where kind = $1 and id >= coalesce($2::text, '') and ($2::text is null or id > $2) order by id limit $3;

-- list_records_newest: the same in reverse order
select kind, namespace, id, body, at from plait.records
where kind = $1 and ($2::text is null or id < $2) order by id desc limit $3;

-- list_records_of_namespace: the records of a kind in one namespace
select kind, namespace, id, body, at from plait.records
where kind = $1 and namespace = $3 and id >= coalesce($2::text, '') and ($2::text is null or id > $2)
order by id limit $4;

-- list_records_of_namespace_newest: the same in reverse order
select kind, namespace, id, body, at from plait.records
where kind = $1 and namespace = $3 and ($2::text is null or id < $2) order by id desc limit $4;

-- list_stalled: runs that nothing will move, and that have not moved since a moment
select r.id from plait.runs r
where status = 'running' and blocked is null
  and ((waiting is null and not awake) or substr(waiting, 3, 4) = 'join' or substr(waiting, 3, 4) = 'stuc')
  and ($2::text is null or r.namespace = $2)
  and coalesce((plait.log_end(r.number)).at, r.created_at) < $1
  and not exists (select from plait.inbox i where i.run_id = r.id and not i.taken)
order by r.created_at, r.id limit $3;

-- census: the backlog of the whole store
select (select count(*) from plait.inbox where not taken),
       (select count(*) from plait.approvals where status = 'open'),
       (select count(*) from plait.dead_letters where status = 'pending'),
       (select count(*) from plait.runs where blocked is not null and status = 'running'),
       (select min(due) from plait.timers),
       (select at from plait.inbox where not taken order by id limit 1);

-- index_checks: a statement that checks each of our indexes, if the extension amcheck is installed
select c.relname, format('select %I.bt_index_check(%L::regclass)', n.nspname, c.oid::regclass::text)
from pg_extension e
join pg_namespace n on n.oid = e.extnamespace
join pg_class c on c.relnamespace = to_regnamespace('plait') and c.relkind = 'i'
join pg_am a on a.oid = c.relam and a.amname = 'btree'
where e.extname = 'amcheck' order by c.relname;

-- lost_logs: log rows without a run
select count(*) from plait.log l
where not exists (select from plait.runs where number = l.run)
  and not exists (select from plait.removed_runs where run = l.run);

-- scrub_records: drops old versions of overwritten records
vacuum plait.records;

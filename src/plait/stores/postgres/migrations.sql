-- v1: the first schema

-- Ids sort by their bytes, on every server alike, whatever the database's locale.

-- A time in milliseconds, as the kernel counts it.
create function plait.ms(moment timestamptz) returns bigint
language sql immutable strict
as $$ select floor(extract(epoch from moment) * 1000)::bigint $$;

-- Runs, with the few facts that lists and recovery need. Their events are in `log`.
create table plait.runs (
    id           text collate "C" primary key,
    namespace    text collate "C" not null,
    dialect      text not null,
    definition   text not null,
    version      text,
    shard        integer not null,
    status       text not null check (status in ('running', 'completed', 'failed', 'cancelled')),
    awake        boolean not null,
    parent       text collate "C",
    parent_token text collate "C",
    depth        integer not null,
    labels       jsonb not null,
    start_hash   text not null,
    created_at   bigint not null,
    ended_at     bigint,
    deadline     bigint,
    output       text,
    error        text,
    blocked      text,
    recoveries   integer not null default 0,
    is_full      boolean not null default false
);
create index runs_awake on plait.runs (shard) where awake and status = 'running';
create index runs_newest on plait.runs (created_at, id);
create index runs_parent on plait.runs (parent) where parent is not null;
create index runs_labels on plait.runs using gin (labels jsonb_path_ops) where labels <> '{}';

-- Events, one row per decision. `id` is drawn when a row is inserted, not when it is committed: of two transactions
-- in flight, the one with the higher ids may be seen first. The events of one run are always in order. A live feed
-- over many runs that takes `id` as its cursor must not pass a gap that may still fill.
create table plait.log (
    id     bigserial primary key,
    run_id text collate "C" not null,
    seq    bigint not null,
    count  integer not null,
    at     bigint not null,
    events text not null,
    blobs  text
);
create unique index log_place on plait.log (run_id, seq);

create table plait.snapshots (
    run_id text collate "C" primary key,
    seq    bigint not null,
    at     bigint not null,
    body   text not null
);

-- Inputs from outside the owner. Taken ones stay, so that a repeated key is still known.
create table plait.inbox (
    id     bigserial primary key,
    run_id text collate "C" not null,
    shard  integer not null,
    key    text collate "C" not null,
    body   text,
    at     bigint not null,
    taken  boolean not null default false,
    reply  text
);
create unique index inbox_key on plait.inbox (run_id, key);
create index inbox_waiting on plait.inbox (id) where not taken;

create table plait.timers (
    run_id text collate "C" not null,
    token  text collate "C" not null,
    shard  integer not null,
    due    bigint not null,
    primary key (run_id, token)
);
create index timers_due on plait.timers (due);

create table plait.questions (
    id        text collate "C" primary key,
    run_id    text collate "C" not null,
    namespace text collate "C" not null,
    token     text collate "C" not null,
    title     text not null,
    asked     text not null,
    asked_at  bigint not null,
    deadline  bigint
);
create index questions_run on plait.questions (run_id, token);

create table plait.dead_letters (
    id        text collate "C" primary key,
    run_id    text collate "C" not null,
    namespace text collate "C" not null,
    token     text collate "C" not null,
    label     text not null,
    attempts  integer not null,
    error     text not null,
    at        bigint not null,
    status    text not null check (status in ('pending', 'retried', 'discarded'))
);
create index dead_letters_run on plait.dead_letters (run_id);

create table plait.blobs (
    digest text collate "C" primary key,
    body   bytea not null
);

-- Who may write which shard. `epoch` only grows; it fences writers that lost their lease. `guarded_at` is when
-- the owner was last seen holding the lock that goes with its name; null when it holds none.
create table plait.shards (
    shard      integer primary key,
    owner      text,
    epoch      bigint not null default 0,
    expires    bigint not null default 0,
    guarded_at bigint
);
insert into plait.shards (shard) select generate_series(0, 63);

create table plait.engines (
    owner      text primary key,
    expires    bigint not null,
    guarded_at bigint
);

-- The advisory lock that goes with an owner's name.
create function plait.owner_key(owner text) returns bigint
language sql immutable strict
as $$ select hashtextextended('plait owner ' || owner, 0) $$;

-- The advisory locks held now, including those of all live owners.
create view plait.living as
select (classid::bigint << 32) | objid::bigint as key
from pg_locks
where locktype = 'advisory' and objsubid = 1 and granted
  and database = (select oid from pg_database where datname = current_database());

-- v2: forms and evidence of approvals, log lines of tasks, and records that belong to no run

alter table plait.questions add column form text, add column evidence text;

create table plait.lines (
    id      bigserial primary key,
    run_id  text collate "C" not null,
    node    text collate "C" not null,
    attempt integer not null,
    at      bigint not null,
    level   text not null,
    text    text not null
);
create index lines_run on plait.lines (run_id, id);

create table plait.records (
    kind      text collate "C" not null,
    namespace text collate "C" not null,
    id        text collate "C" not null,
    at        bigint not null,
    body      text not null,
    primary key (kind, id, namespace)
);

-- v3: approvals are kept after the decision, with all votes

create table plait.approvals (
    id          text collate "C" primary key,
    run_id      text collate "C" not null,
    namespace   text collate "C" not null,
    token       text collate "C" not null,
    title       text not null,
    asked       text not null,
    asked_at    bigint not null,
    deadline    bigint,
    form        text,
    evidence    text,
    required    integer not null default 1,
    approvers   text not null default '[]',
    escalations text not null default '[]',
    level       integer not null default 0,
    status      text not null default 'open' check (status in ('open', 'approved', 'rejected', 'expired', 'withdrawn')),
    votes       text not null default '[]',
    decided_at  bigint,
    decided_by  text not null default '',
    answer      text
);
insert into plait.approvals (id, run_id, namespace, token, title, asked, asked_at, deadline, form, evidence)
select id, run_id, namespace, token, title, asked, asked_at, deadline, form, evidence from plait.questions;
drop table plait.questions;

-- A token of a run has at most one open approval; open ones are also counted by this index
create unique index approvals_open on plait.approvals (run_id, token) where status = 'open';
create index approvals_run on plait.approvals (run_id, asked_at, id);
create index approvals_status on plait.approvals (namespace, status, asked_at, id);
create index approvals_newest on plait.approvals (namespace, asked_at, id);

-- The id of a new approval: one that is taken gets a number.
create function plait.approval_id(wanted text) returns text
language sql stable strict
as $$
with recursive again (number) as (
    select 2 union all
    select number + 1 from again where exists (select from plait.approvals where id = wanted || '~' || number)
)
select case when exists (select from plait.approvals where id = wanted)
            then wanted || '~' || (select max(number) from again) else wanted end
$$;

-- v4: tasks that workers claim

-- One row for each queued attempt in flight. `opening` is the event that recorded it. A claimed row has `claim`;
-- `expires` is when its worker counts as gone, never after `deadline`, the task's own timeout.
create table plait.queued_tasks (
    id          bigserial primary key,
    run_id      text collate "C" not null,
    shard       integer not null,
    namespace   text collate "C" not null,
    token       text collate "C" not null,
    opening     bigint not null,
    attempt     integer not null,
    queue       text collate "C" not null,
    kind        text collate "C" not null,
    handler     text collate "C" not null,
    label       text not null,
    node        text not null,
    key         text not null,
    input       text not null,
    blobs       text,
    timeout     bigint,
    heartbeat   bigint,
    terms       text not null,
    progress    text,
    enqueued_at bigint not null,
    priority    integer not null default 0,
    claim       text,
    worker      text,
    claimed_at  bigint,
    lease       bigint,
    expires     bigint,
    deadline    bigint
);
create unique index queued_tasks_place on plait.queued_tasks (run_id, token);
create index queued_tasks_free on plait.queued_tasks (namespace, queue, priority, id) where claim is null;
create index queued_tasks_expires on plait.queued_tasks (expires) where claim is not null;

-- Workers, and when they last polled for tasks.
create table plait.queue_workers (
    namespace text collate "C" not null,
    queue     text collate "C" not null,
    worker    text collate "C" not null,
    seen_at   bigint not null,
    primary key (namespace, queue, worker)
);

-- v5: runs have numbers, logs are kept under them, and each row of a log has a checksum

-- `number` grows with new runs: runs that are at work now are beside each other in an index that begins with it, however
-- many have ended. Engines draw some ahead of time, so there are gaps.
create sequence plait.run_numbers;
alter table plait.runs add column number bigint;
update plait.runs r set number = n.number
from (select id, row_number() over (order by created_at, id) as number from plait.runs) as n
where r.id = n.id;
select setval('plait.run_numbers', (select coalesce(max(number), 0) + 1 from plait.runs), false);
alter table plait.runs alter column number set not null, alter column number set default nextval('plait.run_numbers');
alter sequence plait.run_numbers owned by plait.runs.number;
create unique index runs_number on plait.runs (number);

-- Events, one row a decision. `checksum` is null in rows that are older than it.
create table plait.numbered_log (
    run      bigint not null,
    seq      bigint not null,
    count    integer not null,
    at       bigint not null,
    events   text not null,
    blobs    text,
    checksum bigint
);
insert into plait.numbered_log (run, seq, count, at, events, blobs)
select r.number, l.seq, l.count, l.at, l.events, l.blobs
from plait.log l join plait.runs r on r.id = l.run_id order by l.id;
drop table plait.log;
alter table plait.numbered_log rename to log;
create unique index log_place on plait.log (run, seq);

-- v6: the wait reason of a parked run, as `[kind, words, until]`; and the past of forks and reopened runs

alter table plait.runs add column waiting text;
alter table plait.runs add column past text;

-- v7: indexes for every list of runs, and a text search

-- The places of a list are (created_at, id), newest first; each index begins with a namespace and ends with them.
-- Indexes that these replace are dropped by v9, at the end: readers would wait for that until all are made.
create index runs_status on plait.runs (
    namespace, dialect,
    (case when status <> 'running' then status
          when blocked is not null then 'blocked'
          when not awake or waiting is not null then 'waiting'
          else 'working' end),
    created_at, id);
create index runs_definition_status on plait.runs (
    namespace, definition,
    (case when status <> 'running' then status
          when blocked is not null then 'blocked'
          when not awake or waiting is not null then 'waiting'
          else 'working' end),
    created_at, id);
create index runs_blocked on plait.runs (shard) where blocked is not null and status = 'running';
alter index plait.runs_parent rename to runs_parent_before;
create index runs_parent on plait.runs (parent, created_at, id) where parent is not null;

create table plait.run_labels (
    namespace  text collate "C" not null,
    key        text collate "C" not null,
    value      text collate "C" not null,
    created_at bigint not null,
    run_id     text collate "C" not null
);
insert into plait.run_labels (namespace, key, value, created_at, run_id)
select r.namespace, l.key, l.value, r.created_at, r.id
from plait.runs r cross join lateral jsonb_each_text(r.labels) l where r.labels <> '{}';
create unique index run_labels_place on plait.run_labels (namespace, key, value, created_at, run_id);

-- What a text search finds, in lower case: a row (part 0) for a run's id and labels, and one (part 1) for the error it
-- had last; whether it still has one, its own row says. `run` is its number.
create table plait.run_texts (
    run        bigint not null,
    namespace  text collate "C" not null,
    created_at bigint not null,
    part       smallint not null,
    text       text collate "C" not null,
    primary key (run, part)
);

-- Runs whose texts must be indexed; all, if there was no text search.
create table plait.due_texts (
    run bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
insert into plait.due_texts (run) select number from plait.runs;

-- The groups of three characters of a text, and one more for the namespace: other namespaces' rows are left out by the
-- index. An extension for this (pg_trgm) is not on every server.
create function plait.text_groups(namespace text, text text) returns text[]
language sql immutable strict parallel safe
as $$ select array['//' || namespace] || array(
    select distinct pg_catalog.substr(text, at, 3) from pg_catalog.generate_series(1, pg_catalog.length(text) - 2) as at
) $$;

-- Dead letters and records of one namespace, however many others have.
alter index plait.dead_letters_run rename to dead_letters_run_before;
create index dead_letters_run on plait.dead_letters (run_id, at, id);
create index dead_letters_status on plait.dead_letters (namespace, status, at, id);
create index dead_letters_pending on plait.dead_letters (id) where status = 'pending';
create index records_namespace on plait.records (kind, namespace, id);

-- v8: delegated votes

alter table plait.approvals add column delegations text not null default '[]';

-- v9: lists of a definition by status, where v7 made an index without it; and the end of indexes that nobody reads.
-- An update of a run writes an entry into each of its indexes in any case

create index if not exists runs_definition_status on plait.runs (
    namespace, definition,
    (case when status <> 'running' then status
          when blocked is not null then 'blocked'
          when not awake or waiting is not null then 'waiting'
          else 'working' end),
    created_at, id);
drop index if exists plait.runs_definition, plait.runs_newest, plait.runs_labels, plait.runs_parent_before,
    plait.dead_letters_run_before;

-- v10: stalled runs

-- Few runs wait like this for long. `waiting` is `[kind, words, until]`. By comparisons, as every write of a run asks.
create index runs_stalled on plait.runs (created_at, id)
where status = 'running' and blocked is null
  and ((waiting is null and not awake) or substr(waiting, 3, 4) = 'join' or substr(waiting, 3, 4) = 'stuc');

-- v11: removed runs, and which runs need which large values

-- `run` is a number; 0 keeps a value for good: it is older than this table, or belongs to no run.
create table plait.blob_refs (
    digest text collate "C" not null,
    run    bigint not null,
    primary key (digest, run)
);
create index blob_refs_run on plait.blob_refs (run);
insert into plait.blob_refs (digest, run) select digest, 0 from plait.blobs;

-- Runs whose rows are deleted, and whose events are being deleted.
create table plait.removed_runs (run bigint primary key);

-- v12: engines with different code

-- Shards from 64 on belong to pools: runs that need the code of that name, which not every engine has.
alter table plait.shards add column pool text collate "C" not null default '';
create index shards_pool on plait.shards (pool, shard);

-- The code of an engine; null until it has announced it.
alter table plait.engines add column code text[];

-- v13: limits of queues, and runs that wait on them

-- The name `*` has the limits of all queues of a namespace together. Admitting or claiming under limits locks the row.
create table plait.queues (
    namespace text collate "C" not null,
    name      text collate "C" not null,
    settings  text not null,
    primary key (namespace, name)
);

-- A run waits here until `admitted_at`, and holds a slot from then on while it runs. `due` is null once a delayed run
-- may start.
create table plait.queued_runs (
    id          bigserial primary key,
    run_id      text collate "C" not null,
    namespace   text collate "C" not null,
    queue       text collate "C" not null,
    partition   text collate "C" not null,
    priority    integer not null,
    dedup_id    text collate "C",
    debounced   boolean not null,
    due         bigint,
    deadline    bigint,
    enqueued_at bigint not null,
    admitted_at bigint
);
create unique index queued_runs_run on plait.queued_runs (run_id);
create unique index queued_runs_dedup on plait.queued_runs (namespace, queue, dedup_id) where dedup_id is not null;
create index queued_runs_waiting on plait.queued_runs (namespace, queue, priority, id, partition)
where admitted_at is null and due is null;
create index queued_runs_due on plait.queued_runs (namespace, queue, due) where admitted_at is null and due is not null;
create index queued_runs_deadline on plait.queued_runs (namespace, queue, deadline)
where admitted_at is null and deadline is not null;
create index queued_runs_held on plait.queued_runs (namespace, queue, admitted_at) where admitted_at is not null;

-- Recent starts, for rate limits.
create table plait.queue_starts (
    namespace text collate "C" not null,
    queue     text collate "C" not null,
    kind      text collate "C" not null,
    partition text collate "C" not null,
    at        bigint not null
);
create index queue_starts_at on plait.queue_starts (namespace, queue, kind, at);

-- `limited`: claimed while its queue had limits, so that it counts.
alter table plait.queued_tasks add column partition text collate "C" not null default '';
alter table plait.queued_tasks add column limited boolean not null default false;
create index queued_tasks_limited on plait.queued_tasks (namespace, queue) where limited;

-- v14: logs are kept in partitions, so that those of a time go at once
-- expand

-- step (short) no number is as high as where the second partition will begin
alter table plait.log add constraint log_bound check (run < 1099511627776) not valid;

-- step (alone) nor is one that is there
alter table plait.log validate constraint log_bound;

-- step (short) what there is becomes the first partition
-- A number that fits none, of an engine that drew it long ago, is in the rest.
alter table plait.log rename to log_0;
alter index plait.log_place rename to log_0_place;
create table plait.log (
    run      bigint not null,
    seq      bigint not null,
    count    integer not null,
    at       bigint not null,
    events   text not null,
    blobs    text,
    checksum bigint
) partition by range (run);
create unique index log_place on plait.log (run, seq);
alter table plait.log attach partition plait.log_0 for values from (minvalue) to (1099511627776);
alter table plait.log_0 drop constraint log_bound;
create table plait.log_rest partition of plait.log default;

-- Partition n, called log_n, has the runs whose numbers begin at n * 2^40. `removing_since` is when the first removed run
-- was seen whose events are still in it.
create table plait.log_partitions (
    partition      integer primary key,
    opened_at      bigint not null,
    removing_since bigint
);
insert into plait.log_partitions (partition, opened_at) values (0, plait.ms(clock_timestamp()));

-- The last row of a run's log. A statement that finds runs and their logs would be planned for all partitions; this one
-- is planned for a number, which is in one.
create function plait.log_end(number bigint, out head bigint, out at bigint)
language plpgsql stable strict set plan_cache_mode = force_custom_plan
as $$ begin
    select l.seq + l.count - 1, l.at into head, at from plait.log l where l.run = number order by l.seq desc limit 1;
end $$;

-- step (short) rows that die often are cleared away before they are many, however large a table is
alter table plait.runs set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
alter table plait.inbox set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
alter table plait.timers set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
alter table plait.queued_tasks set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
alter table plait.queued_runs set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
alter table plait.queue_starts set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
alter table plait.removed_runs set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);

-- step (alone) a database that was restored from a backup had none
create index concurrently if not exists run_texts_groups
on plait.run_texts using gin (plait.text_groups(namespace, text)) with (fastupdate = off);

-- v15: groups of characters at a third of the processor's time, and counts of runs of pools
-- expand

-- step (short) the same groups as before, so the index stays as it is
-- A statement inside the function would be set up anew for each text, which costs more than what it does; and an index
-- needs no array without doubles.
create or replace function plait.text_groups(namespace text, text text) returns text[]
language plpgsql immutable strict parallel safe
as $$
declare
    found text[] := array['//' || namespace];
begin
    for at in 1..pg_catalog.length(text) - 2 loop
        found[at + 1] := pg_catalog.substr(text, at, 3);
    end loop;
    return found;
end
$$;

-- step (alone) runs of pools are few
create index concurrently runs_pooled on plait.runs (shard) where shard >= 64 and status = 'running';

-- v16: tasks that engines may claim as workers do
-- expand

-- step (short) the code that an engine needs for that; null: it is for workers only
alter table plait.queued_tasks add column code text collate "C";

-- step (alone) most tasks on queues have none
create index concurrently queued_tasks_code on plait.queued_tasks (code) where claim is null and code is not null;

-- v17: pools that are not needed any more
-- expand

-- step (alone) whether any run is left in one, ended or not
create index concurrently runs_in_pools on plait.runs (shard) where shard >= 64;

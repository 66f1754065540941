-- v1: the first schema

-- Runs, with the few facts that lists and recovery need. Their events are in `log`.
create table runs (
    id           text primary key,
    namespace    text not null,
    dialect      text not null,
    definition   text not null,
    version      text,
    shard        integer not null,
    status       text not null check (status in ('running', 'completed', 'failed', 'cancelled')),
    awake        integer not null,
    parent       text,
    parent_token text,
    depth        integer not null,
    labels       text not null,
    start_hash   text not null,
    created_at   integer not null,
    ended_at     integer,
    deadline     integer,
    output       text,
    error        text,
    blocked      text,
    recoveries   integer not null default 0,
    full         integer not null default 0
) without rowid;
create index runs_awake on runs (shard) where awake = 1 and status = 'running';
create index runs_newest on runs (created_at, id);
create index runs_parent on runs (parent) where parent is not null;

-- Events, one row per decision. `id` grows in commit order: it is the cursor of live feeds.
create table log (
    id     integer primary key,
    run_id text not null,
    seq    integer not null,
    count  integer not null,
    at     integer not null,
    events text not null,
    blobs  text
);
create unique index log_place on log (run_id, seq);

create table snapshots (
    run_id text primary key,
    seq    integer not null,
    at     integer not null,
    body   text not null
) without rowid;

-- Inputs from outside the owner. Taken ones stay, so that a repeated key is still known.
create table inbox (
    id     integer primary key,
    run_id text not null,
    shard  integer not null,
    key    text not null,
    body   text,
    at     integer not null,
    taken  integer not null default 0,
    reply  text
);
create unique index inbox_key on inbox (run_id, key);
create index inbox_waiting on inbox (id) where taken = 0;

create table timers (
    run_id text not null,
    token  text not null,
    shard  integer not null,
    due    integer not null,
    primary key (run_id, token)
) without rowid;
create index timers_due on timers (due);

create table questions (
    id        text primary key,
    run_id    text not null,
    namespace text not null,
    token     text not null,
    title     text not null,
    asked     text not null,
    asked_at  integer not null,
    deadline  integer
) without rowid;
create index questions_run on questions (run_id, token);

create table dead_letters (
    id        text primary key,
    run_id    text not null,
    namespace text not null,
    token     text not null,
    label     text not null,
    attempts  integer not null,
    error     text not null,
    at        integer not null,
    status    text not null check (status in ('pending', 'retried', 'discarded'))
) without rowid;
create index dead_letters_run on dead_letters (run_id);

create table blobs (
    digest text primary key,
    body   blob not null
) without rowid;

-- Who may write which shard. `epoch` only grows; it fences writers that lost their lease.
create table shards (
    shard   integer primary key,
    owner   text,
    epoch   integer not null default 0,
    expires integer not null default 0
);
with recursive n (i) as (select 0 union all select i + 1 from n where i < 63)
insert into shards (shard) select i from n;

create table engines (
    owner   text primary key,
    expires integer not null
) without rowid;

-- v2: forms and evidence of approvals, log lines of tasks, and records that belong to no run

alter table questions add column form text;
alter table questions add column evidence text;

create table lines (
    id      integer primary key,
    run_id  text not null,
    node    text not null,
    attempt integer not null,
    at      integer not null,
    level   text not null,
    text    text not null
);
create index lines_run on lines (run_id, id);

create table records (
    kind      text not null,
    namespace text not null,
    id        text not null,
    at        integer not null,
    body      text not null,
    primary key (kind, id, namespace)
) without rowid;

-- v3: approvals are kept after the decision, with all votes

create table approvals (
    id          text primary key,
    run_id      text not null,
    namespace   text not null,
    token       text not null,
    title       text not null,
    asked       text not null,
    asked_at    integer not null,
    deadline    integer,
    form        text,
    evidence    text,
    required    integer not null default 1,
    approvers   text not null default '[]',
    escalations text not null default '[]',
    level       integer not null default 0,
    status      text not null default 'open' check (status in ('open', 'approved', 'rejected', 'expired', 'withdrawn')),
    votes       text not null default '[]',
    decided_at  integer,
    decided_by  text not null default '',
    answer      text
) without rowid;
insert into approvals (id, run_id, namespace, token, title, asked, asked_at, deadline, form, evidence)
select id, run_id, namespace, token, title, asked, asked_at, deadline, form, evidence from questions;
drop table questions;

-- A token of a run has at most one open approval; open ones are also counted by this index
create unique index approvals_open on approvals (run_id, token) where status = 'open';
create index approvals_run on approvals (run_id, asked_at, id);
create index approvals_status on approvals (namespace, status, asked_at, id);
create index approvals_newest on approvals (namespace, asked_at, id);

-- v4: tasks that workers claim

-- One row for each queued attempt in flight. `opening` is the event that recorded it. A claimed row has `claim`;
-- `expires` is when its worker counts as gone, never after `deadline`, the task's own timeout.
create table queued_tasks (
    id          integer primary key,
    run_id      text not null,
    shard       integer not null,
    namespace   text not null,
    token       text not null,
    opening     integer not null,
    attempt     integer not null,
    queue       text not null,
    kind        text not null,
    handler     text not null,
    label       text not null,
    node        text not null,
    key         text not null,
    input       text not null,
    blobs       text,
    timeout     integer,
    heartbeat   integer,
    terms       text not null,
    progress    text,
    enqueued_at integer not null,
    priority    integer not null default 0,
    claim       text,
    worker      text,
    claimed_at  integer,
    lease       integer,
    expires     integer,
    deadline    integer
);
create unique index queued_tasks_place on queued_tasks (run_id, token);
create index queued_tasks_free on queued_tasks (namespace, queue, priority, id) where claim is null;
create index queued_tasks_expires on queued_tasks (expires) where claim is not null;

-- Workers, and when they last polled for tasks.
create table queue_workers (
    namespace text not null,
    queue     text not null,
    worker    text not null,
    seen_at   integer not null,
    primary key (namespace, queue, worker)
) without rowid;

-- v5: runs have numbers, logs are kept under them, and each row of a log has a checksum

-- `number` grows with each new run: runs that are at work now are beside each other in an index that begins with it,
-- however many have ended.
create table numbered_runs (
    id           text not null,
    namespace    text not null,
    dialect      text not null,
    definition   text not null,
    version      text,
    shard        integer not null,
    status       text not null check (status in ('running', 'completed', 'failed', 'cancelled')),
    awake        integer not null,
    parent       text,
    parent_token text,
    depth        integer not null,
    labels       text not null,
    start_hash   text not null,
    created_at   integer not null,
    ended_at     integer,
    deadline     integer,
    output       text,
    error        text,
    blocked      text,
    recoveries   integer not null default 0,
    full         integer not null default 0,
    number       integer primary key
);
insert into numbered_runs (id, namespace, dialect, definition, version, shard, status, awake, parent, parent_token,
                           depth, labels, start_hash, created_at, ended_at, deadline, output, error, blocked,
                           recoveries, full)
select id, namespace, dialect, definition, version, shard, status, awake, parent, parent_token,
       depth, labels, start_hash, created_at, ended_at, deadline, output, error, blocked, recoveries, full
from runs order by created_at, id;
drop table runs;
alter table numbered_runs rename to runs;
create unique index runs_id on runs (id);
create index runs_awake on runs (shard) where awake = 1 and status = 'running';
create index runs_newest on runs (created_at, id);
create index runs_parent on runs (parent) where parent is not null;

-- Events, one row a decision, in the order of the commits: what is new is always at the end. `checksum` is null in
-- rows that are older than it.
create table numbered_log (
    run      integer not null,
    seq      integer not null,
    count    integer not null,
    at       integer not null,
    events   text not null,
    blobs    text,
    checksum integer
);
insert into numbered_log (run, seq, count, at, events, blobs)
select runs.number, seq, count, at, events, blobs from log join runs on runs.id = log.run_id order by log.id;
drop table log;
alter table numbered_log rename to log;
create unique index log_place on log (run, seq);

-- v6: the wait reason of a parked run, as `[kind, words, until]`; and the past of forks and reopened runs

alter table runs add column waiting text;
alter table runs add column past text;

-- v7: indexes for every list of runs, and a text search

-- The places of a list are (created_at, id), newest first; each index begins with a namespace and ends with them.
drop index runs_newest;
create index runs_status on runs (
    namespace, dialect,
    case when status <> 'running' then status
         when blocked is not null then 'blocked'
         when awake = 0 or waiting is not null then 'waiting'
         else 'working' end,
    created_at, id);
create index runs_definition on runs (namespace, definition, created_at, id);
create index runs_blocked on runs (shard) where blocked is not null and status = 'running';
drop index runs_parent;
create index runs_parent on runs (parent, created_at, id) where parent is not null;

create table run_labels (
    namespace  text not null,
    key        text not null,
    value      text not null,
    created_at integer not null,
    run_id     text not null,
    primary key (namespace, key, value, created_at, run_id)
) without rowid;
insert into run_labels (namespace, key, value, created_at, run_id)
select r.namespace, l.key, l.value, r.created_at, r.id
from runs r, json_each(iif(json_valid(r.labels), r.labels, '{}')) l where l.type = 'text';

-- What a text search finds, in lower case: a row (part 0) for a run's id and labels, and one (part 1) for the error it
-- had last; whether it still has one, its own row says. `run` is its number. `place` is the run's moment * 2^20 and the
-- end of the number and the part, so that the index finds the newest first. `space` stands for the namespace: one group
-- of characters, as the index keeps them. Runs that were there before are added by the program.
create table run_texts (
    place integer primary key,
    run   integer not null,
    part  integer not null,
    space text not null,
    text  text not null
);
create virtual table run_text_groups using fts5 (
    space, text, content = 'run_texts', content_rowid = 'place',
    tokenize = 'trigram case_sensitive 1', detail = none, columnsize = 0
);
-- Runs up to this number are indexed.
create table indexed_runs (upto integer not null);
insert into indexed_runs (upto) values (0);

-- Dead letters and records of one namespace, however many others have.
drop index dead_letters_run;
create index dead_letters_run on dead_letters (run_id, at, id);
create index dead_letters_status on dead_letters (namespace, status, at, id);
create index dead_letters_pending on dead_letters (id) where status = 'pending';
create index records_namespace on records (kind, namespace, id);

-- v8: delegated votes

alter table approvals add column delegations text not null default '[]';

-- v9: a run's status is checked by comparisons

-- For `status in (...)` SQLite fills a table of its own with the four words, each time that a run is written.
create table checked_runs (
    id           text not null,
    namespace    text not null,
    dialect      text not null,
    definition   text not null,
    version      text,
    shard        integer not null,
    status       text not null check (status = 'running' or status = 'completed' or status = 'failed'
                                      or status = 'cancelled'),
    awake        integer not null,
    parent       text,
    parent_token text,
    depth        integer not null,
    labels       text not null,
    start_hash   text not null,
    created_at   integer not null,
    ended_at     integer,
    deadline     integer,
    output       text,
    error        text,
    blocked      text,
    recoveries   integer not null default 0,
    full         integer not null default 0,
    number       integer primary key,
    waiting      text,
    past         text
);
insert into checked_runs select * from runs;
drop table runs;
alter table checked_runs rename to runs;
create unique index runs_id on runs (id);
create index runs_awake on runs (shard) where awake = 1 and status = 'running';
create index runs_status on runs (
    namespace, dialect,
    case when status <> 'running' then status
         when blocked is not null then 'blocked'
         when awake = 0 or waiting is not null then 'waiting'
         else 'working' end,
    created_at, id);
create index runs_definition on runs (namespace, definition, created_at, id);
create index runs_blocked on runs (shard) where blocked is not null and status = 'running';
create index runs_parent on runs (parent, created_at, id) where parent is not null;

-- v10: stalled runs

-- Few runs wait like this for long. `waiting` is `[kind, words, until]`. By comparisons, as every write of a run asks.
create index runs_stalled on runs (created_at, id)
where status = 'running' and blocked is null
  and ((waiting is null and awake = 0) or substr(waiting, 3, 4) = 'join' or substr(waiting, 3, 4) = 'stuc');

-- v11: removed runs, and which runs need which large values

-- `run` is a number; 0 keeps a value for good: it is older than this table, or belongs to no run.
create table blob_refs (
    digest text not null,
    run    integer not null,
    primary key (digest, run)
) without rowid;
create index blob_refs_run on blob_refs (run);
insert into blob_refs (digest, run) select digest, 0 from blobs;

-- Runs whose rows are deleted, and whose events are being deleted.
create table removed_runs (run integer primary key);

-- v12: limits of queues, and runs that wait on them

-- The name `*` has the limits of all queues of a namespace together.
create table queues (
    namespace text not null,
    name      text not null,
    settings  text not null,
    primary key (namespace, name)
) without rowid;

-- A run waits here until `admitted_at`, and holds a slot from then on while it runs. `due` is null once a delayed run
-- may start.
create table queued_runs (
    id          integer primary key,
    run_id      text not null,
    namespace   text not null,
    queue       text not null,
    partition   text not null,
    priority    integer not null,
    dedup_id    text,
    debounced   integer not null,
    due         integer,
    deadline    integer,
    enqueued_at integer not null,
    admitted_at integer
);
create unique index queued_runs_run on queued_runs (run_id);
create unique index queued_runs_dedup on queued_runs (namespace, queue, dedup_id) where dedup_id is not null;
create index queued_runs_waiting on queued_runs (namespace, queue, priority, id, partition)
where admitted_at is null and due is null;
create index queued_runs_due on queued_runs (namespace, queue, due) where admitted_at is null and due is not null;
create index queued_runs_deadline on queued_runs (namespace, queue, deadline)
where admitted_at is null and deadline is not null;
create index queued_runs_held on queued_runs (namespace, queue, admitted_at) where admitted_at is not null;

-- Recent starts, for rate limits.
create table queue_starts (
    namespace text not null,
    queue     text not null,
    kind      text not null,
    partition text not null,
    at        integer not null
);
create index queue_starts_at on queue_starts (namespace, queue, kind, at);

-- `limited`: claimed while its queue had limits, so that it counts.
alter table queued_tasks add column partition text not null default '';
alter table queued_tasks add column limited integer not null default 0;
create index queued_tasks_limited on queued_tasks (namespace, queue) where limited = 1;

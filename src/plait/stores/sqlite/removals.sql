-- ended: places of ended runs by creation time, and whether each can be removed (see removable), among a limited number
-- examined
select created_at, id,
       ended_at <= ?4 and number < (select max(number) from runs) and (?7 is null or shard in (select value from json_each(?7)))
       and (parent is null or not exists (select 1 from runs above where above.id = place.parent)),
       shard
from (select created_at, id, ended_at, shard, parent, number from runs
      where namespace = ?1 and dialect = ?2
        and case when status <> 'running' then status
                 when blocked is not null then 'blocked'
                 when awake = 0 or waiting is not null then 'waiting'
                 else 'working' end = ?3
        and created_at <= ?4 and (created_at, id) > (?5, ?6)
      order by created_at, id limit ?8) as place;

-- shrink: deletes some log lines of runs that had ended by then
delete from lines where id in (
    select l.id from runs r join lines l on l.run_id = r.id
    where r.id in (select value from json_each(?1)) and r.status <> 'running' and r.ended_at <= ?2 limit ?3);

-- removable: a run that had ended by then and that nothing needs. The newest stays: SQLite would reuse its number
select number, created_at, namespace, labels from runs r
where id = ?1 and status <> 'running' and ended_at <= ?2 and number < (select max(number) from runs)
  and (parent is null or not exists (select 1 from runs above where above.id = r.parent))
  and not exists (select 1 from inbox where run_id = ?1 and taken = 0);

-- remove_label: its labels, by which lists found it
delete from run_labels where namespace = ?1 and key = ?2 and value = ?3 and created_at = ?4 and run_id = ?5;

-- remove_inbox: answered inputs
delete from inbox where run_id = ?1;

-- remove_timers: its timers (there should be none)
delete from timers where run_id = ?1;

-- remove_tasks: tasks that a worker had claimed when it ended
delete from queued_tasks where run_id = ?1;

-- remove_queued: its slots
delete from queued_runs where run_id = ?1;

-- remove_approvals: decided or withdrawn approvals
delete from approvals where run_id = ?1;

-- remove_dead_letters: its dead letters
delete from dead_letters where run_id = ?1;

-- remove_lines: the remaining log lines
delete from lines where run_id = ?1;

-- remove_snapshot: its snapshot
delete from snapshots where run_id = ?1;

-- note_removed: its events are still there
insert into removed_runs (run) values (?1);

-- remove_run: nobody finds it from now on
delete from runs where number = ?1;

-- refer: records that a run needs a large value; without a run it is kept for good
insert into blob_refs (digest, run) values (?1, coalesce((select number from runs where id = ?2), 0))
on conflict (digest, run) do nothing;

-- share: records that a fork needs a stored value; null, which no table accepts, if it is gone
insert into blob_refs (digest, run)
values ((select digest from blobs where digest = ?1), (select number from runs where id = ?2))
on conflict (digest, run) do nothing;

-- next_removed: a run whose events are being deleted
select run from removed_runs limit 1;

-- remove_events: deletes some of its events
delete from log where rowid in (select rowid from log where run = ?1 limit ?2);

-- referred: some large values of a run
select digest from blob_refs where run = ?1 limit ?2;

-- unrefer: a run no longer needs a value
delete from blob_refs where digest = ?1 and run = ?2;

-- remove_blob: deletes a value, unless another run needs it
delete from blobs where digest = ?1 and not exists (select 1 from blob_refs where digest = ?1);

-- forget_removed: nothing is left of this run
delete from removed_runs where run = ?1;

-- remove_lost_inputs: deletes inputs waiting for missing runs
delete from inbox where id in (
    select id from inbox i
    where taken = 0 and (?1 is null or shard in (select value from json_each(?1))) and at <= ?2
      and not exists (select 1 from runs r where r.id = i.run_id) limit ?3)
returning run_id;

-- ended: places of ended runs by creation time, and whether each can be removed, among a limited number examined
select created_at, id,
       ended_at <= $4 and shard = any ($7::integer[])
       and (parent is null or not exists (select from plait.runs above where above.id = place.parent)),
       shard
from (select created_at, id, ended_at, shard, parent from plait.runs
      where namespace = $1 and dialect = $2
        and (case when status <> 'running' then status
                  when blocked is not null then 'blocked'
                  when not awake or waiting is not null then 'waiting'
                  else 'working' end) = $3
        and created_at <= $4 and (created_at, id) > ($5, $6)
      order by created_at, id limit $8) as place;

-- shrink: deletes some log lines of runs that had ended by then
delete from plait.lines where id in (
    select l.id from plait.runs r join plait.lines l on l.run_id = r.id
    where r.id = any ($1::text[]) and r.status <> 'running' and r.ended_at <= $2 limit $3);

-- removable: runs of these owners that had ended by then and that nothing needs; locked until they are removed
select r.id, r.number
from plait.runs r join unnest($1::text[], $2::bigint[], $3::integer[]) as wanted (id, before, shard) using (id, shard)
where r.status <> 'running' and r.ended_at <= wanted.before
  and (r.parent is null or not exists (select from plait.runs above where above.id = r.parent))
  and not exists (select from plait.inbox i where i.run_id = r.id and not i.taken)
order by r.number for update of r;

-- remove_runs: nobody finds them from now on; their events are still there. Deletes everything found by their ids:
-- their entries in lists and searches, answered inputs, timers (there should be none), tasks that a worker had claimed
-- when they ended, their slots, decided approvals, dead letters, remaining log lines, and states
with gone as (
    delete from plait.runs where id = any ($1::text[]) returning id, number, namespace, created_at, labels
), labels as (
    delete from plait.run_labels l using gone r cross join lateral jsonb_each_text(r.labels) as had
    where l.namespace = r.namespace and l.key = had.key and l.value = had.value
      and l.created_at = r.created_at and l.run_id = r.id
), texts as (
    delete from plait.run_texts t using gone r where t.run = r.number
), inbox as (
    delete from plait.inbox where run_id = any ($1::text[])
), timers as (
    delete from plait.timers where run_id = any ($1::text[])
), tasks as (
    delete from plait.queued_tasks where run_id = any ($1::text[])
), queued as (
    delete from plait.queued_runs where run_id = any ($1::text[])
), approvals as (
    delete from plait.approvals where run_id = any ($1::text[])
), dead_letters as (
    delete from plait.dead_letters where run_id = any ($1::text[])
), lines as (
    delete from plait.lines where run_id = any ($1::text[])
), snapshots as (
    delete from plait.snapshots where run_id = any ($1::text[])
)
insert into plait.removed_runs (run) select number from gone;

-- refer: records that runs need large values; without a run, a value is kept for good
insert into plait.blob_refs (digest, run)
select distinct v.digest, coalesce(r.number, 0)
from unnest($1::text[], $2::text[]) as v (digest, run_id) left join plait.runs r on r.id = v.run_id
on conflict (digest, run) do nothing;

-- share: records that forks need stored values; null, which no table accepts, for a missing one
insert into plait.blob_refs (digest, run)
select distinct held.digest, r.number
from unnest($1::text[], $2::text[]) as v (digest, run_id) join plait.runs r on r.id = v.run_id
left join (select digest from plait.blobs where digest = any ($1::text[]) for share) as held on held.digest = v.digest
on conflict (digest, run) do nothing;

-- next_removed: some runs whose events are being deleted, and that no other process handles
select run from plait.removed_runs where run >= $1 and run < $2 order by run limit $3 for update skip locked;

-- remove_events: deletes some of their events
delete from plait.log where run = any ($1::bigint[]) and (run, seq) in (
    select run, seq from plait.log where run = any ($1::bigint[]) order by run, seq limit $2);

-- referred: some large values of some runs
select digest from plait.blob_refs where run = any ($1::bigint[]) group by digest order by digest limit $2;

-- hold_blobs: locks values: another run that needs one has recorded it, or waits for us
select from plait.blobs where digest = any ($1::text[]) order by digest for update;

-- unrefer: runs no longer need some values
delete from plait.blob_refs where run = any ($1::bigint[]) and digest = any ($2::text[]);

-- remove_blobs: deletes values, unless other runs need them
delete from plait.blobs b
where b.digest = any ($1::text[]) and not exists (select from plait.blob_refs r where r.digest = b.digest);

-- remove_late_texts: deletes texts of removed runs that were being indexed during the removal
delete from plait.run_texts where run = any ($1::bigint[]);

-- forget_removed: nothing is left of these runs
delete from plait.removed_runs where run = any ($1::bigint[]);

-- remove_lost_inputs: deletes inputs waiting for missing runs, including those sent to a pool that is gone
delete from plait.inbox where id in (
    select id from plait.inbox i
    where not taken and at <= $2
      and (shard = any ($1::integer[])
           or (shard >= 64 and not exists (select from plait.shards s where s.shard = i.shard)))
      and not exists (select from plait.runs r where r.id = i.run_id) limit $3)
returning run_id;

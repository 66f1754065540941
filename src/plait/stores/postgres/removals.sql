-- ended: places of ended runs in the order of their creation, and whether each can be removed. Of so many that are looked at
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

-- shrink: some log lines of runs that had ended by then
delete from plait.lines where id in (
    select l.id from plait.runs r join plait.lines l on l.run_id = r.id
    where r.id = any ($1::text[]) and r.status <> 'running' and r.ended_at <= $2 limit $3);

-- removable: runs of their owners that had ended by then and that nothing needs; they can't be changed until they are gone
select r.id, r.number
from plait.runs r join unnest($1::text[], $2::bigint[], $3::integer[]) as wanted (id, before, shard) using (id, shard)
where r.status <> 'running' and r.ended_at <= wanted.before
  and (r.parent is null or not exists (select from plait.runs above where above.id = r.parent))
  and not exists (select from plait.inbox i where i.run_id = r.id and not i.taken)
order by r.number for update of r;

-- remove_runs: nobody finds them from now on; their events are still there. With all that is found by their ids: what lists
-- and searches found, inputs that were answered, timers (there should be none), tasks that a worker was at when they
-- ended, the slots that they had, decided approvals, dead letters, lines that were not deleted before, and states
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

-- refer: runs need large values; without a run one is kept for good
insert into plait.blob_refs (digest, run)
select distinct v.digest, coalesce(r.number, 0)
from unnest($1::text[], $2::text[]) as v (digest, run_id) left join plait.runs r on r.id = v.run_id
on conflict (digest, run) do nothing;

-- share: forks need values that are stored; null, which no table takes, for one that is gone
insert into plait.blob_refs (digest, run)
select distinct held.digest, r.number
from unnest($1::text[], $2::text[]) as v (digest, run_id) join plait.runs r on r.id = v.run_id
left join (select digest from plait.blobs where digest = any ($1::text[]) for share) as held on held.digest = v.digest
on conflict (digest, run) do nothing;

-- next_removed: some runs whose events are going, and that no other process is at
select run from plait.removed_runs where run >= $1 and run < $2 order by run limit $3 for update skip locked;

-- remove_events: some of them
delete from plait.log where run = any ($1::bigint[]) and (run, seq) in (
    select run, seq from plait.log where run = any ($1::bigint[]) order by run, seq limit $2);

-- referred: some large values of some runs
select digest from plait.blob_refs where run = any ($1::bigint[]) group by digest order by digest limit $2;

-- hold_blobs: who needs one of them, too, has noted it or waits for us
select from plait.blobs where digest = any ($1::text[]) order by digest for update;

-- unrefer: runs need some values no more
delete from plait.blob_refs where run = any ($1::bigint[]) and digest = any ($2::text[]);

-- remove_blobs: unless other runs need them
delete from plait.blobs b
where b.digest = any ($1::text[]) and not exists (select from plait.blob_refs r where r.digest = b.digest);

-- remove_late_texts: of removed runs that were being indexed as they went
delete from plait.run_texts where run = any ($1::bigint[]);

-- forget_removed: nothing is left of them
delete from plait.removed_runs where run = any ($1::bigint[]);

-- remove_lost_inputs: inputs that wait for runs that are not there; also where a pool was when their sender looked
delete from plait.inbox where id in (
    select id from plait.inbox i
    where not taken and at <= $2
      and (shard = any ($1::integer[])
           or (shard >= 64 and not exists (select from plait.shards s where s.shard = i.shard)))
      and not exists (select from plait.runs r where r.id = i.run_id) limit $3)
returning run_id;

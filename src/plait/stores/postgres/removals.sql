-- ended: places of ended runs in the order of their creation, and whether each can be removed. Of so many that are looked at
select created_at, id,
       ended_at <= $4 and shard = any ($7::integer[])
       and (parent is null or not exists (select from plait.runs above where above.id = place.parent))
from (select created_at, id, ended_at, shard, parent from plait.runs
      where namespace = $1 and dialect = $2
        and (case when status <> 'running' then status
                  when blocked is not null then 'blocked'
                  when not awake or waiting is not null then 'waiting'
                  else 'working' end) = $3
        and created_at <= $4 and (created_at, id) > ($5, $6)
      order by created_at, id limit $8) as place;

-- shrink: some log lines of a run that had ended by then
delete from plait.lines where id in (
    select l.id from plait.runs r join plait.lines l on l.run_id = r.id
    where r.id = $1 and r.status <> 'running' and r.ended_at <= $2 order by l.id limit $3);

-- removable: runs that had ended by then and that nothing needs; they can't be changed until they are gone
select r.id, r.number from plait.runs r join unnest($1::text[], $2::bigint[]) as wanted (id, before) using (id)
where r.status <> 'running' and r.ended_at <= wanted.before
  and (r.parent is null or not exists (select from plait.runs above where above.id = r.parent))
  and not exists (select from plait.inbox i where i.run_id = r.id and not i.taken)
order by r.number for update of r;

-- remove_labels: what lists found them by
delete from plait.run_labels l using plait.runs r cross join lateral jsonb_each_text(r.labels) as had
where r.id = any ($1::text[]) and l.namespace = r.namespace and l.key = had.key and l.value = had.value
  and l.created_at = r.created_at and l.run_id = r.id;

-- remove_texts: and what a search found
delete from plait.run_texts t using plait.runs r where r.id = any ($1::text[]) and t.run = r.number;

-- remove_inbox: inputs that were answered
delete from plait.inbox where run_id = any ($1::text[]);

-- remove_timers: there should be none
delete from plait.timers where run_id = any ($1::text[]);

-- remove_tasks: those that a worker was at when they ended
delete from plait.queued_tasks where run_id = any ($1::text[]);

-- remove_queued: the slots that they had
delete from plait.queued_runs where run_id = any ($1::text[]);

-- remove_approvals: decided or withdrawn
delete from plait.approvals where run_id = any ($1::text[]);

-- remove_dead_letters: with the runs that could be retried
delete from plait.dead_letters where run_id = any ($1::text[]);

-- remove_lines: those that were not deleted before
delete from plait.lines where run_id = any ($1::text[]);

-- remove_snapshots: of states that nobody needs
delete from plait.snapshots where run_id = any ($1::text[]);

-- remove_runs: nobody finds them from now on; their events are still there
with gone as (delete from plait.runs where id = any ($1::text[]) returning number)
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

-- next_removed: a run whose events are going, and that no other process is at
select run from plait.removed_runs limit 1 for update skip locked;

-- remove_events: some of them
delete from plait.log where run = $1 and seq in (select seq from plait.log where run = $1 order by seq limit $2);

-- referred: some large values of a run. Who needs one of them, too, has noted it or waits for us
select b.digest from plait.blobs b
where b.digest in (select digest from plait.blob_refs where run = $1 order by digest limit $2) order by b.digest for update;

-- unrefer: a run needs some values no more
delete from plait.blob_refs
where run = $1 and digest in (select digest from plait.blob_refs where run = $1 order by digest limit $2);

-- remove_blobs: unless other runs need them
delete from plait.blobs b
where b.digest = any ($1::text[]) and not exists (select from plait.blob_refs r where r.digest = b.digest);

-- forget_removed: nothing is left of it
delete from plait.removed_runs where run = $1;

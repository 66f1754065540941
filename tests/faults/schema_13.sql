-- read_log: a run's events, in order, from the row that holds number $2 to the one that holds $3
with found as (
    select number from plait.runs where id = $1
)
select run, seq, count, at, events, blobs, checksum from plait.log
where run = (select number from found) and seq + count > $2 and seq <= $3
  and seq >= (select coalesce(max(seq), 0) from plait.log where run = (select number from found) and seq <= $2)
order by seq limit $4;

-- heads: the last event of some runs
select id, (select seq + count - 1 from plait.log where run = number order by seq desc limit 1)
from plait.runs where id = any ($1::text[]);

-- list_stalled: runs that nothing will move, and have not moved since a moment
select r.id from plait.runs r
where status = 'running' and blocked is null
  and ((waiting is null and not awake) or substr(waiting, 3, 4) = 'join' or substr(waiting, 3, 4) = 'stuc')
  and ($2::text is null or r.namespace = $2)
  and coalesce((select l.at from plait.log l where l.run = r.number order by l.seq desc limit 1), r.created_at) < $1
  and not exists (select from plait.inbox i where i.run_id = r.id and not i.taken)
order by r.created_at, r.id limit $3;

-- facts: what there is to know about the server
select current_setting('server_version'), (select version from plait.schema_version),
       pg_database_size(current_database()), current_setting('fsync'), current_setting('synchronous_commit'),
       exists (select from pg_extension where extname = 'amcheck');

-- remove_event: some of a removed run
delete from plait.log where run = $1 and seq in (select seq from plait.log where run = $1 order by seq limit $2);

-- next_removed: a run whose events are going, and that no other process is at
select run from plait.removed_runs limit 1 for update skip locked;

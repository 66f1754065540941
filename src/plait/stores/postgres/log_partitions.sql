-- lock: one process at a time maintains the partitions; others skip it
select pg_try_advisory_lock(hashtextextended('plait partitions', 0));

-- unlock: ends the maintenance
select pg_advisory_unlock(hashtextextended('plait partitions', 0));

-- list: partitions, oldest first; whether they still have runs, and whether they have events of removed runs
select p.partition, p.opened_at, p.removing_since,
       exists (select from plait.runs where number >= p.partition * (1::bigint << 40)
                                        and number < (p.partition + 1) * (1::bigint << 40)),
       exists (select from plait.removed_runs where run >= p.partition * (1::bigint << 40)
                                                and run < (p.partition + 1) * (1::bigint << 40))
from plait.log_partitions p order by p.partition;

-- now: the last number drawn, and the time
select last_value, plait.ms(clock_timestamp()) from plait.run_numbers;

-- note_removing: since when events wait for the end of their partition; null if none do
update plait.log_partitions set removing_since = $2 where partition = $1;

-- wait_shortly: limits the wait for a lock, because later users of the table wait as long
set local lock_timeout = '100ms';

-- make: creates a table like the others
create table plait.log_n (like plait.log including defaults);
create unique index log_n_place on plait.log_n (run, seq);

-- attach: from now on, rows with such numbers go there. It blocks nobody: only the rest, which nobody uses, is locked
-- for a noticeable time
alter table plait.log attach partition plait.log_n for values from (first_number) to (last_number);

-- note_partition: records the new partition
insert into plait.log_partitions (partition, opened_at) values ($1, plait.ms(clock_timestamp()));

-- advance: new runs go to the newest partition, once it is visible to all
select setval('plait.run_numbers', $1, false) from plait.run_numbers where last_value < $1;

-- lock_partition: blocks reads and writes until the end
lock table plait.log_n in access exclusive mode;

-- has_runs: whether a run has a number in this range
select exists (select from plait.runs where number >= $1 and number < $2);

-- empty: frees its disk space at once
truncate plait.log_n;

-- drop: drops an empty one; commits wait for a moment
drop table plait.log_n;

-- forget_partition: deletes its record
delete from plait.log_partitions where partition = $1;

-- forget_removed: deletes some removed runs without remains, with texts that were being indexed during the removal
with gone as (
    delete from plait.removed_runs
    where run in (select run from plait.removed_runs where run >= $1 and run < $2 order by run limit $3) returning run
), texts as (
    delete from plait.run_texts t using gone where t.run = gone.run
)
select count(*) from gone;

-- digests: some large values of removed runs
select distinct digest from (
    select f.digest from plait.blob_refs f where f.run >= $1 and f.run < $2
      and not exists (select from plait.runs r where r.number = f.run) limit $3) as found;

-- unrefer: those runs no longer need them
delete from plait.blob_refs f
where f.run >= $1 and f.run < $2 and f.digest = any ($3::text[])
  and not exists (select from plait.runs r where r.number = f.run);

-- left: how many rows of remaining runs a partition has, up to a limit
select count(*) from (
    select from plait.runs r join plait.log l on l.run = r.number
    where r.number >= $1 and r.number < $2 and l.run >= $1 and l.run < $2 limit $3) as found;

-- lock_log: blocks all reads and writes of logs until the end
lock table only plait.log in access exclusive mode;

-- detach: detaches a partition about to be replaced
alter table plait.log detach partition plait.log_n;

-- move_away: renames it, to free its name
alter table plait.log_n rename to log_n_before;
alter index plait.log_n_place rename to log_n_before_place;

-- copy_left: copies the rows still needed
insert into plait.log_n select l.* from plait.runs r join plait.log_n_before l on l.run = r.number
where r.number >= $1 and r.number < $2 order by l.run, l.seq;

-- drop_before: drops the old table with all other rows
drop table plait.log_n_before;

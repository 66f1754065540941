-- lock: one process at a time cares for the partitions; the others have better things to do
select pg_try_advisory_lock(hashtextextended('plait partitions', 0));

-- unlock: until the next time
select pg_advisory_unlock(hashtextextended('plait partitions', 0));

-- list: oldest first; whether a run is left whose number is of the partition, and whether events of removed runs are
select p.partition, p.opened_at, p.removing_since,
       exists (select from plait.runs where number >= p.partition * (1::bigint << 40)
                                        and number < (p.partition + 1) * (1::bigint << 40)),
       exists (select from plait.removed_runs where run >= p.partition * (1::bigint << 40)
                                                and run < (p.partition + 1) * (1::bigint << 40))
from plait.log_partitions p order by p.partition;

-- now: the number that was drawn last, and the time
select last_value, plait.ms(clock_timestamp()) from plait.run_numbers;

-- note_removing: since when events wait for the end of their partition; null when none do
update plait.log_partitions set removing_since = $2 where partition = $1;

-- wait_shortly: whoever comes after us for a table waits as long as we do
set local lock_timeout = '100ms';

-- make: a table like the others
create table plait.log_n (like plait.log including defaults);
create unique index log_n_place on plait.log_n (run, seq);

-- attach: from now on a row with such a number goes there. Nobody waits: all that is locked for long enough to be noticed is
-- the rest, which nobody uses
alter table plait.log attach partition plait.log_n for values from (first_number) to (last_number);

-- note_partition: it is there
insert into plait.log_partitions (partition, opened_at) values ($1, plait.ms(clock_timestamp()));

-- advance: new runs are of the newest partition, once it is there for all to see
select setval('plait.run_numbers', $1, false) from plait.run_numbers where last_value < $1;

-- lock_partition: nobody reads or writes it until we are done
lock table plait.log_n in access exclusive mode;

-- has_runs: whether a run's number is between these
select exists (select from plait.runs where number >= $1 and number < $2);

-- empty: its disk space is free at once
truncate plait.log_n;

-- drop: an empty one; commits wait for a moment
drop table plait.log_n;

-- forget_partition: it is not there any more
delete from plait.log_partitions where partition = $1;

-- forget_removed: some removed runs of which nothing is left, with texts of those that were being indexed as they went
with gone as (
    delete from plait.removed_runs
    where run in (select run from plait.removed_runs where run >= $1 and run < $2 order by run limit $3) returning run
), texts as (
    delete from plait.run_texts t using gone where t.run = gone.run
)
select count(*) from gone;

-- digests: some large values that removed runs had
select distinct digest from (
    select f.digest from plait.blob_refs f where f.run >= $1 and f.run < $2
      and not exists (select from plait.runs r where r.number = f.run) limit $3) as found;

-- unrefer: those runs need them no more
delete from plait.blob_refs f
where f.run >= $1 and f.run < $2 and f.digest = any ($3::text[])
  and not exists (select from plait.runs r where r.number = f.run);

-- left: how many rows of runs that are still there a partition has, at most
select count(*) from (
    select from plait.runs r join plait.log l on l.run = r.number
    where r.number >= $1 and r.number < $2 and l.run >= $1 and l.run < $2 limit $3) as found;

-- lock_log: nobody reads or writes any log until we are done
lock table only plait.log in access exclusive mode;

-- detach: a partition that is about to be replaced
alter table plait.log detach partition plait.log_n;

-- move_away: for another to have its name
alter table plait.log_n rename to log_n_before;
alter index plait.log_n_place rename to log_n_before_place;

-- copy_left: what is still needed
insert into plait.log_n select l.* from plait.runs r join plait.log_n_before l on l.run = r.number
where r.number >= $1 and r.number < $2 order by l.run, l.seq;

-- drop_before: with all that is not
drop table plait.log_n_before;

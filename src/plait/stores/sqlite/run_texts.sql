-- is_behind: whether there are runs that have no texts yet
select exists (select 1 from runs where number > (select upto from indexed_runs));

-- new_runs: those, in the order of their numbers; texts as bytes, since a damaged one may be no text
select number, cast(id as blob), cast(namespace as blob), cast(created_at as integer),
       cast(labels as blob), cast(coalesce(error, blocked) as blob)
from runs
where number > (select upto from indexed_runs) order by number limit ?1;

-- set_indexed: how far the index is
update indexed_runs set upto = ?1;

-- insert_text: what a text search finds of a run. A place is taken if half a million runs are of one moment: then
-- a run can't be found by its text
insert into run_texts (place, run, part, space, text) values (?1, ?2, ?3, ?4, ?5) on conflict (place) do nothing;

-- index_text: its groups of characters
insert into run_text_groups (rowid, space, text) values (?1, ?4, ?5);

-- changes_error: a run that is in the index, unless it has the error ?2
select namespace, created_at from runs
where number = ?1 and number <= (select upto from indexed_runs) and coalesce(error, blocked) is not ?2;

-- old_text: what the index has in a place of a run
select place, run, part, space, text from run_texts where place = ?1 and run = ?2;

-- unindex_text: the index forgets a text
insert into run_text_groups (run_text_groups, rowid, space, text) values ('delete', ?1, ?4, ?5);

-- delete_text: and so does the table
delete from run_texts where place = ?1;

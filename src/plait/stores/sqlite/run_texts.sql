-- is_behind: whether there are runs without texts
select exists (select 1 from runs where number > (select upto from indexed_runs));

-- new_runs: how many new runs are to be added, and up to which number
select count(*), max(number) from (
    select number from runs where number > (select upto from indexed_runs) order by number limit ?1);

-- kinds: new runs, and who computes their texts; a part of the next two. `plain`: SQLite itself, for an id of ASCII
-- alone. `none`: the id was generated. `other`: the program, as it may be a damaged row
select *,
       case when labels <> '{}' or error is not null or blocked is not null or name glob '*[^ -~]*' then 'other'
            when created_at not between 0 and 1 << 42 then 'other'
            when namespace <> 'default' and typeof(namespace) <> 'text' then 'other'
            when length(name) < 36 then 'plain'
            when name glob replace(replace('xxxxxxxx-xxxx-7xxx-yxxx-xxxxxxxxxxxx', 'x', '[0-9a-f]'), 'y', '[89ab]')
            then 'none'
            else 'other' end as kind
from (select *, iif(namespace = 'default', id, substr(id, length(namespace) + 2)) as name from runs
      where number > (select upto from indexed_runs) and number <= ?1)

-- insert_plain_texts: texts of runs up to a number. ?2 stands for the most common namespace, to save calls
insert into run_texts (place, run, part, space, text)
select (created_at << 20) + (number << 1 & (1 << 20) - 1), number, 0,
       iif(namespace = 'default', ?2, namespace_mark(namespace)), lower(name)
from ({kinds}) where kind = 'plain'
order by number on conflict (place) do nothing;

-- index_plain_texts: indexes their trigrams
insert into run_text_groups (rowid, space, text)
select t.place, t.space, t.text
from runs r cross join run_texts t
on t.place = (min(max(r.created_at, 0), 1 << 42) << 20) + (r.number << 1 & (1 << 20) - 1) and t.run = r.number
where r.number > (select upto from indexed_runs) and r.number <= ?1
order by r.number;

-- other_runs: runs in the order of their numbers; texts as bytes, since a damaged one may be no text
select number, cast(id as blob), cast(namespace as blob), cast(created_at as integer),
       cast(labels as blob), cast(coalesce(error, blocked) as blob)
from ({kinds}) where kind = 'other' order by number;

-- set_indexed: the progress of the index
update indexed_runs set upto = ?1;

-- insert_text: a searchable text of a run. A place is taken only if half a million runs have the same time: then a run
-- can't be found by its text
insert into run_texts (place, run, part, space, text) values (?1, ?2, ?3, ?4, ?5) on conflict (place) do nothing;

-- index_text: indexes its trigrams
insert into run_text_groups (rowid, space, text) values (?1, ?4, ?5);

-- changes_error: an indexed run, unless it has the error ?2
select namespace, created_at from runs
where number = ?1 and number <= (select upto from indexed_runs) and coalesce(error, blocked) is not ?2;

-- old_text: the indexed text in a place of a run
select place, run, part, space, text from run_texts where place = ?1 and run = ?2;

-- unindex_text: removes a text from the index
insert into run_text_groups (run_text_groups, rowid, space, text) values ('delete', ?1, ?4, ?5);

-- delete_text: removes a text from the table
delete from run_texts where place = ?1;

-- any_due: whether texts wait for the index
select exists (select from plait.due_texts);

-- lock_texts: one process at a time adds texts
select pg_advisory_xact_lock(hashtextextended('plait texts', 0));

-- take_due: numbers of runs with waiting texts
delete from plait.due_texts where ctid = any (array(select ctid from plait.due_texts limit $1)) returning run;

-- due_runs: the columns that their texts are made of
select number, id, namespace, created_at, labels::text, coalesce(error, blocked) from plait.runs
where number = any ($1::bigint[]);

-- add_texts: adds searchable texts of runs
insert into plait.run_texts (run, namespace, created_at, part, text)
select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::smallint[], $5::text[])
on conflict (run, part) do update set text = excluded.text where run_texts.text <> excluded.text;

-- add_due: texts of new children wait
insert into plait.due_texts (run) select number from plait.runs where id = any ($1::text[]);

-- create_index: creates the index of a filled table. Texts come in batches: a list of pending entries would only make
-- searches slow
create index run_texts_groups on plait.run_texts using gin (plait.text_groups(namespace, text)) with (fastupdate = off);

-- group_shares: the most common trigrams with their shares of all texts, and the number of texts; as last counted
select s.most_common_elems::text::text[], s.most_common_elem_freqs::float8[], c.reltuples::bigint
from pg_stats s, pg_class c
where s.schemaname = 'plait' and s.tablename = 'run_texts_groups' and s.most_common_elems is not null
  and c.oid = 'plait.run_texts'::regclass;

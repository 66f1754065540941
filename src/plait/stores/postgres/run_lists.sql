-- of_status: places of runs of a namespace, a dialect and a status; $4, $5 and $6 are the bounds of the list
select created_at, id from plait.runs
where namespace = key.a and dialect = key.b and status = key.c
  and (created_at, id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_blocked: of runs of a namespace that are blocked
select created_at, id from plait.runs
where namespace = key.a and blocked is not null
  and (created_at, id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_definition: of runs of a definition
select created_at, id from plait.runs
where namespace = key.a and definition = key.b
  and (created_at, id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_label: of runs that have a label
select created_at, run_id as id from plait.run_labels
where namespace = key.a and key = key.b and value = key.c
  and (created_at, run_id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_parent: of the children of a run
select created_at, id from plait.runs
where parent = key.a and (created_at, id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_prefix: of runs whose ids lie between two; in the order of their ids
select created_at, id from plait.runs
where id >= key.a and id < key.b and (created_at, id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_text: of runs that have groups of characters, in no order
select distinct created_at, run_id as id from plait.run_texts
where plait.text_groups(namespace, text) @> (array['//' || key.a] || $17::text[])
  and (created_at, run_id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_newest_text: of the newest runs that have any text
select distinct created_at, id from (
    select created_at, run_id as id from plait.run_texts
    where namespace = key.a and (created_at, run_id) < ($4::bigint, $5::text) and created_at >= $6::bigint
    order by created_at desc, run_id desc limit 2000
) as newest

-- count: places of an index, as far as anybody wants to know
select count(*)
from unnest($1::text[], $2::text[], $3::text[]) as key (a, b, c)
cross join lateral (select 1 from ({index}) as place limit $7) as found;

-- rows: the runs that an index leads to, if they fit the filter. Each index needs a plan of its own:
-- the parts above are put in here, once, when the program starts
select found.*
from unnest($1::text[], $2::text[], $3::text[]) as key (a, b, c)
cross join lateral (
    select r.*, state.claimed from ({index}) as place join plait.runs r on r.id = place.id
    cross join lateral (select not r.awake and exists (
        select from plait.queued_tasks q where q.run_id = r.id and q.claim is not null) as claimed) as state
    where ($8::text is null or r.namespace = $8)
      and ($9::text[] is null or r.status = any ($9) or (r.blocked is not null and 'blocked' = any ($9))
           or (r.status = 'running' and r.blocked is null and case
                   when not state.claimed and (not r.awake or r.waiting is not null) then 'waiting' else 'working'
               end = any ($9)))
      -- A child that failed with its parent is not a failure of its own
      and ($9::text[] is null or $12::text is not null or r.status <> 'failed' or r.parent is null
           or not exists (select from plait.runs above where above.id = r.parent and above.status = 'failed'))
      and ($10::text is null or r.dialect = $10)
      and ($11::text is null or r.definition = $11)
      and ($12::text is null or r.parent = $12)
      and ($13::text is null or r.labels @> $13::jsonb)
      and ($14::text is null or starts_with(r.id, $14))
      and ($15::text[] is null
           or r.definition = any ($16::text[])
           or exists (select from unnest($15) as start where starts_with(
                          r.id, case r.namespace when 'default' then '' else r.namespace || '/' end || start))
           or (cardinality($17::text[]) > 0
               and exists (select from plait.run_texts t
                           where t.run_id = r.id and (t.part = 0 or r.error is not null or r.blocked is not null)
                             and position($18::text in t.text) > 0)))
    order by place.created_at desc, place.id desc limit $7
) as found
order by found.created_at desc, found.id desc limit $7;

-- dialects: namespaces, of one or of all, and the dialects that runs of them have; each is found by a step in the index
with recursive pair (namespace, name) as (
    (select namespace, dialect from plait.runs where $1::text is null or namespace = $1
     order by namespace, dialect limit 1)
    union all
    select next.* from pair cross join lateral (
        select namespace, dialect from plait.runs
        where (namespace, dialect) > (pair.namespace, pair.name) and ($1::text is null or namespace = $1)
        order by namespace, dialect limit 1
    ) as next
)
select namespace, name from pair;

-- definitions: the same of definitions
with recursive pair (namespace, name) as (
    (select namespace, definition from plait.runs where $1::text is null or namespace = $1
     order by namespace, definition limit 1)
    union all
    select next.* from pair cross join lateral (
        select namespace, definition from plait.runs
        where (namespace, definition) > (pair.namespace, pair.name) and ($1::text is null or namespace = $1)
        order by namespace, definition limit 1
    ) as next
)
select namespace, name from pair;

-- index_texts: what can be looked for once the table is filled
create index run_texts_groups on plait.run_texts using gin (plait.text_groups(namespace, text));
create index run_texts_newest on plait.run_texts (namespace, created_at, run_id);

-- old_texts: of what texts are missing, page by page
select id, namespace, created_at, labels::text, coalesce(error, blocked) from plait.runs
where id > $1 order by id limit $2;

-- add_texts: what a text search finds of runs
insert into plait.run_texts (run_id, part, namespace, created_at, text)
select * from unnest($1::text[], $2::smallint[], $3::text[], $4::bigint[], $5::text[])
on conflict (run_id, part) do update set text = excluded.text;

-- add_labels: labels of new runs
insert into plait.run_labels (namespace, key, value, created_at, run_id)
select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[]);

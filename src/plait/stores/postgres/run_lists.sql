-- of_status: places of runs of a namespace, a dialect and a shown status; $4, $5 and $6 are the list's bounds
select created_at, id from plait.runs
where namespace = key.a and dialect = key.b
  and case when status <> 'running' then status
           when blocked is not null then 'blocked'
           when not awake or waiting is not null then 'waiting'
           else 'working' end = key.c
  and (created_at, id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_claimed: runs of a namespace with a claimed task; in any order
select created_at, id from plait.runs
where namespace = key.a and id in (select run_id from plait.queued_tasks where claim is not null)
  and (created_at, id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_definition: runs of a definition and a status
select created_at, id from plait.runs
where namespace = key.a and definition = key.b
  and case when status <> 'running' then status
           when blocked is not null then 'blocked'
           when not awake or waiting is not null then 'waiting'
           else 'working' end = key.c
  and (created_at, id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_label: runs that have a label
select created_at, run_id as id from plait.run_labels
where namespace = key.a and key = key.b and value = key.c
  and (created_at, run_id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_parent: the children of a run
select created_at, id from plait.runs
where parent = key.a and (created_at, id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_prefix: runs whose ids lie between two; in the order of their ids
select created_at, id from plait.runs
where id >= key.a and id < key.b and (created_at, id) < ($4::bigint, $5::text) and created_at >= $6::bigint

-- of_text: runs with these trigrams, by their numbers; newest first, except within one moment. The index is asked for a
-- namespace if its runs are few ($19)
select created_at, run, '' as id from plait.run_texts
where plait.text_groups(namespace, text)
      @> ($17::text[] || case when key.a = any ($19::text[]) then array['//' || key.a] else '{}' end)
  and namespace = key.a and position($18::text in text) > 0 and created_at >= $6::bigint and created_at <= $4::bigint
group by created_at, run order by created_at desc

-- by_number: the run of such a place, looked up only when the list reaches it
cross join lateral (
    select * from plait.runs where number = place.run and (created_at, id) < ($4::bigint, $5::text) offset 0) as r

-- with_ties: up to the length of the list, and all with the last one's time
order by place.created_at desc fetch first ($7::bigint) rows with ties

-- count: the number of places in an index, up to a limit
select count(*)
from unnest($1::text[], $2::text[], $3::text[]) as key (a, b, c)
cross join lateral (select 1 from ({index}) as place {page}) as found;

-- floor: the time of the place at depth $7 in an index; the latest of its parts
select max(found.created_at)
from unnest($1::text[], $2::text[], $3::text[]) as key (a, b, c)
cross join lateral (select created_at from ({index}) as place order by created_at desc, id desc offset $7 limit 1) as found;

-- rows: the runs that an index leads to, if they match the filter. Each index needs its own plan: the parts above are
-- inserted here, once, when the program starts
select found.*
from unnest($1::text[], $2::text[], $3::text[]) as key (a, b, c)
cross join lateral (
    select r.*, state.claimed from ({index}) as place {run}
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
                           where t.run = r.number and (t.part = 0 or r.error is not null or r.blocked is not null)
                             and position($18::text in t.text) > 0)))
    {page}
) as found
order by found.created_at desc, found.id desc limit $7;

-- dialects: namespaces, of one or of all, and the dialects of their runs; each is found by a step in the index
with recursive space (name) as (
    select coalesce($1::text, (select min(namespace) from plait.runs))
    union all
    select (select min(namespace) from plait.runs where namespace > space.name)
    from space where $1::text is null and space.name is not null
), pair (namespace, name) as (
    select space.name, (select min(dialect) from plait.runs where namespace = space.name) from space
    union all
    select pair.namespace,
           (select min(dialect) from plait.runs where namespace = pair.namespace and dialect > pair.name)
    from pair where pair.name is not null
)
select namespace, name from pair where name is not null;

-- definitions: the same for definitions
with recursive space (name) as (
    select coalesce($1::text, (select min(namespace) from plait.runs))
    union all
    select (select min(namespace) from plait.runs where namespace > space.name)
    from space where $1::text is null and space.name is not null
), pair (namespace, name) as (
    select space.name, (select min(definition) from plait.runs where namespace = space.name) from space
    union all
    select pair.namespace,
           (select min(definition) from plait.runs where namespace = pair.namespace and definition > pair.name)
    from pair where pair.name is not null
)
select namespace, name from pair where name is not null;

-- add_labels: labels of new runs
insert into plait.run_labels (namespace, key, value, created_at, run_id)
select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[]);

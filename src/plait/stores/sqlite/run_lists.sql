-- of_status: places of runs of a namespace, a dialect and a status as lists show it
select created_at, id, number from runs
where namespace = :a and dialect = :b
  and case when status <> 'running' then status
           when blocked is not null then 'blocked'
           when awake = 0 or waiting is not null then 'waiting'
           else 'working' end = :c
  and (created_at, id) < (:before_at, :before_id) and created_at >= :since

-- of_claimed: runs of a namespace with a claimed task; in any order
select created_at, id, number from runs
where +namespace = :a and id in (select run_id from queued_tasks where claim is not null)

-- of_definition: runs of a definition
select created_at, id, number from runs
where namespace = :a and definition = :b
  and (created_at, id) < (:before_at, :before_id) and created_at >= :since

-- of_label: runs that have a label
select created_at, run_id as id from run_labels
where namespace = :a and key = :b and value = :c
  and (created_at, run_id) < (:before_at, :before_id) and created_at >= :since

-- of_parent: the children of a run
select created_at, id, number from runs
where parent = :a and (created_at, id) < (:before_at, :before_id) and created_at >= :since

-- of_prefix: runs whose ids lie between two; in the order of their ids
select created_at, id, number from runs where id >= :a and id < :b

-- of_text: runs with these trigrams, newest first except within one moment
select g.rowid as place, t.run as number from run_text_groups g cross join run_texts t on t.place = g.rowid
where run_text_groups match :match and g.rowid >= :oldest_text and g.rowid < :newest_text

-- count: the number of places in an index, up to a limit
select count(*) from (select 1 from ({index}) limit :limit)

-- rows: the runs that an index leads to, if they match the filter. Each index needs its own plan: the parts above are
-- inserted here, once, when the program starts
select r.*, r.awake = 0 and exists (
    select 1 from queued_tasks q where q.run_id = r.id and q.claim is not null) as claimed
from ({index}) as place cross join runs r on {run}
where (:namespace is null or r.namespace = :namespace)
  and (:dialect is null or r.dialect = :dialect)
  and (:definition is null or r.definition = :definition)
  and (:parent is null or r.parent = :parent)
  and (:statuses is null or r.status in (select value from json_each(:statuses))
       or (r.blocked is not null and 'blocked' in (select value from json_each(:statuses)))
       or (r.status = 'running' and r.blocked is null and case
               when not claimed and (r.awake = 0 or r.waiting is not null) then 'waiting' else 'working'
           end in (select value from json_each(:statuses))))
  -- A child that failed with its parent is not a failure of its own
  and (:statuses is null or :parent is not null or r.status <> 'failed' or r.parent is null
       or not exists (select 1 from runs above where above.id = r.parent and above.status = 'failed'))
  and (:labels is null or not exists (
        select 1 from json_each(:labels) as wanted
        where not json_valid(r.labels) or json_extract(r.labels, '$.' || json_quote(wanted.key)) is not wanted.value))
  and (:id_prefix is null or substr(r.id, 1, length(:id_prefix)) = :id_prefix)
  and (r.created_at, r.id) < (:before_at, :before_id) and r.created_at >= :since
  and (:text is null
       or r.definition in (select value from json_each(:definitions))
       or exists (select 1 from json_each(:starts) as start
                  where substr(r.id, length(r.namespace) * (r.namespace <> 'default') + (r.namespace <> 'default') + 1,
                               length(start.value)) = start.value)
       or (:anywhere and exists (
             select 1 from run_texts t
             where t.run = r.number
               and t.place >= (min(max(r.created_at, 0), 1 << 42) << 20) + (r.number << 1 & (1 << 20) - 1)
               and t.place < (min(max(r.created_at, 0), 1 << 42) << 20) + (r.number << 1 & (1 << 20) - 1) + 2
               and (t.part = 0 or r.error is not null or r.blocked is not null) and instr(t.text, :text) > 0)))
order by {order}

-- next_namespace: the next namespace that has runs
select namespace from runs where namespace > :last order by namespace limit 1

-- next_dialects: the next dialect that has runs in a namespace
select dialect from runs where namespace = :namespace and dialect > :last order by dialect limit 1

-- next_definitions: the next definition that has runs in a namespace
select definition from runs where namespace = :namespace and definition > :last order by definition limit 1

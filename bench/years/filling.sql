-- runs: runs of the numbers from $1 to $2, as `bench.lists.filling.made` makes them, but for their hashes
insert into plait.runs (number, id, namespace, dialect, definition, shard, status, awake, depth, labels, start_hash,
                        created_at, ended_at, output, error, waiting)
select n + 1,
       case n % 20 when 7 then 'acme/' when 9 then 'globex/' else '' end
       || case n % 2 when 1 then 'order-' || n else '01999999-0000-7000-8000-' || lpad(to_hex(n), 12, '0') end,
       case n % 20 when 7 then 'acme' when 9 then 'globex' else 'default' end, 'code', 'definition_' || n % 20, n % 64,
       case when n % 50 = 3 then 'failed' when n % 1000 = 5 then 'running' else 'completed' end, false, 0,
       format('{"env":"prod","customer":"customer-%s"}', n % 50000)::jsonb, md5(n::text),
       $3::bigint + n, case when n % 1000 <> 5 or n % 50 = 3 then $3::bigint + n + 5 end,
       case when n % 50 <> 3 and n % 1000 <> 5 then '0' end,
       case when n % 50 = 3
            then format('{"code":"task.failed","message":"card %s was declined by bank %s","type":"CardError"}', n, n % 10) end,
       case when n % 1000 = 5 and n % 50 <> 3 then '["message","message approve",null]' end
from generate_series($1::bigint, $2::bigint) as n;

-- labels: those of the same runs
insert into plait.run_labels (namespace, key, value, created_at, run_id)
select case n % 20 when 7 then 'acme' when 9 then 'globex' else 'default' end, label.key, label.value, $3::bigint + n,
       case n % 20 when 7 then 'acme/' when 9 then 'globex/' else '' end
       || case n % 2 when 1 then 'order-' || n else '01999999-0000-7000-8000-' || lpad(to_hex(n), 12, '0') end
from generate_series($1::bigint, $2::bigint) as n
cross join lateral (values ('env', 'prod'), ('customer', 'customer-' || n % 50000)) as label (key, value);

-- texts: what a search finds of them
insert into plait.run_texts (run, namespace, created_at, part, text)
select n + 1, case n % 20 when 7 then 'acme' when 9 then 'globex' else 'default' end, $3::bigint + n, part, text
from generate_series($1::bigint, $2::bigint) as n
cross join lateral (values
    (0, case n % 2 when 1 then 'order-' || n else '' end || E'\nenv\nprod\ncustomer\ncustomer-' || n % 50000),
    (1, case when n % 50 = 3 then format(E'task.failed\ncarderror\ncard %s was declined by bank %s', n, n % 10) end)
) as found (part, text)
where text is not null;

-- log: their events, as a run of one step has them
insert into plait.log (run, seq, count, at, events)
select n + 1, row.seq, row.count, $3::bigint + n + row.seq, row.events
from generate_series($1::bigint, $2::bigint) as n
cross join lateral (values
    (1, 3, format('[{"type":"run.started","dialect":"code","definition":"definition_%s","input":1,"seed":%s,'
                  '"labels":{"env":"prod","customer":"customer-%s"}},'
                  '{"type":"code.loaded","name":"definition_%s","hash":"3c9c4827275bc327"},'
                  '{"type":"op.opened","at":"s0","kind":"step","fn":"shop.orders:number","args":[0]}]',
                  n % 20, 1000000000000000 + n * 7919, n % 50000, n % 20)),
    (4, 2, '[{"type":"op.closed","at":"s0","output":0},{"type":"run.completed","output":0}]')
) as row (seq, count, events);

-- indexes: of the tables that are filled, as statements that drop and make them; a key's index is made by the table. That of
-- the log stays: its rows come in its order
select case when k.oid is null then format('drop index %s', i.indexrelid::regclass)
            else format('alter table %s drop constraint %I', i.indrelid::regclass, k.conname) end,
       case when k.oid is null then pg_get_indexdef(i.indexrelid)
            else format('alter table %s add constraint %I %s', i.indrelid::regclass, k.conname, pg_get_constraintdef(k.oid)) end,
       i.indrelid::regclass::text
from pg_index i left join pg_constraint k on k.conindid = i.indexrelid and k.contype = 'p'
where i.indrelid = any (array['plait.runs', 'plait.run_labels', 'plait.run_texts']::regclass[]);

-- advance_numbers: the next run comes after them
select setval('plait.run_numbers', $1::bigint + 1, false);

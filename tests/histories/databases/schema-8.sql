
PRAGMA page_size=4096;

PRAGMA writable_schema=ON;

BEGIN TRANSACTION;

DROP TABLE IF EXISTS approvals;
CREATE TABLE approvals (
    id          text primary key,
    run_id      text not null,
    namespace   text not null,
    token       text not null,
    title       text not null,
    asked       text not null,
    asked_at    integer not null,
    deadline    integer,
    form        text,
    evidence    text,
    required    integer not null default 1,
    approvers   text not null default '[]',
    escalations text not null default '[]',
    level       integer not null default 0,
    status      text not null default 'open' check (status in ('open', 'approved', 'rejected', 'expired', 'withdrawn')),
    votes       text not null default '[]',
    decided_at  integer,
    decided_by  text not null default '',
    answer      text
, delegations text not null default '[]') without rowid;
INSERT INTO approvals VALUES('decision:ok','decision','default','ok','ok','boss',1893542491000,NULL,NULL,NULL,1,'[]','[]',0,'open','[]',NULL,'',NULL,'[]');
CREATE INDEX approvals_newest on approvals (namespace, asked_at, id);
CREATE UNIQUE INDEX approvals_open on approvals (run_id, token) where status = 'open';
CREATE INDEX approvals_run on approvals (run_id, asked_at, id);
CREATE INDEX approvals_status on approvals (namespace, status, asked_at, id);

DROP TABLE IF EXISTS blobs;
CREATE TABLE blobs (
    digest text primary key,
    body   blob not null
) without rowid;

DROP TABLE IF EXISTS dead_letters;
CREATE TABLE dead_letters (
    id        text primary key,
    run_id    text not null,
    namespace text not null,
    token     text not null,
    label     text not null,
    attempts  integer not null,
    error     text not null,
    at        integer not null,
    status    text not null check (status in ('pending', 'retried', 'discarded'))
) without rowid;
CREATE INDEX dead_letters_pending on dead_letters (id) where status = 'pending';
CREATE INDEX dead_letters_run on dead_letters (run_id, at, id);
CREATE INDEX dead_letters_status on dead_letters (namespace, status, at, id);

DROP TABLE IF EXISTS engines;
CREATE TABLE engines (
    owner   text primary key,
    expires integer not null
) without rowid;
INSERT INTO engines VALUES('an older engine',33417346639305);

DROP TABLE IF EXISTS inbox;
CREATE TABLE inbox (
    id     integer primary key,
    run_id text not null,
    shard  integer not null,
    key    text not null,
    body   text,
    at     integer not null,
    taken  integer not null default 0,
    reply  text
);
INSERT INTO inbox VALUES(1,'def7235f-94c9-53d7-95c0-583269ce5bc1',58,'~start',NULL,1893542470600,1,NULL);
INSERT INTO inbox VALUES(2,'decision',8,'~child:def7235f-94c9-53d7-95c0-583269ce5bc1:5',NULL,1893542470600,1,NULL);
INSERT INTO inbox VALUES(3,'decision',8,'word-0',NULL,1893542490000,1,NULL);
INSERT INTO inbox VALUES(4,'decision',8,'word-1',NULL,1893542490000,1,NULL);
INSERT INTO inbox VALUES(5,'decision',8,'word-2',NULL,1893542490000,1,NULL);
INSERT INTO inbox VALUES(6,'00b0f13e-65bf-5d70-bb13-f8a010712cfa',30,'~start',NULL,1893715180600,1,NULL);
INSERT INTO inbox VALUES(7,'word',17,'~child:00b0f13e-65bf-5d70-bb13-f8a010712cfa:5',NULL,1893715180600,1,NULL);
INSERT INTO inbox VALUES(8,'07d840ab-be1e-538a-972b-43bf5e0f45d7',4,'~start',NULL,1893715198600,1,NULL);
INSERT INTO inbox VALUES(9,'join',23,'~child:07d840ab-be1e-538a-972b-43bf5e0f45d7:5',NULL,1893715198600,1,NULL);
CREATE UNIQUE INDEX inbox_key on inbox (run_id, key);
CREATE INDEX inbox_waiting on inbox (id) where taken = 0;

DROP TABLE IF EXISTS indexed_runs;
CREATE TABLE indexed_runs (upto integer not null);
INSERT INTO indexed_runs VALUES(0);

DROP TABLE IF EXISTS lines;
CREATE TABLE lines (
    id      integer primary key,
    run_id  text not null,
    node    text not null,
    attempt integer not null,
    at      integer not null,
    level   text not null,
    text    text not null
);
CREATE INDEX lines_run on lines (run_id, id);

DROP TABLE IF EXISTS log;
CREATE TABLE "log" (
    run      integer not null,
    seq      integer not null,
    count    integer not null,
    at       integer not null,
    events   text not null,
    blobs    text,
    checksum integer
);
INSERT INTO log VALUES(1,1,4,1893456000000,'[{"type":"run.started","dialect":"code","definition":"everything","input":3,"seed":364648824738901},{"type":"code.loaded","name":"everything","hash":"24b436bed10b9a4f"},{"type":"op.opened","at":"gate","kind":"version","value":2},{"type":"op.opened","at":"try","kind":"step","fn":"tests.histories.flows:third_time_lucky","args":[3]}]',NULL,89184481);
INSERT INTO log VALUES(1,5,1,1893456000000,'[{"type":"task.retry_scheduled","token":"try","attempt":1,"due":1893456000200,"error":{"code":"task.failed","message":"no luck in attempt 1","type":"builtins:ConnectionError","args":["no luck in attempt 1"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,3159034993);
INSERT INTO log VALUES(1,6,1,1893456000200,'[{"type":"task.retry_scheduled","token":"try","attempt":2,"due":1893456000600,"error":{"code":"task.failed","message":"no luck in attempt 2","type":"builtins:ConnectionError","args":["no luck in attempt 2"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,3794027161);
INSERT INTO log VALUES(1,7,2,1893456000600,'[{"type":"op.closed","at":"try","output":4,"attempts":3},{"type":"op.opened","at":"inline","kind":"step","after":"try"}]',NULL,1190942484);
INSERT INTO log VALUES(1,9,2,1893456000600,'[{"type":"op.closed","at":"inline","output":{"amount":3}},{"type":"op.opened","at":"nap","kind":"sleep","after":"inline","deadline":1893542400600}]',NULL,1815159937);
INSERT INTO log VALUES(1,11,2,1893542400600,'[{"type":"op.closed","at":"nap"},{"type":"op.opened","at":"~timer.0","kind":"timer","after":"nap","deadline":1893542460600}]',NULL,1331176192);
INSERT INTO log VALUES(1,13,3,1893542460600,'[{"type":"op.closed","at":"~timer.0"},{"type":"op.opened","at":"limit","kind":"timer","after":"~timer.0","deadline":1893542470600},{"type":"op.opened","at":"never","kind":"message","after":"~timer.0","names":["never"]}]',NULL,284595611);
INSERT INTO log VALUES(1,16,5,1893542470600,'[{"type":"op.closed","at":"limit"},{"type":"op.closed","at":"never","status":"cancelled"},{"type":"op.opened","at":"both","kind":"join","after":"limit","branches":["child","wait"]},{"type":"op.opened","at":"both/child/child","kind":"child","after":"limit","run_id":"def7235f-94c9-53d7-95c0-583269ce5bc1","definition":"doubled"},{"type":"op.opened","at":"both/wait/wait","kind":"sleep","after":"limit","deadline":1893542475600}]',NULL,2122508424);
INSERT INTO log VALUES(2,1,3,1893542470600,'[{"type":"run.started","dialect":"code","definition":"doubled","input":4,"seed":8696133065399866,"parent":"decision"},{"type":"code.loaded","name":"doubled","hash":"2b9aded48e2c16be"},{"type":"op.opened","at":"double","kind":"step","fn":"tests.histories.flows:double","args":[4]}]',NULL,2582801431);
INSERT INTO log VALUES(2,4,2,1893542470600,'[{"type":"op.closed","at":"double","output":8},{"type":"run.completed","output":8}]',NULL,3061575758);
INSERT INTO log VALUES(1,21,2,1893542470600,'[{"type":"op.closed","at":"both/child/child","output":8},{"type":"branch.closed","at":"both","branch":"child","status":"completed","output":8}]',NULL,1564792539);
INSERT INTO log VALUES(1,23,6,1893542475600,'[{"type":"op.closed","at":"both/wait/wait"},{"type":"branch.closed","at":"both","branch":"wait","status":"completed","output":null},{"type":"op.closed","at":"both"},{"type":"op.opened","at":"race","kind":"race","after":"both","branches":["slow","fast"]},{"type":"op.opened","at":"race/slow/slow","kind":"sleep","after":"both","deadline":1893628875600},{"type":"op.opened","at":"race/fast/fast","kind":"step","after":"both","fn":"tests.histories.flows:double","args":[1]}]',NULL,2235667464);
INSERT INTO log VALUES(1,29,5,1893542475600,'[{"type":"op.closed","at":"race/fast/fast","output":2},{"type":"branch.closed","at":"race","branch":"fast","status":"completed","output":2},{"type":"op.closed","at":"race/slow/slow","status":"cancelled"},{"type":"op.closed","at":"race","winner":"fast"},{"type":"op.opened","at":"word","kind":"message","after":"race","deadline":1893628875600,"names":["word"]}]',NULL,3767207452);
INSERT INTO log VALUES(1,34,3,1893542490000,'[{"type":"message.queued","id":"word-0","name":"word","body":"word 0","sent_at":1893542490000},{"type":"op.closed","at":"word","messages":["word-0"]},{"type":"op.opened","at":"words 1","kind":"message","after":"word","names":["word"],"limit":2}]',NULL,4042631395);
INSERT INTO log VALUES(1,37,3,1893542490000,'[{"type":"message.queued","id":"word-1","name":"word","body":"word 1","sent_at":1893542490000},{"type":"op.closed","at":"words 1","messages":["word-1"]},{"type":"op.opened","at":"words 2","kind":"message","after":"words 1","names":["word"],"limit":2}]',NULL,1434623760);
INSERT INTO log VALUES(1,40,3,1893542490000,'[{"type":"message.queued","id":"word-2","name":"word","body":"word 2","sent_at":1893542490000},{"type":"op.closed","at":"words 2","messages":["word-2"]},{"type":"op.opened","at":"nothing","kind":"message","after":"words 2","deadline":1893542491000,"names":["nothing"]}]',NULL,2926258061);
INSERT INTO log VALUES(1,43,2,1893542491000,'[{"type":"op.closed","at":"nothing","messages":[]},{"type":"op.opened","at":"ok","kind":"approval","after":"nothing","names":["boss"]}]',NULL,3907271574);
INSERT INTO log VALUES(3,1,4,1893628710000,'[{"type":"run.started","dialect":"code","definition":"everything","input":3,"seed":4376848748439138},{"type":"code.loaded","name":"everything","hash":"24b436bed10b9a4f"},{"type":"op.opened","at":"gate","kind":"version","value":2},{"type":"op.opened","at":"try","kind":"step","fn":"tests.histories.flows:third_time_lucky","args":[3]}]',NULL,2154242873);
INSERT INTO log VALUES(3,5,1,1893628710000,'[{"type":"task.retry_scheduled","token":"try","attempt":1,"due":1893628710200,"error":{"code":"task.failed","message":"no luck in attempt 1","type":"builtins:ConnectionError","args":["no luck in attempt 1"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,1853031323);
INSERT INTO log VALUES(3,6,1,1893628710200,'[{"type":"task.retry_scheduled","token":"try","attempt":2,"due":1893628710600,"error":{"code":"task.failed","message":"no luck in attempt 2","type":"builtins:ConnectionError","args":["no luck in attempt 2"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,3045416973);
INSERT INTO log VALUES(3,7,2,1893628710600,'[{"type":"op.closed","at":"try","output":4,"attempts":3},{"type":"op.opened","at":"inline","kind":"step","after":"try"}]',NULL,3307998465);
INSERT INTO log VALUES(3,9,2,1893628710600,'[{"type":"op.closed","at":"inline","output":{"amount":3}},{"type":"op.opened","at":"nap","kind":"sleep","after":"inline","deadline":1893715110600}]',NULL,2087153314);
INSERT INTO log VALUES(4,1,4,1893628728000,'[{"type":"run.started","dialect":"code","definition":"everything","input":3,"seed":8270717181870968},{"type":"code.loaded","name":"everything","hash":"24b436bed10b9a4f"},{"type":"op.opened","at":"gate","kind":"version","value":2},{"type":"op.opened","at":"try","kind":"step","fn":"tests.histories.flows:third_time_lucky","args":[3]}]',NULL,3475535286);
INSERT INTO log VALUES(4,5,1,1893628728000,'[{"type":"task.retry_scheduled","token":"try","attempt":1,"due":1893628728200,"error":{"code":"task.failed","message":"no luck in attempt 1","type":"builtins:ConnectionError","args":["no luck in attempt 1"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,2164849903);
INSERT INTO log VALUES(4,6,1,1893628728200,'[{"type":"task.retry_scheduled","token":"try","attempt":2,"due":1893628728600,"error":{"code":"task.failed","message":"no luck in attempt 2","type":"builtins:ConnectionError","args":["no luck in attempt 2"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,1526636409);
INSERT INTO log VALUES(4,7,2,1893628728600,'[{"type":"op.closed","at":"try","output":4,"attempts":3},{"type":"op.opened","at":"inline","kind":"step","after":"try"}]',NULL,120656623);
INSERT INTO log VALUES(4,9,2,1893628728600,'[{"type":"op.closed","at":"inline","output":{"amount":3}},{"type":"op.opened","at":"nap","kind":"sleep","after":"inline","deadline":1893715128600}]',NULL,3770118357);
INSERT INTO log VALUES(5,1,4,1893628735000,'[{"type":"run.started","dialect":"code","definition":"everything","input":3,"seed":7474650915735097},{"type":"code.loaded","name":"everything","hash":"24b436bed10b9a4f"},{"type":"op.opened","at":"gate","kind":"version","value":2},{"type":"op.opened","at":"try","kind":"step","fn":"tests.histories.flows:third_time_lucky","args":[3]}]',NULL,3423311105);
INSERT INTO log VALUES(5,5,1,1893628735000,'[{"type":"task.retry_scheduled","token":"try","attempt":1,"due":1893628735200,"error":{"code":"task.failed","message":"no luck in attempt 1","type":"builtins:ConnectionError","args":["no luck in attempt 1"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,1936514065);
INSERT INTO log VALUES(5,6,1,1893628735200,'[{"type":"task.retry_scheduled","token":"try","attempt":2,"due":1893628735600,"error":{"code":"task.failed","message":"no luck in attempt 2","type":"builtins:ConnectionError","args":["no luck in attempt 2"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,2798941670);
INSERT INTO log VALUES(5,7,2,1893628735600,'[{"type":"op.closed","at":"try","output":4,"attempts":3},{"type":"op.opened","at":"inline","kind":"step","after":"try"}]',NULL,568372679);
INSERT INTO log VALUES(5,9,2,1893628735600,'[{"type":"op.closed","at":"inline","output":{"amount":3}},{"type":"op.opened","at":"nap","kind":"sleep","after":"inline","deadline":1893715135600}]',NULL,3689753803);
INSERT INTO log VALUES(6,1,4,1893628770000,'[{"type":"run.started","dialect":"code","definition":"everything","input":3,"seed":8717165710927625},{"type":"code.loaded","name":"everything","hash":"24b436bed10b9a4f"},{"type":"op.opened","at":"gate","kind":"version","value":2},{"type":"op.opened","at":"try","kind":"step","fn":"tests.histories.flows:third_time_lucky","args":[3]}]',NULL,1444148409);
INSERT INTO log VALUES(6,5,1,1893628770000,'[{"type":"task.retry_scheduled","token":"try","attempt":1,"due":1893628770200,"error":{"code":"task.failed","message":"no luck in attempt 1","type":"builtins:ConnectionError","args":["no luck in attempt 1"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,3476367193);
INSERT INTO log VALUES(6,6,1,1893628770200,'[{"type":"task.retry_scheduled","token":"try","attempt":2,"due":1893628770600,"error":{"code":"task.failed","message":"no luck in attempt 2","type":"builtins:ConnectionError","args":["no luck in attempt 2"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,348341455);
INSERT INTO log VALUES(6,7,2,1893628770600,'[{"type":"op.closed","at":"try","output":4,"attempts":3},{"type":"op.opened","at":"inline","kind":"step","after":"try"}]',NULL,157412929);
INSERT INTO log VALUES(6,9,2,1893628770600,'[{"type":"op.closed","at":"inline","output":{"amount":3}},{"type":"op.opened","at":"nap","kind":"sleep","after":"inline","deadline":1893715170600}]',NULL,1341619557);
INSERT INTO log VALUES(7,1,4,1893711600000,'[{"type":"run.started","dialect":"code","definition":"everything","input":3,"seed":3225019975090692},{"type":"code.loaded","name":"everything","hash":"24b436bed10b9a4f"},{"type":"op.opened","at":"gate","kind":"version","value":2},{"type":"op.opened","at":"try","kind":"step","fn":"tests.histories.flows:third_time_lucky","args":[3]}]',NULL,1118575585);
INSERT INTO log VALUES(7,5,1,1893711600000,'[{"type":"task.retry_scheduled","token":"try","attempt":1,"due":1893711600200,"error":{"code":"task.failed","message":"no luck in attempt 1","type":"builtins:ConnectionError","args":["no luck in attempt 1"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,2477585303);
INSERT INTO log VALUES(7,6,1,1893711600200,'[{"type":"task.retry_scheduled","token":"try","attempt":2,"due":1893711600600,"error":{"code":"task.failed","message":"no luck in attempt 2","type":"builtins:ConnectionError","args":["no luck in attempt 2"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,494985666);
INSERT INTO log VALUES(7,7,2,1893711600600,'[{"type":"op.closed","at":"try","output":4,"attempts":3},{"type":"op.opened","at":"inline","kind":"step","after":"try"}]',NULL,947250692);
INSERT INTO log VALUES(7,9,2,1893711600600,'[{"type":"op.closed","at":"inline","output":{"amount":3}},{"type":"op.opened","at":"nap","kind":"sleep","after":"inline","deadline":1893798000600}]',NULL,4279737230);
INSERT INTO log VALUES(3,11,2,1893715110600,'[{"type":"op.closed","at":"nap"},{"type":"op.opened","at":"~timer.0","kind":"timer","after":"nap","deadline":1893715170600}]',NULL,804217033);
INSERT INTO log VALUES(4,11,2,1893715128600,'[{"type":"op.closed","at":"nap"},{"type":"op.opened","at":"~timer.0","kind":"timer","after":"nap","deadline":1893715188600}]',NULL,3565245364);
INSERT INTO log VALUES(5,11,2,1893715135600,'[{"type":"op.closed","at":"nap"},{"type":"op.opened","at":"~timer.0","kind":"timer","after":"nap","deadline":1893715195600}]',NULL,4150714270);
INSERT INTO log VALUES(6,11,2,1893715170600,'[{"type":"op.closed","at":"nap"},{"type":"op.opened","at":"~timer.0","kind":"timer","after":"nap","deadline":1893715230600}]',NULL,2754340735);
INSERT INTO log VALUES(3,13,3,1893715170600,'[{"type":"op.closed","at":"~timer.0"},{"type":"op.opened","at":"limit","kind":"timer","after":"~timer.0","deadline":1893715180600},{"type":"op.opened","at":"never","kind":"message","after":"~timer.0","names":["never"]}]',NULL,2865109159);
INSERT INTO log VALUES(3,16,5,1893715180600,'[{"type":"op.closed","at":"limit"},{"type":"op.closed","at":"never","status":"cancelled"},{"type":"op.opened","at":"both","kind":"join","after":"limit","branches":["child","wait"]},{"type":"op.opened","at":"both/child/child","kind":"child","after":"limit","run_id":"00b0f13e-65bf-5d70-bb13-f8a010712cfa","definition":"doubled"},{"type":"op.opened","at":"both/wait/wait","kind":"sleep","after":"limit","deadline":1893715185600}]',NULL,1540527979);
INSERT INTO log VALUES(8,1,3,1893715180600,'[{"type":"run.started","dialect":"code","definition":"doubled","input":4,"seed":8031363715860095,"parent":"word"},{"type":"code.loaded","name":"doubled","hash":"2b9aded48e2c16be"},{"type":"op.opened","at":"double","kind":"step","fn":"tests.histories.flows:double","args":[4]}]',NULL,1392226015);
INSERT INTO log VALUES(8,4,2,1893715180600,'[{"type":"op.closed","at":"double","output":8},{"type":"run.completed","output":8}]',NULL,541238549);
INSERT INTO log VALUES(3,21,2,1893715180600,'[{"type":"op.closed","at":"both/child/child","output":8},{"type":"branch.closed","at":"both","branch":"child","status":"completed","output":8}]',NULL,1837100208);
INSERT INTO log VALUES(3,23,6,1893715185600,'[{"type":"op.closed","at":"both/wait/wait"},{"type":"branch.closed","at":"both","branch":"wait","status":"completed","output":null},{"type":"op.closed","at":"both"},{"type":"op.opened","at":"race","kind":"race","after":"both","branches":["slow","fast"]},{"type":"op.opened","at":"race/slow/slow","kind":"sleep","after":"both","deadline":1893801585600},{"type":"op.opened","at":"race/fast/fast","kind":"step","after":"both","fn":"tests.histories.flows:double","args":[1]}]',NULL,2180450555);
INSERT INTO log VALUES(3,29,5,1893715185600,'[{"type":"op.closed","at":"race/fast/fast","output":2},{"type":"branch.closed","at":"race","branch":"fast","status":"completed","output":2},{"type":"op.closed","at":"race/slow/slow","status":"cancelled"},{"type":"op.closed","at":"race","winner":"fast"},{"type":"op.opened","at":"word","kind":"message","after":"race","deadline":1893801585600,"names":["word"]}]',NULL,3562297932);
INSERT INTO log VALUES(4,13,3,1893715188600,'[{"type":"op.closed","at":"~timer.0"},{"type":"op.opened","at":"limit","kind":"timer","after":"~timer.0","deadline":1893715198600},{"type":"op.opened","at":"never","kind":"message","after":"~timer.0","names":["never"]}]',NULL,2497476056);
INSERT INTO log VALUES(5,13,3,1893715195600,'[{"type":"op.closed","at":"~timer.0"},{"type":"op.opened","at":"limit","kind":"timer","after":"~timer.0","deadline":1893715205600},{"type":"op.opened","at":"never","kind":"message","after":"~timer.0","names":["never"]}]',NULL,3940305887);
INSERT INTO log VALUES(4,16,5,1893715198600,'[{"type":"op.closed","at":"limit"},{"type":"op.closed","at":"never","status":"cancelled"},{"type":"op.opened","at":"both","kind":"join","after":"limit","branches":["child","wait"]},{"type":"op.opened","at":"both/child/child","kind":"child","after":"limit","run_id":"07d840ab-be1e-538a-972b-43bf5e0f45d7","definition":"doubled"},{"type":"op.opened","at":"both/wait/wait","kind":"sleep","after":"limit","deadline":1893715203600}]',NULL,3351907577);
INSERT INTO log VALUES(9,1,3,1893715198600,'[{"type":"run.started","dialect":"code","definition":"doubled","input":4,"seed":1967558483383827,"parent":"join"},{"type":"code.loaded","name":"doubled","hash":"2b9aded48e2c16be"},{"type":"op.opened","at":"double","kind":"step","fn":"tests.histories.flows:double","args":[4]}]',NULL,1526366531);
INSERT INTO log VALUES(9,4,2,1893715198600,'[{"type":"op.closed","at":"double","output":8},{"type":"run.completed","output":8}]',NULL,4038494912);
INSERT INTO log VALUES(4,21,2,1893715198600,'[{"type":"op.closed","at":"both/child/child","output":8},{"type":"branch.closed","at":"both","branch":"child","status":"completed","output":8}]',NULL,3402965680);
INSERT INTO log VALUES(10,1,4,1893715199900,'[{"type":"run.started","dialect":"code","definition":"everything","input":3,"seed":1254467625494646},{"type":"code.loaded","name":"everything","hash":"24b436bed10b9a4f"},{"type":"op.opened","at":"gate","kind":"version","value":2},{"type":"op.opened","at":"try","kind":"step","fn":"tests.histories.flows:third_time_lucky","args":[3]}]',NULL,1914956549);
INSERT INTO log VALUES(10,5,1,1893715199900,'[{"type":"task.retry_scheduled","token":"try","attempt":1,"due":1893715200100,"error":{"code":"task.failed","message":"no luck in attempt 1","type":"builtins:ConnectionError","args":["no luck in attempt 1"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:29 in third_time_lucky"},"max_attempts":3}]',NULL,3483447513);
INSERT INTO log VALUES(11,1,3,1893715199900,'[{"type":"run.started","dialect":"code","definition":"patient","input":null,"seed":1258718685988467},{"type":"code.loaded","name":"patient","hash":"2572c4c6a80e88eb"},{"type":"op.opened","at":"hold","kind":"step","fn":"tests.histories.flows:double","args":[1],"undo":"tests.histories.flows:forget"}]',NULL,4088323925);
INSERT INTO log VALUES(11,4,2,1893715199900,'[{"type":"op.closed","at":"hold","output":2},{"type":"op.opened","at":"go","kind":"message","after":"hold","names":["go"]}]',NULL,547758515);
INSERT INTO log VALUES(12,1,3,1893715199900,'[{"type":"run.started","dialect":"code","definition":"mendable","input":null,"seed":854160572179065},{"type":"code.loaded","name":"mendable","hash":"4d2fc446234b6332"},{"type":"op.opened","at":"before","kind":"step","fn":"tests.histories.flows:double","args":[1]}]',NULL,3324338783);
INSERT INTO log VALUES(12,4,2,1893715199900,'[{"type":"op.closed","at":"before","output":2},{"type":"op.opened","at":"mend","kind":"step","after":"before","fn":"tests.histories.flows:broken_until_mended","args":[]}]',NULL,3078404456);
INSERT INTO log VALUES(12,6,1,1893715199900,'[{"type":"task.retry_scheduled","token":"mend","attempt":1,"due":1893715200100,"error":{"code":"task.failed","message":"it is broken","type":"builtins:RuntimeError","args":["it is broken"],"trace":".../src/plait/workers/local.py:119 in _run; .../tests/histories/flows.py:36 in broken_until_mended"},"max_attempts":2}]',NULL,711418215);
CREATE UNIQUE INDEX log_place on log (run, seq);

DROP TABLE IF EXISTS queue_workers;
CREATE TABLE queue_workers (
    namespace text not null,
    queue     text not null,
    worker    text not null,
    seen_at   integer not null,
    primary key (namespace, queue, worker)
) without rowid;

DROP TABLE IF EXISTS queued_tasks;
CREATE TABLE queued_tasks (
    id          integer primary key,
    run_id      text not null,
    shard       integer not null,
    namespace   text not null,
    token       text not null,
    opening     integer not null,
    attempt     integer not null,
    queue       text not null,
    kind        text not null,
    handler     text not null,
    label       text not null,
    node        text not null,
    key         text not null,
    input       text not null,
    blobs       text,
    timeout     integer,
    heartbeat   integer,
    terms       text not null,
    progress    text,
    enqueued_at integer not null,
    priority    integer not null default 0,
    claim       text,
    worker      text,
    claimed_at  integer,
    lease       integer,
    expires     integer,
    deadline    integer
);
CREATE INDEX queued_tasks_expires on queued_tasks (expires) where claim is not null;
CREATE INDEX queued_tasks_free on queued_tasks (namespace, queue, priority, id) where claim is null;
CREATE UNIQUE INDEX queued_tasks_place on queued_tasks (run_id, token);

DROP TABLE IF EXISTS records;
CREATE TABLE records (
    kind      text not null,
    namespace text not null,
    id        text not null,
    at        integer not null,
    body      text not null,
    primary key (kind, id, namespace)
) without rowid;
CREATE INDEX records_namespace on records (kind, namespace, id);

DROP TABLE IF EXISTS run_labels;
CREATE TABLE run_labels (
    namespace  text not null,
    key        text not null,
    value      text not null,
    created_at integer not null,
    run_id     text not null,
    primary key (namespace, key, value, created_at, run_id)
) without rowid;

DELETE FROM sqlite_schema WHERE name='run_text_groups' AND type='table';
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql) VALUES('table','run_text_groups','run_text_groups',0,'CREATE VIRTUAL TABLE run_text_groups using fts5 (
    space, text, content = ''run_texts'', content_rowid = ''place'',
    tokenize = ''trigram case_sensitive 1'', detail = none, columnsize = 0
)');

DROP TABLE IF EXISTS run_text_groups_config;
CREATE TABLE 'run_text_groups_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO run_text_groups_config VALUES('version',4);

DROP TABLE IF EXISTS run_text_groups_data;
CREATE TABLE 'run_text_groups_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO run_text_groups_data VALUES(1,X'');
INSERT INTO run_text_groups_data VALUES(10,X'00000000000000');

DROP TABLE IF EXISTS run_text_groups_idx;
CREATE TABLE 'run_text_groups_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

DROP TABLE IF EXISTS run_texts;
CREATE TABLE run_texts (
    place integer primary key,
    run   integer not null,
    part  integer not null,
    space text not null,
    text  text not null
);

DROP TABLE IF EXISTS runs;
CREATE TABLE "runs" (
    id           text not null,
    namespace    text not null,
    dialect      text not null,
    definition   text not null,
    version      text,
    shard        integer not null,
    status       text not null check (status in ('running', 'completed', 'failed', 'cancelled')),
    awake        integer not null,
    parent       text,
    parent_token text,
    depth        integer not null,
    labels       text not null,
    start_hash   text not null,
    created_at   integer not null,
    ended_at     integer,
    deadline     integer,
    output       text,
    error        text,
    blocked      text,
    recoveries   integer not null default 0,
    full         integer not null default 0,
    number       integer primary key
, waiting text, past text);
INSERT INTO runs VALUES('decision','default','code','everything',NULL,8,'running',0,NULL,NULL,0,'{}','1a83904acd8265eb70a6581b6efdb2b6',1893456000000,NULL,NULL,NULL,NULL,NULL,0,0,1,'["approval","approval `ok` by boss",null]',NULL);
INSERT INTO runs VALUES('def7235f-94c9-53d7-95c0-583269ce5bc1','default','code','doubled',NULL,58,'completed',0,'decision','both/child/child',1,'{}','',1893542470600,1893542470600,NULL,'8',NULL,NULL,0,0,2,NULL,NULL);
INSERT INTO runs VALUES('word','default','code','everything',NULL,17,'running',0,NULL,NULL,0,'{}','1a83904acd8265eb70a6581b6efdb2b6',1893628710000,NULL,NULL,NULL,NULL,NULL,0,0,3,'["message","message `word`",1893801585600]',NULL);
INSERT INTO runs VALUES('join','default','code','everything',NULL,23,'running',0,NULL,NULL,0,'{}','1a83904acd8265eb70a6581b6efdb2b6',1893628728000,NULL,NULL,NULL,NULL,NULL,0,0,4,'["sleep","sleep",1893715203600]',NULL);
INSERT INTO runs VALUES('limit','default','code','everything',NULL,32,'running',0,NULL,NULL,0,'{}','1a83904acd8265eb70a6581b6efdb2b6',1893628735000,NULL,NULL,NULL,NULL,NULL,0,0,5,'["message","message `never`",null]',NULL);
INSERT INTO runs VALUES('timer','default','code','everything',NULL,26,'running',0,NULL,NULL,0,'{}','1a83904acd8265eb70a6581b6efdb2b6',1893628770000,NULL,NULL,NULL,NULL,NULL,0,0,6,'["sleep","timer",1893715230600]',NULL);
INSERT INTO runs VALUES('nap','default','code','everything',NULL,34,'running',0,NULL,NULL,0,'{}','1a83904acd8265eb70a6581b6efdb2b6',1893711600000,NULL,NULL,NULL,NULL,NULL,0,0,7,'["sleep","sleep",1893798000600]',NULL);
INSERT INTO runs VALUES('00b0f13e-65bf-5d70-bb13-f8a010712cfa','default','code','doubled',NULL,30,'completed',0,'word','both/child/child',1,'{}','',1893715180600,1893715180600,NULL,'8',NULL,NULL,0,0,8,NULL,NULL);
INSERT INTO runs VALUES('07d840ab-be1e-538a-972b-43bf5e0f45d7','default','code','doubled',NULL,4,'completed',0,'join','both/child/child',1,'{}','',1893715198600,1893715198600,NULL,'8',NULL,NULL,0,0,9,NULL,NULL);
INSERT INTO runs VALUES('try','default','code','everything',NULL,50,'running',0,NULL,NULL,0,'{}','1a83904acd8265eb70a6581b6efdb2b6',1893715199900,NULL,NULL,NULL,NULL,NULL,0,0,10,'["retry","retry 2 of 3 of `try`",1893715200100]',NULL);
INSERT INTO runs VALUES('message','default','code','patient',NULL,63,'running',0,NULL,NULL,0,'{}','d3394fd08c3384d656672edbf5d94bc6',1893715199900,NULL,NULL,NULL,NULL,NULL,0,0,11,'["message","message `go`",null]',NULL);
INSERT INTO runs VALUES('broken','default','code','mendable',NULL,52,'running',0,NULL,NULL,0,'{}','6d28bda098263b1b8e286675393a6a35',1893715199900,NULL,NULL,NULL,NULL,NULL,0,0,12,'["retry","retry 2 of 2 of `mend`",1893715200100]',NULL);
CREATE INDEX runs_awake on runs (shard) where awake = 1 and status = 'running';
CREATE INDEX runs_blocked on runs (shard) where blocked is not null and status = 'running';
CREATE INDEX runs_definition on runs (namespace, definition, created_at, id);
CREATE UNIQUE INDEX runs_id on runs (id);
CREATE INDEX runs_parent on runs (parent, created_at, id) where parent is not null;
CREATE INDEX runs_status on runs (
    namespace, dialect,
    case when status <> 'running' then status
         when blocked is not null then 'blocked'
         when awake = 0 or waiting is not null then 'waiting'
         else 'working' end,
    created_at, id);

DROP TABLE IF EXISTS shards;
CREATE TABLE shards (
    shard   integer primary key,
    owner   text,
    epoch   integer not null default 0,
    expires integer not null default 0
);
INSERT INTO shards VALUES(0,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(1,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(2,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(3,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(4,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(5,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(6,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(7,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(8,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(9,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(10,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(11,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(12,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(13,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(14,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(15,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(16,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(17,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(18,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(19,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(20,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(21,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(22,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(23,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(24,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(25,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(26,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(27,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(28,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(29,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(30,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(31,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(32,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(33,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(34,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(35,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(36,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(37,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(38,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(39,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(40,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(41,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(42,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(43,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(44,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(45,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(46,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(47,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(48,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(49,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(50,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(51,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(52,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(53,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(54,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(55,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(56,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(57,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(58,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(59,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(60,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(61,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(62,'an older engine',1,33417346639305);
INSERT INTO shards VALUES(63,'an older engine',1,33417346639305);

DROP TABLE IF EXISTS snapshots;
CREATE TABLE snapshots (
    run_id text primary key,
    seq    integer not null,
    at     integer not null,
    body   text not null
) without rowid;

DROP TABLE IF EXISTS timers;
CREATE TABLE timers (
    run_id text not null,
    token  text not null,
    shard  integer not null,
    due    integer not null,
    primary key (run_id, token)
) without rowid;
INSERT INTO timers VALUES('broken','~retry:mend',52,1893715200100);
INSERT INTO timers VALUES('join','both/wait/wait',23,1893715203600);
INSERT INTO timers VALUES('limit','limit',32,1893715205600);
INSERT INTO timers VALUES('nap','nap',34,1893798000600);
INSERT INTO timers VALUES('timer','~timer.0',26,1893715230600);
INSERT INTO timers VALUES('try','~retry:try',50,1893715200100);
INSERT INTO timers VALUES('word','word',17,1893801585600);
CREATE INDEX timers_due on timers (due);

pragma user_version=8;
pragma application_id=1349280105;

COMMIT TRANSACTION;

PRAGMA writable_schema=OFF;

BEGIN;
CREATE TABLE no_such_table(x,y,z);
ROLLBACK;

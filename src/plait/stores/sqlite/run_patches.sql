-- run_patches: the changing parts of runs' rows. Each writing connection has this view of its own, to change many rows
-- by one statement: `update` takes them one by one, and is looked up and run for each
create temp view run_patches as
select number, status, awake, ended_at, output, error, blocked, recoveries, full, waiting, past from main.runs;

-- change: an insert into the view updates the table
create temp trigger change_run instead of insert on run_patches
begin
    update runs
    set status = new.status, awake = new.awake, ended_at = new.ended_at, output = new.output, error = new.error,
        blocked = new.blocked, recoveries = new.recoveries, full = new.full, waiting = new.waiting, past = new.past
    where number = new.number;
end;

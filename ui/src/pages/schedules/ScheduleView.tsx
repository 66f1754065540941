/** One schedule: its settings, its next times, what became of the last, and what can be done with it. */

import { useState } from "react";
import type { Fire, Schedule } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Button, LinkButton } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { span } from "../../components/format";
import { Json } from "../../components/Json";
import { Ago } from "../../components/Time";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { Link } from "../../shell/router";
import { usePoll } from "../../shell/use-poll";
import { ActionDialog } from "./ActionDialog";
import { BackfillDialog } from "./BackfillDialog";
import { FireOutcome } from "./FireOutcome";
import { NextTimes } from "./NextTimes";
import { inZone, queueOf, schedulePath, startsWhat, timing, type Verb } from "./schedule";

const EVERY = 3000;

export function ScheduleView({ name }: { name: string }) {
  const { data, error, reload } = useResource<Schedule>(schedulePath(name));
  const fires = useResource<{ fires: Fire[] }>(`${schedulePath(name)}/fires`);
  const again = () => {
    reload();
    fires.reload();
  };
  usePoll(again, EVERY);
  const may = allows(useMe(), "operator");
  return (
    <Page title={name} actions={data && may && <Actions schedule={data} reload={again} />}>
      {error && (
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      )}
      {!data && !error && <Loading what="Loading the schedule" />}
      {data && (
        <div className="schedule">
          <Facts schedule={data} />
          <section className="card pad stack tight" aria-label="Next times">
            <h2>Next times</h2>
            {data.paused ? (
              <p className="muted">None while it is paused.</p>
            ) : (
              <NextTimes times={data.next ?? []} zone={data.tz ?? "UTC"} />
            )}
          </section>
          <Fires fires={fires.data?.fires} zone={data.tz ?? "UTC"} />
        </div>
      )}
    </Page>
  );
}

function Actions({ schedule, reload }: { schedule: Schedule; reload: () => void }) {
  const [asked, setAsked] = useState<Verb | "backfill">();
  const close = () => setAsked(undefined);
  return (
    <>
      <Button icon="play" onClick={() => setAsked("trigger")}>
        Trigger now
      </Button>
      {schedule.paused ? (
        <Button icon="resume" onClick={() => setAsked("resume")}>
          Resume
        </Button>
      ) : (
        <Button icon="stop" onClick={() => setAsked("pause")}>
          Pause
        </Button>
      )}
      <Button icon="rewind" onClick={() => setAsked("backfill")}>
        Backfill
      </Button>
      <LinkButton to={`${schedulePath(schedule.name)}/edit`} icon="edit">
        Edit
      </LinkButton>
      <Button look="danger" icon="trash" onClick={() => setAsked("delete")}>
        Delete
      </Button>
      {asked === "backfill" && <BackfillDialog schedule={schedule} onClose={close} onDone={reload} />}
      {asked && asked !== "backfill" && (
        <ActionDialog schedule={schedule} verb={asked} onClose={close} onDone={reload} />
      )}
    </>
  );
}

function Facts({ schedule }: { schedule: Schedule }) {
  const waiting = schedule.waiting?.length ?? 0;
  return (
    <section className="card pad stack tight" aria-label="Settings">
      <dl className="schedule-facts">
        <Fact name="Starts">{startsWhat(schedule)}</Fact>
        <Fact name="When">
          <span className="mono">{timing(schedule)}</span> {schedule.paused && <span className="chip">paused</span>}
        </Fact>
        <Fact name="Overlap">{(schedule.overlap ?? "skip").replace("_", " ")}</Fact>
        <Fact name="Catch-up">{span(schedule.catchup_ms ?? 60_000)}</Fact>
        {schedule.deadline_ms !== undefined && <Fact name="Deadline">{span(schedule.deadline_ms ?? 0)}</Fact>}
        {queueOf(schedule) && <Fact name="Queue">{queueOf(schedule)}</Fact>}
        {Object.keys(schedule.labels ?? {}).length > 0 && (
          <Fact name="Labels">
            {Object.entries(schedule.labels ?? {}).map(([key, value]) => (
              <span key={key} className="chip">
                {key}:{value}
              </span>
            ))}
          </Fact>
        )}
        {(schedule.running?.length ?? 0) > 0 && (
          <Fact name="Running">
            {schedule.running?.map((id) => (
              <div key={id}>
                <RunLink id={id} />
              </div>
            ))}
          </Fact>
        )}
        {waiting > 0 && (
          <Fact name="Waiting">
            {waiting} {waiting === 1 ? "time waits" : "times wait"} for the run before
          </Fact>
        )}
        {(schedule.backfills?.length ?? 0) > 0 && (
          <Fact name="Backfill">
            {schedule.backfills?.map(({ after, until }) => (
              <div key={`${after} ${until}`}>until {inZone(until, schedule.tz ?? "UTC")}</div>
            ))}
          </Fact>
        )}
      </dl>
      <h3>Input</h3>
      <Json value={schedule.input ?? null} label="input" />
      <p>
        <Link to={`/runs?label=${encodeURIComponent(`schedule:${schedule.name}`)}`}>All its runs</Link>
      </p>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function RunLink({ id }: { id: string }) {
  return (
    <Link className="mono" to={`/runs/${encodeURIComponent(id)}`}>
      {id}
    </Link>
  );
}

function Fires({ fires, zone }: { fires: Fire[] | undefined; zone: string }) {
  if (!fires) return null;
  return (
    <section className="stack tight schedule-fires" aria-label="Past times">
      <h2>Past times</h2>
      {fires.length === 0 ? (
        <Empty icon="clock" title="No time has passed yet">
          What becomes of each time is listed here: a run was started, or why not.
        </Empty>
      ) : (
        <div className="card schedules-scroll">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Outcome</th>
                <th scope="col">By</th>
                <th scope="col">Run, or why none</th>
                <th scope="col">Decided</th>
              </tr>
            </thead>
            <tbody>
              {fires.map((fire) => (
                <tr key={fire.number}>
                  <td className="mono">{inZone(fire.scheduled_at, zone)}</td>
                  <td>
                    <FireOutcome fire={fire} />
                  </td>
                  <td>{fire.cause ?? "time"}</td>
                  <td>{fire.run_id ? <RunLink id={fire.run_id} /> : fire.why}</td>
                  <td>
                    <Ago at={fire.at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

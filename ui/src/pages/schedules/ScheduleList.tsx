/** All schedules by name, each with its next time and what became of its last. */

import { useState } from "react";
import { api } from "../../api/client";
import { withQuery } from "../../api/namespace";
import type { Schedule, SchedulePage } from "../../api/types";
import { useRequest } from "../../api/use-request";
import { useResource } from "../../api/use-resource";
import { Button, LinkButton } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Ago } from "../../components/Time";
import { Loading } from "../../shell/fallbacks";
import { allows, useMe } from "../../shell/me";
import { Page } from "../../shell/page";
import { Link } from "../../shell/router";
import { usePoll } from "../../shell/use-poll";
import { FireOutcome } from "./FireOutcome";
import { schedulePath, startsWhat, timing } from "./schedule";

const EVERY = 5000;

export function ScheduleList() {
  const { data, error, reload } = useResource<SchedulePage>("/schedules?limit=100");
  usePoll(reload, EVERY);
  const may = allows(useMe(), "operator");
  return (
    <Page
      title="Schedules"
      actions={
        may && (
          <LinkButton to="/new-schedule" look="primary" icon="plus">
            New schedule
          </LinkButton>
        )
      }
    >
      {error && (
        <ErrorBox error={error}>
          <Button onClick={reload}>Try again</Button>
        </ErrorBox>
      )}
      {!data && !error && <Loading what="Loading schedules" />}
      {data?.schedules.length === 0 && (
        <Empty icon="clock" title="No schedules yet" command='plait schedules set nightly order --cron "30 2 * * *"'>
          A schedule starts a run again and again, by a cron expression or an interval.
        </Empty>
      )}
      {data && data.schedules.length > 0 && <Pages first={data} />}
    </Page>
  );
}

function Pages({ first }: { first: SchedulePage }) {
  const [more, setMore] = useState<Schedule[]>([]);
  const [cursor, setCursor] = useState<string>();
  const { busy, error, send } = useRequest();
  const next = cursor ?? first.next;
  const load = async () => {
    const page = await api.get<SchedulePage>(withQuery("/schedules", { limit: 100, cursor: next }));
    setMore([...more, ...page.schedules]);
    setCursor(page.next ?? "");
  };
  return (
    <>
      <ScheduleTable schedules={[...first.schedules, ...more]} />
      {error && <ErrorBox error={error} />}
      {next && (
        <Button busy={busy} onClick={() => send(load)}>
          Show more
        </Button>
      )}
    </>
  );
}

function ScheduleTable({ schedules }: { schedules: Schedule[] }) {
  return (
    <div className="card schedules-scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Schedule</th>
            <th scope="col">Starts</th>
            <th scope="col">When</th>
            <th scope="col">Next</th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {schedules.map((schedule) => (
            <tr key={schedule.name}>
              <td>
                <Link className="text" to={schedulePath(schedule.name)}>
                  {schedule.name}
                </Link>
              </td>
              <td>{startsWhat(schedule)}</td>
              <td className="mono">{timing(schedule)}</td>
              <td>
                {schedule.paused && <span className="chip">paused</span>}
                {schedule.next?.[0] !== undefined && <Ago at={schedule.next[0]} />}
              </td>
              <td>{schedule.last && <FireOutcome fire={schedule.last} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

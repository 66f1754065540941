import { Empty } from "../parts/Empty";
import { useTitle } from "./page";
import { Link } from "./router";

export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <div className="loading" role="status">
      <span className="loading-bar" aria-hidden="true" />
      <span className="visually-hidden">{what}…</span>
    </div>
  );
}

export function NotFound() {
  useTitle("Not found");
  return (
    <main className="bare">
      <Empty
        icon="search"
        title="There is no page here"
        action={
          <Link className="text" to="/runs">
            Go to the runs
          </Link>
        }
      >
        The address may be mistyped, or the page may have moved.
      </Empty>
    </main>
  );
}

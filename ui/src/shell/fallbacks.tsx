import { Empty } from "../components/Empty";
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
        title="Page not found"
        action={
          <Link className="text" to="/runs">
            Go to runs
          </Link>
        }
      >
        Check the address, or go back to the list of runs.
      </Empty>
    </main>
  );
}

import { Icon } from "../../components/Icon";
import "./loaded-badge.css";

/** Whether this server has the code of it. */
export function LoadedBadge({ loaded }: { loaded: boolean }) {
  return loaded ? (
    <span className="loaded" title="This server can run it">
      <Icon name="check" size={14} />
      loaded
    </span>
  ) : (
    <span className="faint" title="Known from earlier runs; not loaded by this server">
      not loaded
    </span>
  );
}

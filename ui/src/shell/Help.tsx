import { useState } from "react";
import { Dialog } from "../components/Dialog";
import { groupBy } from "../components/group-by";
import { type Shortcut, shortcuts } from "./keys";

export function Help({ onClose }: { onClose: () => void }) {
  // Taken once: the dialog itself changes what can be pressed.
  const [all] = useState(shortcuts);
  const groups = groupBy(all, (one) => one.group);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div className="help">
        {[...groups].map(([group, keys]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {keys.map((one) => (
                <Line key={one.combo} {...one} />
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

function Line({ combo, label }: Shortcut) {
  return (
    <div className="help-line">
      <dt>{label}</dt>
      <dd>
        {combo.split(" ").map((key) => (
          <kbd key={key}>{NAMES[key] ?? key}</kbd>
        ))}
      </dd>
    </div>
  );
}

const NAMES: { [key: string]: string } = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
};

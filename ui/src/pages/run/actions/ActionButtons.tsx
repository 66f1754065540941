import type { Action, RunDetail } from "../../../api/types";
import { Button } from "../../../components/Button";
import type { IconName } from "../../../components/Icon";
import { Menu } from "../../../components/Menu";
import type { Asked } from "./requests";

interface Offer {
  action: "retry" | "resume" | "fork" | "message" | "compensate" | "cancel";
  label: string;
  icon: IconName;
}

/** In the order of how often they are wanted. */
const OFFERS: readonly Offer[] = [
  { action: "resume", label: "Resume", icon: "resume" },
  { action: "retry", label: "Retry", icon: "retry" },
  { action: "message", label: "Send a message", icon: "message" },
  { action: "fork", label: "Fork", icon: "fork" },
  { action: "compensate", label: "Compensate", icon: "undo" },
  { action: "cancel", label: "Cancel", icon: "stop" },
];
const UP_FRONT: ReadonlySet<Action> = new Set(["resume", "retry", "fork", "cancel"]);

interface ActionButtonsProps {
  detail: RunDetail;
  onAction: (asked: Asked) => void;
}

export function ActionButtons({ detail, onAction }: ActionButtonsProps) {
  const offers = OFFERS.filter(({ action }) => detail.actions.includes(action));
  const front = offers.filter(({ action }) => UP_FRONT.has(action));
  const rest = offers.filter(({ action }) => !UP_FRONT.has(action));
  return (
    <div className="run-actions">
      {front.map(({ action, label, icon }) => (
        <Button
          key={action}
          icon={icon}
          look={action === "cancel" ? "danger" : "plain"}
          onClick={() => onAction({ action })}
        >
          {label}
        </Button>
      ))}
      {rest.length > 0 && (
        <Menu
          label="More"
          items={rest.map(({ action, label, icon }) => ({ key: action, label, icon, run: () => onAction({ action }) }))}
        />
      )}
    </div>
  );
}

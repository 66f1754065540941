import type { ReactNode } from "react";
import { Icon, type IconName } from "./Icon";
import "./empty.css";

interface EmptyProps {
  title: string;
  icon?: IconName;
  /** What to do next, in words. */
  children?: ReactNode;
  action?: ReactNode;
  /** A command that does it. */
  command?: string;
}

export function Empty({ title, icon = "info", children, action, command }: EmptyProps) {
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon name={icon} size={20} />
      </span>
      <h2>{title}</h2>
      {children && <p className="muted">{children}</p>}
      {action}
      {command && <code className="empty-command">{command}</code>}
    </div>
  );
}

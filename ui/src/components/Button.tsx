import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { Link } from "../shell/router";
import { Icon, type IconName } from "./Icon";
import "./button.css";

type Look = "primary" | "plain" | "ghost" | "danger";

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: Look;
  icon?: IconName;
  /** Under way: can't be pressed again. */
  busy?: boolean;
  ref?: Ref<HTMLButtonElement>;
};

export function Button({
  look = "plain",
  icon,
  busy = false,
  children,
  className = "",
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`button ${look} ${className}`}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface LinkButtonProps {
  to: string;
  look?: Look;
  icon?: IconName;
  children: ReactNode;
  title?: string;
}

export function LinkButton({ to, look = "plain", icon, children, title }: LinkButtonProps) {
  return (
    <Link to={to} className={`button ${look}`} title={title}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  );
}

type IconButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children"> & {
  icon: IconName;
  label: string;
  ref?: Ref<HTMLButtonElement>;
};

export function IconButton({ icon, label, className = "", ...rest }: IconButtonProps) {
  return (
    <button type="button" {...rest} className={`icon-button ${className}`} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}

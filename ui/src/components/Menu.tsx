/** A button that opens a short list of choices; arrows move, Escape closes. */

import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button } from "./Button";
import { Icon, type IconName } from "./Icon";
import "./menu.css";

export interface MenuItem {
  label: ReactNode;
  run: () => void;
  icon?: IconName;
  danger?: boolean;
  key: string;
}

interface MenuProps {
  label: ReactNode;
  /** Needed when `label` is no text. */
  name?: string;
  icon?: IconName;
  items: MenuItem[];
  look?: "plain" | "ghost";
  /** The side that the list is aligned to. */
  side?: "left" | "right";
  up?: boolean;
}

export function Menu({ label, name, icon, items, look = "plain", side = "right", up = false }: MenuProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    choices(box.current)[0]?.focus();
    const away = (event: PointerEvent) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the menu inside
    <div ref={box} className="menu" onKeyDown={(event) => open && onKey(event, box.current, close)}>
      <Button
        ref={button}
        look={look}
        icon={icon}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={name}
        title={name}
        onClick={() => setOpen(!open)}
      >
        {label}
        <Icon name="down" size={12} />
      </Button>
      {open && (
        <div id={id} role="menu" className={`menu-list ${side}${up ? " up" : ""}`}>
          {items.map((item) => (
            <button
              key={item.key}
              type="button"
              role="menuitem"
              tabIndex={-1}
              className={item.danger ? "menu-item danger" : "menu-item"}
              onClick={() => {
                close();
                item.run();
              }}
            >
              {item.icon && <Icon name={item.icon} />}
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function choices(box: HTMLElement | null): HTMLElement[] {
  return [...(box?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
}

function onKey(event: KeyboardEvent, box: HTMLElement | null, close: () => void) {
  const all = choices(box);
  const at = all.indexOf(document.activeElement as HTMLElement);
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (event.key === "Escape" || event.key === "Tab") close();
  else if (step) all[(at + step + all.length) % all.length]?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

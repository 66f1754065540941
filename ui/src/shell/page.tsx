/** What every page is made of: its parameters, a title, a head with actions, a body. */

import { type ReactNode, useEffect } from "react";

export interface PageProps {
  /** The named parts of the path, as in `/runs/:id`. */
  params: { [name: string]: string };
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Plait`;
  }, [title]);
}

interface FrameProps {
  title: string;
  /** Shown instead of the title text in the head, when a plain line is not enough. */
  head?: ReactNode;
  actions?: ReactNode;
  /** Fills the height and scrolls inside. */
  full?: boolean;
  children: ReactNode;
}

export function Page({ title, head, actions, full = false, children }: FrameProps) {
  useTitle(title);
  return (
    <div className={full ? "page full" : "page"}>
      <header className="page-head">
        {head ?? <h1 className="clip">{title}</h1>}
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A long list of rows of one height: only those in view are in the page. */

import {
  type CSSProperties,
  type ReactNode,
  type Ref,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";

const BEYOND = 8;

export interface VirtualListHandle {
  /** Brings a row into view. */
  show: (index: number) => void;
}

interface WindowProps {
  count: number;
  rowHeight: number;
  /** The row's element must take the given style. */
  row: (index: number, style: CSSProperties) => ReactNode;
  label: string;
  className?: string;
  /** Stays at the end while rows are added, if it was there. */
  follow?: boolean;
  /** Above the rows, sticking to the top. */
  head?: ReactNode;
  /** Over all the rows, as tall as all of them. */
  over?: ReactNode;
  /** Of the rows, when wider than the list. */
  width?: string;
  role?: string;
  ref?: Ref<VirtualListHandle>;
}

export function VirtualList({
  count,
  rowHeight,
  row,
  label,
  className = "",
  follow,
  head,
  over,
  width,
  role,
  ref,
}: WindowProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const atEnd = useRef(true);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: more rows is what makes it follow
  useLayoutEffect(() => {
    const element = box.current;
    if (follow && atEnd.current && element) element.scrollTop = element.scrollHeight;
  }, [count, follow]);

  useImperativeHandle(ref, () => ({
    show: (index) => {
      const element = box.current;
      if (!element) return;
      const top = index * rowHeight;
      if (top < element.scrollTop || top + rowHeight > element.scrollTop + element.clientHeight) {
        element.scrollTop = top - element.clientHeight / 2;
      }
    },
  }));

  const scrolled = () => {
    const element = box.current;
    if (!element) return;
    atEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight;
    setView({ top: element.scrollTop, height: element.clientHeight });
  };
  const first = Math.max(0, Math.floor(view.top / rowHeight) - BEYOND);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + BEYOND);
  const rows: ReactNode[] = [];
  for (let index = first; index < last; index++) {
    rows.push(row(index, { position: "absolute", top: index * rowHeight, height: rowHeight, left: 0, right: 0 }));
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    <section ref={box} className={`window ${className}`} aria-label={label} tabIndex={0} onScroll={scrolled}>
      {head}
      <div role={role} style={{ position: "relative", height: count * rowHeight, width, minWidth: "100%" }}>
        {rows}
        {over}
      </div>
    </section>
  );
}

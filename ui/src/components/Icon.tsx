/** Line icons, 16 px, drawn in the text's colour. */

import type { ReactNode } from "react";

const shapes = {
  runs: <path d="M2.500 4h11M2.500 8h11M2.500 12h7" />,
  approvals: (
    <path d="M8 1.800 13.500 4v4c0 3.200-2.300 5.300-5.500 6.400C4.800 13.300 2.500 11.200 2.500 8V4zM5.600 8l1.700 1.700L10.600 6.400" />
  ),
  letters: <path d="M2 4.500h12v8H2zM2 5l6 4.500L14 5" />,
  queues: <path d="M2.500 3.500h3v9h-3zM8 3.500h3v9H8M13.500 3.500v9" />,
  record: (
    <>
      <circle cx="8" cy="8" r="6" />
      <circle cx="8" cy="8" r="2.500" />
    </>
  ),
  definitions: <path d="M4 2h5.500L12.500 5v9H4zM9.500 2v3h3M6.500 8.500h3.500M6.500 11h3.500" />,
  catalog: (
    <>
      <path d="M2 6h3.500v4H2zM10.500 2.500H14v4h-3.500zM10.500 9.500H14v4h-3.500z" />
      <path d="M5.500 8H8m0 0V4.500h2.500M8 8v3.500h2.500" />
    </>
  ),
  goal: (
    <>
      <circle cx="8" cy="8" r="6" />
      <circle cx="8" cy="8" r="2.500" />
    </>
  ),
  edit: <path d="m10.500 3 2.500 2.500L6 12.500l-3.200.7.700-3.200zM9 4.500 11.500 7" />,
  settings: (
    <>
      <path d="M2.500 4.500h5M11.500 4.500h2M2.500 11.500h2M8.500 11.500h5" />
      <circle cx="9.500" cy="4.500" r="1.800" />
      <circle cx="6.500" cy="11.500" r="1.800" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.300" />
      <path d="m10.300 10.300 3.200 3.200" />
    </>
  ),
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  check: <path d="m3 8.500 3.300 3.300L13 4.800" />,
  plus: <path d="M8 3v10M3 8h10" />,
  minus: <path d="M3 8h10" />,
  warning: <path d="M8 2 14.300 13H1.700zM8 6.300v3.200M8 11.300v.2" />,
  info: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 7.300v3.700M8 5v.2" />
    </>
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.800" />
      <path d="M8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1.100 1.100M11.500 11.500l1.100 1.100M12.600 3.400l-1.100 1.100M4.500 11.500l-1.100 1.100" />
    </>
  ),
  moon: <path d="M13.200 9.800A5.600 5.600 0 0 1 6.200 2.800a5.600 5.600 0 1 0 7 7z" />,
  system: <path d="M2 3h12v8H2zM6 13.500h4M8 11v2.500" />,
  keyboard: <path d="M1.500 4h13v8h-13zM4 6.700h.2M6.600 6.700h.2M9.200 6.700h.2M11.800 6.700h.2M5 9.500h6" />,
  copy: <path d="M5.500 5.500h7.500V13H5.500zM3 10.500v-8h7.500" />,
  right: <path d="m6 3.500 4.500 4.500L6 12.500" />,
  down: <path d="m3.500 6 4.500 4.500L12.500 6" />,
  up: <path d="m3.500 10 4.500-4.500L12.500 10" />,
  left: <path d="M10 3.500 5.500 8l4.500 4.500" />,
  external: <path d="M6.500 3.500H3v9.500h9.500V9.500M9.500 2.500h4v4M13 3 7.500 8.500" />,
  fork: (
    <>
      <circle cx="4.500" cy="3.500" r="1.500" />
      <circle cx="11.500" cy="3.500" r="1.500" />
      <circle cx="4.500" cy="12.500" r="1.500" />
      <path d="M4.500 5v6M11.500 5c0 3-7 2.500-7 5" />
    </>
  ),
  retry: <path d="M13 8a5 5 0 1 1-1.600-3.700M13 2.500v3h-3" />,
  resume: <path d="M4.500 3v10l8-5z" />,
  stop: <path d="M4 4h8v8H4z" />,
  message: <path d="M2.500 3h11v7.500H7.500L4.500 13v-2.500h-2z" />,
  undo: <path d="M5.500 3 2.500 6l3 3M2.500 6H10a3.500 3.500 0 0 1 0 7H6" />,
  redo: <path d="m10.500 3 3 3-3 3M13.500 6H6a3.500 3.500 0 0 0 0 7h4" />,
  rewind: <path d="M8 4v8L2.500 8zM13.500 4v8L8 8z" />,
  compare: <path d="M5.500 2.500v11M10.500 2.500v11M2.500 5.500h3M2.500 10.500h3M10.500 5.500h3M10.500 10.500h3" />,
  clock: (
    <>
      <circle cx="8" cy="8" r="5.800" />
      <path d="M8 4.800V8l2.300 1.500" />
    </>
  ),
  fold: <path d="M8 1.500v4M6 3.700 8 5.700l2-2M8 14.500v-4M6 12.300l2-2 2 2M2.500 8h11" />,
  unfold: <path d="M8 6V2M6 3.800 8 1.800l2 2M8 10v4M6 12.200l2 2 2-2M2.500 8h11" />,
  child: <path d="M3.500 2.500v6a2 2 0 0 0 2 2h6M9 8l2.700 2.500L9 13" />,
  parent: <path d="M12.500 13.500v-6a2 2 0 0 0-2-2h-6M7 8 4.300 5.500 7 3" />,
  fit: <path d="M2.500 6V2.500H6M10 2.500h3.500V6M13.500 10v3.500H10M6 13.500H2.500V10" />,
  dots: <path d="M3.500 8h.01M8 8h.01M12.500 8h.01" />,
  star: <path d="m8 2 1.800 3.800 4.200.5-3.100 2.900.8 4.100L8 11.300l-3.700 2 .8-4.100L2 6.300l4.200-.5z" />,
  trash: <path d="M2.500 4.500h11M6 4.500v-2h4v2M4 4.500l.7 9h6.600l.7-9" />,
  play: <path d="M5 3.500v9l7-4.500z" />,
} as const satisfies { [name: string]: ReactNode };

export type IconName = keyof typeof shapes;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {shapes[name]}
    </svg>
  );
}

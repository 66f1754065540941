/** Times and sizes in words. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "840 ms", "3.2 s", "4 min 10 s", "2 h 5 min", "3 d 4 h". */
export function span(ms: number): string {
  if (ms < 0) return "0 ms";
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND && ms % SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return two(ms, MINUTE, "min", SECOND, "s");
  if (ms < DAY) return two(ms, HOUR, "h", MINUTE, "min");
  return two(ms, DAY, "d", HOUR, "h");
}

function two(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % big) / small);
  return `${Math.floor(ms / big)} ${bigName}${rest ? ` ${rest} ${smallName}` : ""}`;
}

/** "just now", "3 min ago", "in 2 h". */
export function relative(at: number, now: number): string {
  const away = Math.abs(now - at);
  if (away < 5 * SECOND) return at > now ? "in a moment" : "just now";
  const words = short(away);
  return at > now ? `in ${words}` : `${words} ago`;
}

function short(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function absolute(at: number): string {
  return full.format(at);
}

/** "14:03:07.120" in the reader's time zone. */
export function clock(at: number): string {
  const date = new Date(at);
  const pad = (n: number, width = 2) => String(n).padStart(width, "0");
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  return `${time}.${pad(date.getMilliseconds(), 3)}`;
}

const dayAndTime = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

/** "12:00" if that is today, else with the day: for a moment that something waits for. */
export function moment(at: number, now = Date.now()): string {
  const sameDay = new Date(at).toDateString() === new Date(now).toDateString();
  const soon = Math.abs(at - now) < 10 * MINUTE;
  return sameDay ? clock(at).slice(0, soon ? 8 : 5) : dayAndTime.format(at);
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${(count / 1024).toFixed(1)} kB`;
  return `${(count / 1024 / 1024).toFixed(1)} MB`;
}

/** The last part of a long id, enough to recognise it. */
export function shortId(id: string, length = 24): string {
  return id.length <= length ? id : `${id.slice(0, 8)}…${id.slice(-(length - 9))}`;
}

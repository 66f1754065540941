import type { Event } from "../../../api/types";

/** By type, exactly; by text, anywhere in the type or the data. */
export function chosenEvents(events: readonly Event[], type: string, text: string): Event[] {
  const wanted = text.trim().toLowerCase();
  if (!type && !wanted) return events as Event[];
  return events.filter(
    (event) =>
      (!type || event.type === type) &&
      (!wanted ||
        event.type.toLowerCase().includes(wanted) ||
        JSON.stringify(event.data).toLowerCase().includes(wanted)),
  );
}

export function typesOf(events: readonly Event[]): string[] {
  return [...new Set(events.map((event) => event.type))].sort();
}

/** One line of what an event says. */
export function summary(data: Event["data"]): string {
  return Object.entries(data ?? {})
    .filter(([key]) => key !== "type")
    .map(([key, value]) => `${key}: ${short(value)}`)
    .join("  ");
}

function short(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

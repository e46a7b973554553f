// Draws the other queues of the path at one moment: all but the one that the other pictures are about.

import { fullest } from "../fullest.ts";
import type { QueueSeries, RunRecord } from "../record.ts";
import { ms } from "../view/numbers.ts";
import type { Theme } from "./colours.ts";
import type { Pen } from "./svg.ts";

/** Height of a row. */
export const ROW = 20;
/** Width of the names, and of the numbers behind the queues. */
const [NAMES, NUMBERS] = [112, 134];
/** Most characters of a name. */
const MOST_LETTERS = 19;

interface Place {
  name: string;
  /** A wire has no queue. */
  queue: QueueSeries | undefined;
}

/** Returns the places beside the fullest queue: the hops as the scenario has them, then the bottleneck. */
export function places(record: RunRecord): Place[] {
  const { hops = [], series } = record;
  const { hop } = fullest(record);
  const others = hops.filter(({ name }) => name !== hop).map(({ name, direction }) => ({ name: `${name}, ${direction}`, queue: series?.hops?.[name] }));
  const line = hop === undefined ? [] : [{ name: "bottleneck, down", queue: series?.queues.down }];
  return [...others, ...line, { name: "bottleneck, up", queue: series?.queues.up }];
}

/** Returns the number of a time's interval in the series. */
export function interval(record: RunRecord, now_s: number): number {
  const times = record.series?.time_s ?? [];
  const place = times.findIndex((end_s) => end_s >= now_s);
  return place < 0 ? times.length - 1 : place;
}

/** Returns what a queue holds in an interval, in words. */
export function held({ queue }: Place, place: number): string {
  if (queue === undefined) return "no queue";
  const delay = queue.delay_ms[place];
  return `${queue.backlog_packets[place] ?? 0} packets${typeof delay === "number" ? `, ${ms(delay)} ms` : ""}`;
}

export function drawHops(pen: Pen, width: number, record: RunRecord, now_s: number, theme: Theme): void {
  const all = places(record);
  const now = interval(record, now_s);
  const room = Math.max(20, width - NAMES - NUMBERS);
  const longest = all.map(({ queue }) => (queue?.backlog_packets ?? []).reduce((most, packets) => Math.max(most, packets), 0));
  // All queues have one scale, so that the longest looks the longest.
  const most = Math.max(20, ...longest);
  const x = (packets: number): number => NAMES + room - 1 - (packets / most) * (room - 2);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.lineWidth = 1;
  all.forEach((place, row) => {
    const middle = (row + 0.5) * ROW;
    pen.fillStyle = theme.soft;
    pen.fillText(place.name.length > MOST_LETTERS ? `${place.name.slice(0, MOST_LETTERS - 1)}…` : place.name, 0, middle);
    pen.fillText(held(place, now), NAMES + room + 8, middle);
    pen.strokeStyle = theme.line;
    if (place.queue === undefined) return pen.strokeRect(NAMES + 0.5, middle - 0.5, room, 0);
    pen.strokeRect(NAMES + 0.5, middle - 6.5, room, 13);
    const from = x(place.queue.backlog_packets[now] ?? 0);
    pen.fillStyle = theme.accent;
    pen.fillRect(from, middle - 5, NAMES + room - 1 - from, 10);
    pen.fillStyle = theme.bad;
    pen.fillRect(x(longest[row] ?? 0), middle - 6, 1, 12);
  });
}

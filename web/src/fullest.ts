// The queue in which packets of a direction wait longest. The pictures, the totals and the first moment are about that
// of the way down.

import type { Hop, QueueSeries, RunRecord } from "./record.ts";

type Direction = "down" | "up";

export interface PathQueue {
  /** The name of its hop, or undefined for the bottleneck's queue, which is that of the line. */
  hop: string | undefined;
  /** Where it is, as ` at the modem`, or empty if the path has one queue in this direction. */
  where: string;
  numbers: Pick<Hop, "delay_ms" | "drop_percent" | "mark_percent">;
  series: QueueSeries | undefined;
}

const hopsOf = ({ hops = [] }: RunRecord, of: Direction): Hop[] => hops.filter(({ direction, qdisc }) => direction === of && qdisc !== undefined);

const wait = ({ numbers }: PathQueue): number => numbers.delay_ms?.mean ?? 0;

/** Returns the queue with the longest mean delay. */
export function fullest(record: RunRecord, direction: Direction = "down"): PathQueue {
  const { queues, series } = record;
  const hops = hopsOf(record, direction);
  const at = (name: string): string => (hops.length > 0 ? ` at the ${name}` : "");
  const line: PathQueue = { hop: undefined, where: at("bottleneck"), numbers: queues[direction], series: series?.queues[direction] };
  const others = hops.map((hop): PathQueue => ({ hop: hop.name, where: at(hop.name), numbers: hop, series: series?.hops?.[hop.name] }));
  return others.reduce((most, one) => (wait(one) > wait(most) ? one : most), line);
}

/** Returns the utilisation of the busiest link down, in percent: a shaper may stand on a link that is never full. */
export function busiest(record: RunRecord): number {
  return Math.max(record.queues.down.utilisation_percent, ...hopsOf(record, "down").map(({ utilisation_percent = 0 }) => utilisation_percent));
}

/** Returns the time after the warm-up at which the fullest queue of all `records` held most packets. */
export function fullestTime(records: readonly RunRecord[], warmup_s: number): number | undefined {
  const worst = [...records].sort((a, b) => wait(fullest(b)) - wait(fullest(a)))[0];
  const backlog = (worst && fullest(worst).series?.backlog_packets) ?? [];
  const times = worst?.series?.time_s ?? [];
  let [most, found]: [number, number | undefined] = [0, undefined];
  times.forEach((time, place) => {
    const packets = backlog[place] ?? 0;
    if (time > warmup_s && packets > most) [most, found] = [packets, time];
  });
  return found;
}

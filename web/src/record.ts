// The parts of a record that the page shows. docs/record.md describes them.

export interface Spread {
  mean: number;
  p50: number;
  p95: number;
  p99: number;
}

export interface Queue {
  qdisc: string;
  utilisation_percent: number;
  throughput_mbps: number;
  delay_ms: Spread | null;
  drop_percent: number;
  mark_percent: number;
}

export interface Flow {
  name: string;
  kind: string;
  direction: string;
  goodput_mbps: number;
}

export interface App {
  name: string;
  kind: string;
  mos?: number | null;
  load_ms?: Spread | null;
  rtt_ms?: Spread | null;
}

export interface QueueSeries {
  delay_ms: (number | null)[];
  backlog_packets: number[];
  drop_probability: (number | null)[];
}

export interface FlowSeries {
  name: string;
  cwnd_packets: (number | null)[];
}

export interface Series {
  time_s: number[];
  queues: { down: QueueSeries; up: QueueSeries };
  /** The links beside the bottleneck, by name. */
  hops?: Record<string, QueueSeries>;
  flows: FlowSeries[];
}

/** A hop beside the bottleneck. Only a link has a queue. */
export interface Hop {
  name: string;
  kind: string;
  direction: string;
}

export interface RunRecord {
  schema: number;
  seed: number;
  scenario: Table;
  queues: { down: Queue; up: Queue };
  hops?: Hop[];
  flows: Flow[];
  fairness: { jain_goodput: number | null };
  apps: App[];
  series?: Series;
}

/** A table of a scenario, as in TOML and JSON. */
export interface Table {
  [key: string]: Value;
}
export type Value = string | number | boolean | Value[] | Table;

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value at a dotted path, as in `apps.0.mos`, or undefined if there is none. */
export function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, part) => {
    if (Array.isArray(inner)) return inner[Number(part)] as unknown;
    return isTable(inner) ? inner[part] : undefined;
  }, value);
}

// The page's experiment: a scenario, and the qdisc lines that it runs under, side by side.

import { withoutBuffer } from "./engine/core.ts";
import { at, isTable, type Table, type Value } from "./table.ts";

export interface Experiment {
  /** As in a scenario file, except for `bottleneck.qdisc`. */
  readonly scenario: Table;
  /** The words that would follow `tc qdisc add dev X root`. */
  readonly lines: readonly string[];
  /** A name for each line, such as `now`. An empty one, and one that is left out: the line itself. */
  readonly labels?: readonly string[];
}

export const MOST_LINES = 4;

/** Returns what a person calls the line at `place`: its label, or the line itself. */
export function nameOf({ lines, labels }: Experiment, place: number): string {
  return labels?.[place] || (lines[place] ?? "");
}

/** Separates the line down from the line up, as in `goodqueue compare`. */
const BOTH = " / ";

export const FIRST: Experiment = {
  lines: ["pfifo", "fq_codel"],
  scenario: {
    duration: "30s",
    warmup: "5s",
    bottleneck: { rate: "20mbit", buffer: { bdp: 4 } },
    path: { rtt: "50ms" },
    traffic: [
      { kind: "bulk", count: 2, cc: "cubic", start_spread: "1s" },
      { kind: "voip" },
      { kind: "page", page: "google" },
      { kind: "ping" },
    ],
  },
};

/**
 * Returns a copy of `value` in which `path`, such as `traffic.0.count`, is `leaf`. If `leaf` is undefined, the key is
 * removed.
 */
export function withAt<T extends Value>(value: T, path: string, leaf: Value | undefined): T {
  const [first = "", ...rest] = path.split(".");
  if (Array.isArray(value)) {
    const inner = value[Number(first)];
    const changed = rest.length === 0 ? leaf : withAt(inner ?? {}, rest.join("."), leaf);
    return value.map((old, place) => (place === Number(first) && changed !== undefined ? changed : old)) as T;
  }
  const table: Table = isTable(value) ? { ...value } : {};
  const changed = rest.length === 0 ? leaf : withAt(table[first] ?? {}, rest.join("."), leaf);
  if (changed === undefined) delete table[first];
  else table[first] = changed;
  return table as T;
}

/** The head of a command that puts a discipline on a device. An ifb has a queue length of its own. */
const HEAD = /^\s*tc\s+qdisc\s+(?:add|replace)\s+dev\s+(?!ifb)\S+\s+root\s+(?:handle\s+[\da-f]+:\s+)?(?=\S)/i;

/** Disciplines whose command is the root of a tree, and may have commands for classes after it. */
const WITH_CLASSES = ["htb", "prio"];

/**
 * Returns the line in a command of one of the `disciplines`, such as `tc qdisc add dev eth0 root fq_codel`. Other text
 * is returned as it is: the core reads other commands as a tree, or refuses them.
 */
export function withoutCommand(text: string, disciplines: readonly string[]): string {
  const line = text.replace(HEAD, "");
  const name = line.split(/\s/)[0] ?? "";
  const isLine = !text.includes(";") && disciplines.includes(name) && !WITH_CLASSES.includes(name);
  return isLine ? line : text;
}

/** Returns the line down, and the line up if `line` has both. */
export function directions(line: string): readonly [string, string | undefined] {
  const place = line.indexOf(BOTH);
  return place < 0 ? [line.trim(), undefined] : [line.slice(0, place).trim(), line.slice(place + BOTH.length).trim()];
}

/**
 * Returns the scenario that runs under `line`, as a scenario file would hold it. It has no buffer if the core says that
 * the buffer does not apply to the line: the line has a limit of its own, or its discipline has none.
 */
export function scenarioOf(experiment: Experiment, line: string): Table {
  const [down, up] = directions(line);
  const both = withAt(experiment.scenario, "bottleneck.qdisc", down);
  const scenario = up === undefined ? both : withAt(both, "bottleneck.up.qdisc", up);
  return withoutBuffer(down) === undefined ? scenario : withAt(scenario, "bottleneck.buffer", undefined);
}

/** Number of intervals of the time series. */
const INTERVALS = 300;

/** Returns `scenario` with time series for the charts. They change no other number of the record. */
export function charted(scenario: Table): Table {
  const duration = seconds(scenario["duration"]);
  if (isTable(scenario["series"]) && scenario["series"]["interval"] !== undefined) return scenario;
  if (duration === undefined) return scenario;
  const interval = Math.max(1, Math.round((duration * 1000) / INTERVALS));
  return withAt(scenario, "series.interval", `${interval}ms`);
}

const UNITS: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60 };

/** Returns a time such as `200ms` in seconds, or undefined if the text is not a time. */
export function seconds(text: unknown): number | undefined {
  return quantity(String(text), UNITS);
}

const RATES: Readonly<Record<string, number>> = { bit: 1e-6, kbit: 1e-3, mbit: 1, gbit: 1e3 };

/** Returns a rate such as `20mbit` in Mbit/s, or undefined if the text has no unit that the slider knows. */
export function mbps(text: unknown): number | undefined {
  return quantity(String(text).toLowerCase(), RATES);
}

/** Reads a number followed by one of `units`, and returns it times the unit's factor. */
function quantity(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const found = /^\s*([\d.]+)\s*([a-z]+)\s*$/.exec(text);
  const unit = units[found?.[2] ?? ""];
  const number = Number(found?.[1]);
  return unit === undefined || !Number.isFinite(number) ? undefined : number * unit;
}

/** Returns the index in `traffic` of the first bulk flows down, or up, or undefined if there are none. */
export function bulkPlace(scenario: Table, direction: "down" | "up" = "down"): number | undefined {
  const traffic = scenario["traffic"];
  const place = Array.isArray(traffic) ? traffic.findIndex((item) => at(item, "kind") === "bulk" && (at(item, "direction") ?? "down") === direction) : -1;
  return place < 0 ? undefined : place;
}

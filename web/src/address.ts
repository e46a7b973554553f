// The address holds the whole experiment, in words that a person can read and change:
//
//   #qdisc=pfifo&qdisc=fq_codel+target+10ms&bottleneck.rate=20mbit&traffic.0.kind=bulk&traffic.0.count=2
//
// Each `qdisc` is a line. A `label` is the name of a line, in the same order, and may be left out. All other words are
// keys of the scenario, as in `goodqueue run --set KEY=VALUE`.

import { FIRST, MOST_LINES, type Experiment } from "./experiment.ts";
import { DEEPEST, plain } from "./files.ts";
import { isTable, type Table, type Value } from "./table.ts";

const LINE = "qdisc";
const LABEL = "label";
const MOST_ITEMS = 10_000;

export function toAddress(experiment: Experiment): string {
  const words = new URLSearchParams();
  for (const line of experiment.lines) words.append(LINE, line);
  if (experiment.labels?.some((label) => label !== "")) experiment.lines.forEach((_, place) => words.append(LABEL, experiment.labels?.[place] ?? ""));
  for (const [key, leaf] of leaves(experiment.scenario)) words.append(key, written(leaf));
  return `#${words.toString()}`;
}

/**
 * Returns the experiment of an address, or undefined if it has none. Throws an Error with one line if it is not
 * valid.
 */
export function fromAddress(hash: string): Experiment | undefined {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const lines = words.getAll(LINE).slice(0, MOST_LINES);
  const labels = words.getAll(LABEL).slice(0, lines.length);
  const keys = [...words].filter(([key]) => key !== LINE && key !== LABEL);
  if (lines.length === 0 && keys.length === 0) return undefined;
  const scenario: Table = {};
  for (const [key, text] of keys) put(scenario, key, read(text));
  return {
    lines: lines.length > 0 ? lines : FIRST.lines,
    scenario: keys.length > 0 ? (plain(scenario, "the address") as Table) : FIRST.scenario,
    ...(labels.length > 0 && { labels }),
  };
}

function* leaves(value: Value, path = ""): Generator<[string, Value]> {
  const inner = Array.isArray(value) ? [...value.entries()] : isTable(value) ? Object.entries(value) : [];
  // A list of numbers or words is one value. A list of tables has one entry per table.
  const isLeaf = Array.isArray(value) ? !value.every(isTable) : !isTable(value);
  if (isLeaf || (inner.length === 0 && path !== "")) yield [path, value];
  else for (const [name, item] of inner) yield* leaves(item, path ? `${path}.${name}` : String(name));
}

/** Returns text unchanged, unless it would be read as another value. */
function written(leaf: Value): string {
  return typeof leaf === "string" && read(leaf) === leaf ? leaf : JSON.stringify(leaf);
}

function read(text: string): Value {
  try {
    const value = JSON.parse(text) as Value | null;
    return value ?? text;
  } catch {
    return text;
  }
}

function put(scenario: Table, key: string, leaf: Value): void {
  const parts = key.split(".");
  if (parts.length > DEEPEST || parts.some((part) => part === "" || part === "__proto__")) {
    throw new Error(`the address: found the key ${JSON.stringify(key.slice(0, 60))}; accepted: a dotted key, as in bottleneck.rate=10mbit`);
  }
  let holder: Table | Value[] = scenario;
  for (const [depth, part] of parts.entries()) {
    const isLast = depth === parts.length - 1;
    const next: Value = isLast ? leaf : /^\d+$/.test(parts[depth + 1] ?? "") ? [] : {};
    if (Array.isArray(holder)) {
      const place = Number(part);
      if (!(place <= holder.length && place < MOST_ITEMS)) {
        throw new Error(`the address: found ${key.slice(0, 60)}; accepted: places of a list from 0 on, none left out`);
      }
      if (isLast || typeof holder[place] !== "object") holder[place] = next;
      holder = holder[place] as Table | Value[];
    } else {
      if (isLast || typeof holder[part] !== "object") holder[part] = next;
      holder = holder[part] as Table | Value[];
    }
  }
}

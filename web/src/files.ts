// Scenarios as text: TOML files, records, and the command that runs the same experiment elsewhere.

import { parse, stringify, TomlError } from "smol-toml";
import { MOST_LINES, scenarioOf, withAt, type Experiment } from "./experiment.ts";
import { at, isTable, type Table, type Value } from "./table.ts";

const LINE = "bottleneck.qdisc";
const TREE = "bottleneck.tc";
/** Most parts of a key. */
export const DEEPEST = 12;

/** Returns the scenario of a TOML file. Throws an Error with one line that says what is wrong, and where. */
export function readToml(text: string, name: string): Table {
  try {
    return plain(parse(text), name) as Table;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const why = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "") ?? "";
    throw new Error(`${name}:${error.line}: not TOML: ${why}`);
  }
}

/**
 * Converts `value` to what a scenario may hold. TOML's dates become text. Infinite numbers, NaN and JSON's null are
 * refused.
 */
export function plain(value: unknown, name: string, keys: readonly (string | number)[] = []): Value {
  const refuse = (found: string, accepted: string): never => {
    throw new Error(`${name}: ${keys.join(".").slice(0, 60)}: found ${found}; accepted: ${accepted}`);
  };
  if (keys.length > DEEPEST) refuse(`tables in more than ${DEEPEST} others`, "a scenario");
  if (value === null) refuse("null", "a value, or no such key");
  if (typeof value === "number" && !Number.isFinite(value)) refuse(String(value), "a finite number");
  if (Array.isArray(value)) return value.map((item, place) => plain(item, name, [...keys, place]));
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null) return value as Value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, name, [...keys, key])]));
}

/** Returns the experiment under `line` as a scenario file. */
export function toToml(experiment: Experiment, line: string): string {
  return `${stringify(scenarioOf(experiment, line)).trim()}\n`;
}

/** Returns the shell command that runs the experiment under `line`. */
export function toCommand(experiment: Experiment, line: string): string {
  return `goodqueue run /dev/stdin <<'END'\n${toToml(experiment, line)}END\n`;
}

/** The content of a file. */
export interface Opened {
  experiment: Experiment;
  /** A note for the reader, in one line, or empty. */
  note: string;
}

/** Reads a file that a person drops on the page: a scenario file, a record, or a comparison. */
export function open(text: string, name: string): Opened {
  const isJson = /^\s*\{/.test(text); // no TOML file begins like this
  if (!isJson) return { experiment: ofScenario(readToml(text, name), name), note: "" };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`${name}: found no JSON that is whole; accepted: a scenario in TOML, or what goodqueue run --json prints`);
  }
  return ofJson(json, name);
}

/** Returns the experiment of a record's JSON, or of the output of `goodqueue compare --json`. */
export function ofJson(json: unknown, name: string): Opened {
  const found = at(json, "scenario");
  if (!isTable(found)) {
    throw new Error(`${name}: found JSON without a scenario; accepted: what goodqueue run --json prints, or a scenario in TOML`);
  }
  const scenario = plain(found, name) as Table;
  const compared = at(json, "qdiscs");
  const lines = Array.isArray(compared) ? compared.map((one) => at(one, "qdisc")).filter((line) => typeof line === "string") : [];
  const experiment = lines.length > 0 ? { scenario, lines: lines.slice(0, MOST_LINES) } : ofScenario(scenario, name);
  const engine = at(json, "engine") ?? "sim";
  const note = engine === "sim" ? "" : `${name}: measured by ${String(engine).slice(0, 40)}; this page simulates its scenario`;
  return { experiment, note };
}

function ofScenario(scenario: Table, name: string): Experiment {
  // A tree of classes is a line, too: its commands one after the other.
  const commands = at(scenario, TREE);
  const line = Array.isArray(commands) ? commands.join("; ") : at(scenario, LINE);
  if (typeof line !== "string") {
    throw new Error(`${name}: bottleneck.qdisc: missing; accepted: a scenario, as goodqueue init writes one`);
  }
  return { scenario: withAt(withAt(scenario, LINE, undefined), TREE, undefined), lines: [line] };
}

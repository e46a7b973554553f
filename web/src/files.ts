// Scenarios as text: TOML files, records, and the command that runs the same experiment elsewhere.

import { parse, stringify, TomlError } from "smol-toml";
import { MOST_LINES, scenarioOf, withAt, type Experiment } from "./experiment.ts";
import { at, isTable, type Table, type Value } from "./record.ts";

const LINE = "bottleneck.qdisc";

/** The scenario of a TOML file. Throws an Error, in one line, that says what is wrong where. */
export function readToml(text: string, name: string): Table {
  try {
    return plain(parse(text), "") as Table;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const why = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "") ?? "";
    throw new Error(`${name}:${error.line}: not TOML: ${why}`);
  }
}

/** As JSON has it: TOML also knows dates and numbers without end, which no key of a scenario takes. */
function plain(value: unknown, key: string): Value {
  if (Array.isArray(value)) return value.map((item, place) => plain(item, `${key}.${place}`));
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new Error(`${key.slice(1)}: found ${value}; accepted: a finite number`);
  }
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "object" || value === null) return value as Value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item, `${key}.${name}`)]));
}

/** A scenario file of the experiment under `line`. */
export function toToml(experiment: Experiment, line: string): string {
  return `${stringify(scenarioOf(experiment, line)).trim()}\n`;
}

/** The command that runs the same under `line`, for a shell. */
export function toCommand(experiment: Experiment, line: string): string {
  return `goodqueue run /dev/stdin <<'END'\n${toToml(experiment, line)}END\n`;
}

/** Whatever a person drops on the page: a scenario file, a record, or results that hold records. */
export function open(text: string, name: string): Experiment {
  const isJson = /^\s*[{[]/.test(text) && !/^\s*\[\[?[A-Za-z"']/.test(text);
  if (!isJson) return ofScenario(readToml(text, name), name);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error(`${name}: found no JSON that is whole; accepted: a scenario in TOML, or what goodqueue run --json prints`);
  }
  return ofJson(json, name);
}

/** The experiment of a record's JSON, or of what `goodqueue compare --json` prints. */
export function ofJson(json: unknown, name: string): Experiment {
  const scenario = at(json, "scenario");
  if (!isTable(scenario)) {
    throw new Error(`${name}: found JSON without a scenario; accepted: what goodqueue run --json prints, or a scenario in TOML`);
  }
  const compared = at(json, "qdiscs");
  const lines = Array.isArray(compared) ? compared.map((one) => at(one, "qdisc")).filter((line) => typeof line === "string") : [];
  if (lines.length > 0) return { scenario, lines: lines.slice(0, MOST_LINES) };
  return ofScenario(scenario, name);
}

function ofScenario(scenario: Table, name: string): Experiment {
  const line = at(scenario, LINE);
  if (typeof line !== "string") {
    throw new Error(`${name}: bottleneck.qdisc: missing; accepted: a scenario, as goodqueue init writes one`);
  }
  return { scenario: withAt(scenario, LINE, undefined), lines: [line] };
}

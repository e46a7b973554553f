// The simulator without the page, as an oracle: what a line gives, and which disciplines there are.

import { readFileSync } from "node:fs";
import { parse } from "smol-toml";
import { callMos } from "../src/call.ts";
import type { App } from "../src/record.ts";
import init, { choices, Run } from "../wasm/goodqueue_web.js";

const ready = init({ module_or_path: readFileSync("wasm/goodqueue_web_bg.wasm") });

/** The numbers of a record, as the page's totals write them, under the names of their columns. */
export type Numbers = Record<string, string>;

interface Record_ {
  queues: { down: { utilisation_percent: number; delay_ms: { mean: number; p95: number; p99: number } | null } };
  apps: App[];
}

/** Returns the names of all disciplines, as `goodqueue list qdiscs` has them. */
export async function disciplines(): Promise<string[]> {
  await ready;
  return (JSON.parse(choices()) as { qdiscs: { name: string }[] }).qdiscs.map(({ name }) => name);
}

/** The parts of a record with series, as the page asks for it. */
export interface Charted {
  queues: Record<"down" | "up", { delay_ms: { p95: number } | null }>;
  flows: { direction: string; goodput_mbps: number }[];
  hops?: { name: string; utilisation_percent?: number; delay_ms?: { p95: number } | null }[];
  apps: App[];
  series: {
    time_s: number[];
    queues: Record<"down" | "up", { backlog_packets: number[] }>;
    hops?: Record<string, { backlog_packets: number[] }>;
  };
}

/** Returns the record of a scenario (TOML) under a line, with 300 intervals. */
export async function record(toml: string, line: string): Promise<Charted> {
  await ready;
  const scenario = parse(toml) as { duration: string; bottleneck: { qdisc?: string }; series?: unknown };
  scenario.bottleneck.qdisc = line;
  scenario.series = { interval: `${Math.round((Number.parseFloat(scenario.duration) * 1000) / 300)}ms` };
  const run = new Run(JSON.stringify(scenario));
  run.advance(run.duration_s());
  const found = JSON.parse(run.record()) as Charted;
  run.free();
  return found;
}

const known = new Map<string, Numbers | { refusal: string }>();

/** Returns the numbers of a scenario (TOML) under a line, or the core's refusal. The same question runs only once. */
export async function numbers(toml: string, line: string): Promise<Numbers | { refusal: string }> {
  await ready;
  const question = `${line}\n${toml}`;
  const found = known.get(question) ?? runUnder(toml, line);
  known.set(question, found);
  return found;
}

/**
 * Runs a scenario (TOML) under a line, without the buffer if the core refuses the buffer. Returns its numbers, or the
 * core's refusal.
 */
function runUnder(toml: string, line: string): Numbers | { refusal: string } {
  const scenario = parse(toml) as { bottleneck: { buffer?: unknown; qdisc?: string } };
  scenario.bottleneck.qdisc = line;
  const run = (): Numbers => {
    const simulation = new Run(JSON.stringify(scenario));
    simulation.advance(simulation.duration_s());
    const { queues, apps } = JSON.parse(simulation.record()) as Record_;
    simulation.free();
    const found: Record<string, [number | null | undefined, number]> = {
      "Link used": [queues.down.utilisation_percent, 1],
      "Delay, mean": [queues.down.delay_ms?.mean, 2],
      p95: [queues.down.delay_ms?.p95, 2],
      p99: [queues.down.delay_ms?.p99, 2],
      Call: [callMos({ apps }), 2],
      Page: [(apps.find(({ kind }) => kind === "page")?.load_ms?.p50 ?? NaN) / 1e3, 2],
    };
    return Object.fromEntries(Object.entries(found).map(([name, [value, digits]]) => [name, Number.isFinite(value) ? (value as number).toFixed(digits) : "–"]));
  };
  try {
    return run();
  } catch (error) {
    const { key, message } = JSON.parse((error as Error).message) as { key: string; message: string };
    if (key !== "bottleneck.buffer") return { refusal: message };
    delete scenario.bottleneck.buffer;
    return run();
  }
}

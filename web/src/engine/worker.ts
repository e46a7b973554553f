// A worker: it holds the simulator, and runs one scenario at a time.

import init, { Run } from "../../wasm/goodqueue_web.js";
import type { FromWorker, Refusal, ToWorker } from "./protocol.ts";

/** Length of a slice of a run, about, in real time. Messages are read between slices. */
const SLICE_MS = 30;
/** A run whose result is no longer needed continues if it ends within this time. */
const PATIENCE_MS = 120;
/** Packets that were queued before the first look are seen if they were offered at most this long ago. */
const BEFORE_S = 4;

function say(message: FromWorker, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}

/** Lets waiting messages be read. */
function breathe(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });
}

function refusalOf(error: unknown): Refusal {
  const text = error instanceof Error ? error.message : String(error);
  try {
    return JSON.parse(text) as Refusal;
  } catch {
    return { key: "", message: `the simulator stopped: ${text}` };
  }
}

/** The id of the run whose result is needed, or 0. */
let newest = 0;

async function run(id: number, scenario: string): Promise<void> {
  newest = id;
  const began = performance.now();
  let simulation: Run | undefined;
  try {
    simulation = new Run(scenario);
    const duration_s = simulation.duration_s();
    let step = duration_s / 100;
    for (let at = 0; at < duration_s; ) {
      const before = performance.now();
      at = Math.min(duration_s, at + step);
      simulation.advance(at);
      const now = performance.now();
      step *= Math.min(4, Math.max(0.25, SLICE_MS / Math.max(now - before, 0.1)));
      if (now - began < SLICE_MS) continue;
      say({ kind: "progress", id, share: at / duration_s });
      await breathe();
      const left_ms = ((now - began) / at) * (duration_s - at);
      if (newest !== id && left_ms > PATIENCE_MS) return say({ kind: "given_up", id });
    }
    say({ kind: "record", id, text: simulation.record(), duration_s, took_ms: performance.now() - began });
  } catch (error) {
    say({ kind: "refused", id, refusal: refusalOf(error) });
  } finally {
    simulation?.free();
  }
}

/** The run that the page looks at, and how far it has advanced. */
let seen: { scenario: string; run: Run; at_s: number } | undefined;

function look(id: number, scenario: string, from_s: number, until_s: number): void {
  try {
    if (seen === undefined || seen.scenario !== scenario || Math.abs(seen.at_s - from_s) > 1e-9) {
      seen?.run.free();
      seen = { scenario, run: new Run(scenario), at_s: from_s };
      seen.run.advance(Math.max(0, from_s - BEFORE_S));
      seen.run.packets(from_s);
      seen.run.laws();
    }
    const rows = seen.run.packets(until_s);
    seen.at_s = until_s;
    say({ kind: "packets", id, rows, laws: seen.run.laws(), queues: seen.run.queues() }, [rows.buffer]);
  } catch (error) {
    seen = undefined;
    say({ kind: "refused", id, refusal: refusalOf(error) });
  }
}

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === "start") {
    void init({ module_or_path: data.module }).then(() => say({ kind: "ready" }));
  } else if (data.kind === "run") {
    void run(data.id, data.scenario);
  } else if (data.kind === "give_up") {
    newest = 0;
  } else {
    look(data.id, data.scenario, data.from_s, data.until_s);
  }
});

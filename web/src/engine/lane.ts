// A lane: one worker that runs the experiment under one line. The newest question replaces older ones.

import { complete, isLeftOut, module } from "./core.ts";
import type { FromWorker, Refusal, ToWorker } from "./protocol.ts";

export interface Answer {
  text: string;
  duration_s: number;
  took_ms: number;
}

export type Outcome = { kind: "record"; answer: Answer } | { kind: "refused"; refusal: Refusal } | { kind: "given_up" };

export interface Packets {
  rows: Float64Array;
  /** The names of the queues into which the disciplines sort packets. Most have none. */
  queues: { down: string[]; up: string[] };
  laws: { down: Record<string, (number | null)[]>; up: Record<string, (number | null)[]> };
}

export class Lane {
  ready: Promise<void>;
  private worker: Worker;
  private isComplete = false;
  /** Counts how often a run was given up. */
  private gaveUp = 0;
  private readonly waiting = new Map<number, (message: FromWorker) => void>();
  private next = 1;

  constructor() {
    [this.worker, this.ready] = this.start(module());
  }

  /** Starts a worker with a simulator. */
  private start(simulator: Promise<WebAssembly.Module>): [Worker, Promise<void>] {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    const ready = new Promise<void>((resolve, reject) => {
      worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
        if (data.kind === "ready") resolve();
        else this.waiting.get(data.id)?.(data);
      });
      worker.addEventListener("error", (event) => reject(new Error(event.message)));
      simulator.then((compiled) => worker.postMessage({ kind: "start", module: compiled } satisfies ToWorker), reject);
    });
    return [worker, ready];
  }

  /** Runs `scenario` (JSON), by the complete simulator if that of the page leaves out what it needs. */
  async run(scenario: string, progress?: (share: number) => void): Promise<Outcome> {
    const outcome = await this.ask(scenario, progress);
    if (outcome.kind !== "refused" || this.isComplete || !isLeftOut(outcome.refusal)) return outcome;
    const before = this.gaveUp;
    let simulator;
    try {
      simulator = await complete();
    } catch (error) {
      const { key, message } = outcome.refusal;
      return { kind: "refused", refusal: { key, message: `${message} (the complete simulator cannot be fetched: ${String(error)})` } };
    }
    if (this.gaveUp !== before) return { kind: "given_up" };
    if (!this.isComplete) {
      this.worker.terminate();
      this.isComplete = true;
      [this.worker, this.ready] = this.start(Promise.resolve(simulator));
      // The worker before answers nothing any more.
      for (const [id, answer] of [...this.waiting]) answer({ kind: "given_up", id });
    }
    return this.ask(scenario, progress);
  }

  private async ask(scenario: string, progress?: (share: number) => void): Promise<Outcome> {
    await this.ready;
    const id = this.next++;
    return new Promise((resolve) => {
      this.waiting.set(id, (message) => {
        if (message.kind === "progress") return progress?.(message.share);
        this.waiting.delete(id);
        if (message.kind === "record") resolve({ kind: "record", answer: message });
        else if (message.kind === "refused") resolve({ kind: "refused", refusal: message.refusal });
        else resolve({ kind: "given_up" });
      });
      this.tell({ kind: "run", id, scenario });
    });
  }

  /** Gives up the run in progress, because its result is no longer needed. */
  giveUp(): void {
    this.gaveUp++;
    this.tell({ kind: "give_up" });
  }

  /** Returns the packets on their way from `from_s` to `until_s`, or undefined if the scenario is refused. */
  async look(scenario: string, from_s: number, until_s: number): Promise<Packets | undefined> {
    await this.ready;
    const id = this.next++;
    return new Promise((resolve) => {
      this.waiting.set(id, (message) => {
        this.waiting.delete(id);
        if (message.kind !== "packets") return resolve(undefined);
        resolve({
          rows: message.rows,
          queues: JSON.parse(message.queues) as Packets["queues"],
          laws: JSON.parse(message.laws) as Packets["laws"],
        });
      });
      this.tell({ kind: "look", id, scenario, from_s, until_s });
    });
  }

  close(): void {
    this.gaveUp++;
    this.worker.terminate();
  }

  private tell(message: ToWorker): void {
    this.worker.postMessage(message);
  }
}

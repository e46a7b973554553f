// A lane: one worker that runs the experiment under one line. The newest question replaces older ones.

import { module } from "./core.ts";
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
  readonly ready: Promise<void>;
  private readonly worker: Worker;
  private readonly waiting = new Map<number, (message: FromWorker) => void>();
  private next = 1;

  constructor() {
    this.worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.ready = new Promise((resolve, reject) => {
      this.worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
        if (data.kind === "ready") resolve();
        else this.waiting.get(data.id)?.(data);
      });
      this.worker.addEventListener("error", (event) => reject(new Error(event.message)));
      module().then((compiled) => this.tell({ kind: "start", module: compiled }), reject);
    });
  }

  /** Runs `scenario` (JSON). */
  async run(scenario: string, progress?: (share: number) => void): Promise<Outcome> {
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
    this.worker.terminate();
  }

  private tell(message: ToWorker): void {
    this.worker.postMessage(message);
  }
}

// What the page and its workers say to each other. Each lane has a worker of its own, so that lanes run at the same
// time.

import type { Choices } from "./choices.ts";

export type ToWorker =
  | { kind: "start"; module: WebAssembly.Module }
  | { kind: "run"; id: number; scenario: string }
  /** Nobody waits for what is running any more: it ends, unless it is about to. */
  | { kind: "give_up" }
  /** Show the packets that are on their way in a span of the run. */
  | { kind: "look"; id: number; scenario: string; from_s: number; until_s: number };

export type FromWorker =
  | { kind: "ready"; choices: Choices }
  | { kind: "progress"; id: number; share: number }
  | { kind: "record"; id: number; text: string; duration_s: number; took_ms: number }
  | { kind: "given_up"; id: number }
  | { kind: "refused"; id: number; refusal: Refusal }
  | { kind: "packets"; id: number; rows: Float64Array; laws: string };

/** Why a scenario does not run: the core's own words, as the command line has them. */
export interface Refusal {
  key: string;
  message: string;
}

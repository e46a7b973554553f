// The messages between the page and its workers. Each lane has its own worker, so that lanes run at the same time.

export type ToWorker =
  | { kind: "start"; module: WebAssembly.Module }
  | { kind: "run"; id: number; scenario: string }
  /** The result of the present run is no longer needed. The run ends, unless it is nearly done. */
  | { kind: "give_up" }
  /** Show the packets that are on their way in a span of the run. */
  | { kind: "look"; id: number; scenario: string; from_s: number; until_s: number };

export type FromWorker =
  | { kind: "ready" }
  | { kind: "progress"; id: number; share: number }
  | { kind: "record"; id: number; text: string; duration_s: number; took_ms: number }
  | { kind: "given_up"; id: number }
  | { kind: "refused"; id: number; refusal: Refusal }
  | { kind: "packets"; id: number; rows: Float64Array; laws: string; queues: string };

/** Why a scenario does not run, in the core's words, as on the command line. */
export interface Refusal {
  key: string;
  message: string;
}

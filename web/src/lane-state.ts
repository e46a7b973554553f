// What a lane has to show. Every view of a lane takes this one state and has no other way to a record. So no number
// stands under a line, or beside a setting, that did not run.

import type { Refusal } from "./engine/protocol.ts";
import type { RunRecord } from "./record.ts";

/** A run that has ended. */
export interface Run {
  line: string;
  /** The scenario as JSON. */
  scenario: string;
  record: RunRecord;
  duration_s: number;
  took_ms: number;
}

export type LaneState =
  /**
   * The present experiment runs. While a control moves, `before` is a run of the same line with an earlier setting.
   * Views dim it and call it "before". For a line that is new there is none.
   */
  | { kind: "running"; progress: number; before: Run | undefined }
  /** The present experiment has run. */
  | { kind: "done"; run: Run }
  /** The core refuses the present experiment. There is nothing to show but its words. */
  | { kind: "refused"; refusal: Refusal };

export const NOTHING_YET: LaneState = { kind: "running", progress: 0, before: undefined };

/** Returns the run that a lane shows under its line: its own, or the one before while the same line runs again. */
export function shown(state: LaneState): Run | undefined {
  if (state.kind === "refused") return undefined;
  return state.kind === "done" ? state.run : state.before;
}

/** Returns the state after a change of the experiment, when `line` begins to run. */
export function started(state: LaneState, line: string): LaneState {
  const before = shown(state);
  return { kind: "running", progress: 0, before: before?.line === line ? before : undefined };
}

/** Returns what a view says of the run that it shows, as a word in front, or nothing if it is the present one. */
export function standing(state: LaneState): string {
  return state.kind === "running" && state.before ? "before: " : "";
}

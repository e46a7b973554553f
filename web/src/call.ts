// The score of calls (MOS) as their listeners hear them: behind a play-out buffer. It is `call_mos` of
// python/goodqueue/measures/numbers/calls.py, which says why.

import { mos } from "../wasm/goodqueue_web.js";
import type { App, RunRecord } from "./record.ts";

/** The score of a call of which nothing arrives. */
const WORST = 1;

/** Returns the score of a call with the play-out buffer that suits it best. It waits for a percentile of the delay. */
function heard({ delay_percentiles_ms, loss_percent }: App): number {
  const arrived = 100 - (loss_percent ?? 0);
  const scores = (delay_percentiles_ms ?? []).map((wait_ms, percent) => (wait_ms === null ? WORST : mos(wait_ms, 100 - (arrived * percent) / 100)));
  return Math.max(WORST, ...scores);
}

/** Returns the mean score of the calls of both directions, or undefined if there is none. */
export function callMos({ apps }: Pick<RunRecord, "apps">): number | undefined {
  const calls = apps.filter(({ kind, loss_percent }) => kind === "voip" && loss_percent !== null);
  return calls.length === 0 ? undefined : calls.reduce((sum, call) => sum + heard(call), 0) / calls.length;
}

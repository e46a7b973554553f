// The moment that the page shows, and the packets that are on their way then.

import { effect, signal } from "@preact/signals";
import type { Lane, Packets } from "./engine/lane.ts";
import { mbps, seconds } from "./experiment.ts";
import { fullestTime } from "./fullest.ts";
import { shown } from "./lane-state.ts";
import { at } from "./table.ts";
import { allStates, experiment, lane, opened, stateOf } from "./state.ts";

/** The moment that the page shows, in seconds of the run. */
export const playhead = signal(10);
export const playing = signal(false);
/** Seconds of the run per second of real time. */
export const speed = signal(0.05);

/** The number of columns in a packet's row, as in crates/web/src/look.rs. */
const COLUMNS = 10;
export interface Packet {
  direction: number;
  flow: number;
  offered_s: number;
  decided_s: number;
  arrived_s: number;
  fate: number;
  law: number;
  /** Its queue among those into which the discipline sorts packets. */
  queue: number;
}
/** A fate is 0 while a packet waits, and 1 after it was sent. */
export const MARKED = 2;
export const FIRST_DROP = 3;
/** Reasons of the fates from `FIRST_DROP` on, in the order of goodqueue_qdisc::Drop. */
export const DROPS = ["overlimit", "memory", "early", "forced", "target", "flow", "ack", "loss"] as const;

/** The packets in one span of the run, in the order in which they were offered. */
export interface Sight {
  scenario: string;
  from_s: number;
  until_s: number;
  packets: Packet[];
  /** The packets that left the queue down or were dropped there, in the order in which that happened. */
  decided: Packet[];
  laws: Packets["laws"];
  /** The names of the queues down into which the discipline sorts packets, from the top of the picture. Or none. */
  queues: string[];
}

const sights = signal<readonly (Sight | undefined)[]>([]);

/** Returns the packets of the run that a lane shows, or undefined if it shows none, or has none of its packets yet. */
export function sightAt(place: number): Sight | undefined {
  const [sight, run] = [sights.value[place], shown(stateOf(place))];
  return sight?.scenario === run?.scenario ? sight : undefined;
}

/** About this many packets are in a span: enough to see, few enough to draw. */
const SPAN_PACKETS = 1500;
const FULL_BITS = 1514 * 8;
/** At a round time some packets before it are seen, too, because no span begins there. In spans. */
const EARLY = 0.3125;
/** A time this close to the end of a span is in the next one, in spans or seconds. */
const ROUNDING = 1e-9;

/** Returns the length of a span in seconds. They begin `EARLY` before its multiples. */
export function span_s(): number {
  // A shaper may use a small part of the link.
  const used = Math.max(0, ...allStates().map((state) => shown(state)?.record.queues.down.throughput_mbps ?? 0));
  const rate = used || (mbps(at(experiment.value.scenario, "bottleneck.rate")) ?? 50);
  return Math.min(1, Math.max(0.005, (SPAN_PACKETS * FULL_BITS) / (rate * 1e6)));
}

/** Lanes that were asked and have not answered yet. A lane that is removed meanwhile never answers. */
const pending = new WeakSet<Lane>();

/** Whether a lane that has run has no packets yet for the moment that the page shows. */
function isMissing(place: number): boolean {
  if (stateOf(place).kind !== "done") return false;
  const sight = sightAt(place);
  return sight === undefined || !(sight.from_s - ROUNDING <= playhead.value && playhead.value < sight.until_s);
}

/** Asks lane `place` for the packets that it should show now, unless it has them or has not run. */
async function see(place: number): Promise<void> {
  const state = stateOf(place);
  if (state.kind !== "done" || !isMissing(place)) return;
  const asked = lane(place);
  if (pending.has(asked)) return;
  const { scenario } = state.run;
  pending.add(asked);
  const length = span_s();
  const number = Math.floor(playhead.value / length + EARLY + ROUNDING);
  const [from_s, until_s] = [Math.max(0, (number - EARLY) * length), (number + 1 - EARLY) * length];
  const packets = await asked.look(scenario, from_s, until_s);
  pending.delete(asked);
  if (packets) {
    const now = [...sights.value];
    now[place] = sightOf(packets, scenario, from_s, until_s);
    sights.value = now;
    goOn();
  }
}

function sightOf({ rows, laws, queues }: Packets, scenario: string, from_s: number, until_s: number): Sight {
  const numbered: [number, Packet][] = [];
  for (let i = 0; i < rows.length; i += COLUMNS) {
    const [id = 0, direction = 0, flow = 0, , offered_s = 0, decided_s = NaN, arrived_s = NaN, fate = 0, law = NaN, queue = 0] = rows.subarray(i, i + COLUMNS);
    numbered.push([id, { direction, flow, offered_s, decided_s, arrived_s, fate, law, queue }]);
  }
  numbered.sort(([a], [b]) => a - b);
  const packets = numbered.map(([, packet]) => packet);
  const decided = packets.filter((packet) => packet.direction === 0 && packet.decided_s >= from_s);
  decided.sort((a, b) => a.decided_s - b.decided_s);
  return { scenario, from_s, until_s, packets, decided, laws, queues: queues.down };
}

/** Returns the last decision of the law until `time_s`. */
export function lastDecision(sight: Sight, time_s: number): Packet | undefined {
  let [low, high] = [0, sight.decided.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sight.decided[middle]?.decided_s ?? 0) <= time_s) low = middle + 1;
    else high = middle;
  }
  return sight.decided[low - 1];
}

/** Returns the length of the runs. While none has ended it is what the scenario says, or 0 if that says nothing. */
export function duration_s(): number {
  const ended = Math.max(0, ...allStates().map((state) => shown(state)?.duration_s ?? 0));
  return ended || (seconds(experiment.value.scenario["duration"]) ?? 0);
}

export function seek(time_s: number): void {
  playhead.value = Math.min(Math.max(0, time_s), Math.max(0, duration_s() - 1e-6));
}

/** Whether a lane runs, or has no packets yet for the moment that the page shows. */
function isFetching(): boolean {
  return allStates().some(({ kind }, place) => kind === "running" || isMissing(place));
}

/** Steps, forward or back, that a person asked for and that are not carried out yet. */
let wanted = 0;

/** Steps to the next or previous packet that leaves a queue or is dropped, in any lane. */
export function step(by: 1 | -1): void {
  playing.value = false;
  if (!isFetching()) wanted = 0;
  wanted += by;
  goOn();
}

/**
 * Carries out the steps as far as their packets are known. It then moves to the next span, and goes on when that is
 * fetched.
 */
function goOn(): void {
  while (wanted !== 0 && !isFetching()) {
    const [now, isAhead] = [playhead.value, wanted > 0];
    const seen = allStates().flatMap((_, place) => sightAt(place) ?? []);
    const times = seen.flatMap((sight) => sight.decided.map((packet) => packet.decided_s));
    const ahead = times.filter((time) => (isAhead ? time > now + 1e-9 : time < now - 1e-9));
    const edge = seen[0];
    if (ahead.length > 0) {
      wanted -= Math.sign(wanted);
      seek(isAhead ? Math.min(...ahead) : Math.max(...ahead));
    } else if (edge === undefined || (isAhead ? edge.until_s >= duration_s() : edge.from_s <= 0)) {
      wanted = 0; // no packet comes after the last one, or before the first
    } else {
      seek(isAhead ? edge.until_s : edge.from_s - 1e-6);
    }
  }
}

/** Lets time pass while the page plays, and fetches the packets that it needs. */
export function startClock(): void {
  effect(() => {
    void [playhead.value, sights.value];
    allStates().forEach((_, place) => void see(place));
  });
  // A new run may be shorter than the moment that the page shows.
  effect(() => {
    if (duration_s() > 0) seek(playhead.value);
  });
  // An experiment that is opened begins at the moment that matters, once all of it has run.
  let begun = 0;
  effect(() => {
    const states = allStates();
    if (begun === opened.value || states.some(({ kind }) => kind === "running")) return;
    begun = opened.value;
    const records = states.flatMap((state) => shown(state)?.record ?? []);
    const found = fullestTime(records, seconds(experiment.peek().scenario["warmup"]) ?? 0);
    if (found !== undefined) seek(found);
  });
  let before = 0;
  const tick = (now_ms: number): void => {
    const passed_s = Math.min(0.1, (now_ms - before) / 1000);
    before = now_ms;
    if (!playing.value) return;
    // Time waits for lanes that have no packets to show.
    const next = playhead.value + passed_s * speed.value;
    if (!isFetching()) seek(next >= duration_s() ? 0 : next);
    requestAnimationFrame(tick);
  };
  effect(() => {
    if (!playing.value) return;
    before = performance.now();
    requestAnimationFrame(tick);
  });
}

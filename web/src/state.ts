// The page's state: one experiment, and the state of each lane, which runs it under one line.

import { batch, effect, signal } from "@preact/signals";
import { fromAddress, toAddress } from "./address.ts";
import { core, startCore } from "./engine/core.ts";
import { Lane } from "./engine/lane.ts";
import { charted, FIRST, scenarioOf, withAt, type Experiment } from "./experiment.ts";
import { NOTHING_YET, started, type LaneState } from "./lane-state.ts";
import type { RunRecord } from "./record.ts";
import type { Value } from "./table.ts";

export const experiment = signal<Experiment>(FIRST);
/** The experiment of an address without words: the first one, or the file that `goodqueue serve` opens. */
export const home = signal<Experiment>(FIRST);
/** Whether it is known which experiment the page begins with. Nothing runs before. */
export const hasBegun = signal(false);
/** A problem beside the experiment itself, in one line, or empty. */
export const trouble = signal("");

/** The state of each lane, in the order of the lines. */
const states = signal<readonly LaneState[]>([]);

/** Returns the state of a lane. It is of the present experiment: a change of it changes all lanes at once. */
export function stateOf(place: number): LaneState {
  return states.value[place] ?? NOTHING_YET;
}

/** Returns the states of all lanes. */
export function allStates(): readonly LaneState[] {
  return experiment.value.lines.map((_, place) => stateOf(place));
}

const lanes: Lane[] = [];
/** Whether each lane is running, and the question that it runs next. */
const busy: boolean[] = [];
const asked: (string | undefined)[] = [];
/** The newest question of each lane. */
const last: string[] = [];
/** Counts the experiments that were opened, so that no run of one shows in the next. */
export const opened = signal(0);

function fails(error: unknown): void {
  trouble.value = `the simulator does not start: ${String(error)}`;
}

export function lane(place: number): Lane {
  const known = lanes[place];
  if (known) return known;
  const made = new Lane();
  lanes[place] = made;
  made.ready.catch(fails);
  return made;
}

/** Returns the scenario of a lane as JSON, without the time series for the charts. */
function scenarioText(place: number): string {
  const { lines } = experiment.value;
  return JSON.stringify(scenarioOf(experiment.value, lines[place] ?? ""));
}

/** Returns the scenario under `line` as JSON, with the time series for the charts. */
function question(line: string): string {
  return JSON.stringify(charted(scenarioOf(experiment.value, line)));
}

function put(place: number, state: LaneState): void {
  states.value = allStates().map((old, at) => (at === place ? state : old));
}

/** Returns the words of a lane's line. Spaces at its ends make no other line. */
function lineOf(place: number): string {
  return (experiment.value.lines[place] ?? "").trim();
}

/** Runs a lane until it has no newer question. */
async function work(place: number): Promise<void> {
  busy[place] = true;
  for (let text = asked[place]; text !== undefined; text = asked[place]) {
    asked[place] = undefined;
    const [line, scenario, of] = [lineOf(place), scenarioText(place), opened.peek()];
    const isNewest = (): boolean => last[place] === text;
    const outcome = await lane(place).run(text, (progress) => {
      const state = stateOf(place);
      if (isNewest() && state.kind === "running") put(place, { ...state, progress });
    });
    if (place >= experiment.value.lines.length) break;
    if (outcome.kind === "record") {
      const { text: json, duration_s, took_ms } = outcome.answer;
      const run = { line, scenario, record: JSON.parse(json) as RunRecord, duration_s, took_ms };
      const state = stateOf(place);
      if (isNewest()) put(place, { kind: "done", run });
      // A control has moved on. This run is nearer to the present setting than the one that is shown.
      else if (state.kind === "running" && of === opened.peek() && line === lineOf(place)) put(place, { ...state, before: run });
    } else if (outcome.kind === "refused") {
      if (isNewest()) put(place, { kind: "refused", refusal: outcome.refusal });
    } else if (isNewest()) {
      asked[place] = text; // another run of this lane, with another seed, took its turn
    }
  }
  busy[place] = false;
}

/** Makes each lane run when its scenario changes, from now on. */
export function startRuns(): void {
  startCore().catch(fails);
  effect(() => {
    const { lines } = experiment.value;
    // Workers start while the core does.
    if (!core.value || !hasBegun.value) return lines.forEach((_, place) => void lane(place));
    const texts = lines.map(question);
    batch(() => {
      const now = states.peek();
      states.value = lines.map((_, place) => {
        const state = now[place] ?? NOTHING_YET;
        return last[place] === texts[place] ? state : started(state, lineOf(place));
      });
      for (const surplus of lanes.splice(lines.length)) surplus.close();
      busy.length = asked.length = last.length = lines.length;
      texts.forEach((text, place) => {
        if (last[place] === text) return;
        last[place] = asked[place] = text;
        if (busy[place]) lane(place).giveUp();
        else void work(place);
      });
    });
  });
}

/** Replaces the experiment by another one. Nothing of the one before stays. */
export function openExperiment(next: Experiment): void {
  batch(() => {
    opened.value++;
    last.length = 0;
    states.value = [];
    experiment.value = next;
  });
}

export function change(path: string, value: Value | undefined): void {
  experiment.value = { ...experiment.value, scenario: withAt(experiment.value.scenario, path, value) };
}

/** Changes a line. It loses its label, which named another one. */
export function changeLine(place: number, line: string): void {
  const { lines, labels = [], ...rest } = experiment.value;
  experiment.value = { ...rest, lines: lines.map((old, at) => (at === place ? line : old)), labels: labels.map((label, at) => (at === place ? "" : label)) };
}

export function addLine(line: string): void {
  experiment.value = { ...experiment.value, lines: [...experiment.value.lines, line] };
}

export function removeLine(place: number): void {
  const { lines, labels = [], ...rest } = experiment.value;
  const isKept = (_: string, at: number): boolean => at !== place;
  experiment.value = { ...rest, lines: lines.filter(isKept), labels: labels.filter(isKept) };
}

/**
 * Reads the address now and after each change to it, and keeps it up to date. Returns whether the address says what the
 * page begins with.
 */
export function followAddress(): boolean {
  const read = (): boolean => {
    try {
      const found = fromAddress(location.hash);
      if (found) openExperiment(found);
      trouble.value = "";
      return found !== undefined;
    } catch (error) {
      trouble.value = error instanceof Error ? error.message : String(error);
      return true;
    }
  };
  hasBegun.value = read();
  addEventListener("hashchange", read);
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    // After a file that the server opens the address stays without words, so that a reload reads the file again.
    const isOfServer = experiment.value === home.value && home.value !== FIRST;
    const address = isOfServer ? location.pathname : toAddress(experiment.value);
    clearTimeout(timer);
    if (hasBegun.value) timer = setTimeout(() => history.replaceState(null, "", address), 250);
  });
  return hasBegun.value;
}

// The page's state: one experiment, and its results under each line.

import { batch, effect, signal } from "@preact/signals";
import { fromAddress, toAddress } from "./address.ts";
import type { Choices } from "./engine/choices.ts";
import { Lane } from "./engine/lane.ts";
import type { Refusal } from "./engine/protocol.ts";
import { charted, FIRST, scenarioOf, withAt, type Experiment } from "./experiment.ts";
import type { RunRecord, Value } from "./record.ts";

export const experiment = signal<Experiment>(FIRST);
export const choices = signal<Choices | undefined>(undefined);
/** A problem beside the experiment itself, in one line, or empty. */
export const trouble = signal("");

/** The results of the experiment under one line. */
export interface Result {
  record: RunRecord | undefined;
  /** The scenario, as JSON, that `record` belongs to. */
  question: string;
  /** The refusal of the present experiment. `record` then belongs to an earlier experiment. */
  refusal: Refusal | undefined;
  duration_s: number;
  took_ms: number;
  /** From 0 to 1, or undefined if nothing is running. */
  progress: number | undefined;
}

const NOTHING: Result = { record: undefined, question: "", refusal: undefined, duration_s: 0, took_ms: 0, progress: 0 };

export const results = signal<readonly Result[]>([]);

const lanes: Lane[] = [];
/** Whether each lane is running, and the question that it runs next. */
const busy: boolean[] = [];
const asked: (string | undefined)[] = [];

export function lane(place: number): Lane {
  const known = lanes[place];
  if (known) return known;
  const made = new Lane();
  lanes[place] = made;
  made.ready.then(
    (all) => (choices.value ??= all),
    (error: unknown) => (trouble.value = `the simulator does not start: ${String(error)}`),
  );
  return made;
}

/** Returns the scenario of a lane as JSON, without the time series for the charts. */
export function scenarioText(place: number): string {
  const { lines } = experiment.value;
  return JSON.stringify(scenarioOf(experiment.value, lines[place] ?? ""));
}

/** Returns the scenario under `line` as JSON, with the time series for the charts. */
function question(line: string): string {
  return JSON.stringify(charted(scenarioOf(experiment.value, line)));
}

/** Returns the record of the present experiment, or undefined while a lane has only the record of an earlier one. */
export function currentRecord(place: number): RunRecord | undefined {
  const result = results.value[place];
  return result?.question === question(experiment.value.lines[place] ?? "") ? result.record : undefined;
}

function note(place: number, change: Partial<Result>): void {
  const now = experiment.value.lines.map((_, at) => results.value[at] ?? NOTHING);
  now[place] = { ...(now[place] ?? NOTHING), ...change };
  results.value = now;
}

/** Runs a lane until it has no newer question. */
async function work(place: number): Promise<void> {
  busy[place] = true;
  for (let text = asked[place]; text !== undefined; text = asked[place]) {
    asked[place] = undefined;
    const outcome = await lane(place).run(text, (share) => note(place, { progress: share }));
    if (place >= experiment.value.lines.length) break;
    if (outcome.kind === "record") {
      const { text: json, duration_s, took_ms } = outcome.answer;
      const record = JSON.parse(json) as RunRecord;
      note(place, { record, question: text, refusal: undefined, duration_s, took_ms, progress: undefined });
    } else if (outcome.kind === "refused") {
      note(place, { refusal: outcome.refusal, progress: undefined });
    }
  }
  busy[place] = false;
}

const last: string[] = [];

/** Makes each lane run when its scenario changes, from now on. */
export function startRuns(): void {
  effect(() => {
    const { lines } = experiment.value;
    batch(() => {
      lines.forEach((line, place) => {
        const text = question(line);
        if (last[place] === text) return;
        last[place] = text;
        asked[place] = text;
        if (busy[place]) lane(place).giveUp();
        else void work(place);
      });
      for (const surplus of lanes.splice(lines.length)) surplus.close();
      busy.length = asked.length = last.length = lines.length;
      if (results.peek().length > lines.length) results.value = results.peek().slice(0, lines.length);
    });
  });
}

export function change(path: string, value: Value | undefined): void {
  experiment.value = { ...experiment.value, scenario: withAt(experiment.value.scenario, path, value) };
}

export function changeLine(place: number, line: string): void {
  experiment.value = { ...experiment.value, lines: experiment.value.lines.map((old, at) => (at === place ? line : old)) };
}

export function addLine(line: string): void {
  experiment.value = { ...experiment.value, lines: [...experiment.value.lines, line] };
}

export function removeLine(place: number): void {
  experiment.value = { ...experiment.value, lines: experiment.value.lines.filter((_, at) => at !== place) };
}

/** Reads the address now and after each change to it, and keeps it up to date. */
export function followAddress(): void {
  const read = (): void => {
    try {
      const found = fromAddress(location.hash);
      if (found) experiment.value = found;
      trouble.value = "";
    } catch (error) {
      trouble.value = error instanceof Error ? error.message : String(error);
    }
  };
  read();
  addEventListener("hashchange", read);
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const address = toAddress(experiment.value);
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState(null, "", address), 250);
  });
}

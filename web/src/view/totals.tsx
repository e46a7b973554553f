// The totals, one row per line.

import { signal } from "@preact/signals";
import { callMos } from "../call.ts";
import { nameOf, scenarioOf, withAt } from "../experiment.ts";
import { busiest, fullest } from "../fullest.ts";
import { confidence, type Interval } from "../confidence.ts";
import type { RunRecord } from "../record.ts";
import { shown, standing } from "../lane-state.ts";
import { allStates, experiment, lane } from "../state.ts";

interface Column {
  name: string;
  unit: string;
  of: (record: RunRecord) => number | null | undefined;
  digits: number;
}

/** Returns the only application of a kind. A provider's subscribers have many. */
const app = (record: RunRecord, kind: string) => record.isp ? undefined : record.apps.find((one) => one.kind === kind);

const inSeconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1e3);

const COLUMNS: readonly Column[] = [
  { name: "Link used", unit: "%", of: busiest, digits: 1 },
  { name: "Goodput", unit: "Mbit/s", of: (record) => record.flows.filter((flow) => flow.direction === "down").reduce((sum, flow) => sum + flow.goodput_mbps, 0), digits: 2 },
  { name: "Delay, mean", unit: "ms", of: (record) => fullest(record).numbers.delay_ms?.mean, digits: 2 },
  { name: "p50", unit: "ms", of: (record) => fullest(record).numbers.delay_ms?.p50, digits: 2 },
  { name: "p95", unit: "ms", of: (record) => fullest(record).numbers.delay_ms?.p95, digits: 2 },
  { name: "p99", unit: "ms", of: (record) => fullest(record).numbers.delay_ms?.p99, digits: 2 },
  { name: "Drops", unit: "%", of: (record) => fullest(record).numbers.drop_percent, digits: 3 },
  { name: "CE marks", unit: "%", of: (record) => fullest(record).numbers.mark_percent, digits: 3 },
  { name: "Fairness", unit: "Jain", of: (record) => record.fairness.jain_goodput, digits: 3 },
  { name: "Call", unit: "MOS", of: (record) => (record.isp ? undefined : callMos(record)), digits: 2 },
  { name: "Page", unit: "s", of: (record) => inSeconds(app(record, "page")?.load_ms?.p50), digits: 2 },
];

const SEEDS = 10;

interface Repeats {
  /** The experiment that was repeated. */
  of: string;
  done: number;
  rows: Interval[][];
}
const repeats = signal<Repeats | undefined>(undefined);

const identity = (): string => JSON.stringify(experiment.value);

/** Runs each line with more seeds. Keeps the mean of each column and its 95 % confidence interval. */
async function repeat(): Promise<void> {
  const of = identity();
  const { scenario, lines } = experiment.value;
  const seed = Number(scenario["seed"] ?? 1);
  const records: RunRecord[][] = lines.map(() => []);
  for (let done = 0; done < SEEDS; done++) {
    repeats.value = { of, done, rows: [] };
    const outcomes = await Promise.all(
      lines.map((line, place) => lane(place).run(JSON.stringify(withAt(scenarioOf({ scenario, lines }, line), "seed", seed + done)))),
    );
    // The experiment changed, or another run replaced one in a lane, so a seed may be missing.
    if (identity() !== of || outcomes.some(({ kind }) => kind === "given_up")) {
      if (repeats.value?.of === of) repeats.value = undefined;
      return;
    }
    outcomes.forEach((outcome, place) => {
      if (outcome.kind === "record") records[place]?.push(JSON.parse(outcome.answer.text) as RunRecord);
    });
  }
  const rows = records.map((all) => COLUMNS.map((column) => confidence(all.map((record) => column.of(record)))));
  repeats.value = { of, done: SEEDS, rows };
}

/** Says which queue the delays, drops and marks of a row are of, if the path has several. */
function where(record: RunRecord | undefined) {
  const at = record && fullest(record).where;
  return at && <small class="where"> queue{at}</small>;
}

export function Totals() {
  const { lines } = experiment.value;
  const states = allStates();
  const records = states.map((state) => shown(state)?.record);
  const columns = COLUMNS.filter((column) => records.some((record) => record && typeof column.of(record) === "number"));
  const standings = states.map(standing);
  const current = repeats.value?.of === identity() ? repeats.value : undefined;
  const rows = current?.rows.length ? current.rows : undefined;
  return (
    <section aria-label="Totals">
      <h2>Totals</h2>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Table of totals">
        <table class="totals">
          <thead>
            <tr>
              <th scope="col">Under</th>
              {columns.map((column) => (
                <th scope="col" key={column.name}>
                  {column.name} <small>{column.unit}</small>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((_, place) => (
              <tr key={place} class={standings[place] ? "before" : ""}>
                <th scope="row">
                  {standings[place]}
                  {nameOf(experiment.value, place)}
                  {where(records[place])}
                </th>
                {columns.map((column) => {
                  const record = records[place];
                  const interval = rows?.[place]?.[COLUMNS.indexOf(column)];
                  const value = interval ? interval.mean : record && column.of(record);
                  return (
                    <td key={column.name}>
                      {typeof value === "number" ? value.toFixed(column.digits) : "–"}
                      {interval?.half !== undefined && <small> ± {interval.half.toFixed(column.digits)}</small>}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="sure">
        {rows ? `Means of ${SEEDS} seeds with their 95 % confidence intervals (Student's t).` : "One run, with one seed. "}
        {!rows && (
          <button type="button" disabled={current !== undefined || !states.some(({ kind }) => kind === "done")} onClick={() => void repeat()}>
            {current ? `Seed ${current.done + 1} of ${SEEDS}` : `How sure? Run ${SEEDS} seeds`}
          </button>
        )}
      </p>
    </section>
  );
}

// One lane: a tc line, and the results of the experiment under it.

import { useComputed } from "@preact/signals";
import { drawChart, timeAt, type Curve } from "../draw/chart.ts";
import { flowColour, theme } from "../draw/colours.ts";
import { drawHops, interval, places, ROW } from "../draw/hops.ts";
import { drawLink } from "../draw/link.ts";
import { drawSojourn, timeAt as timeInSight } from "../draw/sojourn.ts";
import type { Pen } from "../draw/svg.ts";
import { nameOf, seconds } from "../experiment.ts";
import { busiest, fullest } from "../fullest.ts";
import { toCommand } from "../files.ts";
import { shown, standing, type LaneState } from "../lane-state.ts";
import { playhead, playing, seek, sightAt, speed } from "../playing.ts";
import { core } from "../engine/core.ts";
import { allStates, experiment, lane, removeLine, stateOf } from "../state.ts";
import { Picture } from "./canvas.tsx";
import { CopyButton, download } from "./copying.tsx";
import { Feeling } from "./feeling.tsx";
import { Law } from "./law.tsx";
import { LineField } from "./line-field.tsx";
import { ms, percent } from "./numbers.ts";

/** Returns the top of a chart's scale. It is the same in all lanes, so that charts can be compared. */
function top(of: (place: number) => readonly (number | null)[]): number {
  let most = 0;
  allStates().forEach((_, place) => of(place).forEach((value) => (most = Math.max(most, value ?? 0))));
  return most;
}

const watchRun = (): void => void [allStates(), playhead.value];
const watchSight = (): void => void [allStates().map((_, place) => sightAt(place)), playhead.value];
const recordOf = (place: number) => shown(stateOf(place))?.record;
const seriesOf = (place: number) => recordOf(place)?.series;

/** Returns the series of the fullest queue of a lane. */
function fullestOf(place: number, direction: "down" | "up" = "down") {
  const record = recordOf(place);
  return record && fullest(record, direction).series;
}

/** Returns the value of a parameter in the full line, as the record prints it. */
function parameter(qdisc: string | undefined, name: string): string | undefined {
  const words = qdisc?.split(" ") ?? [];
  const place = words.indexOf(name);
  return place < 0 ? undefined : words[place + 1];
}

/** Returns the row of each flow: one per subscriber, whose name begins the names of its flows. */
function rowsOf(flows: readonly { name: string }[]): number[] {
  const rows = new Map<string, number>();
  return flows.map(({ name }, flow) => {
    const [owner = name] = name.split(" ");
    if (!rows.has(owner)) rows.set(owner, flow);
    return rows.get(owner) ?? flow;
  });
}

/** Whether the page began with room for more than the first pictures of each lane. */
const isWide = matchMedia("(min-width: 60rem)").matches;

export function Lane({ place }: { place: number }) {
  const state = useComputed(() => stateOf(place)).value;
  const line = experiment.value.lines[place] ?? "";
  const run = shown(state);
  const before = standing(state);
  const down = run?.record.queues.down;
  const queue = run && fullest(run.record);
  const { where = "" } = queue ?? {};
  const delay = queue?.numbers.delay_ms;
  const up = run && fullest(run.record, "up");
  // A picture is saved only under the setting that it shows.
  const ran = state.kind === "done" ? state.run.line : undefined;
  const name = run?.line.trim().split(/\s/)[0];
  const spec = core.value?.qdiscs.find((qdisc) => qdisc.name === name);
  const byFlow = spec?.params.some(({ name: param }) => ["flows", "quantum", "isolation"].includes(param)) ?? false;
  const rows = run?.record.isp && rowsOf(run.record.series?.flows ?? []);
  const queues = sightAt(place)?.queues ?? [];
  const sorted = queues.length > 0 ? `; queues: ${queues.join("; ")}` : "";
  const target_s = seconds(parameter(down?.qdisc, "target"));
  const delays = (of: number) => fullestOf(of)?.delay_ms ?? [];
  const delaysUp = (of: number) => fullestOf(of, "up")?.delay_ms ?? [];
  const backlogs = (of: number) => fullestOf(of)?.backlog_packets ?? [];
  const windows = (of: number) => (seriesOf(of)?.flows ?? []).map((flow) => flow.cwnd_packets);
  const pointTime = (x: number, width: number): void => run && seek(timeAt(x, width, run.duration_s));
  return (
    <section class={`lane${before ? " before" : ""}`} aria-label={`Under ${nameOf(experiment.value, place)}`}>
      <h2 class="hidden">Under {nameOf(experiment.value, place)}</h2>
      <LineField place={place} told={told(state)} />
      <Picture
        title="The link"
        line={ran}
        says={where && `${before}the fullest queue is${where}`}
        label={`The link: ${before}${run && queue ? `${percent(busiest(run.record))} used, ${percent(queue.numbers.drop_percent)} of packets dropped${where}, ${percent(queue.numbers.mark_percent)} marked${sorted}` : "nothing yet"}`}
        height={150}
        watch={watchSight}
        draw={(pen, width, height) => {
          const sight = sightAt(place);
          if (!sight) return;
          const fall_s = 0.7 * (playing.value ? speed.value : Math.min(speed.value, 0.02));
          const hop = queue?.hop === undefined ? undefined : { name: queue.hop, packets: (run && backlogs(place)[interval(run.record, playhead.value)]) ?? 0 };
          drawLink(pen, width, height, { sight, now_s: playhead.value, fall_s, most_packets: top(backlogs), byFlow, hop, rows }, theme.value);
        }}
      />
      <Picture
        title={`Queueing delay${where}, ms`}
        says={delay ? `${before}mean ${ms(delay.mean)}, p95 ${ms(delay.p95)}${up?.numbers.delay_ms ? `; up${up.where}, grey: p95 ${ms(up.numbers.delay_ms.p95)}` : ""}` : ""}
        line={ran}
        label={`Queueing delay over time${where}: ${before}${delay ? `mean ${ms(delay.mean)} ms, 95th percentile ${ms(delay.p95)} ms` : run ? "nothing waited" : "nothing yet"}`}
        height={110}
        watch={watchRun}
        onPoint={pointTime}
        draw={(pen, width, height) => {
          const curves = [{ values: delaysUp(place), colour: theme.value.soft }, { values: delays(place), colour: theme.value.accent }];
          drawSeries(pen, width, height, place, curves, Math.max(top(delays), top(delaysUp)));
        }}
      />
      <Feeling state={state} />
      <div class="tools">
        <CopyButton name="Copy as command" text={() => toCommand(experiment.value, line)} />
        <button type="button" onClick={() => void saveRecord(place, state)} disabled={state.kind !== "done"}>
          Record
        </button>
        {experiment.value.lines.length > 1 && (
          <button type="button" onClick={() => removeLine(place)}>
            Remove
          </button>
        )}
      </div>
      <details class="more" open={isWide}>
        <summary>More of this run</summary>
        <Picture
          title="Other queues of the path"
          says="now, and the longest of the run in red"
          line={ran}
          label={`Other queues of the path${before && ", before"}: ${run ? places(run.record).map(({ name }) => name).join("; ") : "nothing yet"}`}
          height={ROW * (run ? places(run.record).length : 1)}
          watch={watchRun}
          draw={(pen, width) => run && drawHops(pen, width, run.record, playhead.value, theme.value)}
        />
        <Picture
          title={`Queue${where}, packets`}
          line={ran}
          label={`Length of the queue${where} over time${before && ", before"}`}
          height={90}
          watch={watchRun}
          onPoint={pointTime}
          draw={(pen, width, height) => drawSeries(pen, width, height, place, [{ values: backlogs(place), colour: theme.value.accent }], top(backlogs))}
        />
        <Picture
          title="Congestion windows, packets"
          line={ran}
          label={run ? `Congestion window of ${windows(place).length} flows over time${before && ", before"}` : "Congestion windows: nothing yet"}
          height={110}
          watch={watchRun}
          onPoint={pointTime}
          draw={(pen, width, height) => {
            const curves = windows(place).map((values, flow) => ({ values, colour: flowColour(theme.value, flow) }));
            const most = Math.max(1, ...allStates().map((_, of) => Math.max(0, ...windows(of).map((values) => values.reduce<number>((a, b) => Math.max(a, b ?? 0), 0)))));
            drawSeries(pen, width, height, place, curves, most);
          }}
        />
        <Picture
          title="Each packet's time in the queue, ms"
          says={`larger: marked; red: dropped${where && "; at the bottleneck"}`}
          line={ran}
          label="Time in the queue of each packet about the moment that is shown"
          height={130}
          watch={watchSight}
          draw={(pen, width, height) => {
            const sight = sightAt(place);
            const interval_s = seconds(parameter(down?.qdisc, "interval"));
            if (sight) drawSojourn(pen, width, height, { sight, now_s: playhead.value, target_s, interval_s }, theme.value);
          }}
          onPoint={(x, width) => {
            const sight = sightAt(place);
            if (sight) seek(timeInSight(x, width, sight));
          }}
        />
        <Law state={state} sight={sightAt(place)} target_ms={target_s === undefined ? undefined : target_s * 1e3} />
      </details>
    </section>
  );
}

/** Draws curves over the time of the run that a lane shows, or nothing if it shows none. */
function drawSeries(pen: Pen, width: number, height: number, place: number, curves: readonly Curve[], most: number): void {
  const run = shown(stateOf(place));
  if (!run) return;
  drawChart(pen, width, height, { times: run.record.series?.time_s ?? [], curves, top: most, end_s: run.duration_s, playhead_s: playhead.value }, theme.value);
}

/** Returns a lane's state in words. */
function told(state: LaneState): string {
  if (state.kind === "refused") return "refused: nothing has run";
  if (state.kind === "done") return `simulated in ${state.run.took_ms.toFixed(0)} ms`;
  return `running: ${Math.round(state.progress * 100)} %${state.before ? "; what is dimmed is of the setting before" : ""}`;
}

/** Saves the record as `goodqueue run --json` prints it, without the time series for the charts. */
async function saveRecord(place: number, state: LaneState): Promise<void> {
  if (state.kind !== "done") return;
  const outcome = await lane(place).run(state.run.scenario);
  if (outcome.kind === "record") download("record.json", `${outcome.answer.text}\n`);
}

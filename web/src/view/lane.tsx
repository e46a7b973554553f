// One lane: a tc line, and the results of the experiment under it.

import { useComputed } from "@preact/signals";
import { drawChart, timeAt } from "../draw/chart.ts";
import { flowColour, theme } from "../draw/colours.ts";
import { drawLink } from "../draw/link.ts";
import { drawSojourn, timeAt as timeInSight } from "../draw/sojourn.ts";
import { seconds } from "../experiment.ts";
import { toCommand } from "../files.ts";
import { playhead, playing, seek, sights, speed } from "../playing.ts";
import { choices, experiment, lane, removeLine, results, scenarioText, type Result } from "../state.ts";
import { Canvas } from "./canvas.tsx";
import { CopyButton, download } from "./copying.tsx";
import { Feeling } from "./feeling.tsx";
import { Law } from "./law.tsx";
import { LineField } from "./line-field.tsx";
import { ms, percent } from "./numbers.ts";

/** Returns the top of a chart's scale. It is the same in all lanes, so that charts can be compared. */
function top(of: (place: number) => readonly (number | null)[]): number {
  let most = 0;
  results.value.forEach((_, place) => of(place).forEach((value) => (most = Math.max(most, value ?? 0))));
  return most;
}

const watchRun = (): void => void [results.value, playhead.value];
const watchSight = (): void => void [sights.value, playhead.value, results.value];

/** Returns the value of a parameter in the full line, as the record prints it. */
function parameter(qdisc: string | undefined, name: string): string | undefined {
  const words = qdisc?.split(" ") ?? [];
  const place = words.indexOf(name);
  return place < 0 ? undefined : words[place + 1];
}

export function Lane({ place }: { place: number }) {
  const result = useComputed(() => results.value[place]).value;
  const line = experiment.value.lines[place] ?? "";
  const record = result?.record;
  const series = record?.series;
  const down = record?.queues.down;
  const delay = down?.delay_ms;
  const name = line.split(" ")[0] ?? "";
  const spec = choices.value?.qdiscs.find((qdisc) => qdisc.name === name);
  const byFlow = spec?.params.some(({ name: param }) => ["flows", "quantum", "isolation", "scheduler"].includes(param)) ?? false;
  const target_s = seconds(parameter(down?.qdisc, "target"));
  const end_s = result?.duration_s ?? 0;
  const chart = (values: (place: number) => readonly (number | null)[]) => {
    return (ctx: CanvasRenderingContext2D, width: number, height: number): void => {
      const curves = [{ values: values(place), colour: theme.value.accent }];
      drawChart(ctx, width, height, { times: series?.time_s ?? [], curves, top: top(values), end_s, playhead_s: playhead.value }, theme.value);
    };
  };
  const delays = (of: number) => results.value[of]?.record?.series?.queues.down.delay_ms ?? [];
  const backlogs = (of: number) => results.value[of]?.record?.series?.queues.down.backlog_packets ?? [];
  const windows = (of: number) => (results.value[of]?.record?.series?.flows ?? []).map((flow) => flow.cwnd_packets);
  const pointTime = (x: number, width: number): void => seek(timeAt(x, width, end_s));
  return (
    <section class={`lane${result?.refusal ? " refused" : ""}`} aria-label={`Under ${line}`}>
      <h2 class="hidden">Under {line}</h2>
      <LineField place={place} />
      <div class="tools">
        <CopyButton name="Copy as command" text={() => toCommand(experiment.value, line)} />
        <button type="button" onClick={() => void saveRecord(place)} disabled={!record || result?.refusal !== undefined}>
          Record
        </button>
        {experiment.value.lines.length > 1 && (
          <button type="button" onClick={() => removeLine(place)}>
            Remove
          </button>
        )}
        <span class="state">{result && stateOf(result)}</span>
      </div>
      <Canvas
        label={`The link: ${down ? `${percent(down.utilisation_percent)} used, ${percent(down.drop_percent)} of packets dropped, ${percent(down.mark_percent)} marked` : "nothing yet"}`}
        height={170}
        watch={watchSight}
        draw={(ctx, width, height) => {
          const sight = sights.value[place];
          if (!sight) return;
          const fall_s = 0.7 * (playing.value ? speed.value : Math.min(speed.value, 0.02));
          drawLink(ctx, width, height, { sight, now_s: playhead.value, fall_s, most_packets: top(backlogs), byFlow }, theme.value);
        }}
      />
      <Feeling record={record} />
      <h3>
        Queueing delay, ms <small>{delay ? `mean ${ms(delay.mean)}, p95 ${ms(delay.p95)}` : ""}</small>
      </h3>
      <Canvas label={`Queueing delay over time: ${delay ? `mean ${ms(delay.mean)} ms, 95th percentile ${ms(delay.p95)} ms` : "nothing waited"}`} height={120} watch={watchRun} draw={chart(delays)} onPoint={pointTime} />
      <h3>Queue, packets</h3>
      <Canvas label="Length of the queue over time" height={90} watch={watchRun} draw={chart(backlogs)} onPoint={pointTime} />
      <h3>Congestion windows, packets</h3>
      <Canvas
        label={`Congestion window of ${windows(place).length} flows over time`}
        height={110}
        watch={watchRun}
        onPoint={pointTime}
        draw={(ctx, width, height) => {
          const curves = windows(place).map((values, flow) => ({ values, colour: flowColour(theme.value, flow) }));
          const most = Math.max(1, ...results.value.map((_, of) => Math.max(0, ...windows(of).map((values) => values.reduce<number>((a, b) => Math.max(a, b ?? 0), 0)))));
          drawChart(ctx, width, height, { times: series?.time_s ?? [], curves, top: most, end_s, playhead_s: playhead.value }, theme.value);
        }}
      />
      <h3>
        Each packet's time in the queue, ms <small>larger: marked; red: dropped</small>
      </h3>
      <Canvas
        label="Time in the queue of each packet about the moment that is shown"
        height={110}
        watch={watchSight}
        draw={(ctx, width, height) => {
          const sight = sights.value[place];
          const target_ms = target_s === undefined ? undefined : target_s * 1e3;
          if (sight) drawSojourn(ctx, width, height, { sight, now_s: playhead.value, target_ms }, theme.value);
        }}
        onPoint={(x, width) => {
          const sight = sights.value[place];
          if (sight) seek(timeInSight(x, width, sight));
        }}
      />
      <Law place={place} name={name} target_ms={target_s === undefined ? undefined : target_s * 1e3} />
    </section>
  );
}

function stateOf({ progress, refusal, took_ms }: Result): string {
  if (progress !== undefined) return `running: ${Math.round(progress * 100)} %`;
  return refusal ? "refused: what is shown is of the line before" : `simulated in ${took_ms.toFixed(0)} ms`;
}

/** Saves the record as `goodqueue run --json` prints it, without the time series for the charts. */
async function saveRecord(place: number): Promise<void> {
  const outcome = await lane(place).run(scenarioText(place));
  if (outcome.kind === "record") download("record.json", `${outcome.answer.text}\n`);
}

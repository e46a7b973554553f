// The page.

import { useRef } from "preact/hooks";
import { toAddress } from "../address.ts";
import { flowColour, theme } from "../draw/colours.ts";
import { MOST_LINES } from "../experiment.ts";
import { shown } from "../lane-state.ts";
import { toToml } from "../files.ts";
import { addLine, allStates, experiment, home, openExperiment, trouble } from "../state.ts";
import { Controls } from "./controls.tsx";
import { CopyButton, download } from "./copying.tsx";
import { Lane } from "./lane.tsx";
import { lesson, LessonPanel, LessonPath } from "./lessons.tsx";
import { openFile, OwnFiles, useDrops } from "./opening.tsx";
import { Playback } from "./playback.tsx";
import { Subscribers } from "./subscribers.tsx";
import { TomlEditor } from "./toml-editor.tsx";
import { Totals } from "./totals.tsx";

const NEXT_LINES = ["codel", "pie", "cake", "fq_codel"];

export function App() {
  const isOver = useDrops();
  const { lines } = experiment.value;
  return (
    <div class={isOver ? "page dropping" : "page"}>
      <header>
        <h1>goodqueue</h1>
        <p>Real queue disciplines, real TCP, simulated here in your browser. Move a slider: everything runs again.</p>
        <Tools />
      </header>
      <main>
        <p class="error trouble" role="alert">
          {trouble.value}
        </p>
        <LessonPath />
        <LessonPanel />
        <Playback />
        <div class="bench">
          <div>
            <Legend />
            <div class="lanes">
              {lines.map((_, place) => (
                <Lane key={place} place={place} />
              ))}
            </div>
          </div>
          <div class="side">
            <Controls />
            {lines.length < MOST_LINES && (
              <button type="button" onClick={() => addLine(NEXT_LINES.find((line) => !lines.includes(line)) ?? "codel")}>
                Compare with another line
              </button>
            )}
          </div>
        </div>
        <Totals />
        <Subscribers />
        <TomlEditor />
      </main>
      <footer>
        <p>
          The same simulator as on the command line gives the same record, to the byte. Delay is a packet's time in the queue; the first {String(experiment.value.scenario["warmup"] ?? "0s")} are left out of the numbers.
        </p>
      </footer>
    </div>
  );
}

function Tools() {
  const chooser = useRef<HTMLInputElement>(null);
  const { lines } = experiment.value;
  return (
    <div class="tools">
      <CopyButton name="Copy link" text={() => new URL(toAddress(experiment.value), location.href).href} />
      <button type="button" onClick={() => download("scenario.toml", toToml(experiment.value, lines[0] ?? ""))}>
        As TOML
      </button>
      <button type="button" onClick={() => chooser.current?.click()}>
        Open a file
      </button>
      <input
        ref={chooser}
        type="file"
        hidden
        aria-label="Scenario or record"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = "";
          if (file) void openFile(file);
        }}
      />
      <OwnFiles />
      <button
        type="button"
        onClick={() => {
          lesson.value = undefined;
          trouble.value = "";
          openExperiment(home.value);
        }}
      >
        Start over
      </button>
    </div>
  );
}

const MOST_NAMES = 10;

function Legend() {
  // The series have all flows, in the order of their numbers. Pings are not among the record's flows.
  const flows = allStates().map((state) => shown(state)?.record.series?.flows ?? []).find((all) => all.length > 0) ?? [];
  return (
    <p class="legend">
      {flows.slice(0, MOST_NAMES).map((flow, number) => (
        <span key={flow.name}>
          <i style={{ background: flowColour(theme.value, number) }} /> {flow.name}
        </span>
      ))}
      {flows.length > MOST_NAMES && <span>and {flows.length - MOST_NAMES} more</span>}
      <span>■ waits or travels</span>
      <span>◆ marked (CE)</span>
      <span>✕ dropped</span>
    </p>
  );
}

// The state of the law after its last decision: its variables, and a sentence.

import { shown, standing, type LaneState, type Run } from "../lane-state.ts";
import { DROPS, FIRST_DROP, lastDecision, MARKED, playhead, type Packet, type Sight } from "../playing.ts";
import { ms } from "./numbers.ts";
import { thought, type Vars } from "./thinking.ts";

interface Props {
  state: LaneState;
  /** The packets of the run that the state shows. */
  sight: Sight | undefined;
  target_ms: number | undefined;
}

export function Law({ state, sight, target_ms }: Props) {
  const run = shown(state);
  const name = run?.line.trim().split(/\s/)[0];
  const packet = sight && lastDecision(sight, playhead.value);
  const vars: Vars = run && sight && packet ? variables(run, sight, packet) : {};
  const said = (): string => {
    if (run === undefined) return state.kind === "refused" ? "The line is refused, and nothing ran." : "The line has not run yet.";
    if (!sight) return "Its packets come in a moment.";
    return packet ? sentence(run, packet, vars, target_ms) : `No packet has left the queue since ${ms(sight.from_s * 1e3)} ms, where what is shown begins.`;
  };
  return (
    <details class="law" open>
      <summary>
        {standing(state)}What is {name ?? "the law"} thinking?
      </summary>
      <p>{said()}</p>
      <table>
        <caption class="hidden">Variables of {name ?? "the law"} after the last packet</caption>
        <tbody>
          {Object.entries(vars).map(([key, value]) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>{value === null || value === undefined ? "–" : String(Number(value.toPrecision(6)))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** Returns the law's variables after a decision. Its probability is that of the interval around it. */
function variables(run: Run, sight: Sight, packet: Packet): Vars {
  const law = Object.entries(sight.laws.down).map(([key, values]) => [key, values[packet.law] ?? null] as const);
  const series = run.record.series;
  const place = series?.time_s.findIndex((time) => time >= packet.decided_s) ?? -1;
  const probability = series?.queues.down.drop_probability[place];
  return Object.fromEntries(typeof probability === "number" ? [...law, ["drop_probability", probability] as const] : law);
}

function sentence({ record }: Run, packet: Packet, vars: Vars, target_ms: number | undefined): string {
  const waited = (packet.decided_s - packet.offered_s) * 1e3;
  const fate =
    packet.fate >= FIRST_DROP ? `was dropped (${DROPS[packet.fate - FIRST_DROP]}) after ${ms(waited)} ms` : `waited ${ms(waited)} ms${packet.fate === MARKED ? " and was marked" : ""}`;
  const line = record.queues.down.qdisc;
  const says = record.isp ? `Each subscriber has a queue of its own: ${line}. HTB decides which of them may send.` : thought(line, vars, target_ms);
  return `The last packet ${fate}. ${says}`;
}

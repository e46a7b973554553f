// The state of the law after its last decision: its variables, and for some laws a sentence.

import { shown, standing, type LaneState } from "../lane-state.ts";
import { DROPS, FIRST_DROP, lastDecision, MARKED, playhead, type Packet, type Sight } from "../playing.ts";
import { ms } from "./numbers.ts";

type Vars = Record<string, number | null>;

interface Props {
  state: LaneState;
  /** The packets of the run that the state shows. */
  sight: Sight | undefined;
  target_ms: number | undefined;
}

export function Law({ state, sight, target_ms }: Props) {
  const name = shown(state)?.line.trim().split(/\s/)[0];
  const packet = sight && lastDecision(sight, playhead.value);
  const vars = sight && packet ? variables(sight, packet) : {};
  const said = (): string => {
    if (name === undefined) return state.kind === "refused" ? "The line is refused, and nothing ran." : "The line has not run yet.";
    if (!sight) return "Its packets come in a moment.";
    return packet ? sentence(name, packet, vars, target_ms) : `No packet has left the queue since ${ms(sight.from_s * 1e3)} ms, where what is shown begins.`;
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
              <td>{value === null ? "–" : String(Number(value.toPrecision(6)))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function variables(sight: Sight, packet: Packet): Vars {
  return Object.fromEntries(Object.entries(sight.laws.down).map(([key, values]) => [key, values[packet.law] ?? null]));
}

function sentence(name: string, packet: Packet, vars: Vars, target_ms: number | undefined): string {
  const waited = (packet.decided_s - packet.offered_s) * 1e3;
  const fate =
    packet.fate >= FIRST_DROP ? `was dropped (${DROPS[packet.fate - FIRST_DROP]}) after ${ms(waited)} ms` : `waited ${ms(waited)} ms${packet.fate === MARKED ? " and was marked" : ""}`;
  const first = `The last packet ${fate}.`;
  const rest = name === "codel" ? codel(vars, target_ms) : name === "pie" ? pie(vars, target_ms) : name.endsWith("fifo") ? "There is no law: what does not fit is dropped." : "";
  return `${first} ${rest}`;
}

function codel(vars: Vars, target_ms: number | undefined): string {
  const { dropping, count, drop_next_ms: next, first_above_time_ms: above } = vars;
  if (dropping) {
    const due = next !== null && next !== undefined ? ` The next drop is due in ${ms(Math.max(0, next))} ms.` : "";
    return `CoDel drops: this is number ${count}, and the interval shrinks with its square root.${due}`;
  }
  if (above !== null && above !== undefined && above > 0) {
    return `The delay is above the target of ${ms(target_ms)} ms. CoDel begins to drop if it stays there for ${ms(above)} ms more.`;
  }
  return `CoDel rests: the delay was below the target of ${ms(target_ms)} ms within the last interval.`;
}

function pie(vars: Vars, target_ms: number | undefined): string {
  const { prob, qdelay_ms: delay } = vars;
  return `PIE drops an arriving packet with probability ${((prob ?? 0) * 100).toPrecision(3)} %: it saw a delay of ${ms(delay)} ms against a target of ${ms(target_ms)} ms.`;
}

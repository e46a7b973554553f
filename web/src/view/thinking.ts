// What each discipline is thinking, in a sentence, from the variables of its law. A discipline without a sentence here
// still has its variables in the table below it.

import { ms } from "./numbers.ts";

export type Vars = Readonly<Record<string, number | null | undefined>>;
type Say = (vars: Vars, target_ms: number | undefined) => string;

const share = (value: number | null | undefined): string => (value === null || value === undefined ? "–" : `${Number((value * 100).toPrecision(3))} %`);
const whole = (value: number | null | undefined): string => (value === null || value === undefined ? "–" : String(Math.round(value)));
const flows = (count: number | null | undefined): string => `${whole(count)} ${count === 1 ? "flow" : "flows"}`;

const target = (target_ms: number | undefined): string => (target_ms === undefined ? "its target" : `the target of ${ms(target_ms)} ms`);

const codelWith =
  (name: string): Say =>
  ({ dropping, count, drop_next_ms: next, first_above_time_ms: above }, target_ms) => {
    if (dropping) {
      const due = next !== null && next !== undefined ? ` The next drop is due in ${ms(Math.max(0, next))} ms.` : "";
      return `${name} drops: this is number ${whole(count)}, and the interval shrinks with its square root.${due}`;
    }
    if (above !== null && above !== undefined && above > 0) {
      return `The delay is above ${target(target_ms)}. ${name} begins to drop if it stays there for ${ms(above)} ms more.`;
    }
    return `${name} rests: the delay was below ${target(target_ms)} within the last interval.`;
  };

const cobalt: Say = (vars, target_ms) => {
  const blue = vars["p_drop"] ? ` BLUE, for flows that do not respond, drops ${share(vars["p_drop"])} besides.` : "";
  return codelWith("COBALT")(vars, target_ms) + blue;
};

const pieWith =
  (name: string, p: string, delay: string): Say =>
  (vars, target_ms) =>
    `${name} drops an arriving packet with probability ${share(vars[p] ?? 0)}: it saw a delay of ${ms(vars[delay])} ms against ${target(target_ms)}.`;

const red: Say = ({ qavg_bytes: bytes, qavg_packets: packets, drop_probability: p }) => {
  const average = bytes !== undefined ? `${whole(bytes)} bytes` : `${Number((packets ?? 0).toPrecision(3))} packets`;
  return `RED looks at the average queue, which is ${average}. An arriving packet is dropped with probability ${share(p ?? 0)}.`;
};

const rounds = ({ new_len: fresh, old_len: old }: Vars): string =>
  !fresh
    ? `It takes turns among ${flows(old)}.`
    : `It takes turns: ${flows(fresh)} that just began ${fresh === 1 ? "goes" : "go"} first, then ${flows(old)} that ${old === 1 ? "has" : "have"} waited before.`;

const bands: Say = () => "There is no law: the first band that is not empty is served, and what does not fit is dropped.";
const fifo: Say = () => "There is no law: what does not fit is dropped.";

const SAYINGS: Readonly<Record<string, Say>> = {
  pfifo: fifo,
  bfifo: fifo,
  pfifo_head_drop: () => "There is no law: when the queue is full, the oldest packet makes room for the one that arrives.",
  pfifo_fast: bands,
  prio: bands,
  codel: codelWith("CoDel"),
  cobalt,
  cake: (vars, target_ms) => `It serves each tin by its share, and in a tin one flow after the other. Of the flow that was served last: ${cobalt(vars, target_ms)}`,
  fq: ({ flows: all, inactive, throttled }) => `It takes turns among ${flows((all ?? 0) - (inactive ?? 0))} that ${(all ?? 0) - (inactive ?? 0) === 1 ? "has" : "have"} packets. Pacing holds ${flows(throttled)} back.`,
  fq_codel: (vars, target_ms) => `${rounds(vars)} Each flow has a CoDel of its own, which drops when the flow's delay stays above ${target(target_ms)}.`,
  fq_nocodel: (vars) => `${rounds(vars)} No law drops: when all is full, the longest flow loses packets, ${whole(vars["drop_overlimit"])} up to now.`,
  fq_pie: (vars, target_ms) => `${rounds(vars)} Each flow has a PIE of its own, which steers the flow's delay to ${target(target_ms)}.`,
  sfq: ({ active, cur_depth_packets: longest }) => `It takes turns among ${flows(active)}. The longest holds ${whole(longest)} packets, and loses some when the queue is full.`,
  pie: pieWith("PIE", "prob", "qdelay_ms"),
  docsis_pie: pieWith("PIE", "drop_prob", "qdelay_old_ms"),
  red,
  red_gentle: red,
  ared: (vars, target_ms) => `${red(vars, target_ms)} The highest probability has adapted to ${share(vars["max_p"])}.`,
  choke: (vars, target_ms) => `${red(vars, target_ms)} Above the lower threshold each arrival meets a random packet, and both are dropped if they are of one flow: ${whole(vars["matched"])} up to now.`,
  tbf: () => "There is no law: packets go at its rate, and what does not fit is dropped.",
  mac80211: () => "It has queues for each station, with a CoDel in each, and the stations share the air by time.",
  blue: ({ drop_probability: p }) => `BLUE drops an arriving packet with probability ${share(p ?? 0)}. An overflow raises it, and an idle link lowers it.`,
  sfb: ({ maxprob: most, maxqlen_packets: longest }) => `SFB counts packets in bins. The fullest bin holds ${whole(longest)}, and the highest probability of a bin is ${share(most)}.`,
  pi: ({ q_old_packets: queue, drop_probability: p }) => `PI drops an arriving packet with probability ${share(p ?? 0)}: it saw ${whole(queue)} packets, and steers them to q_ref.`,
  rem: ({ price, drop_probability: p }) => `REM's price of the link is ${Number((price ?? 0).toPrecision(3))}, which makes the probability of a drop ${share(p ?? 0)}.`,
  dualpi2: ({ drop_probability: classic, coupled_probability: low }) => `The controller drops ${share(classic ?? 0)} in the classic queue C, and so marks at least ${share(low ?? 0)} in the low-latency queue L.`,
};

/** Returns the discipline that decides in a full line, as the record prints it: the innermost child of a shaper. */
export function thinker(line: string): { name: string; shaper: string | undefined } {
  const words = line.split(" ");
  const child = words.lastIndexOf("child");
  const first = words[0] ?? "";
  // The children of prio are bands: no one of them decides alone.
  return child > 0 && first !== "prio" ? { name: words[child + 1] ?? first, shaper: first } : { name: first, shaper: undefined };
}

/** Returns a sentence on the state of the law of a full line. */
export function thought(line: string, vars: Vars, target_ms: number | undefined): string {
  const { name, shaper } = thinker(line);
  const said = SAYINGS[name]?.(vars, target_ms) ?? "";
  return shaper === undefined ? said : `${shaper} lets packets go at its rate, and ${name} decides which. ${said}`;
}

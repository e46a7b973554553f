// What a household on this link experiences: a call, pages, pings, and the speed both ways.

import { callMos } from "../call.ts";
import { shown, standing, type LaneState } from "../lane-state.ts";
import type { Isp } from "../record.ts";
import { ms, number, percent } from "./numbers.ts";

/** Quality bands of ITU-T G.109, converted from R to MOS by ITU-T G.107, annex B. */
const BANDS: readonly [number, string][] = [
  [4.34, "users very satisfied"],
  [4.03, "users satisfied"],
  [3.6, "some users dissatisfied"],
  [3.1, "many users dissatisfied"],
  [2.58, "nearly all users dissatisfied"],
  [0, "not recommended"],
];

/** Pings with a row each. */
const MOST_PINGS = 6;

export function Feeling({ state }: { state: LaneState }) {
  const record = shown(state)?.record;
  const before = standing(state);
  const mos = record && callMos(record);
  const page = record?.apps.find((app) => app.kind === "page")?.load_ms;
  const pings = record?.apps.filter((app) => app.kind === "ping" && app.rtt_ms) ?? [];
  const mbps = (direction: string): number => (record?.flows ?? []).filter((flow) => flow.direction === direction).reduce((sum, flow) => sum + flow.goodput_mbps, 0);
  // The calls and pages of a provider's subscribers are theirs: what they share is the delay of a plan.
  if (record?.isp) return <Plans isp={record.isp} before={before} />;
  return (
    <dl class="feeling">
      {mos !== undefined && (
        <div>
          <dt>Call</dt>
          <dd>
            <meter min={1} max={4.5} low={3.1} high={4.03} optimum={4.5} value={mos} aria-label={`${before}Mean opinion score ${number(mos, 2)} of 4.5`} />
            <b>{before}MOS {number(mos, 2)}</b> {BANDS.find(([least]) => mos >= least)?.[1]}
          </dd>
        </div>
      )}
      {page && (
        <div>
          <dt>Web page</dt>
          <dd>
            <span class="loading" aria-hidden="true" title="It fills in the time that the page takes to load">
              <span style={{ animationDuration: `${Math.max(0.2, page.p50 / 1e3)}s` }} />
            </span>
            <b>{before}{number(page.p50 / 1e3, 2)} s</b> to load; one in twenty takes {number(page.p95 / 1e3, 2)} s
          </dd>
        </div>
      )}
      {pings.slice(0, MOST_PINGS).map(({ name, rtt_ms }) => (
        <div key={name}>
          <dt>{pings.length > 1 ? name : "Ping"}</dt>
          <dd>
            <b>{before}{ms(rtt_ms?.p50)} ms</b>; one in twenty {pings.length > 1 && "pings "}takes {ms(rtt_ms?.p95)} ms
          </dd>
        </div>
      ))}
      {record && (
        <div>
          <dt>Speed</dt>
          <dd>
            <b>{before}{number(mbps("down"), 1)} Mbit/s</b> down, <b>{number(mbps("up"), 1)}</b> up
          </dd>
        </div>
      )}
    </dl>
  );
}

/** What each plan of a provider got on the way down, and the node that held its packets back most. */
function Plans({ isp: { plans, nodes }, before }: { isp: Isp; before: string }) {
  const [worst] = [...nodes].sort((a, b) => b.down.limiting_percent - a.down.limiting_percent);
  return (
    <dl class="feeling">
      {plans.map(({ name, down }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{before}{ms(down.delay_p95_ms?.median)} ms</b> delay p95; a tenth have {ms(down.delay_p95_ms?.worst_tenth)} ms or more; <b>{number(down.throughput_mbps, 1)} Mbit/s</b> together
          </dd>
        </div>
      ))}
      {worst && (
        <div>
          <dt>Limit</dt>
          <dd>
            <b>{before}{worst.name || "the link"}</b>, in {percent(worst.down.limiting_percent)} of the time
          </dd>
        </div>
      )}
    </dl>
  );
}

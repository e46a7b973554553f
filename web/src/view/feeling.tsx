// What a household on this link experiences: a call, pages, pings, and the speed both ways.

import { callMos } from "../call.ts";
import { shown, standing, type LaneState } from "../lane-state.ts";
import type { Isp, RunRecord } from "../record.ts";
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
  const fetches = record?.apps.find((app) => app.kind === "page");
  const page = fetches?.load_ms;
  const sent = record?.apps.filter((app) => app.kind === "ping") ?? [];
  const pings = sent.filter((app) => app.rtt_ms);
  const mbps = (direction: string): number => (record?.flows ?? []).filter((flow) => flow.direction === direction).reduce((sum, flow) => sum + flow.goodput_mbps, 0);
  // The calls and pages of a provider's subscribers are theirs: what they share is the delay of a plan.
  if (record?.isp) return <Plans record={record} isp={record.isp} before={before} />;
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
      {fetches && !page && (
        <div>
          <dt>Web page</dt>
          <dd>
            <b>{before}none</b> has loaded
          </dd>
        </div>
      )}
      {sent.length > 0 && pings.length === 0 && (
        <div>
          <dt>Ping</dt>
          <dd>
            <b>{before}none</b> came back
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
      {record && <NeverStarted record={record} before={before} />}
    </dl>
  );
}

/** Says what never started. No other number has it. */
function NeverStarted({ record, before }: { record: RunRecord; before: string }) {
  const counts = new Map<string, number>();
  for (const { kind, never_started } of record.apps) counts.set(kind, (counts.get(kind) ?? 0) + (never_started ?? 0));
  const said = [...counts].filter(([, count]) => count > 0).map(([kind, count]) => `${count} of ${kind}`);
  if (said.length === 0) return null;
  return (
    <div>
      <dt>Never started</dt>
      <dd>
        <b>{before}{said.join(", ")}</b>: nothing of it came until the end
      </dd>
    </div>
  );
}

/** What each plan of a provider got on the way down, and the node that held its packets back most. */
function Plans({ record, isp: { plans, nodes }, before }: { record: RunRecord; isp: Isp; before: string }) {
  const [worst] = [...nodes].sort((a, b) => b.down.limiting_percent - a.down.limiting_percent);
  return (
    <dl class="feeling">
      <NeverStarted record={record} before={before} />
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

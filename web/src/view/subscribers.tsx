// What a provider's subscribers got: a row per plan and direction, and a row per node that they share.

import { nameOf } from "../experiment.ts";
import type { PlanSide, RunRecord } from "../record.ts";
import { shown, standing } from "../lane-state.ts";
import { allStates, experiment } from "../state.ts";
import { ms, number, percent } from "./numbers.ts";

const DIRECTIONS = ["down", "up"] as const;

const PLANS = ["Plan", "Direction", "Active", "Delay p95, median ms", "Worst tenth", "Worst", "Sold Mbit/s, each", "Got, each", "Own rate limits"];
const NODES = ["Node", "Direction", "Mbit/s", "Used", "Limits"];

/** Returns the rate that each subscriber of a plan was sold, in Mbit/s: the highest, if they differ. */
function sold(record: RunRecord, plan: string, direction: "down" | "up"): number {
  return Math.max(...(record.isp?.subscribers ?? []).filter((subscriber) => subscriber.plan === plan).map((subscriber) => subscriber[direction].sold_mbps));
}

const each = ({ active, throughput_mbps }: PlanSide): string => number(active ? throughput_mbps / active : null, 2);

function plans(record: RunRecord): string[][] {
  return (record.isp?.plans ?? []).flatMap((plan) =>
    DIRECTIONS.map((direction) => {
      const side = plan[direction];
      const delay = side.delay_p95_ms;
      return [plan.name, direction, `${side.active} of ${plan.subscribers}`, ms(delay?.median), ms(delay?.worst_tenth), ms(delay?.worst), number(sold(record, plan.name, direction), 1), each(side), percent(side.limiting_percent)];
    }),
  );
}

function nodes(record: RunRecord): string[][] {
  return (record.isp?.nodes ?? []).flatMap(({ name, ...sides }) =>
    DIRECTIONS.map((direction) => {
      const { rate_mbps, throughput_mbps, limiting_percent } = sides[direction];
      return [name || "the link", direction, number(rate_mbps, 1), percent((100 * throughput_mbps) / rate_mbps), percent(limiting_percent)];
    }),
  );
}

export function Subscribers() {
  if (!allStates().some((state) => shown(state)?.record.isp)) return null;
  return (
    <section aria-label="Subscribers">
      <h2>Subscribers</h2>
      <Table name="Plans" heads={PLANS} of={plans} />
      <p class="note">Active: with packets. Delay: of each subscriber's packets in its own queue; a tenth have the worst tenth's or more. Got: the mean of the active ones.</p>
      <Table name="Nodes" heads={NODES} of={nodes} />
      <p class="note">Limits: the share of the time in which it held back packets of subscribers below it.</p>
    </section>
  );
}

/** A table with the rows of each line's run. */
function Table({ name, heads, of }: { name: string; heads: readonly string[]; of: (record: RunRecord) => string[][] }) {
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label={name}>
      <table class="totals">
        <thead>
          <tr>
            {["Under", ...heads].map((head) => (
              <th scope="col" key={head}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {allStates().flatMap((state, place) => {
            const run = shown(state);
            return (run ? of(run.record) : []).map((cells, row) => (
              <tr key={`${place} ${row}`} class={standing(state) && "before"}>
                <th scope="row">
                  {standing(state)}
                  {nameOf(experiment.value, place)}
                </th>
                {cells.map((cell, column) => (
                  <td key={column}>{cell}</td>
                ))}
              </tr>
            ));
          })}
        </tbody>
      </table>
    </div>
  );
}

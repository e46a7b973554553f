// The sliders. Each changes a key of the scenario, and then all lanes run again.

import { useId } from "preact/hooks";
import { core, withoutBuffer } from "../engine/core.ts";
import { bulkPlace, directions, mbps, seconds } from "../experiment.ts";
import { shown } from "../lane-state.ts";
import { at, type Table, type Value } from "../table.ts";
import { allStates, change, experiment } from "../state.ts";
import { Slider } from "./slider.tsx";

export function showRate(value: number): string {
  const digits = (of: number): number => Number(of.toPrecision(4));
  return value < 1 ? `${digits(value * 1e3)} kbit/s` : value < 1000 ? `${digits(value)} Mbit/s` : `${digits(value / 1000)} Gbit/s`;
}

function rateText(value: number): string {
  return value < 1 ? `${Number((value * 1e3).toPrecision(3))}kbit` : `${value}mbit`;
}

/** A network of more nodes has no sliders for them, and a path of more links has none either. */
const MOST_NODES = 3;

/** Returns the links of the path beside the bottleneck, with their keys. */
function links(scenario: Table): { key: string; name: string; rate: number }[] {
  const hops = scenario["hop"];
  return (Array.isArray(hops) ? hops : []).flatMap((hop, number) => {
    const rate = mbps(at(hop, "rate"));
    return rate === undefined ? [] : [{ key: `hop.${number}.rate`, name: `${at(hop, "name")}, ${at(hop, "direction") ?? "down"}`, rate }];
  });
}

export function Controls() {
  const { scenario } = experiment.value;
  const rate = mbps(at(scenario, "bottleneck.rate"));
  const rtt = seconds(at(scenario, "path.rtt"));
  const bdp = at(scenario, "bottleneck.buffer.bdp");
  const place = bulkPlace(scenario);
  const bulk = `traffic.${place}`;
  const cc = String(at(scenario, `${bulk}.cc`) ?? "cubic");
  const [name = "cubic"] = cc.split(" ");
  const found = scenario["node"];
  const nodes = Array.isArray(found) ? found : [];
  const others = links(scenario);
  const ecn = at(scenario, `${bulk}.ecn`);
  const needsEcn = ecn === undefined && hasEcn(bulk, name);
  return (
    <fieldset class="controls">
      <legend>Link and traffic</legend>
      {others.length <= MOST_NODES &&
        others.map((link) => <Slider key={link.key} name={link.name} value={link.rate} least={0.25} most={1000} show={showRate} onChange={(value) => change(link.key, rateText(value))} />)}
      {rate !== undefined && (
        <Slider name={others.length > 0 ? "bottleneck, down" : "Rate"} value={rate} least={0.25} most={1000} show={showRate} onChange={(value) => change("bottleneck.rate", rateText(value))} />
      )}
      {rate !== undefined && (
        <Slider name={others.length > 0 ? "bottleneck, up" : "Rate up"} value={mbps(at(scenario, "bottleneck.up.rate")) ?? rate} least={0.25} most={1000} show={showRate} onChange={(value) => change("bottleneck.up.rate", rateText(value))} />
      )}
      {rtt !== undefined && (
        <Slider name="Base RTT" value={Number((rtt * 1e3).toPrecision(6))} least={1} most={1000} show={(value) => `${value} ms`} onChange={(value) => change("path.rtt", `${value}ms`)} />
      )}
      {typeof bdp === "number" && rate !== undefined && rtt !== undefined && (
        <BufferSlider bdp={bdp} rate={rate} rtt={rtt} />
      )}
      {nodes.length <= MOST_NODES &&
        nodes.map((node, number) => {
          const down = mbps(at(node, "down"));
          return down !== undefined && <Slider key={number} name={`${at(node, "name")}, down`} value={down} least={0.25} most={1000} show={showRate} onChange={(value) => change(`node.${number}.down`, rateText(value))} />;
        })}
      {place !== undefined && (
        <>
          <Slider name="Downloads" whole value={Number(at(scenario, `${bulk}.count`) ?? 1)} least={1} most={64} show={String} onChange={(value) => change(`${bulk}.count`, value)} />
          <label class="choice">
            <span class="name">Congestion control</span>
            <select value={name} onChange={(event) => chooseCc(bulk, event.currentTarget.value)}>
              {(core.value?.congestion_controls ?? [{ name, summary: "" }]).map((one) => (
                <option key={one.name} value={one.name} title={one.summary}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
        </>
      )}
      <div>
        {place !== undefined && (
          <label class="choice tick">
            <input type="checkbox" checked={needsEcn || (ecn !== undefined && ecn !== false)} disabled={needsEcn} onChange={(event) => change(`${bulk}.ecn`, event.currentTarget.checked ? true : undefined)} />
            <span class="name">ECN</span>
            {needsEcn && <small>always with {name}</small>}
          </label>
        )}
        {Array.isArray(scenario["traffic"]) && (
          <label class="choice tick">
            <input type="checkbox" checked={bulkPlace(scenario, "up") !== undefined} onChange={toggleUpload} />
            <span class="name">An upload</span>
          </label>
        )}
      </div>
    </fieldset>
  );
}

/** Whether the congestion control of these flows has ECN unasked, as the scenario of a run says. */
function hasEcn(bulk: string, cc: string): boolean {
  const ran = allStates().flatMap((state) => shown(state)?.record.scenario ?? []);
  return ran.some((scenario) => String(at(scenario, `${bulk}.cc`)).split(" ")[0] === cc && at(scenario, `${bulk}.ecn`) !== false);
}

/** The slider of the buffer. It says under which lines the buffer does not apply, and why, in the core's words. */
function BufferSlider({ bdp, rate, rtt }: { bdp: number; rate: number; rtt: number }) {
  const id = useId();
  const whys = experiment.value.lines.map((line) => withoutBuffer(directions(line)[0]));
  const isForNone = whys.every((why) => why !== undefined);
  return (
    <div>
      <Slider
        name="Buffer"
        value={bdp}
        least={0.05}
        most={20}
        show={(value) => showBuffer(value, rate, rtt)}
        onChange={(value) => change("bottleneck.buffer.bdp", value)}
        describedBy={id}
        disabled={isForNone}
      />
      <p id={id} class="note" role="status">
        {[...new Set(whys)].flatMap((why) => why ?? []).map((why) => `Does not apply: ${why}. `)}
      </p>
    </div>
  );
}

/** Adds an upload to the traffic, or takes the first uploads away. */
function toggleUpload(): void {
  const { scenario } = experiment.value;
  const traffic = scenario["traffic"] as Value[];
  const place = bulkPlace(scenario, "up");
  change("traffic", place === undefined ? [...traffic, { kind: "bulk", direction: "up" }] : traffic.filter((_, at) => at !== place));
}

/**
 * Sets the congestion control, and resets ECN to its default: some congestion controls need ECN, and others do not
 * support it.
 */
function chooseCc(bulk: string, name: string): void {
  change(`${bulk}.ecn`, undefined);
  change(`${bulk}.cc`, name);
}

/**
 * Returns a buffer as text: in multiples of the bandwidth-delay product, and in packets as the core computes them.
 */
function showBuffer(bdp: number, rate: number, rtt: number): string {
  const packets = Math.floor((bdp * rate * 1e6 * rtt) / (1514 * 8) + 1e-9);
  return `${bdp} BDP, ${packets} packets`;
}

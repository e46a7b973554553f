// Draws each packet's time in the queue, around the moment that the page shows, against the law's target. For CoDel and
// its kin it also draws the interval, when packets are dropped, and when the next drop is due.

import { FIRST_DROP, lastDecision, MARKED, type Packet, type Sight } from "../playing.ts";
import { BOTTOM, LEFT, scale, timeAt as timeFromStart, TOP } from "./chart.ts";
import { flowColour, type Theme } from "./colours.ts";
import type { Pen } from "./svg.ts";

export interface SojournView {
  sight: Sight;
  now_s: number;
  target_s: number | undefined;
  interval_s: number | undefined;
}

/** Returns the time at `x` in a drawing that is `width` wide. */
export function timeAt(x: number, width: number, sight: Sight): number {
  return Math.min(sight.until_s, sight.from_s + timeFromStart(x, width, sight.until_s - sight.from_s));
}

export function drawSojourn(ctx: Pen, width: number, height: number, view: SojournView, theme: Theme): void {
  const { sight, now_s } = view;
  const target_ms = view.target_s === undefined ? undefined : view.target_s * 1e3;
  const delays = sight.decided.map((packet) => (packet.decided_s - packet.offered_s) * 1e3);
  const { top } = scale(delays.reduce((most, delay) => Math.max(most, delay), (target_ms ?? 0.5) * 1.5));
  const x = (time: number): number => LEFT + ((time - sight.from_s) / (sight.until_s - sight.from_s)) * (width - LEFT);
  const y = (value: number): number => TOP + (1 - value / top) * (height - TOP - BOTTOM);
  ctx.font = "11px system-ui, sans-serif";
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme.soft;
  for (const value of [0, top / 2, top]) ctx.fillText(String(Number(value.toPrecision(3))), LEFT - 6, y(value));
  drawClock(ctx, x, height, view, theme);
  ctx.textBaseline = "bottom";
  ctx.textAlign = "right";
  ctx.fillStyle = theme.soft;
  ctx.fillText(`${sight.until_s.toFixed(2)} s`, width, height);
  ctx.textAlign = "left";
  ctx.fillText(`${sight.from_s.toFixed(2)} s`, LEFT, height);
  if (target_ms !== undefined) {
    ctx.strokeStyle = theme.bad;
    ctx.setLineDash([5, 4]);
    ctx.beginPath();
    ctx.moveTo(LEFT, y(target_ms));
    ctx.lineTo(width, y(target_ms));
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.fillStyle = theme.bad;
    ctx.fillText("target", LEFT + 4, y(target_ms) - 1);
  }
  sight.decided.forEach((packet, place) => {
    const [at, of] = [x(packet.decided_s), y(delays[place] ?? 0)];
    ctx.globalAlpha = packet.decided_s <= now_s ? 1 : 0.25;
    ctx.fillStyle = packet.fate >= FIRST_DROP ? theme.bad : flowColour(theme, packet.flow);
    const size = packet.fate >= FIRST_DROP ? 6 : packet.fate === MARKED ? 5 : 2;
    ctx.fillRect(at - size / 2, of - size / 2, size, size);
  });
  ctx.globalAlpha = 1;
  ctx.strokeStyle = theme.accent;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(x(now_s), TOP);
  ctx.lineTo(x(now_s), height - BOTTOM);
  ctx.stroke();
}

/** Returns a time that the law had in mind after a decision, in seconds of the run, or undefined if it had none. */
function moment(sight: Sight, packet: Packet, name: string): number | undefined {
  const in_ms = sight.laws.down[name]?.[packet.law];
  return typeof in_ms === "number" ? packet.decided_s + in_ms / 1e3 : undefined;
}

/**
 * Draws CoDel's clock: shades the time in which it drops, and draws what it waits for at the moment that is shown.
 * Before it drops, this is the end of the interval in which all packets waited too long. Then it is the next drop.
 */
function drawClock(ctx: Pen, x: (time: number) => number, height: number, view: SojournView, theme: Theme): void {
  const { sight, now_s } = view;
  const { dropping } = sight.laws.down;
  if (!dropping || !sight.laws.down["drop_next_ms"]) return;
  const end = (time: number): number => x(Math.min(sight.until_s, Math.max(sight.from_s, time)));
  ctx.fillStyle = theme.bad;
  ctx.globalAlpha = 0.12;
  let since: number | undefined;
  sight.decided.forEach((packet, place) => {
    // In cake each flow has a law of its own, and the flows take turns.
    if (dropping[packet.law] && !sight.laws.down["cur_flow"]) since ??= packet.decided_s;
    const isLast = place === sight.decided.length - 1;
    if (since === undefined || (dropping[packet.law] && !isLast)) return;
    ctx.fillRect(x(since), TOP, x(isLast ? sight.until_s : packet.decided_s) - x(since), height - TOP - BOTTOM);
    since = undefined;
  });
  ctx.globalAlpha = 1;
  const packet = lastDecision(sight, now_s);
  if (!packet) return;
  const [next, above] = [moment(sight, packet, "drop_next_ms"), moment(sight, packet, "first_above_time_ms")];
  const due = next ?? above;
  if (due === undefined || due < now_s) return;
  // From where it counts, to what it waits for.
  const from = next === undefined ? due - (view.interval_s ?? 0) : now_s;
  const y = height - BOTTOM - 4;
  ctx.fillStyle = ctx.strokeStyle = theme.text;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(end(from), y);
  ctx.lineTo(end(due), y);
  if (due <= sight.until_s) {
    ctx.moveTo(end(due), y);
    ctx.lineTo(end(due), TOP + 10);
  }
  ctx.stroke();
  ctx.lineWidth = 1;
  ctx.textBaseline = "top";
  ctx.textAlign = end(due) > (x(sight.from_s) + x(sight.until_s)) / 2 ? "right" : "left";
  ctx.fillText(`${next === undefined ? "interval ends" : "next drop"} in ${((due - now_s) * 1e3).toPrecision(3)} ms`, end(due), TOP - 3);
}

// Draws each packet's time in the queue, around the moment that the page shows, against the law's target.

import { FIRST_DROP, MARKED, type Sight } from "../playing.ts";
import { BOTTOM, LEFT, scale, timeAt as timeFromStart, TOP } from "./chart.ts";
import { flowColour, type Theme } from "./colours.ts";

export interface SojournView {
  sight: Sight;
  now_s: number;
  target_ms: number | undefined;
}

/** Returns the time at `x` in a drawing that is `width` wide. */
export function timeAt(x: number, width: number, sight: Sight): number {
  return Math.min(sight.until_s, sight.from_s + timeFromStart(x, width, sight.until_s - sight.from_s));
}

export function drawSojourn(ctx: CanvasRenderingContext2D, width: number, height: number, view: SojournView, theme: Theme): void {
  const { sight, now_s, target_ms } = view;
  const delays = sight.decided.map((packet) => (packet.decided_s - packet.offered_s) * 1e3);
  const { top } = scale(delays.reduce((most, delay) => Math.max(most, delay), (target_ms ?? 0.5) * 1.5));
  const x = (time: number): number => LEFT + ((time - sight.from_s) / (sight.until_s - sight.from_s)) * (width - LEFT);
  const y = (value: number): number => TOP + (1 - value / top) * (height - TOP - BOTTOM);
  ctx.font = "11px system-ui, sans-serif";
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme.soft;
  for (const value of [0, top / 2, top]) ctx.fillText(String(Number(value.toPrecision(3))), LEFT - 6, y(value));
  ctx.textBaseline = "bottom";
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

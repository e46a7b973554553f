// A chart over time, on a canvas.

import type { Theme } from "./colours.ts";
import type { Pen } from "./svg.ts";

export interface Curve {
  values: readonly (number | null)[];
  colour: string;
}

export interface Chart {
  times: readonly number[];
  curves: readonly Curve[];
  /** The highest value of the scale, the same in all lanes. */
  top: number;
  end_s: number;
  playhead_s: number;
}

/** Space for the axes and their numbers, in pixels. */
export const [LEFT, BOTTOM, TOP] = [44, 16, 6];

/** Returns the time at `x` in a chart that is `width` wide. */
export function timeAt(x: number, width: number, end_s: number): number {
  return (Math.max(0, x - LEFT) / Math.max(1, width - LEFT)) * end_s;
}

/** Returns a round number that is at least `value`, and the step between the lines of the scale. */
export function scale(value: number): { top: number; step: number } {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  const top = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((round) => round >= value) ?? 10 * power;
  return { top, step: top / (top / power === 2.5 ? 5 : top / power === 5 ? 5 : 4) };
}

export function drawChart(ctx: Pen, width: number, height: number, chart: Chart, theme: Theme): void {
  const { top, step } = scale(chart.top);
  const x = (time: number): number => LEFT + (time / Math.max(chart.end_s, 1e-9)) * (width - LEFT);
  const y = (value: number): number => TOP + (1 - value / top) * (height - TOP - BOTTOM);
  ctx.font = "11px system-ui, sans-serif";
  ctx.lineWidth = 1;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (let value = 0; value <= top * 1.001; value += step) {
    ctx.strokeStyle = theme.line;
    ctx.beginPath();
    ctx.moveTo(LEFT, Math.round(y(value)) + 0.5);
    ctx.lineTo(width, Math.round(y(value)) + 0.5);
    ctx.stroke();
    ctx.fillStyle = theme.soft;
    ctx.fillText(String(Number(value.toPrecision(3))), LEFT - 6, y(value));
  }
  ctx.textBaseline = "bottom";
  const every = scale(chart.end_s / 2).step;
  for (let time = 0; time <= chart.end_s * 1.001 && every > 0; time += every) {
    ctx.textAlign = time === 0 ? "left" : time >= chart.end_s * 0.98 ? "right" : "center";
    ctx.fillText(`${Number(time.toPrecision(3))} s`, x(time), height);
  }
  ctx.lineWidth = 1.5;
  ctx.lineJoin = "round";
  for (const { values, colour } of chart.curves) {
    ctx.strokeStyle = colour;
    ctx.beginPath();
    let isDrawing = false;
    values.forEach((value, place) => {
      if (value === null) {
        isDrawing = false;
        return;
      }
      const point = [x(chart.times[place] ?? 0), y(Math.min(value, top))] as const;
      if (isDrawing) ctx.lineTo(...point);
      else ctx.moveTo(...point);
      isDrawing = true;
    });
    ctx.stroke();
  }
  ctx.strokeStyle = theme.accent;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(Math.round(x(chart.playhead_s)) + 0.5, TOP);
  ctx.lineTo(Math.round(x(chart.playhead_s)) + 0.5, height - BOTTOM);
  ctx.stroke();
}

// A canvas that is redrawn when its content changes, at most once per frame.

import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { theme } from "../draw/colours.ts";

interface Props {
  /** A description of the picture for people who cannot see it. */
  label: string;
  height: number;
  /** Reads the signals that the picture depends on. */
  watch: () => void;
  draw: (ctx: CanvasRenderingContext2D, width: number, height: number) => void;
  /** Called when a person points at a place. */
  onPoint?: (x: number, width: number) => void;
}

export function Canvas({ label, height, watch, draw, onPoint }: Props) {
  const ref = useRef<HTMLCanvasElement>(null);
  const latest = useRef({ watch, draw });
  latest.current = { watch, draw };
  useEffect(() => {
    const canvas = ref.current;
    const ctx = canvas?.getContext("2d");
    if (!canvas || !ctx) return undefined;
    const width = signal(0);
    let frame = 0;
    const paint = (): void => {
      frame = 0;
      const ratio = devicePixelRatio;
      const [wide, high] = [Math.round(width.value * ratio), Math.round(height * ratio)];
      if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.clearRect(0, 0, width.value, height);
      if (width.value > 0) latest.current.draw(ctx, width.value, height);
    };
    const sizes = new ResizeObserver(() => (width.value = canvas.clientWidth));
    sizes.observe(canvas);
    const stop = effect(() => {
      void [width.value, theme.value];
      latest.current.watch();
      frame ||= requestAnimationFrame(paint);
    });
    return () => {
      stop();
      sizes.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [height]);
  const point = (event: PointerEvent): void => {
    const canvas = ref.current;
    if (canvas && event.buttons > 0) onPoint?.(event.clientX - canvas.getBoundingClientRect().left, canvas.clientWidth);
  };
  return (
    <canvas
      ref={ref}
      role="img"
      aria-label={label}
      style={{ height: `${height}px` }}
      class={onPoint ? "pointable" : ""}
      onPointerDown={point}
      onPointerMove={point}
    />
  );
}

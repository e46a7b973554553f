// A picture: a canvas that is redrawn when its content changes, at most once per frame. It can be saved as SVG.

import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { theme } from "../draw/colours.ts";
import { fileName, toSvg, type Pen } from "../draw/svg.ts";
import { download } from "./copying.tsx";

interface Props {
  title: string;
  /** What stands behind the title. */
  says?: string;
  /** The line that the picture is of, or undefined if it cannot be saved now. */
  line: string | undefined;
  /** A description of the picture for people who cannot see it. */
  label: string;
  height: number;
  /** Reads the signals that the picture depends on. */
  watch: () => void;
  draw: (ctx: Pen, width: number, height: number) => void;
  /** Called when a person points at a place. */
  onPoint?: (x: number, width: number) => void;
}

export function Picture({ title, says, line, label, height, watch, draw, onPoint }: Props) {
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
  const save = (): void => {
    const width = ref.current?.clientWidth ?? 0;
    const svg = toSvg(`${title}: ${line ?? ""}`, width, height, theme.value, (pen) => draw(pen, width, height));
    download(fileName(title.split(",")[0] ?? "", line ?? ""), svg);
  };
  return (
    <>
      <div class="above">
        <h3>
          {title} <small>{says}</small>
        </h3>
        <button type="button" class="save" aria-label={`Save as SVG: ${title}`} disabled={line === undefined} onClick={save}>
          SVG
        </button>
      </div>
      <canvas
        ref={ref}
        role="img"
        aria-label={label}
        style={{ height: `${height}px` }}
        class={onPoint ? "pointable" : ""}
        onPointerDown={point}
        onPointerMove={point}
      />
    </>
  );
}

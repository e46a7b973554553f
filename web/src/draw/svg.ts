// A picture as SVG: the pictures draw on a canvas, or here.

/** What the pictures need of a canvas. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | "fillStyle" | "strokeStyle" | "lineWidth" | "lineJoin" | "globalAlpha" | "font" | "textAlign" | "textBaseline"
  | "beginPath" | "moveTo" | "lineTo" | "closePath" | "stroke" | "fill" | "fillRect" | "strokeRect" | "fillText" | "setLineDash"
>;

const ANCHORS: Readonly<Record<string, string>> = { center: "middle", right: "end" };
/** How far the baseline is below the place that a text is written at. Not all programs read `dominant-baseline`. */
const BELOW: Readonly<Record<string, string>> = { top: "0.8em", middle: "0.35em", bottom: "-0.2em" };
/** Height of the title. */
const TITLE = 20;

const escaped = (text: string): string => text.replace(/[&<"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const short = (value: number): number => Number(value.toFixed(2));

/** Returns a picture as an SVG file, with its title above it. */
export function toSvg(title: string, width: number, height: number, colours: { panel: string; text: string }, draw: (pen: Pen) => void): string {
  const parts: string[] = [];
  let [path, dash] = ["", ""];
  const put = (element: string, paint: string): void => void parts.push(`<${element}${pen.globalAlpha < 1 ? ` opacity="${short(pen.globalAlpha)}"` : ""} ${paint}/>`);
  const line = (): string => `fill="none" stroke="${String(pen.strokeStyle)}" stroke-width="${pen.lineWidth}" stroke-linejoin="round"${dash}`;
  const area = (): string => `fill="${String(pen.fillStyle)}"`;
  const box = (x: number, y: number, wide: number, high: number): string => `rect x="${short(x)}" y="${short(y)}" width="${short(wide)}" height="${short(high)}"`;
  const pen: Pen = {
    fillStyle: "", strokeStyle: "", lineWidth: 1, lineJoin: "round", globalAlpha: 1, font: "", textAlign: "left", textBaseline: "top",
    beginPath: () => void (path = ""),
    moveTo: (x, y) => void (path += `M${short(x)} ${short(y)}`),
    lineTo: (x, y) => void (path += `L${short(x)} ${short(y)}`),
    closePath: () => void (path += "Z"),
    stroke: () => put(`path d="${path}"`, line()),
    fill: () => put(`path d="${path}"`, area()),
    fillRect: (...where) => put(box(...where), area()),
    strokeRect: (...where) => put(box(...where), line()),
    setLineDash: (lengths: Iterable<number>) => void (dash = [...lengths].length > 0 ? ` stroke-dasharray="${[...lengths].join(" ")}"` : ""),
    fillText: (text, x, y) =>
      void parts.push(`<text x="${short(x)}" y="${short(y)}" dy="${BELOW[pen.textBaseline] ?? 0}" text-anchor="${ANCHORS[pen.textAlign] ?? "start"}" ${area()} style="font:${pen.font}">${escaped(text)}</text>`),
  };
  draw(pen);
  const words = escaped(title);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + TITLE}" viewBox="0 ${-TITLE} ${width} ${height + TITLE}">
<title>${words}</title>
<rect y="${-TITLE}" width="${width}" height="${height + TITLE}" fill="${colours.panel}"/>
<text x="4" y="-6" fill="${colours.text}" style="font:12px system-ui, sans-serif">${words}</text>
${parts.join("\n")}
</svg>
`;
}

/** Returns a name for the file of a picture: what it shows, and under which line. */
export function fileName(what: string, line: string): string {
  return `${`${what} ${line}`.replace(/[^a-zA-Z0-9_.]+/g, "-").replace(/^-|-$/g, "").slice(0, 80)}.svg`;
}

// Colours of the flows, which people with colour blindness can tell apart (Okabe and Ito), and of the page's theme.

import { signal } from "@preact/signals";

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#b3468b", "#8a6d00", "#3a86c8", "#6b4fa3", "#555555"];
const DARK = ["#56b4e9", "#f28e2b", "#2fc99a", "#e38bc0", "#f0e442", "#9cc9f0", "#b9a3e3", "#bbbbbb"];

export interface Theme {
  text: string;
  soft: string;
  line: string;
  accent: string;
  bad: string;
  panel: string;
  flows: readonly string[];
}

function read(): Theme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const flows = of("scheme") === "dark" ? DARK : LIGHT;
  return { text: of("text"), soft: of("soft"), line: of("line"), accent: of("accent"), bad: of("bad"), panel: of("panel"), flows };
}

export const theme = signal<Theme>(read());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (theme.value = read()));

export function flowColour(colours: Theme, flow: number): string {
  return colours.flows[flow % colours.flows.length] ?? colours.text;
}

// The core in the page itself: what there is to choose from, and what it says of a line. Runs are the workers'.

import { signal } from "@preact/signals";
import init, { choices, withoutBuffer as ask } from "../../wasm/goodqueue_web.js";
import moduleUrl from "../../wasm/goodqueue_web_bg.wasm?url";
import completeUrl from "../../wasm/complete.wasm?url";
import type { Choices } from "./choices.ts";
import type { Refusal } from "./protocol.ts";

const compiled = new Map<string, Promise<WebAssembly.Module>>();

/** Returns a module, fetched and compiled once for the page and all workers. After a failure it is fetched again. */
function fetched(url: string): Promise<WebAssembly.Module> {
  const known = compiled.get(url);
  if (known) return known;
  const made = WebAssembly.compileStreaming(fetch(url)).catch(async () =>
    // For a server that sends the file with another content type.
    WebAssembly.compile(await (await fetch(url)).arrayBuffer()),
  );
  compiled.set(url, made);
  made.catch(() => compiled.delete(url));
  return made;
}

/** Returns the simulator with which the page starts. */
export function module(): Promise<WebAssembly.Module> {
  return fetched(moduleUrl);
}

/** Returns the complete simulator: that of the page leaves some keys, kinds and disciplines out, for its size. */
export function complete(): Promise<WebAssembly.Module> {
  return fetched(completeUrl);
}

/**
 * Returns whether the complete simulator may run what that of the page refuses. A line is refused with each letter that
 * is typed, so only a line whose discipline is known to be left out counts.
 */
export function isLeftOut({ key, message }: Refusal): boolean {
  return key.endsWith("qdisc") ? message.includes("not in this program") : key !== "";
}

/** The disciplines and congestion controls, once the core has started. Nothing runs before. */
export const core = signal<Choices | undefined>(undefined);

export async function startCore(): Promise<void> {
  await init({ module_or_path: await module() });
  core.value = JSON.parse(choices()) as Choices;
}

/** Begins the commands of a tree. The page's module leaves trees out, and does not know that they have limits. */
const TREE = "tc";

/** Returns why the scenario's buffer does not apply to `line`, in one sentence, or undefined if it does. */
export function withoutBuffer(line: string): string | undefined {
  if (line.trim().split(/\s/)[0] === TREE) return `${TREE} has no limit that a buffer could set`;
  return core.value && ask(line);
}

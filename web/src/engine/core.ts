// The core in the page itself: what there is to choose from, and what it says of a line. Runs are the workers'.

import { signal } from "@preact/signals";
import init, { choices, withoutBuffer as ask } from "../../wasm/goodqueue_web.js";
import moduleUrl from "../../wasm/goodqueue_web_bg.wasm?url";
import type { Choices } from "./choices.ts";

let compiled: Promise<WebAssembly.Module> | undefined;

/** Returns the simulator, compiled once for the page and all workers. */
export function module(): Promise<WebAssembly.Module> {
  compiled ??= WebAssembly.compileStreaming(fetch(moduleUrl)).catch(async () =>
    // For a server that sends the file with another content type.
    WebAssembly.compile(await (await fetch(moduleUrl)).arrayBuffer()),
  );
  return compiled;
}

/** The disciplines and congestion controls, once the core has started. Nothing runs before. */
export const core = signal<Choices | undefined>(undefined);

export async function startCore(): Promise<void> {
  await init({ module_or_path: await module() });
  core.value = JSON.parse(choices()) as Choices;
}

/** Returns why the scenario's buffer does not apply to `line`, in one sentence, or undefined if it does. */
export function withoutBuffer(line: string): string | undefined {
  return core.value && ask(line);
}

// Runs scenarios in a WebAssembly module of web/wasm and writes their records: `node records.mjs MODULE FOLDER`. Each
// FOLDER/NAME.toml (read as the page reads it) or NAME.json gives NAME.record or NAME.refusal.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import init, { Run } from "../wasm/goodqueue_web.js";

const [module, folder] = process.argv.slice(2);
await init({ module_or_path: readFileSync(new URL(`../wasm/${module}.wasm`, import.meta.url)) });
for (const file of readdirSync(folder).sort()) {
  const text = readFileSync(join(folder, file), "utf8");
  const [, name, kind] = /^(.*)\.(toml|json)$/.exec(file) ?? [];
  if (name === undefined) continue;
  try {
    const run = new Run(kind === "toml" ? JSON.stringify(parse(text)) : text);
    run.advance(run.duration_s());
    writeFileSync(join(folder, `${name}.record`), run.record());
    run.free();
  } catch (error) {
    writeFileSync(join(folder, `${name}.refusal`), error.message);
  }
}

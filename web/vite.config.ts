import { defineConfig } from "vite";

// Relative addresses: the page works in any folder of any static host. It is built into the Python package, from which
// `goodqueue serve` serves it.
export default defineConfig({
  base: "./",
  build: { outDir: "../python/goodqueue/page", emptyOutDir: true, target: "es2022", modulePreload: { polyfill: false } },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  worker: { format: "es" },
});

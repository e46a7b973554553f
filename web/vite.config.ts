import { defineConfig } from "vite";

// Addresses are relative, so that the page works in any folder of any static host. It is built into the Python
// package, and `goodqueue serve` serves it from there.
export default defineConfig({
  base: "./",
  build: { outDir: "../python/goodqueue/page", emptyOutDir: true, target: "es2022", modulePreload: { polyfill: false } },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  worker: { format: "es" },
});

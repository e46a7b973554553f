// The page's tests, in the Chromium of this machine: `npm test`, after `npm run build`.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { defineConfig } from "@playwright/test";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const folders = (process.env["PATH"] ?? "").split(delimiter);
const chromium = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file));
if (chromium === undefined) throw new Error(`no browser on PATH; accepted: one of ${NAMES.join(", ")}`);

const PORT = 8291;
const address = `http://127.0.0.1:${PORT}/`;

export default defineConfig({
  testDir: "tests",
  outputDir: "../target/web-tests",
  workers: 2,
  fullyParallel: true,
  retries: 0,
  forbidOnly: process.env["CI"] !== undefined,
  reporter: "list",
  // A slow machine is no error: all that waits, waits for a condition.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  use: {
    baseURL: address,
    viewport: { width: 1280, height: 900 },
    launchOptions: {
      executablePath: chromium,
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    },
  },
  webServer: {
    command: `python3 -m http.server ${PORT} --bind 127.0.0.1 --directory ../python/goodqueue/page`,
    url: address,
    reuseExistingServer: process.env["CI"] === undefined,
    stdout: "ignore",
    stderr: "ignore",
  },
});

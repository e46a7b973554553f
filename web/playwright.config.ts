// The page's tests, in the Chromium of this machine: `npm test` after `npm run build`.

import { defineConfig } from "@playwright/test";
import { launchOptions, viewport } from "./tests/browser.mjs";

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
  // A slow machine is no error: all tests wait for conditions.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  use: {
    baseURL: address,
    viewport,
    launchOptions,
  },
  webServer: {
    command: `python3 -m http.server ${PORT} --bind 127.0.0.1 --directory ../python/goodqueue/page`,
    url: address,
    reuseExistingServer: process.env["CI"] === undefined,
    stdout: "ignore",
    stderr: "ignore",
  },
});

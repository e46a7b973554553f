// Measures how smooth the page is: drags the slider Rate for five seconds, and counts frames and runs. `node
// bench/drag.mjs [URL]`. Without a URL it serves the page that `npm run build` made.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chromium } from "@playwright/test";
import { launchOptions, viewport } from "../tests/browser.mjs";

const SECONDS = 5;
const PORT = 8292;

const [given] = process.argv.slice(2);
const folder = new URL("../../python/goodqueue/page", import.meta.url).pathname;
const server = given ? undefined : spawn("python3", ["-m", "http.server", String(PORT), "--bind", "127.0.0.1", "--directory", folder], { stdio: "ignore" });
const url = given ?? `http://127.0.0.1:${PORT}/`;

const sorted = (values) => [...values].sort((a, b) => a - b);
const quantile = (values, share) => sorted(values)[Math.min(values.length - 1, Math.floor(share * values.length))];

const browser = await chromium.launch(launchOptions);
try {
  const page = await browser.newPage({ viewport });
  if (server) await answers(url);
  await page.addInitScript(watch);
  await page.goto(url);
  await page.waitForFunction(() => window.bench.firstRecord_ms !== undefined && window.bench.firstPaint_ms !== undefined);
  await page.waitForFunction(() => [...document.querySelectorAll(".lane .state")].every((state) => state.textContent.includes("simulated in")));
  const first = await page.evaluate(() => window.bench);
  console.log(`first contentful paint: ${first.firstPaint_ms.toFixed(0)} ms; first record: ${first.firstRecord_ms.toFixed(0)} ms`);

  const box = await page.getByRole("slider", { name: "Rate", exact: true }).boundingBox();
  const [left, width, y] = [box.x + box.width * 0.3, box.width * 0.4, box.y + box.height / 2];
  await page.mouse.move(left, y);
  await page.mouse.down();
  await page.evaluate(() => window.bench.begin());
  const began = performance.now();
  for (let now = began; now - began < SECONDS * 1000; now = performance.now()) {
    // There and back, slowly.
    const share = (now - began) / (SECONDS * 1000);
    await page.mouse.move(left + width * (1 - Math.abs(2 * share - 1)), y);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 / 60 - (performance.now() - now))));
  }
  const { deltas, shown, took_s } = await page.evaluate(() => window.bench.end());
  await page.mouse.up();
  const rates = deltas.map((delta) => 1000 / delta);
  console.log(`frames per second: median ${quantile(rates, 0.5).toFixed(1)}, slowest 1 % ${quantile(rates, 0.01).toFixed(1)}; runs shown per second: ${(shown / took_s).toFixed(1)}`);
} finally {
  await browser.close();
  server?.kill();
}

/** Waits until the server answers. */
async function answers(address) {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`no server on port ${PORT}; accepted: a port that is free`);
    const isUp = await fetch(address).then(({ ok }) => ok, () => false);
    if (isUp) return;
    await Promise.race([once(server, "exit"), new Promise((resolve) => setTimeout(resolve, 50))]);
  }
}

/** Runs in the page before any other script. */
function watch() {
  const bench = { firstPaint_ms: undefined, firstRecord_ms: undefined, deltas: [], shown: 0 };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntriesByName("first-contentful-paint")) bench.firstPaint_ms = entry.startTime;
  }).observe({ type: "paint", buffered: true });
  const numbers = () => [...document.querySelectorAll("table.totals tbody td")].map((cell) => cell.textContent).join(" ");
  // A record is there when digits replace the dashes.
  const poll = () => {
    if (/\d/.test(numbers())) bench.firstRecord_ms = performance.now();
    else requestAnimationFrame(poll);
  };
  requestAnimationFrame(poll);
  bench.begin = () => {
    let [before, text, isOn] = [performance.now(), numbers(), true];
    const began = before;
    const tick = (now) => {
      if (!isOn) return;
      bench.deltas.push(now - before);
      before = now;
      const next = numbers();
      if (next !== text) bench.shown++;
      text = next;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame((now) => {
      before = now;
      requestAnimationFrame(tick);
    });
    bench.end = () => {
      isOn = false;
      return { deltas: bench.deltas, shown: bench.shown, took_s: (performance.now() - began) / 1000 };
    };
  };
  window.bench = bench;
}

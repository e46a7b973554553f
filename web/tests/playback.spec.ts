// The moment that the page shows: packet by packet, playing, or after a seek.

import type { Page } from "@playwright/test";
import { expect, lane, open, SHORT, slider, test } from "./page.ts";

const CODEL = SHORT.replace("qdisc=pfifo&qdisc=fq_codel", "qdisc=codel");

/** Returns the moment that the page shows, in seconds. */
async function now(page: Page): Promise<number> {
  return Number.parseFloat((await page.locator(".playback .time .value").textContent()) ?? "");
}

async function seek(page: Page, share: number): Promise<void> {
  const time = slider(page, "Time in the run");
  const box = await time.boundingBox();
  if (!box) throw new Error("no slider for the time");
  await time.click({ position: { x: box.width * share, y: box.height / 2 } });
}

/** Waits for the packets of the moment, through which Next packet steps. */
async function isSeen(page: Page): Promise<void> {
  for (const law of await page.locator(".law p").all()) await expect(law).toContainText("The last packet");
}

test("Next packet does not move on, or does not tell what the law thinks of the packet", async ({ page }) => {
  await open(page, CODEL);
  await seek(page, 0.52);
  await isSeen(page);
  const law = lane(page, 0).locator(".law");
  for (const name of ["count", "dropping", "drop_next_ms", "first_above_time_ms"]) {
    await expect(law.getByRole("rowheader", { name, exact: true })).toBeVisible();
  }
  let before = await now(page);
  for (let n = 0; n < 12; n++) {
    await page.getByRole("button", { name: "Next packet" }).click();
    await isSeen(page);
    const after = await now(page);
    expect(after, "the time").toBeGreaterThan(before);
    // At 10 Mbit/s a full packet takes 1.2 ms, and a download's queue is not empty for long.
    expect(after - before, "no packet is left out").toBeLessThan(0.02);
    before = after;
  }
  await expect(law.locator("p")).toContainText(/The last packet (waited|was dropped \(\w+\) after) [\d.]+ ms/);
  await expect(law.locator("p")).toContainText(/CoDel (rests|drops|begins)/);
});

test("Packet back does not return to where Next packet came from", async ({ page }) => {
  await open(page, CODEL);
  await seek(page, 0.52);
  await isSeen(page);
  const next = page.getByRole("button", { name: "Next packet" });
  await next.click();
  const [time, said] = [await now(page), await page.locator(".law").textContent()];
  for (let n = 0; n < 3; n++) await next.click();
  expect(await now(page)).toBeGreaterThan(time);
  for (let n = 0; n < 3; n++) await page.getByRole("button", { name: "Packet back" }).click();
  expect(await now(page)).toBe(time);
  expect(await page.locator(".law").textContent()).toBe(said);
});

test("packet by packet ends where the packets that were fetched end", async ({ page }) => {
  await open(page, CODEL.replace("10mbit", "100kbit"));
  // A packet takes 0.12 s, and one second is fetched at a time. The next one begins at 3.7 s.
  await seek(page, 0.59);
  await isSeen(page);
  const first = await now(page);
  expect(first).toBeLessThan(3.65);
  /** Presses until the time moves. A press before the next packets are there is lost. */
  const press = async (name: string, way: 1 | -1): Promise<void> => {
    const before = await now(page);
    await expect(async () => {
      await page.getByRole("button", { name }).press("Enter");
      expect((await now(page)) * way).toBeGreaterThan(before * way);
    }).toPass();
  };
  while ((await now(page)) < 3.8) await press("Next packet", 1);
  while ((await now(page)) > first) await press("Packet back", -1);
});

test("Play does not advance, or Pause does not stop", async ({ page }) => {
  await open(page, CODEL);
  await seek(page, 0.3);
  await isSeen(page);
  const before = await now(page);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect(page.getByRole("button", { name: "Pause" })).toHaveAttribute("aria-pressed", "true");
  await expect.poll(() => now(page)).toBeGreaterThan(before + 0.02);
  await page.getByRole("button", { name: "Pause" }).click();
  const paused = await now(page);
  // Ten frames later the time is the same.
  await page.evaluate(async () => {
    for (let n = 0; n < 10; n++) await new Promise(requestAnimationFrame);
  });
  expect(await now(page)).toBe(paused);
});

test("Play at the end of the run stands still", async ({ page }) => {
  await open(page, CODEL);
  await page.getByLabel("Speed").selectOption("real time");
  await slider(page, "Time in the run").press("End");
  expect(await now(page)).toBeGreaterThan(5.9);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  // The run begins again.
  await expect.poll(() => now(page)).toBeLessThan(3);
});

test("the speed changes nothing", async ({ page }) => {
  await open(page, CODEL);
  /**
   * Returns the seconds of the run per second of real time, between two frames at least a quarter of a second apart.
   */
  const pace = async (speed: string): Promise<number> => {
    await page.getByLabel("Speed").selectOption(speed);
    await seek(page, 0.2);
    await isSeen(page);
    await page.getByRole("button", { name: "Play", exact: true }).click();
    const found = await page.evaluate(async () => {
      const value = (): number => Number.parseFloat(document.querySelector(".playback .time .value")?.textContent ?? "");
      const [from, began] = [value(), performance.now()];
      while (performance.now() - began < 250) await new Promise(requestAnimationFrame);
      return (value() - from) / ((performance.now() - began) / 1000);
    });
    await page.getByRole("button", { name: "Pause" }).click();
    return found;
  };
  const [slow, fast] = [await pace("1/100 of real time"), await pace("1/5 of real time")];
  expect(slow).toBeGreaterThan(0);
  expect(fast / slow, "20 times as fast, except for frames that a busy machine leaves out").toBeGreaterThan(4);
});

test("the slider of the time does not seek, with the mouse or the keys", async ({ page }) => {
  await open(page, CODEL);
  await seek(page, 0.5);
  expect(Math.abs((await now(page)) - 3)).toBeLessThan(0.15);
  await slider(page, "Time in the run").press("Home");
  expect(await now(page)).toBe(0);
  await slider(page, "Time in the run").press("ArrowRight");
  expect(await now(page)).toBeGreaterThan(0);
  await expect(slider(page, "Time in the run")).toHaveAttribute("aria-valuetext", /seconds$/);
});

test("pointing at a chart does not seek to its time", async ({ page }) => {
  await open(page, CODEL);
  const point = async (name: RegExp, share: number): Promise<number> => {
    const chart = lane(page, 0).getByRole("img", { name });
    await chart.scrollIntoViewIfNeeded();
    const box = await chart.boundingBox();
    if (!box) throw new Error("no chart");
    // The scale takes 44 pixels left of the time axis.
    await chart.click({ position: { x: 44 + (box.width - 44) * share, y: box.height / 2 } });
    return now(page);
  };
  for (const name of [/^Queueing delay over time/, /^Length of the queue/, /^Congestion window/]) {
    for (const share of [0.25, 0.75]) expect(Math.abs((await point(name, share)) - 6 * share)).toBeLessThan(0.05);
  }
  // The last drawing shows the packets around the moment. Pointing at it moves within them.
  await isSeen(page);
  const [early, late] = [await point(/^Time in the queue of each packet/, 0.2), await point(/^Time in the queue of each packet/, 0.8)];
  expect(late - early).toBeGreaterThan(0.1);
  expect(late - early).toBeLessThan(1);
});

test("a run that becomes shorter leaves the time behind its end", async ({ page }) => {
  await open(page, CODEL);
  await slider(page, "Time in the run").press("End");
  await page.evaluate((hash) => (location.hash = hash), CODEL.replace("duration=6s", "duration=3s"));
  await expect.poll(() => now(page)).toBeLessThanOrEqual(3);
  await isSeen(page);
});

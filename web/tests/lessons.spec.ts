// The lessons, from the files that the page is built from: each goal can be reached with the controls, and then the
// lesson's answer appears.

import { readdirSync, readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { parse } from "smol-toml";
import { applyToml, expect, field, firstPictures, fits, LAPTOP, lines, scenario, settled, test } from "./page.ts";

interface Lesson {
  title: string;
  question: string;
  hint: string;
  answer: string;
  lines: string[];
  goal: { says: string }[];
  try: Record<string, string | number>;
  scenario: Record<string, unknown>;
}

const FOLDER = "lessons";
const LESSONS = readdirSync(FOLDER)
  .sort()
  .map((file) => parse(readFileSync(`${FOLDER}/${file}`, "utf8")) as unknown as Lesson);

/**
 * Sets a key as a person would: in the line's field, a select or the address. `first` is the address of the experiment
 * before the lesson.
 */
async function set(page: Page, first: string, key: string, value: string | number): Promise<void> {
  const line = /^lines\.(\d+)$/.exec(key);
  if (line) await field(page, Number(line[1])).fill(String(value));
  else if (key.endsWith(".cc")) await page.getByLabel("Congestion control").selectOption(String(value));
  else {
    // The address follows the page a quarter of a second later. Before that it is still the first experiment's
    // address.
    await expect.poll(() => page.evaluate(() => location.hash)).not.toBe(first);
    const shown = await lines(page);
    await expect.poll(() => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).getAll("qdisc"))).toEqual(shown);
    await page.evaluate(
      ([name, text]) => {
        const words = new URLSearchParams(location.hash.slice(1));
        words.set(name ?? "", text ?? "");
        location.hash = words.toString();
      },
      [key, String(value)],
    );
  }
}

test.use({ viewport: LAPTOP });

test("there is no lesson", () => {
  expect(LESSONS.length).toBeGreaterThan(4);
});

LESSONS.forEach((lesson, number) => {
  test(`lesson ${number + 1}, ${lesson.title}: does not open, is solved from the start, or cannot be solved`, async ({ page }) => {
    let isComplete = false;
    page.on("request", (request) => (isComplete ||= request.url().includes("/complete-")));
    await page.goto("./");
    await expect.poll(() => page.evaluate(() => location.hash), "the address follows").not.toBe("");
    const first = await page.evaluate(() => location.hash);
    await page.getByRole("navigation", { name: "Lessons" }).getByRole("button", { name: lesson.title }).click();
    const panel = page.getByRole("region", { name: `Lesson ${number + 1}` });
    await expect(panel).toContainText(lesson.question);
    await expect(panel.getByRole("heading")).toHaveText(`${number + 1}. ${lesson.title}`);
    expect(await lines(page)).toEqual(lesson.lines);
    await settled(page);
    await expect(panel.locator(".goals li")).toHaveCount(lesson.goal.length);
    await expect(panel.locator(".goals")).toContainText("not reached yet");
    for (const goal of await panel.locator(".goals li").all()) await expect(goal).toContainText(/\(now [\d.]+/);
    await expect(panel.locator(".answer")).toHaveCount(0);
    await panel.getByText("A hint").click();
    await expect(panel.getByText(lesson.hint)).toBeVisible();

    for (const [key, value] of Object.entries(lesson.try)) await set(page, first, key, value);
    await expect(panel.locator(".answer")).toHaveText(lesson.answer);
    await expect(panel.locator(".goals li.reached")).toHaveCount(lesson.goal.length);
    await expect(panel.locator(".goals")).not.toContainText("not reached yet");
    await page.evaluate(() => scrollTo(0, 0));
    await fits(page, { goals: panel.locator(".goals"), answer: panel.locator(".answer"), controls: page.locator(".controls"), ...firstPictures(page, 0) });

    await panel.getByRole("button", { name: "Start again" }).click();
    await expect(panel.locator(".answer")).toHaveCount(0);
    expect(await lines(page)).toEqual(lesson.lines);

    expect(isComplete, "the complete simulator is fetched for subscribers alone").toBe("subscriber" in lesson.scenario);
    const next = LESSONS[number + 1];
    if (next) {
      await panel.getByRole("button", { name: "Next" }).click();
      await expect(page.getByRole("region", { name: `Lesson ${number + 2}` })).toContainText(next.question);
    } else await expect(panel.getByRole("button", { name: "Next" })).toHaveCount(0);
    await page.getByRole("button", { name: "Close" }).click();
    await expect(page.locator(".lesson")).toHaveCount(0);
  });
});

test("the TOML editor does not solve a lesson, or the lesson goes away with it", async ({ page }) => {
  await page.goto("./");
  await page.getByRole("button", { name: LESSONS[0]?.title ?? "" }).click();
  await settled(page);
  const text = await scenario(page);
  expect(text).toContain("bdp = 12");
  await applyToml(page, text.replace("bdp = 12", "bdp = 1"));
  await expect(page.locator(".lesson .answer")).toHaveText(LESSONS[0]?.answer ?? "");
});

test("the lesson that begins shows for a moment that it is solved, as the one before was", async ({ page }) => {
  await page.goto("./#qdisc=pfifo&duration=20s&bottleneck.rate=10mbit&bottleneck.buffer.bdp=1&path.rtt=50ms&traffic.0.kind=voip&traffic.1.kind=page");
  await settled(page);
  // The present experiment has a good call and fast pages. It would reach all goals of the first lesson.
  const flashed = await page.evaluate(async (title) => {
    let seen = false;
    const watcher = new MutationObserver(() => (seen ||= document.querySelector(".lesson .answer") !== null));
    watcher.observe(document.body, { subtree: true, childList: true });
    [...document.querySelectorAll("button")].find((button) => button.textContent === title)?.click();
    for (let n = 0; n < 3; n++) await new Promise(requestAnimationFrame);
    return seen;
  }, LESSONS[0]?.title);
  expect(flashed).toBe(false);
});

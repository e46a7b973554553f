// Pictures come first: what belongs together is seen at once, and nothing has to be scrolled for it.

import { readdirSync } from "node:fs";
import type { Page } from "@playwright/test";
import { expect, field, firstPictures, fits, lane, LAPTOP, open, refusal, scenario, settled, SHORT, slider, test } from "./page.ts";

const PHONE = { width: 390, height: 844 };

test.describe("on a small laptop", () => {
  test.use({ viewport: LAPTOP });

  test("two lines, their pictures and the controls do not fit one screen", async ({ page }) => {
    await open(page, "");
    await fits(page, { ...firstPictures(page, 0), ...firstPictures(page, 1), controls: page.locator(".controls"), playback: page.locator(".playback") });
    // A browser's own bars take a fifth of the screen.
    await page.setViewportSize({ ...LAPTOP, height: 625 });
    await fits(page, { ...firstPictures(page, 0), ...firstPictures(page, 1), controls: page.locator(".controls") });
  });

  test("pictures become too small to read, or controls leave less room than they take", async ({ page }) => {
    await open(page, "");
    for (const place of [0, 1]) {
      for (const picture of [/^The link/, /^Queueing delay over time/]) {
        const box = await lane(page, place).getByRole("img", { name: picture }).boundingBox();
        expect(box?.width, "width").toBeGreaterThan(450);
        expect(box?.height, "height").toBeGreaterThan(100);
      }
    }
    const before = (await lane(page, 0).getByRole("img").first().boundingBox())?.y;
    expect(before, "pixels before the first picture").toBeLessThan(240);
  });

  test("the controls go out of sight with the pictures below the first ones", async ({ page }) => {
    await open(page, "");
    await lane(page, 0).locator(".law p").scrollIntoViewIfNeeded();
    expect(await page.evaluate(() => scrollY), "the page has scrolled").toBeGreaterThan(100);
    for (const name of ["Rate", "Buffer", "Downloads", "Time in the run"]) await expect(slider(page, name)).toBeInViewport({ ratio: 1 });
  });

  test("a lesson's goals, its controls and its pictures do not fit one screen", async ({ page }) => {
    await open(page, "");
    const lessons = page.getByRole("navigation", { name: "Lessons" }).getByRole("button");
    expect(await lessons.count()).toBe(readdirSync("lessons").length);
    for (const [number, lesson] of (await lessons.all()).entries()) {
      await test.step(`lesson ${number + 1}`, async () => {
        await lesson.click();
        await settled(page);
        await fits(page, {
          question: page.locator(".lesson .question"),
          goals: page.locator(".lesson .goals"),
          controls: page.locator(".controls"),
          ...firstPictures(page, 0),
          ...firstPictures(page, 1),
        });
      });
    }
  });
});

for (const [width, height] of [[390, 844], [320, 568], [768, 1024], [1024, 700]] as const) {
  test(`at ${width} pixels something is wider than the screen`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await open(page, `${SHORT}&traffic.2.kind=page&traffic.3.kind=ping`);
    const wide = (): Promise<string[]> =>
      page.evaluate(() =>
        [...document.querySelectorAll("body *")]
          // A table scrolls in a box of its own.
          .filter((element) => element.closest(".scrolls") === null || element.matches(".scrolls"))
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
          .map((element) => element.outerHTML.slice(0, 80)),
      );
    expect(await wide(), "as it starts").toEqual([]);
    await page.getByRole("navigation", { name: "Lessons" }).getByRole("button").last().click();
    await page.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")));
    expect(await wide(), "with a lesson, and all that can be opened").toEqual([]);
    await field(page, 0).fill(`codel ${"x".repeat(300)}`);
    await expect(refusal(page, 0)).not.toBeEmpty();
    expect(await wide(), "with a refused line").toEqual([]);
  });
}

test("on a phone, controls come before pictures, or the pictures that come first are not the link and the delay", async ({ page }) => {
  await page.setViewportSize(PHONE);
  await open(page);
  const y = async (what: string, place = 0): Promise<number> => (await page.locator(what).nth(place).boundingBox())?.y ?? NaN;
  expect(await y("section.lane"), "the first picture is on the first screen").toBeLessThan(PHONE.height / 2);
  expect(await y("section.lane", 1)).toBeGreaterThan(await y("section.lane"));
  expect(await y(".controls")).toBeGreaterThan(await y("section.lane", 1));
  await expect(page.locator("canvas").filter({ visible: true }), "the link and the delay of each lane").toHaveCount(4);
  await lane(page, 0).getByText("More of this run").click();
  await expect(lane(page, 0).locator(".law p")).toContainText("The last packet");
});

/** Changes the buffer in the address, as a user would who types there, once the address has followed the page. */
async function typeBuffer(page: Page, bdp: number): Promise<void> {
  const shown = /^bdp = (.*)/m.exec(await scenario(page))?.[1];
  await expect.poll(() => page.url(), "the address follows").toContain(`buffer.bdp=${shown}&`);
  await page.evaluate((to) => (location.hash = location.hash.replace(/(buffer.bdp=)[\d.]+/, `$1${to}`)), bdp);
}

test("a lesson that was solved is not called done after a reload, or one that was not is", async ({ page }) => {
  await open(page, "");
  const path = page.getByRole("navigation", { name: "Lessons" }).getByRole("button");
  await expect(path.filter({ hasText: "done" })).toHaveCount(0);
  await path.first().click();
  await settled(page);
  await slider(page, "Buffer").press("Home");
  await expect(page.locator(".lesson .goals")).toContainText("not reached yet");
  await typeBuffer(page, 1);
  await expect(page.locator(".lesson .answer")).toBeVisible();
  await expect(path.filter({ hasText: "done" })).toHaveCount(1);
  await expect(path.first()).toHaveAccessibleName(/: done$/);
  await page.reload();
  await settled(page);
  await expect(path.filter({ hasText: "done" }), "after a reload").toHaveCount(1);
});

test("a browser that lets the page keep nothing breaks the lessons", async ({ page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(window, "localStorage", {
      get: () => {
        throw new DOMException("denied", "SecurityError");
      },
    });
  });
  await open(page, "");
  await page.getByRole("navigation", { name: "Lessons" }).getByRole("button").first().click();
  await settled(page);
  await typeBuffer(page, 1);
  await expect(page.getByRole("navigation", { name: "Lessons" }).getByRole("button").first()).toHaveAccessibleName(/: done$/);
});

// The page is usable for everybody: with a keyboard, a screen reader, a dark scheme or a small screen.

import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, field, lane, open, refusal, scenario, settled, SHORT, slider, test } from "./page.ts";

const PHONE = { width: 390, height: 844 };

/** Returns what axe finds, one line per violation. */
async function violations(axe: AxeBuilder): Promise<string[]> {
  const { violations: found } = await axe.analyze();
  return found.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.target.join(" ")}: ${node.failureSummary ?? ""}`));
}

/** Opens a lesson and the editor, and makes the core refuse a line, all at once. */
async function openAll(page: Page): Promise<void> {
  await page.getByRole("navigation", { name: "Lessons" }).getByRole("button").first().click();
  await page.getByText("All keys, as TOML").click();
  await field(page, 0).fill("codel traget");
  await expect(refusal(page, 0)).not.toBeEmpty();
}

test("axe finds barriers on the page as it starts", async ({ page }) => {
  await open(page);
  expect(await violations(new AxeBuilder({ page }))).toEqual([]);
});

test("axe finds barriers with a lesson, the editor and a refused line", async ({ page }) => {
  await open(page);
  await openAll(page);
  expect(await violations(new AxeBuilder({ page }))).toEqual([]);
});

test("axe finds barriers in the list of words that may follow", async ({ page }) => {
  await open(page);
  await field(page, 0).fill("codel ");
  await field(page, 0).press("ArrowDown");
  await expect(lane(page, 0).getByRole("option", { selected: true })).toBeVisible();
  expect(await violations(new AxeBuilder({ page }).include("section.lane:first-child"))).toEqual([]);
});

test.describe("dark", () => {
  test.use({ colorScheme: "dark" });
  test("axe finds colours too close to each other in the dark scheme", async ({ page }) => {
    await open(page);
    await openAll(page);
    expect(await violations(new AxeBuilder({ page }).withRules("color-contrast"))).toEqual([]);
  });
});

test.describe("phone", () => {
  test.use({ viewport: PHONE, hasTouch: true });
  test("axe finds barriers on a phone", async ({ page }) => {
    await open(page);
    expect(await violations(new AxeBuilder({ page }))).toEqual([]);
  });
});

for (const width of [390, 320]) {
  test(`the page is wider than ${width} pixels, or a control is out of reach there`, async ({ page }) => {
    await page.setViewportSize({ width, height: PHONE.height });
    await open(page);
    const isTooWide = (): Promise<boolean> => page.evaluate(() => (document.scrollingElement?.scrollWidth ?? Infinity) > innerWidth);
    expect(await isTooWide(), "as it starts").toBe(false);
    await page.getByText("All keys, as TOML").click();
    await page.getByRole("navigation", { name: "Lessons" }).getByRole("button").last().click();
    await expect(page.locator(".lesson")).toBeVisible();
    expect(await isTooWide(), "with a lesson and the editor").toBe(false);
    await field(page, 0).fill(`codel ${"x".repeat(300)}`);
    await expect(refusal(page, 0)).not.toBeEmpty();
    expect(await isTooWide(), "with a refused line").toBe(false);
    await page.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")));
    expect(await isTooWide(), "with all that can be opened").toBe(false);
    // The middle of each control can be scrolled onto the screen, and no other element covers it.
    const covered = await page.locator("button:not(:disabled), select, input:not([hidden]), textarea, summary").evaluateAll((controls) =>
      controls.flatMap((control) => {
        control.scrollIntoView({ block: "center" });
        const box = control.getBoundingClientRect();
        const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
        return hit !== null && (control.contains(hit) || hit.contains(control)) ? [] : [control.outerHTML.slice(0, 80)];
      }),
    );
    expect(covered).toEqual([]);
  });
}

test("Tab leaves a control out, goes back and forth, or does not show where it is", async ({ page }) => {
  await open(page);
  const wanted = await page.locator("button:not(:disabled), select, input:not([hidden]), summary, [tabindex='0']").evaluateAll((all) => {
    const shown = all.filter((element) => element.checkVisibility());
    shown.forEach((element, place) => element.setAttribute("data-place", String(place)));
    return shown.length;
  });
  expect(wanted, "controls").toBeGreaterThan(25);
  const reached: number[] = [];
  for (let n = 0; n < wanted; n++) {
    await page.keyboard.press("Tab");
    const [place, isOutlined, isSeen] = await page.evaluate(() => {
      const focused = document.activeElement as HTMLElement;
      const box = focused.getBoundingClientRect();
      const style = getComputedStyle(focused);
      const isIn = box.bottom > 0 && box.top < innerHeight;
      return [Number(focused.getAttribute("data-place") ?? -1), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2, isIn] as const;
    });
    expect([place, isOutlined, isSeen], `after ${n + 1} presses`).toEqual([place, true, true]);
    reached.push(place);
  }
  // In reading order.
  expect(reached).toEqual(Array.from({ length: wanted }, (_, place) => place));
});

test("a screen reader hears no names of pictures, sliders and fields", async ({ page }) => {
  await open(page);
  for (const picture of await page.locator("canvas").all()) {
    await expect(picture).toHaveRole("img");
    await expect(picture).toHaveAccessibleName(/\w{4,}/);
  }
  await expect(lane(page, 0).getByRole("img", { name: /^Queueing delay over time: mean [\d.]+ ms/ })).toBeVisible();
  for (const [name, value] of [["Rate", "10 Mbit/s"], ["Base RTT", "20 ms"], ["Buffer", /^4 BDP, \d+ packets$/], ["Downloads", "2"], ["Time in the run", /seconds$/]] as const) {
    await expect(slider(page, name)).toHaveAttribute("aria-valuetext", value);
  }
  await expect(field(page, 0)).toHaveAccessibleName("tc qdisc add dev X root");
  await field(page, 0).fill("codel traget");
  await expect(field(page, 0)).toHaveAccessibleDescription(/unknown word "traget"/);
  await expect(lane(page, 0), "a lane is named after its line").toHaveAccessibleName("Under codel traget");
  await expect(page.getByLabel("Speed")).toHaveRole("combobox");
  // Numbers that change with each frame are not read out.
  expect(await page.locator(".playback output, .playback [role=status], .playback [aria-live]").count()).toBe(0);
});

test("a change of the experiment needs a mouse", async ({ page }) => {
  await open(page);
  const before = await scenario(page);
  await slider(page, "Rate").focus();
  await page.keyboard.press("ArrowUp");
  expect(await scenario(page)).not.toBe(before);
  await page.getByRole("button", { name: "Compare with another line" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.locator("section.lane")).toHaveCount(3);
  await lane(page, 2).getByRole("button", { name: "Remove" }).focus();
  await page.keyboard.press("Space");
  await expect(page.locator("section.lane")).toHaveCount(2);
});

test.describe("reduced motion", () => {
  test.use({ reducedMotion: "reduce" });
  test("something moves for ever although the user wants less motion", async ({ page }) => {
    await open(page, `${SHORT}&traffic.2.kind=page`);
    await expect(page.locator(".loading").first()).toBeVisible();
    const running = await page.evaluate(() => document.getAnimations().map((one) => String((one.effect as KeyframeEffect).target?.nodeName)));
    expect(running).toEqual([]);
  });
});

test("an animation that shows how long a page loads is missing", async ({ page }) => {
  await open(page, `${SHORT}&traffic.2.kind=page`);
  await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBeGreaterThan(0);
});

test("a dark scheme changes neither the page nor what is drawn on it", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" });
  await open(page);
  /** Returns the brightness of the page's background, and the brightest pixel of the first chart, from 0 to 255. */
  const light = (): Promise<[number, number]> =>
    page.evaluate(() => {
      const of = (red: number, green: number, blue: number): number => 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      const ground = getComputedStyle(document.body).backgroundColor.match(/\d+/g)?.map(Number) ?? [];
      const canvas = document.querySelectorAll("canvas")[1];
      const pixels = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
      let [sum, count] = [0, 0];
      for (let i = 0; i < pixels.length; i += 4) {
        if (pixels[i + 3] !== 255) continue;
        sum += of(pixels[i] ?? 0, pixels[i + 1] ?? 0, pixels[i + 2] ?? 0);
        count++;
      }
      return [of(ground[0] ?? 0, ground[1] ?? 0, ground[2] ?? 0), sum / count];
    });
  const day = await light();
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(async () => (await light())[0], "the ground").toBeLessThan(60);
  await expect.poll(async () => Math.abs((await light())[1] - day[1]), "the curve").toBeGreaterThan(20);
  expect(day[0]).toBeGreaterThan(200);
  await settled(page);
});

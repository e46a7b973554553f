// The sliders and switches: each changes the scenario, and the simulator runs again.

import type { Page } from "@playwright/test";
import { applyToml, changes, expect, field, lane, lines, open, refusal, scenario, saysOneLine, settled, slider, SHORT, test, totals } from "./page.ts";

const SLIDERS: readonly [name: string, key: RegExp][] = [
  ["Rate", /^rate = (.*)/m],
  ["Base RTT", /^rtt = (.*)/m],
  ["Buffer", /^bdp = (.*)/m],
  ["Downloads", /^count = (.*)/m],
];

async function valueOf(page: Page, key: RegExp): Promise<string | undefined> {
  return key.exec(await scenario(page))?.[1];
}

for (const [name, key] of SLIDERS) {
  test(`the slider ${name} answers neither arrow keys nor the mouse`, async ({ page }) => {
    await open(page);
    const first = await valueOf(page, key);
    expect(first, "the key is in the scenario").toBeDefined();
    await slider(page, name).focus();
    await changes(page, 0, () => page.keyboard.press("ArrowRight"));
    const second = await valueOf(page, key);
    expect(second, "after the arrow key").not.toBe(first);
    await expect(slider(page, name)).toHaveAttribute("aria-valuetext", /\d/);

    const box = await slider(page, name).boundingBox();
    if (!box) throw new Error(`no slider ${name}`);
    await changes(page, 0, async () => {
      await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.55, box.y + box.height / 2, { steps: 4 });
      await page.mouse.up();
    });
    expect(await valueOf(page, key), "after the mouse").not.toBe(second);
  });
}

test("a click on a slider's name does not go to the slider", async ({ page }) => {
  await open(page);
  await page.locator(".slider .name").first().click();
  await expect(slider(page, "Rate")).toBeFocused();
});

test("the legend does not follow the number of downloads", async ({ page }) => {
  await open(page);
  await expect(page.locator(".legend")).toContainText("bulk/1");
  await slider(page, "Downloads").focus();
  await page.keyboard.press("Home");
  await expect(page.locator(".legend")).not.toContainText("bulk/1");
  await page.keyboard.press("End");
  await expect(page.locator(".legend")).toContainText("more");
});

test("the congestion control changes nothing, or knows only one", async ({ page }) => {
  await open(page);
  const select = page.getByLabel("Congestion control");
  expect(await select.locator("option").count(), "what there is to choose from").toBeGreaterThan(5);
  await changes(page, 0, () => select.selectOption("reno"));
  expect(await scenario(page)).toContain('cc = "reno"');
  await changes(page, 0, () => select.selectOption("bbr"));
  await expect(refusal(page, 0)).toBeEmpty();
});

test("ECN marks nothing where it is on, or something where it is off", async ({ page }) => {
  await open(page);
  const marks = async (): Promise<number> => Number((await totals(page))[1]?.[8]);
  await expect(page.getByRole("columnheader").nth(8)).toContainText("CE marks");
  expect(await marks(), "without ECN").toBe(0);
  await changes(page, 1, () => page.getByLabel("ECN").check());
  expect(await marks(), "with ECN").toBeGreaterThan(0);
  await changes(page, 1, () => page.getByLabel("ECN").uncheck());
  expect(await marks(), "without ECN again").toBe(0);
  await changes(page, 1, () => page.getByLabel("Congestion control").selectOption("dctcp"));
  await expect(page.getByLabel("ECN"), "dctcp always has it").toBeChecked();
  await expect(page.getByLabel("ECN")).toBeDisabled();
});

test("a line that is added does not run, or one that is removed stays", async ({ page }) => {
  await open(page);
  const before = await totals(page);
  await page.getByRole("button", { name: "Compare with another line" }).click();
  await expect(page.locator("table.totals tbody tr")).toHaveCount(3);
  await settled(page);
  expect((await totals(page)).slice(0, 2), "the other lines stay as they were").toEqual(before);
  await lane(page, 0).getByRole("button", { name: "Remove" }).click();
  await expect(page.locator("section.lane")).toHaveCount(2);
  expect(await lines(page)).toEqual(["fq_codel", "codel"]);
  // The second row is now the first, to the digit.
  await expect.poll(async () => (await totals(page))[0]).toEqual(before[1]);
  await lane(page, 1).getByRole("button", { name: "Remove" }).click();
  await expect(page.getByRole("button", { name: "Remove" }), "the last line stays").toHaveCount(0);
});

test("a line that is added after another was removed shows no packets", async ({ page }) => {
  await open(page);
  for (let round = 0; round < 3; round++) {
    // The lane is removed at once after a change, while it looks for packets.
    await page.getByRole("button", { name: "Next packet" }).click();
    await lane(page, 1).getByRole("button", { name: "Remove" }).click();
    await page.getByRole("button", { name: "Compare with another line" }).click();
    await expect(lane(page, 1).locator(".law p")).toContainText("The last packet");
  }
});

test("more lines than four", async ({ page }) => {
  await open(page, `${SHORT}&qdisc=codel`);
  await page.getByRole("button", { name: "Compare with another line" }).click();
  await expect(page.locator("section.lane")).toHaveCount(4);
  await expect(page.getByRole("button", { name: "Compare with another line" })).toHaveCount(0);
  expect(new Set(await lines(page)).size, "each line is another").toBe(4);
});

test("How sure? gives no intervals, or keeps those of an experiment that is no more", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: "How sure?" }).click();
  await expect(page.locator(".sure")).toContainText("95 % confidence intervals");
  for (const row of await totals(page)) expect(row[3], "the mean delay").toMatch(/^[\d.]+ ± [\d.]+$/);
  await slider(page, "Rate").press("ArrowRight");
  await expect(page.locator("table.totals")).not.toContainText("±");
});

test("How sure? stays pressed for ever where a change and its return come meanwhile", async ({ page }) => {
  // The runs take a while, so that the change comes while a seed runs.
  await open(page, SHORT.replace("duration=6s", "duration=30s"));
  const rate = await scenario(page);
  await page.getByRole("button", { name: "How sure?" }).click();
  await expect(page.getByRole("button", { name: /^Seed/ })).toBeVisible();
  await changes(page, 0, () => slider(page, "Rate").press("ArrowRight"));
  await changes(page, 0, () => slider(page, "Rate").press("ArrowLeft"));
  expect(await scenario(page), "back where it was").toBe(rate);
  // Either it goes on to the end, or the button can be pressed again.
  await expect(page.getByRole("button", { name: /^Seed/ })).toHaveCount(0);
  await expect(page.locator(".sure")).toContainText(/Means of 10 seeds|How sure\?/);
});

test("Start over does not bring the first experiment back", async ({ page }) => {
  await open(page, "");
  const [first, before] = [await scenario(page), await totals(page)];
  await changes(page, 0, () => slider(page, "Rate").press("ArrowRight"));
  await field(page, 1).fill("codel");
  await page.getByRole("button", { name: "Start over" }).click();
  expect(await scenario(page)).toBe(first);
  await expect.poll(() => totals(page)).toEqual(before);
});

test("the TOML editor does not apply a key", async ({ page }) => {
  await open(page);
  const text = await scenario(page);
  await changes(page, 0, () => applyToml(page, text.replace('rtt = "20ms"', 'rtt = "80ms"')));
  await expect(slider(page, "Base RTT")).toHaveAttribute("aria-valuetext", "80 ms");
});

test("the TOML editor takes text that is no TOML", async ({ page }) => {
  await open(page);
  const [before, was] = [await totals(page), page.url()];
  for (const text of ["rate = = 3", "[[", 'a = "1', "a = 1\na = 2", "duration = inf"]) {
    await applyToml(page, text);
    await saysOneLine(page.locator(".editor .error"));
    await expect(page.locator(".editor textarea"), "the text stays, so that it can be mended").toHaveValue(text);
  }
  expect(await totals(page)).toEqual(before);
  expect(page.url(), "the experiment").toBe(was);
});

test("a key that the core refuses leaves no word, or the numbers of the run before", async ({ page }) => {
  await open(page);
  await applyToml(page, (await scenario(page)).replace("warmup", "warmupp"));
  await saysOneLine(refusal(page, 0));
  await expect(refusal(page, 0)).toContainText("warmupp");
  // No column has a number, so there is none.
  expect(await totals(page)).toEqual([["pfifo"], ["fq_codel"]]);
});

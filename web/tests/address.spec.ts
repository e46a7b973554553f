// The address holds the whole experiment.

import { changes, expect, field, lines, open, refusal, saysOneLine, scenario, settled, slider, SHORT, test, totals, trouble } from "./page.ts";

test("a reload brings another experiment than the one that was left", async ({ page }) => {
  await open(page);
  const was = page.url();
  await changes(page, 0, () => slider(page, "Rate").press("ArrowRight"));
  await changes(page, 0, () => slider(page, "Base RTT").press("ArrowLeft"));
  await changes(page, 0, () => slider(page, "Buffer").press("PageDown"));
  await changes(page, 0, () => slider(page, "Downloads").press("ArrowRight"));
  await changes(page, 1, () => field(page, 1).fill("fq_codel target 10ms"));
  await page.getByRole("button", { name: "Compare with another line" }).click();
  await settled(page);
  const before = [await lines(page), await scenario(page), await totals(page)];
  await expect.poll(() => page.url(), "the address follows").toContain("target+10ms");
  expect(page.url()).not.toBe(was);
  await page.reload();
  await settled(page);
  expect([await lines(page), await scenario(page), await totals(page)]).toEqual(before);
});

test("Copy link, opened elsewhere, gives another experiment", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  await changes(page, 0, () => field(page, 0).fill("pie target 20ms"));
  // At once, before the address follows.
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await context.newPage();
  await other.goto(link);
  await settled(other);
  expect(await lines(other)).toEqual(await lines(page));
  expect(await scenario(other)).toEqual(await scenario(page));
  expect(await totals(other)).toEqual(await totals(page));
});

test("the link that is copied right after a change is the one before it", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  // Both changes happen in one turn of the event loop: no timer fires between them.
  await page.evaluate(() => {
    const input = document.querySelector<HTMLInputElement>(".line-field input");
    if (!input) return;
    input.value = "codel target 7ms";
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    [...document.querySelectorAll("button")].find((button) => button.textContent === "Copy link")?.click();
  });
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("codel+target+7ms");
});

test("an address that a person writes is not understood", async ({ page }) => {
  await open(page, "#qdisc=codel&duration=4s&bottleneck.rate=5mbit&path.rtt=30ms&traffic.0.kind=bulk&traffic.0.count=3");
  expect(await lines(page)).toEqual(["codel"]);
  await expect(slider(page, "Rate")).toHaveAttribute("aria-valuetext", "5 Mbit/s");
  await expect(slider(page, "Base RTT")).toHaveAttribute("aria-valuetext", "30 ms");
  await expect(slider(page, "Downloads")).toHaveAttribute("aria-valuetext", "3");
  await expect(refusal(page, 0)).toBeEmpty();
  expect(Number((await totals(page))[0]?.[1]), "link used, %").toBeGreaterThan(50);
});

test("the numbers of the first experiment show for a moment where the address has another", async ({ page }) => {
  await page.addInitScript(() => {
    const seen = new Set<string>();
    Object.assign(window, { seen });
    new MutationObserver(() => seen.add(document.querySelector("table.totals thead")?.textContent ?? "")).observe(document, { subtree: true, childList: true, characterData: true });
  });
  await open(page);
  const columns = await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen]);
  expect(columns.join(), "the totals of this one").toContain("Goodput");
  // Only the first experiment loads pages.
  expect(columns.join()).not.toContain("Page");
});

test("an address that is changed by hand changes nothing", async ({ page }) => {
  await open(page);
  await changes(page, 0, () => page.evaluate((hash) => (location.hash = hash), SHORT.replace("qdisc=pfifo", "qdisc=pie")));
  expect(await lines(page)).toEqual(["pie", "fq_codel"]);
});

/** Keys or values that no experiment has. The page refuses them, or else the core does. */
const NONSENSE = [
  "#a..b=1",
  "#traffic.5.kind=bulk",
  "#__proto__.x=1",
  "#constructor.prototype.x=1",
  "#qdisc=",
  "#qdisc=pfifo&duration=1e400",
  "#traffic=bulk",
  "#traffic=[null]",
  "#path=[null]",
  '#path={"rtt":null}',
  "#bottleneck.rate=-5mbit",
  "#duration=%00%ff",
  "#%",
  `#a=${"[".repeat(3000)}${"]".repeat(3000)}`,
  `#qdisc=${"x".repeat(50_000)}`,
  `#${"a.".repeat(5000)}a=1`,
  `#${Array.from({ length: 3000 }, (_, n) => `k${n}=${n}`).join("&")}`,
];

test("a nonsense address breaks the page, or is not told in a line", async ({ page }) => {
  await open(page);
  const good = await totals(page);
  // At once: the delayed update of the address must not come between.
  const go = (hash: string): Promise<void> =>
    page.evaluate((to) => {
      history.replaceState(null, "", to);
      dispatchEvent(new HashChangeEvent("hashchange"));
    }, hash);
  const message = page.locator(".error:not(:empty)").first();
  for (const hash of NONSENSE) {
    await test.step(hash.slice(0, 40), async () => {
      await go(hash);
      await saysOneLine(message);
      expect((await message.textContent())?.length, "no longer than a person reads").toBeLessThan(500);
      await go(SHORT);
      await expect(message).toHaveCount(0);
    });
  }
  await expect.poll(() => totals(page), "the page lives").toEqual(good);
});

test("the page does not start at a nonsense address", async ({ page }) => {
  for (const hash of ["#a..b=1", "#path=[null]", "#qdisc="]) {
    await page.goto("about:blank");
    await page.goto(`./${hash}`);
    await saysOneLine(page.locator(".error:not(:empty)").first());
    await page.evaluate((to) => (location.hash = to), SHORT);
    await expect(page.locator(".error:not(:empty)")).toHaveCount(0);
  }
});

test("a nonsense address takes the experiment away that was there", async ({ page }) => {
  await open(page);
  const before = [await lines(page), await scenario(page), await totals(page)];
  await page.evaluate(() => (location.hash = "#a..b=1"));
  await saysOneLine(trouble(page));
  expect([await lines(page), await scenario(page), await totals(page)]).toEqual(before);
});

test("what went wrong is still told after an experiment that is right", async ({ page }) => {
  await page.goto("./#a..b=1");
  await saysOneLine(trouble(page));
  await page.getByRole("button", { name: "Start over" }).click();
  await expect(trouble(page)).toBeEmpty();
});

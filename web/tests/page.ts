// What all tests share: a page that must not report errors, and functions for its parts.

import { test as base, expect, type Locator, type Page } from "@playwright/test";

export { expect };

/** Checks on every page of a test: no error on the console, no exception, no request to another host. */
export const test = base.extend({
  context: async ({ context, baseURL }, use) => {
    const complaints: string[] = [];
    context.on("console", (message) => {
      if (message.type() === "error") complaints.push(`console: ${message.text()}`);
    });
    context.on("weberror", (thrown) => complaints.push(`thrown: ${thrown.error().message}`));
    context.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith("http") && origin !== new URL(baseURL ?? "").origin) complaints.push(`asked: ${request.url()}`);
    });
    await use(context);
    expect(complaints, "the page complains").toEqual([]);
  },
});

/** The page's first experiment, shortened so that a run takes almost no time. */
export const SHORT =
  "#qdisc=pfifo&qdisc=fq_codel&duration=6s&warmup=1s&bottleneck.rate=10mbit&bottleneck.buffer.bdp=4&path.rtt=20ms" +
  "&traffic.0.kind=bulk&traffic.0.count=2&traffic.0.cc=cubic&traffic.0.start_spread=1s&traffic.1.kind=voip";

/** Opens the page with an experiment, and waits for its results. */
export async function open(page: Page, hash = SHORT): Promise<void> {
  await page.goto(`./${hash}`);
  await settled(page);
}

/** Waits until each lane has run. A lane runs from the moment at which the experiment changes. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator(".lane .state").first()).toBeVisible();
  await expect(page.locator(".lane .state").filter({ hasNotText: "simulated in" })).toHaveCount(0);
}

export function slider(page: Page, name: string): Locator {
  return page.getByRole("slider", { name, exact: true });
}

export function lane(page: Page, place: number): Locator {
  return page.locator("section.lane").nth(place);
}

/** Returns the field for a lane's tc line. */
export function field(page: Page, place: number): Locator {
  return lane(page, place).getByRole("combobox", { name: "tc qdisc add dev X root" });
}

/** Returns the core's error message for a lane's line. It is empty if the line is accepted. */
export function refusal(page: Page, place: number): Locator {
  return lane(page, place).locator(".line-field .error");
}

/** Returns the one line in which the page reports a problem beside the experiment. */
export function trouble(page: Page): Locator {
  return page.locator(".trouble");
}

/** Returns the totals: one row per line, each with its line and its numbers as shown. */
export async function totals(page: Page): Promise<string[][]> {
  return page.locator("table.totals tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));
}

/** Runs `action`, which changes the experiment once, and waits until row `place` has other numbers of a run. */
export async function changes(page: Page, place: number, action: () => Promise<unknown>): Promise<void> {
  const numbers = async (): Promise<string> => (await totals(page))[place]?.slice(1).join(" ") ?? "";
  const before = await numbers();
  await action();
  await expect(lane(page, place).locator(".state")).toHaveText(/^simulated in/);
  await expect.poll(numbers).not.toBe(before);
}

/** Returns the scenario that the page has now. */
export async function scenario(page: Page): Promise<string> {
  return page.locator(".editor textarea").inputValue();
}

/** Returns the lines that the page has now. */
export async function lines(page: Page): Promise<string[]> {
  return page.locator(".line-field input").evaluateAll((fields) => fields.map((one) => (one as HTMLInputElement).value));
}

/** Applies TOML through the editor. */
export async function applyToml(page: Page, text: string): Promise<void> {
  const editor = page.getByLabel("Scenario in TOML");
  if (!(await editor.isVisible())) await page.getByText("All keys, as TOML").click();
  await editor.fill(text);
  await page.getByRole("button", { name: "Apply" }).click();
}

/** Checks that a message is one line with content: not empty, no traceback, no name of a JavaScript error. */
export async function saysOneLine(message: Locator): Promise<void> {
  await expect(message).not.toBeEmpty();
  const text = (await message.textContent()) ?? "";
  expect(text.trim(), "one line").not.toContain("\n");
  expect(text, "the page's own words").not.toMatch(/undefined|\[object|TypeError|RangeError|SyntaxError|InternalError|unreachable|panicked/);
}

/** The screen of a small laptop. */
export const LAPTOP = { width: 1366, height: 768 };

/** Checks that elements are seen whole without scrolling, and that none covers another one. */
export async function fits(page: Page, wanted: Record<string, Locator>): Promise<void> {
  const screen = page.viewportSize() ?? LAPTOP;
  expect(await page.evaluate(() => scrollY), "the page is not scrolled").toBe(0);
  for (const [what, found] of Object.entries(wanted)) {
    for (const one of await found.all()) {
      const box = await one.boundingBox();
      if (!box) throw new Error(`${what} is not shown`);
      const place = `${what}: x ${box.x} to ${box.x + box.width}, y ${box.y} to ${box.y + box.height}`;
      expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= screen.width && box.y + box.height <= screen.height, place).toBe(true);
      const isClear = await one.evaluate((element) => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        const points = [[(left + right) / 2, (top + bottom) / 2], [left + 9, top + 9], [right - 9, bottom - 9]];
        return points.every(([x, y]) => element.contains(document.elementFromPoint(x ?? 0, y ?? 0)));
      });
      expect(isClear, `${what}: nothing lies over it`).toBe(true);
    }
  }
}

/** Returns what a lane shows first: its line, the link and the delay over time. */
export function firstPictures(page: Page, place: number): Record<string, Locator> {
  const of = lane(page, place);
  return {
    [`the line of lane ${place}`]: field(page, place),
    [`the link of lane ${place}`]: of.getByRole("img", { name: /^The link/ }),
    [`the delay of lane ${place}`]: of.getByRole("img", { name: /^Queueing delay over time/ }),
  };
}

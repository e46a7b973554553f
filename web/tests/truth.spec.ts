// No number stands under a name, or beside a setting, that did not run. Each test looks at all views of a lane after
// each change of the document, and not only when the page has come to rest.

import type { Page } from "@playwright/test";
import { applyToml, expect, field, lane, open, saysOneLine, scenario, settled, slider, test } from "./page.ts";
import { disciplines, numbers, type Numbers } from "./simulator.ts";

/** What the views of one lane show at one moment. */
interface Moment {
  line: string;
  /** The scenario as the editor shows it. */
  toml: string;
  state: string;
  /** Whether the lane and its row say that they show an earlier setting. */
  before: [lane: boolean, row: boolean];
  /** The row's name, and its numbers under the names of their columns. */
  name: string;
  row: Numbers;
  /** The texts of all other views: the call and the page, the law, the titles and descriptions of the pictures. */
  views: Record<string, string>;
}

/** Notes what the views of lane `place` show, now and after each change, until `seen` is called again. */
async function watch(page: Page, place: number): Promise<void> {
  await page.evaluate((at) => {
    const moments: string[] = [];
    const text = (within: Element | null | undefined, what: string): string => [...(within?.querySelectorAll(what) ?? [])].map((one) => one.textContent ?? "").join(" | ");
    const note = (): void => {
      const one = document.querySelectorAll("section.lane")[at];
      const row = document.querySelectorAll("table.totals tbody tr")[at];
      const columns = [...document.querySelectorAll("table.totals thead th")].map((th) => th.firstChild?.textContent?.trim() ?? "");
      const cells = [...(row?.children ?? [])].map((cell) => cell.textContent?.trim() ?? "");
      const moment = {
        line: one?.querySelector<HTMLInputElement>(".line-field input")?.value ?? "",
        toml: document.querySelector<HTMLTextAreaElement>(".editor textarea")?.value ?? "",
        // The share that has run and the time that it took are of the present run.
        state: text(one, ".state").replace(/[\d.]+/, "N"),
        before: [one?.classList.contains("before") ?? false, row?.classList.contains("before") ?? false],
        name: cells[0] ?? "",
        row: Object.fromEntries(cells.slice(1).map((cell, n) => [columns[n + 1] ?? "", cell])),
        views: {
          feeling: text(one, ".feeling dd"),
          law: text(one, ".law"),
          titles: text(one, "h3 small"),
          pictures: [...(one?.querySelectorAll("canvas") ?? [])].map((canvas) => canvas.getAttribute("aria-label") ?? "").join(" | "),
        },
      };
      const written = JSON.stringify(moment);
      if (written !== moments.at(-1)) moments.push(written);
    };
    const watcher = new MutationObserver(note);
    watcher.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    Object.assign(window, { seen: () => (watcher.disconnect(), moments.map((one) => JSON.parse(one) as unknown)) });
  }, place);
}

/** Returns the moments since `watch`, in their order. */
function seen(page: Page): Promise<Moment[]> {
  return page.evaluate(() => (window as unknown as { seen: () => Moment[] }).seen());
}

/** Checks that a moment shows no number of any run. */
function showsNothing({ row, views }: Moment): void {
  expect(Object.values(row).filter((cell) => cell !== "–"), "numbers in the totals").toEqual([]);
  expect(views["feeling"], "the call and the page").toBe("");
  for (const [view, text] of Object.entries(views)) expect(text, view).not.toMatch(/\d/);
}

/** Checks that a moment shows the numbers of a run, in the totals and in the views that have the same numbers. */
function showsRun({ row, views }: Moment, run: Numbers): void {
  expect(row, "the totals").toMatchObject(run);
  const [mean, p95] = [Number(run["Delay, mean"]), Number(run["p95"])];
  const found = /mean ([\d.]+), p95 ([\d.]+)/.exec(views["titles"] ?? "");
  // A title has three digits.
  expect(Math.abs(Number(found?.[1]) - mean), "the mean delay in the title").toBeLessThanOrEqual(0.5);
  expect(Math.abs(Number(found?.[2]) - p95), "the 95th percentile in the title").toBeLessThanOrEqual(0.5);
  expect(views["feeling"], "the call").toContain(`MOS ${run["Call"]}`);
  expect(views["feeling"], "the page").toContain(`${run["Page"]} s to load`);
}

/** Returns the numbers of pixels that are drawn in each picture of a lane. */
async function drawn(page: Page, place: number): Promise<number[]> {
  // Pictures are painted with the next frame.
  await page.evaluate(async () => {
    for (let n = 0; n < 2; n++) await new Promise(requestAnimationFrame);
  });
  return lane(page, place).locator("canvas").evaluateAll((all) =>
    all.map((one) => {
      const canvas = one as HTMLCanvasElement;
      const pixels = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      return pixels.filter((value, at) => at % 4 === 3 && value > 0).length;
    }),
  );
}

const NO_PICTURE = [0, 0, 0, 0, 0, 0];

/**
 * Types a line into the second field, and checks each moment until it has run or is refused. Returns the message of a
 * refusal, or an empty text.
 */
async function type(page: Page, toml: string, line: string): Promise<string> {
  const expected = await numbers(toml, line);
  await watch(page, 1);
  await field(page, 1).fill(line);
  const isRefused = "refusal" in expected;
  await expect(lane(page, 1).locator(".state")).toHaveText(isRefused ? /^refused/ : /^simulated in/);
  if (isRefused) {
    expect(await drawn(page, 1), "pictures of a line that did not run").toEqual(NO_PICTURE);
    await expect(lane(page, 1).getByRole("button", { name: "Record" })).toBeDisabled();
  } else await expect(lane(page, 1).locator(".law p"), "what it is thinking, after what the packet did").toHaveText(/^The last packet [^.]*([.]\d+[^.]*)?[.] [A-Zth].{30}/);
  const moments = (await seen(page)).filter((moment) => moment.line === line);
  expect(moments.length, "moments").toBeGreaterThan(0);
  for (const moment of moments) {
    expect(moment.before, "no line is called before").toEqual([false, false]);
    expect(moment.name).toBe(line.trim());
    if (moment.state.startsWith("simulated") && !isRefused) showsRun(moment, expected);
    else showsNothing(moment);
  }
  return isRefused ? ((await lane(page, 1).locator(".line-field .error").textContent()) ?? "") : "";
}

test("a discipline is refused in the first experiment, or another one's numbers stand under its name", async ({ page }) => {
  test.slow(); // many runs
  await open(page, "");
  const toml = await scenario(page);
  const all = await disciplines();
  expect(all.length, "disciplines").toBeGreaterThan(20);
  for (const name of all) {
    await test.step(name, async () => {
      expect(await type(page, toml, name), "its refusal").toBe("");
    });
  }
  console.log(`typed: ${all.length} disciplines; refused: 0`);
});

const WRONG = [
  "cake bandwidth",
  "caek",
  "codel traget 5ms",
  "codel target five",
  "pfifo limit -1",
  "fq_codel target 5ms 7",
  "tbf rate 1mbit latency 50ms child",
  "pie target 20mbit",
  "file.py:Class",
  "mac80211",
  "",
];

test("a wrong line keeps the numbers of the line before it", async ({ page }) => {
  test.slow(); // many runs
  await open(page, "");
  const toml = await scenario(page);
  for (const line of WRONG) {
    await test.step(line, async () => {
      expect(await type(page, toml, line), "its refusal").not.toBe("");
      await saysOneLine(lane(page, 1).locator(".line-field .error"));
      // The next wrong line follows a line that ran.
      expect(await type(page, toml, "cake bandwidth 19mbit"), "a line that is right").toBe("");
    });
  }
  console.log(`typed: ${WRONG.length} wrong lines`);
});

test("letter by letter, a line that runs shows the numbers of what was typed before", async ({ page }) => {
  await open(page, "");
  const toml = await scenario(page);
  await watch(page, 1);
  await field(page, 1).fill("");
  await field(page, 1).pressSequentially("pfifo limit 100", { delay: 30 });
  await settled(page);
  const runs = new Map<string, Numbers>();
  for (const moment of await seen(page)) {
    if (!moment.state.startsWith("simulated")) {
      showsNothing(moment);
      continue;
    }
    if (moment.line === "fq_codel") continue;
    let run = runs.get(moment.line);
    if (run === undefined) {
      run = (await numbers(toml, moment.line)) as Numbers;
      runs.set(moment.line, run);
    }
    showsRun(moment, run);
  }
  expect([...runs.keys()], "lines that ran").toContain("pfifo limit 100");
});

for (const [name, replace] of [
  ["Rate", [/rate = "20mbit"/, /rate = "21mbit"/]],
  ["Base RTT", [/rtt = "50ms"/, /rtt = "51ms"/]],
  ["Buffer", [/bdp = 4$/m, /bdp = 4.1$/m]],
  ["Downloads", [/count = 2/, /count = 3/]],
] as const) {
  test(`after a change of ${name}, numbers of the setting before stand as those of the present one`, async ({ page }) => {
    await open(page, "");
    const old = (await numbers(await scenario(page), "pfifo")) as Numbers;
    await expect(lane(page, 0).locator(".law p")).toContainText("The last packet");
    await watch(page, 0);
    await slider(page, name).press("ArrowRight");
    const toml = await scenario(page);
    expect(toml, "the setting before").not.toMatch(replace[0]);
    expect(toml, "the present setting").toMatch(replace[1]);
    await settled(page);
    const [moments, present] = [await seen(page), (await numbers(toml, "pfifo")) as Numbers];
    expect(present, "the change shows in the numbers").not.toEqual(old);
    const [running, done] = [moments.filter(({ state }) => state.startsWith("running")), moments.filter(({ state }) => state.startsWith("simulated"))];
    expect([running.some((moment) => moment.toml === toml), done.some((moment) => moment.toml === toml)], "the lane runs, and has run").toEqual([true, true]);
    for (const moment of running) {
      expect(moment.state).toContain("what is dimmed is of the setting before");
      expect(moment.before, "lane and row are dimmed").toEqual([true, true]);
      expect(moment.name).toBe("before: pfifo");
      showsRun(moment, old);
      for (const view of ["feeling", "law", "titles", "pictures"]) expect(moment.views[view], view).toContain("before");
    }
    for (const moment of done) {
      expect(moment.before).toEqual([false, false]);
      expect(JSON.stringify([moment.name, moment.views]), "named as before").not.toContain("before: ");
      showsRun(moment, moment.toml === toml ? present : old);
    }
  });
}

/** Each brings another experiment in which the first line is pfifo, too. */
const OTHERS: readonly [string, (page: Page) => Promise<unknown>][] = [
  ["a lesson", (page) => page.getByRole("navigation", { name: "Lessons" }).getByRole("button").first().click()],
  ["an address", (page) => page.evaluate(() => (location.hash = "#qdisc=pfifo&duration=20s&bottleneck.rate=5mbit&path.rtt=30ms&traffic.0.kind=bulk&traffic.1.kind=voip"))],
  ["TOML", async (page) => applyToml(page, (await scenario(page)).replace('rate = "20mbit"', 'rate = "8mbit"'))],
  ["TOML that the core refuses", async (page) => applyToml(page, (await scenario(page)).replace("warmup", "warmupp"))],
  ["a result that goodqueue serve offers", (page) => page.getByLabel("Your own").selectOption({ label: "pfifo.json" })],
];

for (const [what, bring] of OTHERS) {
  test(`the numbers of the experiment before show under ${what}`, async ({ page }) => {
    const served = { schema: 1, scenario: { duration: "20s", bottleneck: { rate: "4mbit", qdisc: "pfifo", buffer: { bdp: 2 } }, path: { rtt: "60ms" }, traffic: [{ kind: "bulk" }] } };
    await page.route("**/mine.json", (route) => route.fulfill({ json: { scenarios: [], results: [{ name: "pfifo.json", url: "mine/pfifo.json" }] } }));
    await page.route("**/mine/pfifo.json", (route) => route.fulfill({ json: served }));
    await open(page, "");
    const [toml, old] = [await scenario(page), (await numbers(await scenario(page), "pfifo")) as Numbers];
    await watch(page, 0);
    await bring(page);
    await expect.poll(() => scenario(page)).not.toBe(toml);
    await expect(lane(page, 0).locator(".state")).toHaveText(what.includes("refuses") ? /^refused/ : /^simulated in/);
    const moments = await seen(page);
    const [first, ...rest] = moments.filter(({ row, state }) => !(state.startsWith("simulated") && row["p99"] === old["p99"]));
    expect(first?.state, "the lane runs or is refused").toMatch(/^(running|refused)/);
    for (const moment of [first, ...rest]) if (moment && !moment.state.startsWith("simulated")) showsNothing(moment);
    // What shows the old numbers was seen before the change, and not again.
    expect(moments.lastIndexOf(moments.findLast(({ row }) => row["p99"] === old["p99"]) as Moment)).toBeLessThan(moments.indexOf(first as Moment));
    if (what.includes("refuses")) expect(await drawn(page, 0)).toEqual(NO_PICTURE);
    else if (!what.includes("result")) {
      const now = (await numbers(await scenario(page), "pfifo")) as Numbers;
      expect(moments.at(-1)?.row["p99"], "the numbers of the new one").toBe(now["p99"]);
    }
  });
}

test("the buffer's slider does not say to which lines it does not apply", async ({ page }) => {
  await open(page, "");
  const buffer = slider(page, "Buffer");
  await expect(buffer).toHaveAccessibleDescription("");
  await field(page, 1).fill("cake bandwidth 19mbit");
  await expect(buffer).toHaveAccessibleDescription("Does not apply: cake has no limit that a buffer could set.");
  await expect(buffer, "it applies to pfifo").toBeEnabled();
  await field(page, 0).fill("htb rate 15mbit child pfifo_fast");
  await expect(buffer).toHaveAccessibleDescription(/pfifo_fast has no limit .* cake has no limit/);
  await expect(buffer, "it applies to none").toBeDisabled();
  await field(page, 0).fill("tbf rate 15mbit burst 10kb latency 50ms");
  await expect(buffer).toHaveAccessibleDescription(/tbf has a latency in its line already/);
  await field(page, 0).fill("htb rate 15mbit child codel");
  await expect(buffer).toBeEnabled();
  await expect(buffer).toHaveAccessibleDescription("Does not apply: cake has no limit that a buffer could set.");
});

test("the queues of a discipline are drawn as those of its flows", async ({ page }) => {
  // One flow of each kind: ECT(1) for L, no codepoint for C, and EF for cake's tin of voice.
  const base = "&duration=6s&warmup=1s&bottleneck.rate=10mbit&path.rtt=20ms&traffic.0.kind=bulk&traffic.0.cc=prague&traffic.1.kind=bulk&traffic.2.kind=voip&traffic.2.dscp=ef";
  await open(page, `#qdisc=dualpi2&qdisc=cake&qdisc=htb+rate+9mbit+child+prio&qdisc=fq_codel${base}`);
  const link = (place: number) => lane(page, place).getByRole("img", { name: /^The link/ });
  await expect(link(0)).toHaveAccessibleName(/; queues: L, low latency; C, classic$/);
  await expect(link(1)).toHaveAccessibleName(/; queues: voice; best effort; bulk$/);
  await expect(link(2)).toHaveAccessibleName(/; queues: band 0; band 1; band 2$/);
  await expect(link(3)).not.toHaveAccessibleName(/queues/);
  /** Returns how many pixels in the colours of flows 0 and 1 are in each half of the queue, from the top. */
  const halves = (): Promise<number[][]> =>
    link(0).evaluate((one) => {
      const canvas = one as HTMLCanvasElement;
      const [top, floor, exit] = [20, 128, Math.round(canvas.width * 0.55) - 4];
      const count = (from: number, until: number): number[] => {
        const pixels = canvas.getContext("2d")?.getImageData(0, from, exit, until - from).data ?? [];
        const found = [0, 0];
        for (let i = 0; i < pixels.length; i += 4) {
          // #0072b2 and #d55e00
          if (pixels[i] === 0 && pixels[i + 1] === 0x72 && pixels[i + 2] === 0xb2) found[0]!++;
          if (pixels[i] === 0xd5 && pixels[i + 1] === 0x5e && pixels[i + 2] === 0) found[1]!++;
        }
        return found;
      };
      return [count(top, (top + floor) / 2), count((top + floor) / 2, floor)];
    });
  await page.emulateMedia({ colorScheme: "light" });
  const sums = [
    [0, 0],
    [0, 0],
  ];
  for (let n = 0; n < 10; n++) {
    await slider(page, "Time in the run").press("ArrowLeft");
    await expect(lane(page, 0).locator(".law p")).toContainText("The last packet");
    await drawn(page, 0);
    (await halves()).forEach((half, at) => half.forEach((count, flow) => (sums[at]![flow]! += count)));
  }
  expect(sums[0]?.[1], "the classic flow in L").toBe(0);
  expect(sums[1]?.[0], "the scalable flow in C").toBe(0);
  expect(sums[1]?.[1], "the classic flow in C").toBeGreaterThan(0);
});

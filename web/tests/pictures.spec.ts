// Pictures beside the first two: they show the numbers of the run, and each can be saved.

import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { changes, expect, field, lane, open, scenario, settled, SHORT, slider, test, totals } from "./page.ts";
import { callMos } from "../src/call.ts";
import { record } from "./simulator.ts";

/** Returns the name and the text of the SVG that a picture of a lane is saved as. */
async function saved(page: Page, place: number, title: string): Promise<{ name: string; svg: string }> {
  const download = page.waitForEvent("download");
  await lane(page, place).getByRole("button", { name: `Save as SVG: ${title}` }).click();
  const file = await download;
  return { name: file.suggestedFilename(), svg: readFileSync(await file.path(), "utf8") };
}

/** Returns the texts of an SVG, as a browser reads it. It throws if the text is no XML. */
function texts(page: Page, svg: string): Promise<string[]> {
  return page.evaluate((text) => {
    const root = new DOMParser().parseFromString(text, "image/svg+xml");
    if (root.querySelector("parsererror")) throw new Error(root.textContent ?? "no XML");
    return [...root.querySelectorAll("text")].map((one) => one.textContent ?? "");
  }, svg);
}

test("a picture is not saved, does not say of which line it is, or is no SVG", async ({ page }) => {
  await open(page, SHORT.replace("qdisc=pfifo", "qdisc=codel+target+7ms"));
  await expect(lane(page, 0).locator(".law p")).toContainText("The last packet");
  const buttons = lane(page, 0).getByRole("button", { name: /^Save as SVG: / });
  const titles = (await buttons.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label") ?? ""))).map((label) => label.replace("Save as SVG: ", ""));
  expect(titles.length, "each picture has a button").toBe(await lane(page, 0).locator("canvas").count());
  const names = new Set<string>();
  for (const title of titles) {
    const { name, svg } = await saved(page, 0, title);
    names.add(name);
    expect(name).toMatch(/codel-target-7ms\.svg$/);
    expect(svg, title).not.toMatch(/NaN|undefined|Infinity/);
    expect((await texts(page, svg))[0], "its title").toBe(`${title}: codel target 7ms`);
    expect(svg.length, "it is drawn").toBeGreaterThan(800);
  }
  expect(names.size, "each has a name of its own").toBe(titles.length);
});

test("a saved chart has another curve than the run", async ({ page }) => {
  await open(page);
  const { svg } = await saved(page, 0, "Queue, packets");
  const { series } = await record(await scenario(page), "pfifo");
  // The curve is the longest path. Its points stand for the intervals of the run, from 0 to the top of the scale.
  const path = [...svg.matchAll(/d="([^"]*)"/g)].map(([, d]) => d ?? "").reduce((a, b) => (b.length > a.length ? b : a));
  const points = [...path.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, , y]) => Number(y));
  expect(points.length).toBe(series.time_s.length);
  const backlog = series.queues.down.backlog_packets;
  const [low, high] = [Math.max(...points), Math.min(...points)];
  const most = Math.max(...backlog);
  backlog.forEach((packets, place) => expect(Math.abs((points[place] ?? NaN) - (low - (packets / most) * (low - high)))).toBeLessThan(0.6));
});

test("a line that is refused can be saved as a picture", async ({ page }) => {
  await open(page);
  await field(page, 0).fill('codel "<&>');
  await expect(lane(page, 0).locator(".state")).toHaveText(/^refused/);
  for (const button of await lane(page, 0).getByRole("button", { name: /^Save as SVG/ }).all()) await expect(button).toBeDisabled();
});

test("the household's view shows other numbers than the run: ping, call, page, down and up", async ({ page }) => {
  await open(page, `${SHORT}&traffic.2.kind=page&traffic.3.kind=ping&bottleneck.up.rate=2mbit&traffic.4.kind=bulk&traffic.4.direction=up&traffic.5.kind=ping&traffic.5.name=second&traffic.5.rtt=70ms`);
  for (const [place, line] of ["pfifo", "fq_codel"].entries()) {
    const found = await record(await scenario(page), line);
    const feeling = lane(page, place).locator(".feeling");
    const digits = (value: number): string => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));
    const speed = (way: string): string => found.flows.filter(({ direction }) => direction === way).reduce((sum, flow) => sum + flow.goodput_mbps, 0).toFixed(1);
    const pings = found.apps.filter(({ kind }) => kind === "ping");
    expect(pings.length, "each ping has a row").toBe(2);
    for (const { name, rtt_ms } of pings) {
      await expect(feeling).toContainText(`${name}${digits(rtt_ms?.p50 ?? NaN)} ms; one in twenty pings takes ${digits(rtt_ms?.p95 ?? NaN)} ms`);
    }
    await expect(feeling).toContainText(`MOS ${callMos(found)?.toFixed(2)}`);
    await expect(feeling).toContainText(`${speed("down")} Mbit/s down, ${speed("up")} up`);
    await expect(lane(page, place).locator("h3 small").nth(1)).toContainText(`up, grey: p95 ${digits(found.queues.up.delay_ms?.p95 ?? NaN)}`);
  }
});

test("the upload or the rate up changes nothing", async ({ page }) => {
  await open(page);
  const speedUp = async (): Promise<number> => Number(/down, ([\d.]+) up/.exec((await lane(page, 0).locator(".feeling").textContent()) ?? "")?.[1]);
  expect(await speedUp(), "only acknowledgments go up").toBeLessThan(0.5);
  await changes(page, 0, () => page.getByLabel("An upload").check());
  expect(await scenario(page)).toContain('direction = "up"');
  const fast = await speedUp();
  expect(fast).toBeGreaterThan(5);
  await expect(slider(page, "Rate up"), "as the rate down").toHaveAttribute("aria-valuetext", "10 Mbit/s");
  await changes(page, 0, () => slider(page, "Rate up").press("Home"));
  expect(await speedUp()).toBeLessThan(0.3);
  const before = (await totals(page))[0];
  await changes(page, 0, () => page.getByLabel("An upload").uncheck());
  expect(await scenario(page)).not.toContain("direction");
  expect((await totals(page))[0]).not.toEqual(before);
  await expect(slider(page, "Downloads"), "downloads are no uploads").toHaveAttribute("aria-valuetext", "2");
});

test("a hop of the path is not drawn, or its queue is another one's", async ({ page }) => {
  const hops =
    "&hop.0.name=isp&hop.0.kind=link&hop.0.rate=9mbit&hop.0.qdisc=pfifo+limit+400&hop.0.before=bottleneck" +
    "&hop.1.name=air&hop.1.kind=wire&hop.1.delay=3ms&hop.2.name=modem&hop.2.kind=link&hop.2.direction=up&hop.2.rate=3mbit&hop.2.qdisc=bfifo+limit+100000" +
    "&traffic.2.kind=bulk&traffic.2.direction=up";
  await open(page, `${SHORT}${hops}`);
  const picture = lane(page, 0).getByRole("img", { name: /^Other queues of the path/ });
  await expect(picture).toHaveAccessibleName("Other queues of the path: air, down; modem, up; bottleneck, down; bottleneck, up");
  const { series, hops: path } = await record(await scenario(page), "pfifo");
  const [isp, modem] = [series.hops?.["isp"]?.backlog_packets ?? [], series.hops?.["modem"]?.backlog_packets ?? []];
  // A moment at which packets wait in both.
  const both = isp.map((packets, place) => Math.min(packets, modem[place] ?? 0));
  const place = both.indexOf(Math.max(...both));
  expect(both[place], "packets wait at the ISP and in the modem").toBeGreaterThan(5);
  const time = slider(page, "Time in the run");
  await time.evaluate((one, value) => {
    (one as HTMLInputElement).value = String(value);
    one.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }, (series.time_s[place] ?? 0) - 0.005);
  const shown = await texts(page, (await saved(page, 0, "Other queues of the path")).svg);
  const held = (queue: { backlog_packets: number[] } | undefined): number => queue?.backlog_packets[place] ?? NaN;
  const rows = [["bottleneck, down", held(series.queues.down)], ["modem, up", held(series.hops?.["modem"])], ["bottleneck, up", held(series.queues.up)]] as const;
  for (const [name, packets] of rows) expect(shown[shown.indexOf(name) + 1], name).toMatch(new RegExp(`^${packets} packets(, [\\d.]+ ms)?$`));
  expect(shown[shown.indexOf("air, down") + 1]).toBe("no queue");
  // The other pictures and the totals are about the fullest queue, which is the ISP's.
  const hop = path?.find(({ name }) => name === "isp");
  await expect(lane(page, 0).getByRole("heading", { name: /^Queueing delay at the isp, ms mean/ })).toContainText(`p95 ${hop?.delay_ms?.p95.toFixed(0)}`);
  const [row] = await totals(page);
  expect([row?.[0], row?.[1], row?.[5]]).toEqual(["pfifo queue at the isp", hop?.utilisation_percent?.toFixed(1), hop?.delay_ms?.p95.toFixed(2)]);
  const link = (await saved(page, 0, "The link")).svg;
  expect(await texts(page, link)).toContain("queue at the isp");
  const grey = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--soft").trim());
  expect(link.match(new RegExp(`<rect [^>]*fill="${grey}"`, "g"))?.length, "packets in the picture").toBe(held(series.hops?.["isp"]));
  await slider(page, "isp, down").press("ArrowLeft");
  await expect.poll(() => scenario(page), "the slider's rate").toMatch(/name = "isp"\nkind = "link"\nrate = "8\.\dmbit"/);
});

test("the next drop comes at another time than the picture of CoDel's clock says", async ({ page }) => {
  await open(page, SHORT.replace("qdisc=pfifo&qdisc=fq_codel", "qdisc=codel").replace("count=2", "count=4"));
  const law = lane(page, 0).locator(".law");
  const next = page.getByRole("button", { name: "Next packet" });
  const now = async (): Promise<number> => Number.parseFloat((await page.locator(".playback .time .value").textContent()) ?? "");
  await slider(page, "Time in the run").press("Home");
  /** Returns the number of the last drop, or undefined if CoDel rests. */
  const count = async (): Promise<number | undefined> => {
    await expect(law.locator("p")).toContainText("The last packet");
    const found = /this is number (\d+),/.exec((await law.locator("p").textContent()) ?? "")?.[1];
    return found === undefined ? undefined : Number(found);
  };
  let checked = 0;
  // Look at moments at which CoDel drops, and step until the next drop should have come.
  for (let n = 0; n < 40 && checked < 3; n++) {
    await slider(page, "Time in the run").press("PageUp");
    const before = await count();
    if (before === undefined) continue;
    const shown = await texts(page, (await saved(page, 0, "Each packet's time in the queue, ms")).svg);
    const in_ms = /^next drop in ([\d.]+) ms$/.exec(shown.find((text) => text.startsWith("next drop")) ?? "")?.[1];
    if (in_ms === undefined || Number(in_ms) > 100) continue;
    const due = (await now()) + Number(in_ms) / 1e3;
    let number = await count();
    while (number === before && (await now()) < due + 0.005) {
      // Three digits are shown, and the packet before may still be on the wire when the drop is due.
      await next.click();
      number = await count();
      if ((await now()) < due - 1e-3 && number !== undefined) expect(number, `${in_ms} ms before`).toBe(before);
    }
    if (number === undefined) continue; // the queue became short before
    expect(number, `within 5 ms of ${in_ms} ms`).toBe(before + 1);
    checked++;
  }
  expect(checked, "drops that were seen to come").toBe(3);
});

test("pictures of a law without a clock show one", async ({ page }) => {
  await open(page, SHORT.replace("qdisc=fq_codel", "qdisc=pie"));
  for (const place of [0, 1]) {
    await expect(lane(page, place).locator(".law p")).toContainText("The last packet");
    const { svg } = await saved(page, place, "Each packet's time in the queue, ms");
    expect(svg).not.toContain("next drop");
    expect(svg).not.toContain("interval ends");
  }
  await settled(page);
});

/** Width of an acknowledgment, which passes below the queue. */
const ACK = "3";

test("the classic queue of dualpi2, a FIFO, is drawn as if it kept flows apart", async ({ page }) => {
  await open(page, SHORT.replace("qdisc=pfifo&qdisc=fq_codel", "qdisc=dualpi2&qdisc=fq_codel").replace("count=2", "count=4"));
  for (const place of [0, 1]) await expect(lane(page, place).locator(".law p")).toContainText("The last packet");
  /** Returns the greatest number of rows in which packets of one flow wait. */
  const rows = async (place: number): Promise<number> => {
    const { svg } = await saved(page, place, "The link");
    const exit = Number(/<svg [^>]*width="(\d+)"/.exec(svg)?.[1]) * 0.55 - 6;
    const heights = new Map<string, Set<string>>();
    for (const [, x, y = "", wide, colour = ""] of svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="\3" fill="(#\w+)"/g)) {
      if (Number(x) < exit && wide !== ACK) heights.set(colour, (heights.get(colour) ?? new Set()).add(y));
    }
    return Math.max(...[...heights.values()].map(({ size }) => size));
  };
  expect(await rows(0), "in the order of arrival, in several rows").toBeGreaterThan(1);
  expect(await rows(1), "a row per flow").toBe(1);
});

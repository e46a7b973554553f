// What needs the complete simulator, which the page fetches then: a provider's subscribers, and trees of classes.

import { readFileSync } from "node:fs";
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, field, lane, lines, open, refusal, settled, slider, test } from "./page.ts";

/** Twenty homes, but for two seconds. */
const STREET =
  "#qdisc=cake&duration=3s&warmup=1s&evening=true&bottleneck.rate=200mbit&path.rtt=20ms&node.0.name=tower&node.0.down=60mbit&node.0.up=20mbit" +
  "&subscriber.0.name=home&subscriber.0.plan=home&subscriber.0.count=19&subscriber.0.down=25mbit&subscriber.0.up=5mbit&subscriber.0.parent=tower" +
  "&subscriber.1.name=neighbour&subscriber.1.plan=neighbour&subscriber.1.down=25mbit&subscriber.1.up=5mbit&subscriber.1.parent=tower&subscriber.1.traffic=heavy";

interface Side {
  active: number;
  throughput_mbps: number;
  delay_p95_ms: { median: number } | null;
}
interface Isp {
  plans: { name: string; subscribers: number; down: Side; up: Side }[];
  nodes: { name: string; down: { limiting_percent: number }; up: { limiting_percent: number } }[];
}

/** Returns the record of the first line, as the page saves it. */
async function record(page: Page): Promise<{ isp: Isp }> {
  const download = page.waitForEvent("download");
  await lane(page, 0).getByRole("button", { name: "Record" }).click();
  return JSON.parse(readFileSync(await (await download).path(), "utf8")) as { isp: Isp };
}

const cells = (page: Page, table: string): Promise<string[][]> =>
  page.getByRole("region", { name: table, exact: true }).locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));

test("plans and nodes show other numbers than the record has, or axe finds barriers", async ({ page }) => {
  await open(page, STREET);
  const { isp } = await record(page);
  const plans = await cells(page, "Plans");
  expect(plans.map((row) => row.slice(0, 4))).toEqual(
    isp.plans.flatMap(({ name, subscribers, ...sides }) => (["down", "up"] as const).map((way) => ["cake", name, way, `${sides[way].active} of ${subscribers}`])),
  );
  expect(Number(plans[0]?.[4])).toBeCloseTo(isp.plans[0]?.down.delay_p95_ms?.median ?? NaN, 0);
  expect(plans[0]?.slice(7, 9)).toEqual(["25.0", ((isp.plans[0]?.down.throughput_mbps ?? NaN) / (isp.plans[0]?.down.active ?? NaN)).toFixed(2)]);
  const nodes = await cells(page, "Nodes");
  expect(nodes.map((row) => row.slice(1, 3))).toEqual(isp.nodes.flatMap(({ name }) => [[name || "the link", "down"], [name || "the link", "up"]]));
  expect(nodes[2]?.[5], "the tower limits").toBe("100 %");
  await expect(lane(page, 0).locator(".feeling")).toContainText("tower, in 100 % of the time");
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, help }) => `${id}: ${help}`)).toEqual([]);
  await slider(page, "tower, down").press("End");
  await expect(page.getByRole("region", { name: "Nodes", exact: true }).locator("tbody tr").nth(2)).toContainText("1000.0");
});

test("a tree of classes does not open, or typing fetches the complete simulator", async ({ page }) => {
  let isComplete = false;
  page.on("request", (request) => (isComplete ||= request.url().includes("/complete-")));
  await open(page);
  for (const typed of ["c", "code", "codel traget", "drr"]) {
    await field(page, 0).fill(typed);
    await expect(refusal(page, 0)).not.toBeEmpty();
  }
  expect(isComplete).toBe(false);
  const [tree] = [readFileSync("../examples/subscribers.toml", "utf8").replace('duration = "20s"', 'duration = "6s"')];
  await page.getByLabel("Scenario or record").setInputFiles({ name: "subscribers.toml", mimeType: "text/plain", buffer: Buffer.from(tree) });
  await expect.poll(async () => (await lines(page))[0]).toMatch(/^tc qdisc add dev eth0 root handle 1: htb default fff; tc class add/);
  await settled(page);
  expect(isComplete).toBe(true);
});

test("the complete simulator cannot be fetched, and the page does not say so", async ({ page }) => {
  await page.route("**/complete-*", (route) => route.fulfill({ status: 200, contentType: "application/wasm", body: "" }));
  await open(page);
  await field(page, 0).fill("netem delay 10ms");
  await expect(refusal(page, 0)).toContainText("the complete simulator cannot be fetched");
  await page.unroute("**/complete-*");
  await field(page, 0).fill("netem delay 11ms");
  await settled(page);
});

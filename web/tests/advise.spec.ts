// The address to which a report of `goodqueue advise` links. tests/advice/test_advise.py holds that it prints this one.

import { readFileSync } from "node:fs";
import { expect, field, lane, lines, open, refusal, scenario, test, totals } from "./page.ts";

const HASH = readFileSync(new URL("advise.address.txt", import.meta.url), "utf8").trim().replace(/^[^#]*/, "");

test("advise's address opens another experiment than the one that was measured", async ({ page }) => {
  await open(page, HASH);
  expect(await lines(page)).toEqual([
    "fq_codel / fq_codel",
    "cake bandwidth 19000kbit besteffort docsis nat dual-dsthost ingress / cake bandwidth 4750kbit besteffort docsis nat dual-srchost",
  ]);
  await expect(refusal(page, 0)).toBeEmpty();
  await expect(refusal(page, 1)).toBeEmpty();
  expect(await scenario(page), "the modem's queue beside the router").toContain('qdisc = "bfifo limit 156250"');
  const shown = (await totals(page)).map((row) => [0, 1, 2, 3, 10].map((column) => row[column]));
  // As `goodqueue run` has them: the use of the provider's link, Mbit/s, the longest mean delay, and the call.
  expect(shown).toEqual([
    ["now queue at the provider", "99.5", "18.85", "128.02", "3.91"],
    ["with the lines queue at the bottleneck", "94.6", "17.81", "4.02", "4.39"],
  ]);
  const time = Number.parseFloat((await page.locator(".playback .time .value").textContent()) ?? "");
  expect(time, "the moment of the longest queue, after the warm-up").toBeCloseTo(6.716, 2);
  await expect(lane(page, 0).locator(".label")).toHaveText("now");
  await field(page, 0).fill("codel / codel");
  await expect(lane(page, 0).locator(".label"), "the name was another line's").toHaveCount(0);
});

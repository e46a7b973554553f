// The address to which a report of `goodqueue advise` links. tests/advice/test_advise.py holds that it prints this one.

import { readFileSync } from "node:fs";
import { expect, lines, open, refusal, scenario, test, totals } from "./page.ts";

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
  const goodput = (await totals(page)).map((row) => row[2]);
  expect(goodput, "Mbit/s, as `goodqueue run` has them for these lines").toEqual(["18.77", "17.83"]);
});

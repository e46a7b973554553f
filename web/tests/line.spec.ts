// The field for a tc line: what it offers, what it refuses, and what happens to the results.

import { changes, expect, field, lane, open, refusal, saysOneLine, scenario, test, totals } from "./page.ts";

test("completion does not show the disciplines and their parameters, or takes another one than is chosen", async ({ page }) => {
  await open(page);
  const line = field(page, 0);
  const list = lane(page, 0).getByRole("listbox");
  await line.fill("cod");
  await expect(list.getByRole("option")).toHaveCount(1);
  await expect(list.getByRole("option")).toContainText("codel");
  await line.press("ArrowDown");
  await expect(list.getByRole("option", { selected: true })).toContainText("codel");
  await line.press("Enter");
  await expect(line).toHaveValue("codel ");
  await line.pressSequentially("t");
  await expect(list).toContainText("target");
  await line.press("ArrowDown");
  await line.press("Enter");
  await expect(line).toHaveValue("codel target ");
  // A time must follow now. The list says so, and offers no word.
  await expect(list).toContainText("default 5ms");
});

test("arrows stop at the end of the list, or the chosen word is out of sight", async ({ page }) => {
  await open(page);
  const line = field(page, 0);
  await line.fill("");
  const options = lane(page, 0).getByRole("option");
  const count = await options.count();
  expect(count).toBeGreaterThan(5);
  for (let n = 0; n < count; n++) {
    await line.press("ArrowDown");
    await expect(options.nth(n)).toHaveAttribute("aria-selected", "true");
    await expect(line).toHaveAttribute("aria-activedescendant", (await options.nth(n).getAttribute("id")) ?? "");
    await expect(options.nth(n)).toBeInViewport({ ratio: 0.9 });
  }
  await line.press("ArrowDown");
  await expect(options.first()).toHaveAttribute("aria-selected", "true");
  await line.press("ArrowUp");
  await expect(options.last()).toHaveAttribute("aria-selected", "true");
});

test("Escape leaves the list open, or takes the text away", async ({ page }) => {
  await open(page);
  const line = field(page, 0);
  await line.fill("fq");
  await expect(line).toHaveAttribute("aria-expanded", "true");
  await line.press("Escape");
  await expect(lane(page, 0).getByRole("listbox")).toBeHidden();
  await expect(line).toHaveAttribute("aria-expanded", "false");
  await expect(line).toHaveValue("fq");
});

test("a click on a word of the list does not take it", async ({ page }) => {
  await open(page);
  await field(page, 0).fill("pi");
  await lane(page, 0).getByRole("option", { name: /^pie / }).click();
  await expect(field(page, 0)).toHaveValue("pie ");
  await expect(field(page, 0)).toBeFocused();
});

test("an unknown word is not told, takes away another line's results, or is still told once mended", async ({ page }) => {
  await open(page);
  const [first] = await totals(page);
  await field(page, 1).fill("fq_codel traget 10ms");
  await expect(refusal(page, 1)).toContainText('unknown word "traget"; did you mean "target"?');
  await saysOneLine(refusal(page, 1));
  await expect(field(page, 1)).toHaveAttribute("aria-invalid", "true");
  await expect(refusal(page, 0), "the other line").toBeEmpty();
  expect((await totals(page))[0], "the results of the other line").toEqual(first);
  await changes(page, 1, () => field(page, 1).fill("fq_codel target 10ms"));
  await expect(refusal(page, 1)).toBeEmpty();
  await expect(field(page, 1)).toHaveAttribute("aria-invalid", "false");
});

test("a line with a limit of its own does not run, or the buffer's slider overrides it", async ({ page }) => {
  await open(page);
  await changes(page, 0, () => field(page, 0).fill("pfifo limit 10"));
  await expect(refusal(page, 0)).toBeEmpty();
  // 10 packets of 1514 bytes wait at most 12.1 ms at 10 Mbit/s.
  expect(Number((await totals(page))[0]?.[6]), "99th percentile of the delay, ms").toBeLessThan(12.2);
  expect(await scenario(page), "the buffer of the other line").toContain("bdp = 4");
});

test("a pasted line runs as another one", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  await page.evaluate(() => navigator.clipboard.writeText("fq_codel target 10ms noecn"));
  await field(page, 1).selectText();
  await changes(page, 1, () => page.keyboard.press("Control+v"));
  await expect(field(page, 1)).toHaveValue("fq_codel target 10ms noecn");
  await expect(refusal(page, 1)).toBeEmpty();
  await page.evaluate(() => navigator.clipboard.writeText("tc qdisc add dev eth0 root handle 1: codel target 20ms"));
  await field(page, 1).selectText();
  await changes(page, 1, () => page.keyboard.press("Control+v"));
  await expect(field(page, 1), "the command's line").toHaveValue("codel target 20ms");
  const tree = "tc qdisc replace dev eth0 root handle 1: htb default 10; tc class add dev eth0 parent 1: classid 1:10 htb rate 5mbit";
  await changes(page, 1, () => field(page, 1).fill(tree));
  await expect(field(page, 1), "a tree stays").toHaveValue(tree);
  await expect(refusal(page, 1), "the buffer of the other line").toBeEmpty();
});

const NONSENSE: readonly [string, string][] = [
  ["emoji", "🦄 fq_codel 💥"],
  ["10,000 characters", "fq_codel ".padEnd(10_000, "x")],
  ["HTML tags", '<img src=x onerror="document.title=1"><script>document.title=2</script>'],
  ["a parameter without its value", "codel target"],
  ["a number beyond all bounds", "pfifo limit 99999999999999999999999999"],
  ["a name that every object has", "constructor"],
  ["nothing at all", ""],
  ["spaces", "     "],
  ["a quoted tail", `codel target "5ms' \\ %00 \u0000`],
];

test("nonsense in a line breaks the page", async ({ page }) => {
  await open(page);
  const other = (await totals(page))[1];
  for (const [what, line] of NONSENSE) {
    await test.step(what, async () => {
      await field(page, 0).fill(line);
      await expect(field(page, 0)).toHaveAttribute("aria-invalid", "true");
      await saysOneLine(refusal(page, 0));
      expect((await refusal(page, 0).textContent())?.length, "no longer than a person reads").toBeLessThan(500);
      const [row, next] = await totals(page);
      expect(row?.slice(1).every((cell) => cell === "–"), "no numbers of another line").toBe(true);
      expect(next, "the results of the other line").toEqual(other);
      await field(page, 0).fill("pfifo");
      await expect(refusal(page, 0)).toBeEmpty();
    });
  }
  await expect(page).toHaveTitle("goodqueue: see the queue");
  await changes(page, 0, () => field(page, 0).fill("codel"));
});

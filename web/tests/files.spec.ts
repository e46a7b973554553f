// Files that are opened on the page, and files that it saves. A saved file gives the same bytes elsewhere.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { Page } from "@playwright/test";
import { expect, field, lane, lines, open, refusal, saysOneLine, scenario, settled, SHORT, slider, test, totals, trouble } from "./page.ts";

const PYTHON = resolve(process.env["PYTHON"] ?? "../.venv/bin/python");
const environment = { ...process.env, PYTHONPATH: resolve("../python") };

/** Returns what the command line prints. */
function goodqueue(...words: string[]): string {
  if (!existsSync(PYTHON)) throw new Error(`no ${PYTHON}; accepted: the Python of \`make\`, or another one that PYTHON names`);
  return execFileSync(PYTHON, ["-m", "goodqueue", ...words], { env: environment, encoding: "utf8", maxBuffer: 64 << 20 });
}

function folder(): string {
  return mkdtempSync(join(tmpdir(), "goodqueue-page-"));
}

interface Given {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

function given(name: string, content: string | Buffer): Given {
  return { name, mimeType: "application/octet-stream", buffer: Buffer.from(content) };
}

async function choose(page: Page, file: string | Given): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Open a file" }).click();
  await (await chooser).setFiles(file);
}

/** Drops a file as if it came from a file manager. */
async function drop(page: Page, { name, buffer }: Given): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([title, bytes]) => {
      const all = new DataTransfer();
      all.items.add(new File([Uint8Array.from(bytes)], title));
      return all;
    },
    [name, [...buffer]] as const,
  );
  await page.dispatchEvent("body", "dragover", { dataTransfer: transfer });
  await expect(page.locator(".page.dropping"), "it shows that it takes the file").toHaveCount(1);
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  await expect(page.locator(".page.dropping")).toHaveCount(0);
}

/** Returns the file that a button saves. */
async function saved(page: Page, press: () => Promise<void>): Promise<string> {
  const download = page.waitForEvent("download");
  await press();
  return readFileSync(await (await download).path(), "utf8");
}

for (const [name, rate, rtt] of [
  ["first", "10 Mbit/s", "40 ms"],
  ["rrul", "10 Mbit/s", "50 ms"],
] as const) {
  test(`examples/${name}.toml does not open`, async ({ page }) => {
    await open(page);
    await choose(page, `../examples/${name}.toml`);
    await expect.poll(() => lines(page)).toEqual(["fq_codel"]);
    await expect(slider(page, "Rate")).toHaveAttribute("aria-valuetext", rate);
    await expect(slider(page, "Base RTT")).toHaveAttribute("aria-valuetext", rtt);
    await expect(trouble(page)).toBeEmpty();
    await expect(refusal(page, 0)).toBeEmpty();
    await expect(page.locator(".legend")).toContainText(name === "rrul" ? "TCP download BE/0" : /^ bulk\/0 bulk\/1 ping\/0■/);
  });
}

test("a scenario that is dropped on the page does not open", async ({ page }) => {
  await open(page);
  await drop(page, given("first.toml", readFileSync("../examples/first.toml")));
  await expect.poll(() => lines(page)).toEqual(["fq_codel"]);
  await expect(slider(page, "Base RTT")).toHaveAttribute("aria-valuetext", "40 ms");
});

test("a record does not open, or runs to other bytes than its own", async ({ page }) => {
  const record = goodqueue("run", "../examples/first.toml", "--json", "--set", "duration=8s", "--set", "seed=7");
  await open(page);
  await choose(page, given("record.json", record));
  await expect(slider(page, "Base RTT")).toHaveAttribute("aria-valuetext", "40 ms");
  expect(await scenario(page)).toContain("seed = 7");
  await settled(page);
  expect(await saved(page, () => lane(page, 0).getByRole("button", { name: "Record" }).click())).toBe(record);
});

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const WRONG: readonly Given[] = [
  given("picture.png", PNG),
  given("empty.toml", ""),
  given("pyproject.toml", '[project]\nname = "other"\n'),
  given("broken.toml", "[bottleneck]\nqdisc = = 3\n"),
  given("other.json", '{"name": "other"}'),
  given("list.json", "[1, 2, 3]"),
  given("cut.json", '{"schema": 1, "scenario": {"duration"'),
  given("null.json", '{"scenario": {"bottleneck": {"qdisc": "codel"}, "path": [null]}}'),
  given("number.json", "{}"),
];

for (const [way, bring] of [
  ["chosen", choose],
  ["dropped", drop],
] as const) {
  test(`a file that is no scenario, ${way}, is not told in a line, or changes the experiment`, async ({ page }) => {
    await open(page);
    const before = [await lines(page), await scenario(page), await totals(page)];
    for (const file of WRONG) {
      await test.step(file.name, async () => {
        await bring(page, file);
        await expect(trouble(page), "it names the file").toContainText(file.name);
        await saysOneLine(trouble(page));
        expect((await trouble(page).textContent())?.length, "no longer than a person reads").toBeLessThan(300);
        expect([await lines(page), await scenario(page), await totals(page)]).toEqual(before);
      });
    }
    await choose(page, "../examples/first.toml");
    await expect(trouble(page), "a file that is right takes the message away").toBeEmpty();
  });
}

test("As TOML saves another experiment than the page runs", async ({ page }) => {
  await open(page);
  await field(page, 0).fill("codel target 7ms");
  await slider(page, "Rate").press("ArrowRight");
  const toml = await saved(page, () => page.getByRole("button", { name: "As TOML" }).click());
  expect(toml).toContain('qdisc = "codel target 7ms"');
  const file = join(folder(), "scenario.toml");
  writeFileSync(file, toml);
  expect(await saved(page, () => lane(page, 0).getByRole("button", { name: "Record" }).click())).toBe(goodqueue("run", file, "--json"));
});

test("Copy as command copies what a shell does not run to the same bytes", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, `${SHORT}&qdisc=pfifo+limit+30`);
  // A `goodqueue` on PATH that prints the whole record.
  const bin = folder();
  writeFileSync(join(bin, "goodqueue"), '#!/bin/sh\nexec "$GOODQUEUE_PYTHON" -m goodqueue "$@" --json\n');
  chmodSync(join(bin, "goodqueue"), 0o755);
  const shell = { ...environment, GOODQUEUE_PYTHON: PYTHON, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
  for (const place of [1, 2]) {
    await lane(page, place).getByRole("button", { name: "Copy as command" }).click();
    await expect(lane(page, place).getByRole("button", { name: "Copied" })).toBeVisible();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    const printed = execFileSync("bash", ["-c", command], { env: shell, encoding: "utf8", maxBuffer: 64 << 20 });
    expect(printed).toBe(await saved(page, () => lane(page, place).getByRole("button", { name: "Record" }).click()));
  }
});

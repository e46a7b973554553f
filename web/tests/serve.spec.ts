// `goodqueue serve FILE` and `goodqueue serve --lessons DIR`: the command itself serves the page.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, field, lane, LAPTOP, lines, refusal, saysOneLine, settled, slider, test as base, trouble } from "./page.ts";

const PYTHON = resolve(process.env["PYTHON"] ?? "../.venv/bin/python");

const TOML = `duration = "6s"
warmup = "1s"
[bottleneck]
rate = "8mbit"
qdisc = "codel target 7ms"
[path]
rtt = "30ms"
[[traffic]]
kind = "bulk"
`;

const LESSON = `title = "Short waits"
text = "A download fills the queue."
question = "Make the wait short by typing another name."
hint = "Try codel."
answer = "CoDel drops before the queue is full."
lines = ["pfifo limit 200", "cake"]

[[goal]]
metric = "queues.down.delay_ms.mean"
at_most = 20
says = "Packets wait 20 ms or less on average"

[[exercise]]
question = "What does CoDel look at?"
choices = ["How long the queue is", "How long packets wait"]
right = "How long packets wait"
answer = "It looks at each packet's wait when the packet leaves."

[[exercise]]
question = "Now let them wait 60 ms or more."
metric = "queues.down.delay_ms.mean"
at_least = 60
answer = "Without a law, the buffer alone decides."

[scenario]
duration = "6s"
warmup = "1s"
bottleneck = { rate = "8mbit", buffer = { bdp = 4 } }
path = { rtt = "30ms" }
traffic = [{ kind = "bulk" }]
`;

/** The words after `goodqueue serve`, and the folder in which it is started. */
const test = base.extend<{ words: string[]; folder: string }>({
  words: [[], { option: true }],
  folder: async ({}, use) => {
    const made = mkdtempSync(join(tmpdir(), "goodqueue-serve-"));
    writeFileSync(join(made, "mine.toml"), TOML);
    writeFileSync(join(made, "traced.toml"), TOML.replace('rate = "8mbit"', 'trace = "rates.txt"'));
    writeFileSync(join(made, "rates.txt"), "0s 5mbit\n");
    mkdirSync(join(made, "lessons"));
    writeFileSync(join(made, "lessons", "1-short-waits.toml"), LESSON);
    await use(made);
  },
  baseURL: async ({ words, folder }, use) => {
    const environment = { ...process.env, PYTHONPATH: resolve("../python") };
    const command = spawn(PYTHON, ["-m", "goodqueue", "serve", ...words, "--port", "0", "--no-browser", "--json"], { cwd: folder, env: environment });
    const said: string[] = [];
    command.stderr.on("data", (text: Buffer) => said.push(String(text)));
    const url = await new Promise<string>((found, failed) => {
      command.stdout.once("data", (text: Buffer) => found((JSON.parse(String(text)) as { url: string }).url));
      command.once("exit", () => failed(new Error(said.join(""))));
    });
    await use(url);
    command.kill();
  },
});

test.use({ viewport: LAPTOP });

test.describe("serve FILE", () => {
  test.use({ words: ["mine.toml"] });

  test("the file does not open, or another experiment runs before it", async ({ page, folder }) => {
    await page.addInitScript(() => {
      const seen = new Set<string>();
      Object.assign(window, { seen });
      new MutationObserver(() => document.querySelectorAll("section.lane .state").forEach((one, place) => {
        const line = document.querySelectorAll<HTMLInputElement>(".line-field input")[place]?.value;
        if (/simulated/.test(one.textContent ?? "")) seen.add(line ?? "");
      })).observe(document, { subtree: true, childList: true, characterData: true });
    });
    await page.goto("./");
    await settled(page);
    expect(await lines(page)).toEqual(["codel target 7ms"]);
    await expect(slider(page, "Rate")).toHaveAttribute("aria-valuetext", "8 Mbit/s");
    await expect(trouble(page)).toBeEmpty();
    expect(await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen]), "what has run").toEqual(["codel target 7ms"]);
    // A reload reads the file again.
    writeFileSync(join(folder, "mine.toml"), TOML.replace("8mbit", "9mbit"));
    await page.reload();
    await settled(page);
    await expect(slider(page, "Rate")).toHaveAttribute("aria-valuetext", "9 Mbit/s");
    // A change is kept by the address, and the file comes back with Start over.
    await slider(page, "Rate").press("End");
    await expect.poll(() => page.url(), "the address follows").toContain("bottleneck.rate=1000mbit");
    await page.reload();
    await settled(page);
    await expect(slider(page, "Rate")).toHaveAttribute("aria-valuetext", "1 Gbit/s");
    await page.getByRole("button", { name: "Start over" }).click();
    await expect(slider(page, "Rate")).toHaveAttribute("aria-valuetext", "9 Mbit/s");
  });

  test("an address with an experiment loses it to the file", async ({ page }) => {
    await page.goto("./#qdisc=pie&duration=6s&bottleneck.rate=5mbit&path.rtt=30ms&traffic.0.kind=bulk");
    await settled(page);
    expect(await lines(page)).toEqual(["pie"]);
  });

  test("a file that has become wrong is not told in a line", async ({ page, folder }) => {
    writeFileSync(join(folder, "mine.toml"), "rate = = 3");
    // The browser itself reports the answer's status.
    const answer = page.waitForResponse(/mine\/0\.json/);
    await page.route("**/mine/0.json", async (route) => route.fulfill({ status: 200, json: (await (await route.fetch()).json()) as object }));
    await page.goto("./");
    await answer;
    await expect(trouble(page)).toContainText("mine.toml: not TOML");
    await saysOneLine(trouble(page));
  });
});

test.describe("serve FILE that a browser cannot run", () => {
  test.use({ words: ["traced.toml"] });
  test("it is not told in a line under the file's own line", async ({ page }) => {
    await page.goto("./");
    await expect(lane(page, 0).locator(".state")).toHaveText(/^refused/);
    expect(await lines(page)).toEqual(["codel target 7ms"]);
    await saysOneLine(refusal(page, 0));
    await expect(refusal(page, 0)).toContainText("bottleneck.trace");
  });
});

async function choose(page: Page, choice: string): Promise<void> {
  await page.locator(".lesson").getByRole("button", { name: choice }).click();
}

test.describe("serve --lessons", () => {
  test.use({ words: ["--lessons", "lessons"] });

  test("a lesson of one's own does not open, or an exercise is answered by something wrong", async ({ page }) => {
    await page.goto("./");
    await settled(page);
    const path = page.getByRole("navigation", { name: "Lessons" }).getByRole("button");
    await expect(path, "its own lessons take the place of the page's").toHaveText(["Short waits"]);
    await path.click();
    await settled(page);
    expect(await lines(page)).toEqual(["pfifo limit 200", "cake"]);
    await expect(refusal(page, 1), "a line without a limit runs").toBeEmpty();
    const panel = page.getByRole("region", { name: "Lesson 1" });
    await expect(panel, "exercises come after the goals").not.toContainText("What does CoDel look at?");
    await field(page, 0).fill("codel");
    await expect(panel.locator(".exercise")).toContainText("What does CoDel look at?");
    await expect(panel.locator(".answer"), "the lesson's answer comes last").toHaveCount(0);
    expect((await new AxeBuilder({ page }).include(".lesson").analyze()).violations).toEqual([]);
    await choose(page, "How long the queue is");
    await expect(panel.locator(".exercise")).toContainText("Not “How long the queue is”. Look again.");
    await choose(page, "How long packets wait");
    await expect(panel.locator(".goals")).toContainText("It looks at each packet's wait when the packet leaves.");
    await expect(panel.locator(".exercise")).toContainText("Now let them wait 60 ms or more.");
    await expect(path).not.toHaveAccessibleName(/done/);
    await field(page, 0).fill("pfifo limit 300");
    await expect(panel.locator(".answer")).toHaveText("CoDel drops before the queue is full.");
    await expect(panel.locator(".exercise")).toHaveCount(0);
    await expect(path).toHaveAccessibleName(/Short waits ?: done$/);
    await panel.getByRole("button", { name: "Start again" }).click();
    await settled(page);
    await expect(panel.locator(".answer"), "it begins anew").toHaveCount(0);
    await expect(panel.locator(".goals")).toContainText("not reached yet");
    await expect(path, "what was done stays done").toHaveAccessibleName(/Short waits ?: done$/);
  });
});

test("a number that the record does not have is not told", async ({ page }) => {
  const lesson = { title: "One", text: "Text.", question: "Do.", hint: "Try.", answer: "So.", lines: ["pfifo"], goal: [{ metric: "apps.3.mos", line: 0, at_least: 4, says: "The call is good" }], exercise: [] };
  const own = { ...lesson, scenario: { duration: "6s", bottleneck: { rate: "8mbit" }, path: { rtt: "30ms" }, traffic: [{ kind: "bulk" }] } };
  await page.route("**/mine.json", (route) => route.fulfill({ json: { scenarios: [], results: [], lessons: "lessons.json" } }));
  await page.route("**/lessons.json", (route) => route.fulfill({ json: [own] }));
  await page.goto("./");
  const path = page.getByRole("navigation", { name: "Lessons" }).getByRole("button");
  await expect(path).toHaveCount(1);
  await path.click();
  await settled(page);
  await expect(page.locator(".lesson .goals")).toContainText("this run has no apps.3.mos");
});

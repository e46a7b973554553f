// The size of what a visitor downloads.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "@playwright/test";

const PAGE = "../python/goodqueue/page";
/** Bytes of a first visit after the web server's compression: five seconds at 800 kbit/s. */
const MOST = 500_000;
/** Bytes of the complete simulator, which the page fetches when a scenario needs it (lessons.spec.ts). */
const MOST_COMPLETE = 775_000;

test("the page or the complete simulator has become large", () => {
  const files = readdirSync(PAGE, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = files.map((file): [string, number] => [file.name, gzipSync(readFileSync(join(file.parentPath, file.name)), { level: 9 }).length]);
  expect(sizes.length, "files of the built page").toBeGreaterThan(4);
  const isComplete = ([name]: [string, number]): boolean => /^complete-.*\.wasm$/.test(name);
  const later = sizes.filter(isComplete);
  const first = sizes.filter((file) => !isComplete(file));
  const sum = first.reduce((bytes, [, size]) => bytes + size, 0);
  expect(sum, first.map(([name, size]) => `${name} ${size}`).join(", ")).toBeLessThanOrEqual(MOST);
  expect(later.map(([name]) => name), "the complete simulator is one file").toHaveLength(1);
  expect(later[0]?.[1]).toBeLessThanOrEqual(MOST_COMPLETE);
});

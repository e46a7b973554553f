// The size of what a visitor downloads.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "@playwright/test";

const PAGE = "../python/goodqueue/page";
/** Bytes after the web server's compression: five seconds at 800 kbit/s. */
const MOST = 500_000;

test("the page has become large", () => {
  const files = readdirSync(PAGE, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = files.map((file): [string, number] => [file.name, gzipSync(readFileSync(join(file.parentPath, file.name)), { level: 9 }).length]);
  expect(sizes.length, "files of the built page").toBeGreaterThan(4);
  const sum = sizes.reduce((bytes, [, size]) => bytes + size, 0);
  expect(sum, sizes.map(([name, size]) => `${name} ${size}`).join(", ")).toBeLessThanOrEqual(MOST);
});

// The browser of the tests and of the benchmark: the Chromium on PATH. None is downloaded.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const folders = (process.env["PATH"] ?? "").split(delimiter);
const executablePath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file));
if (executablePath === undefined) throw new Error(`no browser on PATH; accepted: one of ${NAMES.join(", ")}`);

export const launchOptions = {
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
};
export const viewport = { width: 1280, height: 900 };

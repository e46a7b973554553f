// Opens experiments on the page: files that are dropped or chosen, and the user's files that `goodqueue serve`
// offers.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ofJson, open, type Opened } from "../files.ts";
import { at } from "../table.ts";
import { hasBegun, home, openExperiment, trouble } from "../state.ts";
import { lesson, lessons, type Lesson } from "./lessons.tsx";

const MOST_BYTES = 64 * 1024 * 1024;

function show({ experiment: opened, note }: Opened): void {
  openExperiment(opened);
  lesson.value = undefined;
  trouble.value = note;
}

export async function openFile(file: File): Promise<void> {
  try {
    if (file.size > MOST_BYTES) throw new Error(`${file.name}: found ${file.size} bytes; accepted: ${MOST_BYTES} at most`);
    show(open(await file.text(), file.name));
  } catch (error) {
    tell(error);
  }
}

/** Opens files that are dropped anywhere on the page. Returns whether a file is over the page. */
export function useDrops(): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const over = (event: DragEvent): void => {
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (file) void openFile(file);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
  return isOver;
}

interface Own {
  name: string;
  url: string;
}
interface Mine {
  scenarios: Own[];
  results: Own[];
  /** The address of the one that the page opens. */
  opens?: string;
  /** The address of the user's lessons. */
  lessons?: string;
}

const mine = signal<Mine>({ scenarios: [], results: [] });

const allOf = ({ scenarios, results }: Mine): Own[] => [...scenarios, ...results];

/**
 * Asks the server for what the user has. A static host has nothing. If the user has named a file, it is what Start over
 * brings, and a bare address opens it.
 */
export async function fetchMine(isBare: boolean): Promise<void> {
  try {
    mine.value = (await (await fetch("mine.json")).json()) as Mine;
  } catch {
    // The host does not have this file.
  }
  const { opens, lessons: folder } = mine.value;
  try {
    if (folder) {
      lessons.value = (await ask(folder)) as Lesson[];
      lesson.value = undefined;
    }
    const named = allOf(mine.value).find(({ url }) => url === opens);
    if (named) {
      const opened = ofJson(await ask(named.url), named.name);
      home.value = opened.experiment;
      if (isBare) show(opened);
    }
  } catch (error) {
    tell(error);
  }
  hasBegun.value = true;
}

/** Asks the server for a file. Throws an Error if it cannot be read. */
async function ask(url: string): Promise<unknown> {
  const json: unknown = await (await fetch(url)).json();
  const error = at(json, "error");
  if (typeof error === "string") throw new Error(error);
  return json;
}

function tell(error: unknown): void {
  trouble.value = error instanceof Error ? error.message : String(error);
}

async function openOwn(own: Own): Promise<void> {
  try {
    show(ofJson(await ask(own.url), own.name));
  } catch (error) {
    tell(error);
  }
}

export function OwnFiles() {
  const { scenarios, results } = mine.value;
  const all = allOf(mine.value);
  if (all.length === 0) return null;
  return (
    <label class="choice">
      <span class="name">Your own</span>
      <select
        value=""
        onChange={(event) => {
          const own = all.find(({ url }) => url === event.currentTarget.value);
          if (own) void openOwn(own);
        }}
      >
        <option value="">Scenarios and results</option>
        <Group name="Scenarios" of={scenarios} />
        <Group name="Results" of={results} />
      </select>
    </label>
  );
}

function Group({ name, of }: { name: string; of: readonly Own[] }) {
  if (of.length === 0) return null;
  return (
    <optgroup label={name}>
      {of.map((own) => (
        <option key={own.url} value={own.url}>
          {own.name}
        </option>
      ))}
    </optgroup>
  );
}

// The lessons: each is a scenario, and a question that a control answers. They are the files of web/lessons, or the
// user's own. A lesson may have exercises after its goals.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { readToml } from "../files.ts";
import type { RunRecord } from "../record.ts";
import { at, type Table } from "../table.ts";
import { allStates, openExperiment } from "../state.ts";

/** A number of the record, and its bounds. */
interface Check {
  line?: number;
  metric: string;
  at_least?: number;
  at_most?: number;
}

interface Goal extends Check {
  says: string;
}

interface Exercise extends Partial<Check> {
  question: string;
  answer: string;
  /** Without choices, the run has to pass the check. */
  choices?: string[];
  right?: string;
}

export interface Lesson {
  title: string;
  text: string;
  question: string;
  hint: string;
  answer: string;
  lines: string[];
  goal: Goal[];
  exercise?: Exercise[];
  scenario: Table;
}

const FILES = import.meta.glob<string>("../../lessons/*.toml", { query: "?raw", import: "default", eager: true });

const LESSONS: readonly Lesson[] = Object.entries(FILES)
  .sort(([a], [b]) => a.localeCompare(b))
  .map(([file, text]) => readToml(text, file) as unknown as Lesson);

export const lessons = signal(LESSONS);

export const lesson = signal<number | undefined>(undefined);
/** Counts how often a lesson began, so that each time it begins anew. */
const begun = signal(0);

const KEPT = "goodqueue.lessons";

/** The titles of the lessons whose goals were reached once. */
const done = signal<ReadonlySet<string>>(kept());

/** Returns what an earlier visit kept. A browser may forbid a page to keep anything. */
function kept(): ReadonlySet<string> {
  try {
    const titles: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return new Set(Array.isArray(titles) ? titles.map(String) : []);
  } catch {
    return new Set();
  }
}

function keep(title: string): void {
  if (done.peek().has(title)) return;
  done.value = new Set(done.peek()).add(title);
  try {
    localStorage.setItem(KEPT, JSON.stringify([...done.peek()]));
  } catch {
    // The progress lasts as long as the page.
  }
}

type Records = readonly (RunRecord | undefined)[];

function isWithin({ at_least = -Infinity, at_most = Infinity }: Partial<Check>, value: unknown): boolean {
  return typeof value === "number" && value >= at_least && value <= at_most;
}

function isReached(check: Partial<Check>, records: Records): boolean {
  return isWithin(check, at(records[check.line ?? 0], check.metric ?? ""));
}

/** Units by the last word of a metric's name. */
const UNITS: Readonly<Record<string, string>> = { ms: "ms", mbps: "Mbit/s", percent: "%", s: "s", bytes: "bytes" };

/** Returns the number that a check looks at, with its unit, or says that the run does not have it. */
function standingOf(check: Partial<Check>, records: Records): string {
  const { line = 0, metric = "" } = check;
  const record = records[line];
  if (!metric || !record) return "";
  const value = at(record, metric);
  if (typeof value !== "number") return ` (this run has no ${metric})`;
  // More digits where a rounded number would be on the other side of the bound.
  const digits = [3, 4, 5, 6].find((enough) => isWithin(check, Number(value.toPrecision(enough))) === isWithin(check, value)) ?? 9;
  const unit = metric.split(".").flatMap((part) => UNITS[part.split("_").at(-1) ?? ""] ?? []).at(-1);
  return ` (now ${[Number(value.toPrecision(digits)), unit].filter((part) => part !== undefined).join(" ")})`;
}

export function begin(number: number): void {
  const chosen = lessons.value[number];
  if (!chosen) return;
  lesson.value = number;
  begun.value++;
  openExperiment({ scenario: chosen.scenario, lines: chosen.lines });
}

/** The lessons as a path: which are done, and which is open. */
export function LessonPath() {
  return (
    <nav aria-label="Lessons">
      <ol class="path">
        {lessons.value.map(({ title }, number) => (
          <li key={title}>
            <button type="button" class={done.value.has(title) ? "done" : ""} aria-current={lesson.value === number ? "step" : undefined} onClick={() => begin(number)}>
              <b>{title}</b>
              {done.value.has(title) && <span class="hidden">: done</span>}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

export function LessonPanel() {
  const number = lesson.value;
  const chosen = number === undefined ? undefined : lessons.value[number];
  return chosen === undefined || number === undefined ? null : <OpenLesson key={begun.value} number={number} chosen={chosen} />;
}

function OpenLesson({ number, chosen }: { number: number; chosen: Lesson }) {
  // Only runs of the present experiment reach a goal.
  const records = allStates().map((state) => (state.kind === "done" ? state.run.record : undefined));
  const ticks = chosen.goal.map((goal) => isReached(goal, records));
  const isReachedNow = ticks.every(Boolean);
  const exercises = chosen.exercise ?? [];
  // Exercises begin when the goals were reached once. They may change the setting.
  const [progress, setProgress] = useState(0);
  const answered = Math.max(0, progress - 1);
  const isDone = exercises.length > 0 ? answered === exercises.length : isReachedNow;
  const present = progress > 0 ? exercises[answered] : undefined;
  const isAnswered = present !== undefined && !present.choices && isReached(present, records);
  useEffect(() => {
    if (isDone) keep(chosen.title);
    if (isAnswered || (isReachedNow && progress === 0)) setProgress(progress + 1);
  });
  return (
    <section class="lesson" aria-label={`Lesson ${number + 1}`}>
      <div class="above">
        <h2>
          {number + 1}. {chosen.title}
        </h2>
        <p class="tools">
          <button type="button" onClick={() => begin(number)}>
            Start again
          </button>
          {number + 1 < lessons.value.length && (
            <button type="button" class={isDone ? "primary" : ""} onClick={() => begin(number + 1)}>
              Next: {lessons.value[number + 1]?.title}
            </button>
          )}
          <button type="button" onClick={() => (lesson.value = undefined)}>
            Close
          </button>
        </p>
      </div>
      <div class="told">
        {chosen.text.trim().split(/\n\s*\n/).map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
      </div>
      <div class="asked">
        <p class="question">{chosen.question}</p>
        <div role="status">
          <ul class="goals">
            {chosen.goal.map((goal, place) => (
              <li key={goal.says} class={ticks[place] ? "reached" : ""}>
                {ticks[place] ? "✓" : "○"} {goal.says}
                <span class="hidden">{ticks[place] ? ": reached" : ": not reached yet"}</span>
                <b class="standing">{standingOf(goal, records)}</b>
              </li>
            ))}
            {exercises.slice(0, answered).map(({ question, answer }) => (
              <li key={question} class="reached">
                ✓ {question} {answer}
              </li>
            ))}
          </ul>
        </div>
        {present && <Question key={answered} of={present} says={standingOf(present, records)} onRight={() => setProgress(progress + 1)} />}
        {isDone ? (
          <p class="answer">{chosen.answer}</p>
        ) : (
          <details>
            <summary>A hint</summary>
            <p>{chosen.hint}</p>
          </details>
        )}
      </div>
    </section>
  );
}

function Question({ of, says, onRight }: { of: Exercise; says: string; onRight: () => void }) {
  const [wrong, setWrong] = useState("");
  return (
    <fieldset class="exercise">
      <legend class="question">
        {of.question}
        {says}
      </legend>
      {of.choices?.map((choice) => (
        <button type="button" key={choice} onClick={() => (choice === of.right ? onRight() : setWrong(choice))}>
          {choice}
        </button>
      ))}
      <p role="status">{wrong && `Not “${wrong}”. Look again.`}</p>
    </fieldset>
  );
}

// The lessons. Each is a file in web/lessons: a scenario, and a question that a slider answers.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { readToml } from "../files.ts";
import { at, type RunRecord, type Table } from "../record.ts";
import { allStates, openExperiment } from "../state.ts";

interface Goal {
  line?: number;
  metric: string;
  at_least?: number;
  at_most?: number;
  says: string;
}

export interface Lesson {
  title: string;
  text: string;
  question: string;
  hint: string;
  answer: string;
  lines: string[];
  goal: Goal[];
  scenario: Table;
}

const FILES = import.meta.glob<string>("../../lessons/*.toml", { query: "?raw", import: "default", eager: true });

export const LESSONS: readonly Lesson[] = Object.entries(FILES)
  .sort(([a], [b]) => a.localeCompare(b))
  .map(([file, text]) => readToml(text, file) as unknown as Lesson);

export const lesson = signal<number | undefined>(undefined);

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

export function isReached(goal: Goal, records: readonly (RunRecord | undefined)[]): boolean {
  const value = at(records[goal.line ?? 0], goal.metric);
  return typeof value === "number" && value >= (goal.at_least ?? -Infinity) && value <= (goal.at_most ?? Infinity);
}

export function begin(number: number): void {
  const chosen = LESSONS[number];
  if (!chosen) return;
  lesson.value = number;
  openExperiment({ scenario: chosen.scenario, lines: chosen.lines });
}

/** The lessons as a path: which are done, and which is open. */
export function LessonPath() {
  return (
    <nav aria-label="Lessons">
      <ol class="path">
        {LESSONS.map(({ title }, number) => (
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
  const chosen = number === undefined ? undefined : LESSONS[number];
  return chosen === undefined || number === undefined ? null : <OpenLesson key={chosen.title} number={number} chosen={chosen} />;
}

function OpenLesson({ number, chosen }: { number: number; chosen: Lesson }) {
  // Only runs of the present experiment reach a goal.
  const records = allStates().map((state) => (state.kind === "done" ? state.run.record : undefined));
  const ticks = chosen.goal.map((goal) => isReached(goal, records));
  const isDone = ticks.every(Boolean);
  useEffect(() => {
    if (isDone) keep(chosen.title);
  }, [isDone, chosen]);
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
          {number + 1 < LESSONS.length && (
            <button type="button" class={isDone ? "primary" : ""} onClick={() => begin(number + 1)}>
              Next: {LESSONS[number + 1]?.title}
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
              </li>
            ))}
          </ul>
        </div>
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

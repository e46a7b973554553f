// The field for a tc line: it completes words, and shows the core's error message for the line.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Choices, Param } from "../engine/choices.ts";
import { core } from "../engine/core.ts";
import { withoutCommand } from "../experiment.ts";
import { changeLine, experiment, stateOf } from "../state.ts";

interface Suggestion {
  word: string;
  help: string;
}

const MOST = 12;
/** Characters that are kept at either end of a message. */
const MOST_SAID = 200;

/**
 * Returns what may follow: names of disciplines for the first word, then parameters that the line does not have yet.
 * After a parameter that takes a value, returns its accepted words or its help.
 */
export function suggest(line: string, all: Choices | undefined): Suggestion[] {
  const words = line.split(/\s+/);
  const begun = words.at(-1) ?? "";
  const begins = ({ word }: Suggestion): boolean => word.startsWith(begun) && word !== begun && !words.includes(word);
  if (words.length < 2) {
    return (all?.qdiscs ?? []).map((qdisc) => ({ word: qdisc.name, help: qdisc.summary })).filter(begins).slice(0, MOST);
  }
  const params = all?.qdiscs.find((qdisc) => qdisc.name === words[0])?.params ?? [];
  const before = params.find((param) => param.name === words.at(-2) && takesValue(param));
  if (before?.unit === "word") {
    return before.accepted.split(", ").map((word) => ({ word, help: before.help })).filter(begins);
  }
  if (before) {
    const help = `${before.accepted}; default ${before.default || "none"}: ${before.help}`;
    return begun === "" ? [{ word: "", help }] : [];
  }
  return params.flatMap((param) => param.words.map((word) => ({ word, help: param.help }))).filter(begins).slice(0, MOST);
}

/** Shortens a message in the middle, between words. Its beginning says what was found, and its end says what is accepted. */
function shortened(message: string): string {
  if (message.length <= 2 * MOST_SAID) return message;
  return `${message.slice(0, MOST_SAID).replace(/\s\S*$/, "")} … ${message.slice(-MOST_SAID).replace(/^\S*\s/, "")}`;
}

/** Whether a value follows the parameter's name. Words such as `ecn` or `diffserv4` stand alone. */
function takesValue(param: Param): boolean {
  return param.unit !== "flag" && param.words[0] === param.name;
}

export function LineField({ place, told }: { place: number; told: string }) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const line = experiment.value.lines[place] ?? "";
  const label = experiment.value.labels?.[place];
  const state = stateOf(place);
  const refusal = state.kind === "refused" ? state.refusal : undefined;
  const found = isOpen ? suggest(line, core.value) : [];
  useEffect(() => document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: "nearest" }), [chosen]);
  const take = (suggestion: Suggestion | undefined): void => {
    if (!suggestion?.word) return;
    changeLine(place, `${line.replace(/\S*$/, "")}${suggestion.word} `);
    setChosen(-1);
    input.current?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Escape") setOpen(false);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen) setOpen(true);
      else if (found.length > 0) setChosen(event.key === "ArrowDown" ? (chosen + 1) % found.length : (chosen <= 0 ? found.length : chosen) - 1);
    } else if (event.key === "Enter" && found[chosen]) {
      event.preventDefault();
      take(found[chosen]);
    } else if (event.key === "Enter") setOpen(false);
  };
  return (
    <div class="line-field">
      <div class="above">
        {label && <b class="label">{label}</b>}
        <label for={id}>tc qdisc add dev X root</label>
        <span class="state">{told}</span>
      </div>
      <input
        id={id}
        ref={input}
        role="combobox"
        type="text"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        value={line}
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={found[chosen] ? `${id}-${chosen}` : undefined}
        aria-invalid={refusal !== undefined}
        aria-describedby={`${id}-error`}
        onInput={(event) => {
          changeLine(place, withoutCommand(event.currentTarget.value, (core.value?.qdiscs ?? []).map(({ name }) => name)));
          setOpen(true);
          setChosen(-1);
        }}
        onKeyDown={onKey}
        onBlur={() => setOpen(false)}
      />
      <ul id={`${id}-list`} role="listbox" aria-label="Words that may follow" hidden={found.length === 0}>
        {found.map((suggestion, number) => (
          <li
            key={suggestion.word}
            id={`${id}-${number}`}
            role="option"
            aria-selected={number === chosen}
            onPointerDown={(event) => {
              event.preventDefault();
              take(suggestion);
            }}
          >
            <b>{suggestion.word}</b> <span>{suggestion.help}</span>
          </li>
        ))}
      </ul>
      <p id={`${id}-error`} class="error" role="status">
        {refusal && shortened(`${refusal.key ? `${refusal.key}: ` : ""}${refusal.message}`)}
      </p>
    </div>
  );
}

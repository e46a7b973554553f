// All keys of the scenario as TOML, for keys without a slider.

import { useState } from "preact/hooks";
import { stringify } from "smol-toml";
import { readToml } from "../files.ts";
import { withAt } from "../experiment.ts";
import { experiment, openExperiment } from "../state.ts";

export function TomlEditor() {
  const shown = stringify(experiment.value.scenario);
  const [text, setText] = useState<string | undefined>(undefined);
  const [wrong, setWrong] = useState("");
  const apply = (): void => {
    try {
      const scenario = withAt(readToml(text ?? shown, "the scenario"), "bottleneck.qdisc", undefined);
      openExperiment({ ...experiment.value, scenario });
      setText(undefined);
      setWrong("");
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <details class="editor">
      <summary>All keys, as TOML</summary>
      <textarea aria-label="Scenario in TOML" spellcheck={false} rows={14} value={text ?? shown} onInput={(event) => setText(event.currentTarget.value)} />
      <p class="error" role="status">
        {wrong}
      </p>
      <button type="button" onClick={apply} disabled={text === undefined}>
        Apply
      </button>
    </details>
  );
}

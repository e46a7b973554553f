// A slider with a logarithmic scale: from 1 to 2 is as far as from 100 to 200. The value is not an <output> element.
// A label names the first field inside it, and an <output> would be that field.

interface Props {
  name: string;
  value: number;
  least: number;
  most: number;
  /** Formats the value with its unit. */
  show: (value: number) => string;
  whole?: boolean;
  /** The id of a note about the slider. */
  describedBy?: string;
  disabled?: boolean;
  onChange: (value: number) => void;
}

const STEPS = 400;
const STEP_OF_KEY: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/** Rounds to a whole number or to two significant digits, because a hand cannot set more. */
function rounded(value: number, whole: boolean): number {
  return whole ? Math.max(1, Math.round(value)) : Number(value.toPrecision(2));
}

export function Slider({ name, value, least, most, show, whole = false, describedBy, disabled = false, onChange }: Props) {
  const valueAt = (step: number): number => rounded(least * (most / least) ** (step / STEPS), whole);
  const share = Math.log(Math.min(most, Math.max(least, value)) / least) / Math.log(most / least);
  const place = Math.round(share * STEPS);
  const onKey = (event: KeyboardEvent): void => {
    const change = STEP_OF_KEY[event.key];
    if (change === undefined || event.altKey) return;
    event.preventDefault();
    let step = place + change;
    // Many steps round to the same value. Without this loop the slider would not move.
    while (step > 0 && step < STEPS && valueAt(step) === value) step += change;
    onChange(valueAt(Math.min(STEPS, Math.max(0, step))));
  };
  return (
    <label class="slider">
      <span class="name">{name}</span>
      <span class="value" aria-hidden="true">
        {show(value)}
      </span>
      <input
        type="range"
        min={0}
        max={STEPS}
        step={1}
        value={place}
        aria-valuetext={show(value)}
        aria-describedby={describedBy}
        disabled={disabled}
        onKeyDown={onKey}
        onInput={(event) => onChange(valueAt(Number(event.currentTarget.value)))}
      />
    </label>
  );
}

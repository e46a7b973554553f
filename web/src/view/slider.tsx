// A slider whose steps are even in proportion: from 1 to 2 is as far as from 100 to 200.
// The value is no <output>: a label names the first field in it, and an <output> would be that field.

interface Props {
  name: string;
  value: number;
  least: number;
  most: number;
  /** How the value reads, with its unit. */
  show: (value: number) => string;
  whole?: boolean;
  onChange: (value: number) => void;
}

const STEPS = 400;

/** Two digits are as many as a hand can set. */
function rounded(value: number, whole: boolean): number {
  return whole ? Math.max(1, Math.round(value)) : Number(value.toPrecision(2));
}

export function Slider({ name, value, least, most, show, whole = false, onChange }: Props) {
  const share = Math.log(Math.min(most, Math.max(least, value)) / least) / Math.log(most / least);
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
        value={Math.round(share * STEPS)}
        aria-valuetext={show(value)}
        onInput={(event) => {
          const at = Number(event.currentTarget.value) / STEPS;
          onChange(rounded(least * (most / least) ** at, whole));
        }}
      />
    </label>
  );
}

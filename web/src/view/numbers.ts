// Numbers formatted for people.

/** Returns milliseconds with as many digits as matter. */
export function ms(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function percent(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return `${value.toFixed(value >= 99.95 || value === 0 ? 0 : value >= 10 ? 1 : 2)} %`;
}

export function number(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

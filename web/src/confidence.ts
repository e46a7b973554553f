// The confidence interval of a mean.

export interface Interval {
  mean: number | undefined;
  /** Half the width of the 95 % confidence interval; undefined for fewer than two values. */
  half: number | undefined;
}

/** Student's t at 97.5 % for 1 to 19 degrees of freedom (NIST/SEMATECH e-Handbook of Statistics, 1.3.6.7.2). */
const T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093];

/** Returns the mean of the numbers in `found`, and its 95 % confidence interval. */
export function confidence(found: readonly (number | null | undefined)[]): Interval {
  const values = found.filter((value): value is number => typeof value === "number");
  const n = values.length;
  if (n === 0) return { mean: undefined, half: undefined };
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const t = T[n - 2];
  if (t === undefined) return { mean, half: undefined };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  return { mean, half: t * Math.sqrt(variance / n) };
}

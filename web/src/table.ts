// Values of JSON, as scenarios and records have them.

/** A table of a scenario, as in TOML and JSON. */
export interface Table {
  [key: string]: Value;
}
export type Value = string | number | boolean | Value[] | Table;

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value at a dotted path, as in `apps.0.mos`, or undefined if there is none. */
export function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, part) => {
    if (Array.isArray(inner)) return inner[Number(part)] as unknown;
    return isTable(inner) ? inner[part] : undefined;
  }, value);
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

/** A time span in its largest whole unit, e.g. `7 d`. */
export function spanText(milliseconds: number): string {
  const [unit, size] = UNITS.find(([, one]) => milliseconds >= one && milliseconds % one === 0) ?? ['ms', 1];
  return `${milliseconds / size} ${unit}`;
}

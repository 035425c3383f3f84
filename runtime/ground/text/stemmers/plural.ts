const [A, C, E, H, I, S, U, X, Y, Z] = [97, 99, 101, 104, 105, 115, 117, 120, 121, 122] as const;
const LAST_DIGIT = 57;

/**
 * The S stemmer (D. Harman, "How effective is suffixing?", JASIS 42, 1991) with two changes. -ches, -shes, -sses, -xes
 * and -zzes lose both letters. -ie is treated as -y, so that hoodie matches hoodies, and battery matches batteries.
 * Rewrites the end of `units` where needed and returns the new length.
 */
export function singular(units: Uint16Array, length: number): number {
  if (length < 4) return length;
  const last = units[length - 1] ?? 0;
  if (last === E && units[length - 2] === I) return endInY(units, length - 2);
  if (last !== S) return length;
  const second = units[length - 2] ?? 0;
  if (second === S || second === U || second <= LAST_DIGIT) return length;
  if (second !== E) return length - 1;
  const third = units[length - 3];
  const fourth = units[length - 4];
  if (third === I) return endInY(units, length - 3);
  const both =
    third === X ||
    (third === H && (fourth === C || fourth === S)) ||
    (third === fourth && (third === S || third === Z));
  return both ? length - 2 : length - 1;
}

/** Puts y after the first `stem` units. Short words (pie, ties) and words on -aie- or -eie- keep their -ie. */
function endInY(units: Uint16Array, stem: number): number {
  const before = units[stem - 1];
  if (stem < 3 || before === A || before === E) return stem + 2;
  units[stem] = Y;
  return stem + 1;
}

/**
 * Reads a share such as `20%` or `0.5%`.
 * @returns a number from 0 to 1; undefined if the text is no share
 */
export function parseShare(text: string): number | undefined {
  const match = /^([0-9]+(?:\.[0-9]+)?)%$/.exec(text);
  const percent = Number(match?.[1] ?? NaN);
  return percent <= 100 ? percent / 100 : undefined;
}

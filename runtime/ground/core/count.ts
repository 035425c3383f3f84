/** A number of things, with the thousands grouped. */
export function count(value: number): string {
  return value.toLocaleString('en');
}

/** `1 file`, `2 files`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

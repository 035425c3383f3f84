const NEIGHBOUR = Buffer.from(Array.from({ length: 37 }, (_, i) => (i * 151) % 256));

/** Places a record like the stores do: in a larger shared buffer, with its start and end. */
export function placed(record: Buffer): [memory: Buffer, start: number, end: number];
export function placed(record: Buffer | null): [memory: Buffer | null, start: number, end: number];
export function placed(record: Buffer | null): [memory: Buffer | null, start: number, end: number] {
  if (record === null) return [null, 0, 0];
  const start = NEIGHBOUR.length;
  return [Buffer.concat([NEIGHBOUR, record, NEIGHBOUR]), start, start + record.length];
}

const NEIGHBOUR = Buffer.from(Array.from({ length: 37 }, (_, i) => (i * 151) % 256));

/** A record as the stores give it: within memory that it shares with others, where it starts, and where it ends. */
export function placed(record: Buffer): [memory: Buffer, start: number, end: number];
export function placed(record: Buffer | null): [memory: Buffer | null, start: number, end: number];
export function placed(record: Buffer | null): [memory: Buffer | null, start: number, end: number] {
  if (record === null) return [null, 0, 0];
  const start = NEIGHBOUR.length;
  return [Buffer.concat([NEIGHBOUR, record, NEIGHBOUR]), start, start + record.length];
}

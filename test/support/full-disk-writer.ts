import { openEmbeddedStore } from '../../runtime/state/store/embedded/embedded-store.js';

/** The outcome of writing `number` to a key. */
export interface Attempt {
  readonly key: string;
  readonly number: number;
  /** Undefined if the write was acknowledged. */
  readonly error: string | undefined;
  /** The number that the store returns for the key afterwards; NaN if there is none. */
  readonly holds: number;
}

const KEYS = 40;
const SIZE = 20_000;

/** A process whose disk becomes full. It writes records without end, and reports each write to its parent. */
const store = await openEmbeddedStore({ dataDir: process.argv[2] ?? '' });
for (let number = 0; process.connected; number++) {
  const key = `k${number % KEYS}`;
  const error = await store.write([{ key, value: record(number) }]).then(
    () => undefined,
    (reason: unknown) => (reason as Error).message,
  );
  const [held] = await store.read([key]);
  const holds = held?.readDoubleLE(0) ?? NaN;
  process.send?.({ key, number, error, holds } satisfies Attempt);
}

/** Contains the number, and data that cannot be compressed. */
function record(number: number): Buffer {
  const value = Buffer.allocUnsafe(SIZE);
  value.writeDoubleLE(number);
  for (let at = 8; at < SIZE; at += 4) value.writeUInt32LE(Math.floor(Math.random() * 2 ** 32), at);
  return value;
}

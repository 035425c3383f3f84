import { MillraceError } from '../../ground/api/errors.js';
import { textRecord } from '../store/codec/json-record.js';
import { VERSIONED_HEAD } from '../store/codec/versioned-record.js';
import { generationsKey } from '../store/keys.js';
import type { Store } from '../store/store.js';
import { generationsText, parseGenerations, type Generations, type GenerationsOf } from './generations.js';

const MOST_TRIES = 20;

/** How often a service reads the record, in milliseconds. */
export const FOLLOW_EVERY = 1000;

/** Changes the generations of one counter in the store. @throws StoreWriteError; MillraceError store_busy */
export async function changeGenerations(
  store: Store,
  prefix: string,
  counter: string,
  change: (before: GenerationsOf) => GenerationsOf,
): Promise<GenerationsOf> {
  const key = generationsKey(prefix);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const [before = null] = await store.read([key]);
    const all = parseGenerations(textIn(before));
    const mine = change(all.get(counter) ?? { serving: 0 });
    const after = textRecord(generationsText(all.set(counter, mine)));
    const [outcome] = await store.swap([{ key, before, after }]);
    if (outcome === 'stored') return mine;
  }
  throw new MillraceError(
    'store_busy',
    'Other processes keep changing the generations of counters; try again',
  );
}

/** The generations of one counter in the store. @throws MillraceError with a code of STORE_READ_FAILURES */
export async function readGenerations(store: Store, prefix: string, counter: string): Promise<GenerationsOf> {
  const [record = null] = await store.read([generationsKey(prefix)]);
  return parseGenerations(textIn(record)).get(counter) ?? { serving: 0 };
}

/** Keeps the generations of a service current. @returns a function that ends it */
export async function followGenerations(
  generations: Generations,
  store: Store,
  prefix: string,
  onError: (error: unknown) => void,
): Promise<() => void> {
  const read = async (): Promise<void> => {
    const [record = null] = await store.read([generationsKey(prefix)]);
    generations.read(textIn(record));
  };
  await read();
  let isReading = false;
  const timer = setInterval(() => {
    if (isReading) return;
    isReading = true;
    void read()
      .catch(onError)
      .finally(() => (isReading = false));
  }, FOLLOW_EVERY);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}

function textIn(record: Buffer | null): string {
  return record === null ? '' : record.toString('utf8', VERSIONED_HEAD);
}

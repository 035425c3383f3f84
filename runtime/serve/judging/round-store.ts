import { MillraceError } from '../../ground/api/errors.js';
import { didYouMean, AS_WORD } from '../../ground/core/nearest.js';
import { shownName } from '../../ground/core/violations.js';
import { jsonRecord, readJsonRecord } from '../../state/store/codec/json-record.js';
import { judgedKey, judgingKey } from '../../state/store/keys.js';
import type { Store } from '../../state/store/store.js';
import { unconfirmed } from '../../state/store/unconfirmed.js';
import { MOST_ROUNDS, type Round } from './round.js';

const FORMAT = 1;
/** Each loser of a race reads again. */
const MOST_TRIES = 20;
/** How long a record of a removed round stays, so that a late write finds it. */
const GONE_MS = 60_000;

/** What one judge said of a query: a grade for each candidate of the pool, in its order. */
export interface Verdict {
  readonly judge: string;
  /** Null: not graded. */
  readonly grades: readonly (number | null)[];
  readonly skipped: boolean;
}

/** One query of a round: its pool, and what the judges said. */
export interface Judged {
  readonly ids: readonly string[];
  readonly verdicts: readonly Verdict[];
}

/**
 * Rounds of judging in the store: one record with their names, one for each round, and one for each query of it. Every change
 * is a swap of one record, so that nothing is lost if two judges write at once, on any instances.
 */
export class RoundStore {
  constructor(
    private readonly store: Store,
    private readonly prefix: string,
    private readonly now: () => number,
  ) {}

  /** All rounds, the newest first. @throws MillraceError with a code of STORE_READ_FAILURES */
  async list(): Promise<readonly Round[]> {
    const { names } = await this.#names();
    return (await this.#roundsOf(names)).reverse();
  }

  /** @throws MillraceError unknown_round, or a code of STORE_READ_FAILURES */
  async get(name: string): Promise<Round> {
    const [record = null] = await this.store.read([judgingKey(this.prefix, name)]);
    return decodeRound(record) ?? (await this.#unknown(name));
  }

  /** @throws MillraceError rounds_full, round_exists, or a code of STORE_WRITE_FAILURES */
  async create(round: Round): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { record, names } = await this.#names();
      const open = (await this.#roundsOf(names)).map((one) => one.round);
      if (open.includes(round.round))
        throw new MillraceError(
          'round_exists',
          `there is a round ${round.round}; choose another name, or remove it`,
        );
      if (open.length >= MOST_ROUNDS)
        throw new MillraceError('rounds_full', `there are ${MOST_ROUNDS} rounds; export and remove one`);
      const names_ = [...open, round.round];
      if (
        !(await this.#swap(
          judgingKey(this.prefix, ''),
          record,
          jsonRecord({ format: FORMAT, names: names_ }),
        ))
      )
        continue;
      const key = judgingKey(this.prefix, round.round);
      const [before = null] = await this.store.read([key]);
      if (
        decodeRound(before) === undefined &&
        (await this.#swap(key, before, jsonRecord({ format: FORMAT, ...round })))
      )
        return;
    }
    throw overtaken(round.round);
  }

  /** Removes a round and all grades of it. @throws MillraceError unknown_round, or a code of STORE_WRITE_FAILURES */
  async remove(name: string): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const key = judgingKey(this.prefix, name);
      const [before = null] = await this.store.read([key]);
      const round = decodeRound(before) ?? (await this.#unknown(name));
      if (!(await this.#swap(key, before, jsonRecord({ format: FORMAT }, this.now() + GONE_MS)))) continue;
      // Its name counts no longer. If the records below stay, they only take space.
      await this.store.remove(round.queries.map((_, at) => this.#keyOf(round, at + 1)));
      return;
    }
    throw overtaken(name);
  }

  /** What is known of each query; undefined if nobody opened it yet. @throws MillraceError with a code of STORE_READ_FAILURES */
  async queries(round: Round): Promise<readonly (Judged | undefined)[]> {
    const records = await this.store.read(round.queries.map((_, at) => this.#keyOf(round, at + 1)));
    return records.map(decodeJudged);
  }

  /**
   * Changes what is known of a query.
   * @param to makes the new content; called again if others changed it meanwhile. The same object changes nothing
   * @throws MillraceError unknown_round if the round was removed meanwhile; a code of STORE_WRITE_FAILURES
   */
  async change(
    round: Round,
    number: number,
    to: (before: Judged | undefined) => Judged | Promise<Judged>,
  ): Promise<Judged> {
    const key = this.#keyOf(round, number);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const [current = null, record = null] = await this.store.read([
        judgingKey(this.prefix, round.round),
        key,
      ]);
      if (decodeRound(current)?.id !== round.id) return await this.#unknown(round.round);
      const before = decodeJudged(record);
      const after = await to(before);
      if (after === before) return after;
      if (await this.#swap(key, record, jsonRecord({ format: FORMAT, ...after }))) return after;
    }
    throw overtaken(round.round);
  }

  #keyOf({ round, id }: Round, number: number): string {
    return judgedKey(this.prefix, round, id, number);
  }

  async #names(): Promise<{ readonly record: Buffer | null; readonly names: readonly string[] }> {
    const [record = null] = await this.store.read([judgingKey(this.prefix, '')]);
    return { record, names: ((record && readJsonRecord(record)?.['names']) ?? []) as readonly string[] };
  }

  /** A name without a round is none. */
  async #roundsOf(names: readonly string[]): Promise<Round[]> {
    if (names.length === 0) return [];
    const records = await this.store.read(names.map((name) => judgingKey(this.prefix, name)));
    return records.flatMap((record) => decodeRound(record) ?? []);
  }

  async #swap(key: string, before: Buffer | null, after: Buffer): Promise<boolean> {
    const [outcome] = await this.store.swap([{ key, before, after }]).catch((error: unknown) => {
      throw unconfirmed('The judging', error);
    });
    return outcome === 'stored';
  }

  async #unknown(name: string): Promise<never> {
    const { names } = await this.#names();
    const guess = didYouMean(name, names, AS_WORD);
    throw new MillraceError(
      'unknown_round',
      `there is no round ${shownName(name)}${guess === undefined ? '' : `; ${guess}`}`,
    );
  }
}

function overtaken(name: string): MillraceError {
  return new MillraceError('store_unavailable', `others changed the round ${name} at the same time`);
}

function decodeRound(record: Buffer | null): Round | undefined {
  const read = record === null ? undefined : readJsonRecord(record);
  return read?.['format'] === FORMAT && Array.isArray(read['queries'])
    ? (read as unknown as Round)
    : undefined;
}

function decodeJudged(record: Buffer | null): Judged | undefined {
  const read = record === null ? undefined : readJsonRecord(record);
  return read?.['format'] === FORMAT && Array.isArray(read['ids']) ? (read as unknown as Judged) : undefined;
}

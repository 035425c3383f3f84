import type { Reader, ReaderPlugin } from '../../ground/api/reader.js';
import { Deadline } from '../../ground/core/deadline.js';
import { lossOf } from '../../ground/core/loss-of.js';
import type { LruCache } from '../../ground/core/lru-cache.js';
import { inTurns } from '../../ground/core/pieces.js';
import type { FeatureDefinition, FeatureView } from '../../project/config/model/views.js';
import type { ReadReport, SourceAsk } from '../index/feature-source.js';
import { checkRows, type CheckedRows, type ReadRow } from './checked-rows.js';

/** Of the time that a request has left, the part that a reader may take. The rest is for the ranking. */
const TIME_SHARE = 0.5;

/** A view of the project, and the plugin that reads it. */
export interface OpenReader {
  readonly view: FeatureView;
  readonly reader: Reader;
  readonly plugin: ReaderPlugin;
  /** What its rows depend on besides the code of the plugin: two readers with equal keys read the same rows. */
  readonly key: string;
}

/** The rows that a reader keeps, by key. */
export type RowCache = LruCache<ReadRow>;

/** A row of a request. */
export interface UsedRow {
  readonly row: ReadRow;
  /** Whether it is kept from an earlier read and no longer fresh. */
  readonly isStale: boolean;
}

export interface FoundRows {
  /** By key; undefined: it could not be read. */
  readonly rows: readonly (UsedRow | undefined)[];
  readonly report: ReadReport;
}

type Keys = readonly (readonly string[])[];

/** Reads the rows of one view for all pipelines, and keeps them as its `cache:` says. */
export class ViewRows {
  readonly #view: FeatureView;
  readonly #reader: Reader;
  readonly #features: readonly FeatureDefinition[];
  readonly #cache: RowCache | undefined;
  readonly #freshMs: number;
  readonly #clock: () => number;

  /**
   * @param clock epoch milliseconds
   * @param cache of a view with `cache:`
   */
  constructor({ view, reader }: OpenReader, clock: () => number, cache: RowCache | undefined) {
    this.#view = view;
    this.#reader = reader;
    this.#features = [...view.features.values()];
    this.#clock = clock;
    this.#freshMs = view.reader?.cache?.freshMs ?? 0;
    this.#cache = cache;
  }

  /** Never rejects: what could not be read is undefined, and the report says why. */
  async find(keys: Keys, signal: AbortSignal | undefined, ask: SourceAsk): Promise<FoundRows> {
    const began = performance.now();
    const now = this.#clock();
    const names = this.#cache && keys.map(nameOf);
    const kept = keys.map((_, i) => this.#cache?.get(names?.[i] ?? ''));
    const isFresh = (row: ReadRow | undefined): boolean =>
      row !== undefined && now - row.readAt <= this.#freshMs;
    const wanted = keys.flatMap((_, i) => (isFresh(kept[i]) ? [] : [i]));
    const rows = kept.map((row): UsedRow | undefined => row && { row, isStale: false });
    const told = (outcome: ReadReport['outcome'], stale: number, reason?: string): FoundRows => ({
      rows,
      report: {
        ...{ view: this.#view.name, outcome, keys: keys.length, asked: wanted.length, stale },
        ms: performance.now() - began,
        ...(reason === undefined ? {} : { reason }),
      },
    });
    if (wanted.length === 0) return told('kept', 0);
    const asked = wanted.map((i) => keys[i] ?? []);
    const timeoutMs = this.#timeFor(ask.leftMs);
    let checked: CheckedRows | undefined;
    let loss: { readonly outcome: 'partial' | 'late' | 'failed'; readonly reason: string } | undefined;
    try {
      checked = await this.#read(asked, signal, ask, timeoutMs);
      if (checked.problem !== undefined) loss = { outcome: 'partial', reason: checked.problem };
    } catch (error) {
      loss = lossOf(error, timeoutMs);
    }
    let stale = 0;
    for (const [at, i] of wanted.entries()) {
      const row = checked?.rows[at];
      const old = kept[i];
      if (row?.isWhole === true) this.#cache?.set(names?.[i] ?? '', row);
      // A row with failed cells is better than none, and a whole one that is not fresh is better still.
      if (row !== undefined && (row.isWhole || old === undefined)) rows[i] = { row, isStale: false };
      else if (old === undefined) rows[i] = undefined;
      else {
        stale++;
        rows[i] = { row: old, isStale: true };
      }
    }
    return told(loss?.outcome ?? 'read', stale, loss?.reason);
  }

  #timeFor(leftMs: number): number {
    const most = this.#view.reader?.timeoutMs ?? Infinity;
    return Math.max(1, Math.floor(Math.min(most, leftMs * TIME_SHARE)));
  }

  /** @throws what the reader throws; MillraceError deadline_exceeded; the reason of the signal */
  async #read(
    keys: Keys,
    signal: AbortSignal | undefined,
    { now, trace }: SourceAsk,
    timeoutMs: number,
  ): Promise<CheckedRows> {
    const deadline = new Deadline(timeoutMs);
    const stop = (): void => deadline.abort(signal?.reason as Error);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
    try {
      const input = { keys, now, signal: deadline.signal, timeoutMs, trace };
      const answer = await deadline.within((async () => this.#reader.read(input))());
      const checking = checkRows(answer, this.#features, keys.length, this.#clock());
      return await inTurns(checking, () => deadline.check());
    } finally {
      signal?.removeEventListener('abort', stop);
      deadline.end();
    }
  }
}

/** A single id is used as it is; several are each prefixed with their length, so no two keys have the same text. */
function nameOf(key: readonly string[]): string {
  return key.length === 1 ? (key[0] ?? '') : key.map((id) => `${id.length}:${id}`).join('');
}

import type { RankingAnswer } from '../../pipeline/types.js';
import type { InputRow } from '../input/rows.js';

/** Where data commands send their data: the store of the settings, or a running service. */
export interface DataTarget {
  /** For messages: what answers. */
  readonly name: string;
  /** Stores entities whole. @throws MillraceError; invalid_body if rows are refused, and then nothing is stored. */
  upload(entityType: string, entityKey: string | undefined, rows: readonly InputRow[]): Promise<void>;
  /** Stores feature rows. `older`: rows that the store had a later event time for. @throws MillraceError */
  push(view: string, rows: readonly InputRow[]): Promise<{ readonly older: number }>;
  /** @throws MillraceError */
  rank(pipeline: string, body: unknown): Promise<RankingAnswer>;
  close(): Promise<void>;
}

import type { Content } from '../../../ground/api/curation.js';
import type { Word } from './yaml-keys.generated.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';

/** How the query of a request must agree with the query of a rule. */
export type QueryMatch = Word<'curation.rules.match'>;

export interface CuratedBoost {
  /** An expression that is true or false for each candidate. */
  readonly where: Located<string>;
  readonly change: 'multiply' | 'add';
  readonly amount: number;
}

export interface CuratedPin {
  /** From 1, over the whole ranking. */
  readonly position: number;
  readonly id: Located<string>;
}

/** A paid place. */
export interface CuratedSponsor {
  /** Positions, from 1, the preferred one first. */
  readonly places: readonly number[];
  readonly id: Located<string>;
  readonly label: string;
}

/** Content of the answer beside the candidates. Rules of one campaign share it. */
export interface CuratedBanner {
  readonly content: Content;
  readonly image: Located<string> | undefined;
}

/** What a rule asks of a ranking. */
export interface Acts {
  readonly pins: readonly CuratedPin[];
  readonly hides: readonly Located<string>[];
  readonly boosts: readonly CuratedBoost[];
  /** Expressions: candidates for which one is true are placed below all others. */
  readonly buries: readonly Located<string>[];
  readonly sponsors: readonly CuratedSponsor[];
  readonly banners: readonly CuratedBanner[];
}

/** A rule of a list, as written in YAML, in CSV, or in a request. */
export interface CurationRule extends Acts {
  /**
   * `campaigns:black_friday`; without a name of its own its number in the list, `campaigns:3`. Of a campaign
   * `campaigns:black_friday:1`.
   */
  readonly name: string;
  /** Whether it came over the API, and so has no line in a file. */
  readonly isStored?: true | undefined;
  /** Whether its pins and sponsors become candidates, whatever the step says: that of a campaign does. */
  readonly brings?: true;
  readonly at: Span;
  readonly note: string | undefined;
  readonly query: { readonly text: Located<string>; readonly match: QueryMatch } | undefined;
  /** The id that the category of the request must have. */
  readonly category?: Located<string> | undefined;
  /** An expression of the request. */
  readonly when: Located<string> | undefined;
  /** Epoch milliseconds: the rule applies from `from` (inclusive) to `until` (exclusive). */
  readonly from: number;
  readonly until: number;
  /** Of these times, dates without a time of day that do not mean whole days. */
  readonly dates?: readonly Located<string>[];
}

/** Whether a rule applies to every request at its time. */
export function isForAll({ query, category, when }: CurationRule): boolean {
  return query === undefined && category === undefined && when === undefined;
}

/** `curation/<name>.yaml` or `curation/<name>.csv` */
export interface CurationList {
  readonly name: string;
  readonly file: SourceFile;
  readonly at: Span;
  readonly rules: readonly CurationRule[];
}

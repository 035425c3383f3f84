import type { Choice } from './choices.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';

/** How the query of a request must agree with the query of a rule. */
export type QueryMatch = Choice<'curation.match'>;

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

/** A rule of a list, as written in YAML, in CSV, or in a request. */
export interface CurationRule {
  /** `campaigns:black_friday`; without a name of its own its number in the list, `campaigns:3`. */
  readonly name: string;
  readonly at: Span;
  readonly note: string | undefined;
  readonly query: { readonly text: Located<string>; readonly match: QueryMatch } | undefined;
  /** An expression of the request. */
  readonly when: Located<string> | undefined;
  /** Epoch milliseconds: the rule applies from `from` (inclusive) to `until` (exclusive). */
  readonly from: number;
  readonly until: number;
  readonly pins: readonly CuratedPin[];
  readonly hides: readonly Located<string>[];
  readonly boosts: readonly CuratedBoost[];
  /** Expressions: candidates for which one is true are placed below all others. */
  readonly buries: readonly Located<string>[];
}

/** `curation/<name>.yaml` or `curation/<name>.csv` */
export interface CurationList {
  readonly name: string;
  readonly file: SourceFile;
  readonly at: Span;
  readonly rules: readonly CurationRule[];
}

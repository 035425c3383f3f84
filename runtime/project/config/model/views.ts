import type { Node } from 'yaml';
import type { Word } from './yaml-keys.generated.js';
import type { JsonValue, ValueType } from '../../../ground/api/types.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';
import type { CounterDefinition } from './counters.js';
import type { FeastSource, FeastUse } from './feast.js';

/** `schemas/features/<name>.yaml` */
export interface FeatureView {
  readonly name: string;
  /** The entity types of its key, in order. It is empty for a global view. */
  readonly of: readonly string[];
  /** Milliseconds; null if rows never expire. */
  readonly ttl: number | null;
  readonly expired: Word<'feature-view.expired'>;
  /** The store key that the view's record shares with other views of the same entities. */
  readonly group: string;
  /** True if every pushed row is recorded in the ledger. */
  readonly history?: true;
  readonly features: ReadonlyMap<string, FeatureDefinition>;
  /** Where the rows are, if they are not in the store. The service then only reads them. */
  readonly source?: FeastSource;
  /** The plugin that reads the rows, if they are not in the store. The service then only reads them. */
  readonly reader?: ViewReader;
  /** The counter that the view presents to pipelines. Its rows are counted from feedback. */
  readonly counter?: CounterDefinition;
  /** How Feast's clients name the view and where they use it, if the file says so. */
  readonly feast?: FeastUse;
  readonly at: Span;
}

/** How a plugin reads the rows of a view. */
export interface ViewReader {
  readonly use: Located<string>;
  readonly with: Node | undefined;
  /** Milliseconds; undefined: as the time of the request allows. */
  readonly timeoutMs: number | undefined;
  /** Undefined if no row is kept. Milliseconds. */
  readonly cache: { readonly freshMs: number; readonly keepMs: number; readonly entries: number } | undefined;
  readonly file: SourceFile;
}

/** Whether the rows of a view are outside the store, so that nothing can write them here. */
export function isElsewhere({ source, reader }: Pick<FeatureView, 'source' | 'reader'>): boolean {
  return source !== undefined || reader !== undefined;
}

export interface FeatureDefinition {
  readonly name: string;
  readonly type: ValueType;
  /** Replaces a missing, null or expired value. Undefined if no default is declared. */
  readonly default: JsonValue | undefined;
  /** As for an attribute. */
  readonly isPrivate?: true;
  readonly at: Span;
}

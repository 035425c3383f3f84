import type { Located, SourceFile, Span } from '../yaml/source.js';
import type { Word } from './yaml-keys.generated.js';

/** `fronts/<name>.yaml` */
export interface FrontDefinition {
  readonly name: string;
  readonly use: Word<'front.use'>;
  readonly pipeline: Located<string>;
  /** How many of the engine's first hits are ranked. */
  readonly window: number;
  /** Without a trailing slash, so `/` is ''. */
  readonly path: Located<string>;
  readonly auth: Word<'front.auth'>;
  /** Of the engine, in milliseconds. */
  readonly timeoutMs: number;
  /** By field of the pipeline's request: where its value is in a search. The first place that has one counts. */
  readonly map: ReadonlyMap<string, { readonly from: readonly FieldSource[]; readonly at: Span }>;
  /** By attribute that candidates carry. */
  readonly carried: ReadonlyMap<string, CarriedAttribute>;
  /** The paths of reads that are forwarded. */
  readonly pass: readonly Located<string>[];
  readonly engine: EngineDefinition;
  readonly file: SourceFile;
  readonly at: Span;
}

export interface CarriedAttribute {
  /** In a hit; undefined for its place. */
  readonly path: readonly string[] | undefined;
  readonly at: Span;
}

/** Where a value is in a search. */
export type FieldSource =
  | { readonly of: 'body'; readonly path: readonly string[] }
  | { readonly of: 'header' | 'param'; readonly name: string };

/** `with:` of a front. */
export interface EngineDefinition {
  readonly url: Located<string>;
  readonly headers: ReadonlyMap<string, Located<string>>;
  readonly connections: number;
  readonly maxBytes: number;
  /** How an engine is asked that the product does not know; undefined for one that it knows. */
  readonly paths: EnginePaths | undefined;
}

export interface EnginePaths {
  readonly search: string;
  /** In the body. */
  readonly from: readonly string[];
  readonly size: readonly string[];
  readonly defaultSize: number;
  /** In the answer, and of the id in a hit. */
  readonly hits: readonly string[];
  readonly id: readonly string[];
  /** In the body: a search that has one of them keeps the engine's order. */
  readonly unless: readonly (readonly string[])[];
}

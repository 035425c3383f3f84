import type { JsonObject } from '../../../ground/api/types.js';
import type { ImportSource } from '../../../project/foreign/mapping.js';

/** The first rows of a file. */
export interface FileSample {
  /** The path, as it is written into the mapping. */
  readonly file: string;
  readonly rows: readonly JsonObject[];
}

/** What the import goes into. */
export interface GuessTarget {
  /** The entity type of the candidates. */
  readonly candidateType: string;
  /** Fields of a request, and attributes that its candidates carry; undefined: all columns that are left. */
  readonly known?: { readonly fields: ReadonlySet<string>; readonly carried: ReadonlySet<string> };
}

/** What is proposed for a file. */
export interface FileGuess {
  readonly file: string;
  readonly sources: readonly ImportSource[];
  /** What the user should know of the guess, a sentence each. */
  readonly notes: readonly string[];
}

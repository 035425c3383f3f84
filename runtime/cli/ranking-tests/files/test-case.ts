import type { Located, SourceFile, Span } from '../../../project/config/yaml/source.js';
import type { Placed } from './placed.js';

/** A file of tests/, with the cases that it makes. */
export interface TestFile {
  readonly name: string;
  readonly file: SourceFile;
  readonly cases: readonly TestCase[];
}

/** One case, with the keys of the file merged in. */
export interface TestCase {
  /** The name of the test; for an entry of `cases:` followed by ` > ` and its name. Unique in a project. */
  readonly name: string;
  /** The name of the file without its ending. */
  readonly test: string;
  readonly pipeline: Located<string>;
  /** Epoch milliseconds. */
  readonly time: number;
  /** The event time of given rows that have none: the `time` of the file. Epoch milliseconds. */
  readonly rowTime: number;
  readonly given: Placed | undefined;
  readonly request: Placed;
  readonly expect: Placed | undefined;
  readonly always: readonly Located<string>[];
  /** Where the case begins. */
  readonly at: Span;
}

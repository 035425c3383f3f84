import { recognise } from './brand.js';

/**
 * Throw it from `create` to report a wrong option at its place; `path` leads from `with:` to the option. An
 * AggregateError reports several at once.
 */
export class OptionError extends Error {
  constructor(
    readonly path: readonly (string | number)[],
    message: string,
    readonly help?: string,
    /** Which part is wrong if the path ends with the key of a mapping. */
    readonly part: 'key' | 'value' = 'value',
  ) {
    super(message);
    this.name = 'OptionError';
  }
}
recognise(OptionError, 'OptionError');

/**
 * Runs every function and returns their results, so that one load reports all faults.
 * @throws the error if one function failed, or an AggregateError if several failed
 */
export function tryEach<T>(tries: readonly (() => T)[]): T[] {
  const results: T[] = [];
  const faults: unknown[] = [];
  for (const attempt of tries) {
    try {
      results.push(attempt());
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length === 1) throw faults[0];
  if (faults.length > 1) throw new AggregateError(faults);
  return results;
}

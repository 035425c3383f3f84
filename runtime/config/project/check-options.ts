import type { Node } from 'yaml';
import type { JsonObject } from '../../api/types.js';
import { checkShape } from './check-shape.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { deepFreeze } from '../../core/freeze.js';
import { markedTexts, type MarkedText, type OptionPath } from './materialise.js';
import type { Span } from '../yaml/source.js';

export type { MarkedText, OptionPath } from './materialise.js';

export interface CheckedOptions {
  /** Frozen, without prototypes, with defaults. The values of marked options are strings. */
  readonly value: JsonObject;
  /** Every marked string, including defaults, in the order of the options. */
  readonly marks: readonly MarkedText[];
  /** Returns the place of the value (or the key) at `path`, or of its nearest ancestor that the file contains. */
  readonly locate: (path: OptionPath, part?: 'key' | 'value') => Span;
}

/**
 * Checks the mapping under `with:` against a plugin's options schema.
 * @param at the place to report if there is no node
 * @returns undefined if there were errors; they are in `diagnostics`
 * @throws Error if the schema itself is invalid; the conformance suite checks the schema of every plugin
 */
export function checkOptions(
  node: Node | undefined,
  schema: JsonObject,
  diagnostics: Diagnostics,
  at: Span,
): CheckedOptions | undefined {
  const { value, places, schemas, sound } = checkShape(node, schema, diagnostics, at);
  if (!sound) return undefined;
  return Object.freeze({
    value: deepFreeze(value) as JsonObject,
    marks: deepFreeze(markedTexts(value, schemas, places)),
    locate: (path: OptionPath, part?: 'key' | 'value') =>
      part === 'key' ? places.key(path) : places.value(path),
  });
}

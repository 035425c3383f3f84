import type { Node } from 'yaml';
import type { JsonObject } from '../../../ground/api/types.js';
import { checkShape, type Shaped } from './check-shape.js';
import { Diagnostics } from '../diagnostics/diagnostics.js';
import { deepFreeze } from '../../../ground/core/freeze.js';
import { markedTexts, type MarkedText, type OptionPath } from './materialise.js';
import type { ParamDefinition } from '../model/pipelines.js';
import { ParamOptions } from './param-options.js';
import type { Span } from '../yaml/source.js';

export type { MarkedText, OptionPath } from './materialise.js';

export interface CheckedOptions {
  /** Frozen, without prototypes, with defaults. The values of marked options are strings. */
  readonly value: JsonObject;
  /** Every marked string, including defaults, in the order of the options. */
  readonly marks: readonly MarkedText[];
  /** The params that options name. */
  readonly params: ReadonlySet<string>;
  /** Returns the place of the value (or the key) at `path`, or of its nearest ancestor that the file contains. */
  readonly locate: (path: OptionPath, part?: 'key' | 'value') => Span;
}

/**
 * Checks the mapping under `with:` against a plugin's options schema. An option that takes a number also takes the name
 * of a param.
 * @param at the place to report if there is no node
 * @returns undefined if there were errors; they are in `diagnostics`
 * @throws Error if the schema itself is invalid; the conformance suite checks the schema of every plugin
 */
export function checkOptions(
  node: Node | undefined,
  schema: JsonObject,
  diagnostics: Diagnostics,
  at: Span,
  params: ReadonlyMap<string, Pick<ParamDefinition, 'value' | 'range'>> = new Map(),
): CheckedOptions | undefined {
  const named = new ParamOptions(valuesOf(params, ({ value }) => value));
  const check = (into: Diagnostics, values: ParamOptions): Shaped =>
    checkShape(node, schema, into, at, values);
  const { value, places, schemas, sound } = check(diagnostics, named);
  if (!sound || !fitsRanges(params, named.used, diagnostics, check)) return undefined;
  return Object.freeze({
    value: deepFreeze(value) as JsonObject,
    marks: deepFreeze(markedTexts(value, schemas, places)),
    params: named.used,
    locate: (path: OptionPath, part?: 'key' | 'value') =>
      part === 'key' ? places.key(path) : places.value(path),
  });
}

function valuesOf<P>(params: ReadonlyMap<string, P>, value: (param: P) => number): Map<string, number> {
  return new Map(Array.from(params, ([name, param]) => [name, value(param)]));
}

/** Checks that the options take every value that tuning may choose. */
function fitsRanges(
  params: ReadonlyMap<string, Pick<ParamDefinition, 'value' | 'range'>>,
  used: ReadonlySet<string>,
  diagnostics: Diagnostics,
  check: (into: Diagnostics, values: ParamOptions) => Shaped,
): boolean {
  for (const [name, { range }] of params) {
    if (range === undefined || !used.has(name)) continue;
    const { min, max } = range;
    for (const tried of [min, max, fractionIn(min, max)]) {
      const problems = new Diagnostics();
      const values = valuesOf(params, ({ value }) => value).set(name, tried);
      if (check(problems, new ParamOptions(values, true)).sound) continue;
      for (const { code, at: place, message } of problems.all)
        diagnostics.error(
          code,
          place,
          message,
          `the range of \`${name}\` is ${min} to ${max}: narrow it under \`params:\`, or remove it`,
        );
      return false;
    }
  }
  return true;
}

/** A number between two others that is not whole. */
function fractionIn(min: number, max: number): number {
  const half = Math.floor((min + max) / 2) + 0.5;
  return half > min && half < max ? half : min + (max - min) * Math.SQRT1_2;
}

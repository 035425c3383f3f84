import { isMap, isScalar, type Node } from 'yaml';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { SourceFile } from '../yaml/source.js';
import { entriesOf, memberOf, spanOf } from '../yaml/tree.js';
import type { ParamDefinition } from '../model/pipelines.js';

/** Reads `params:`. Wrong shapes are already reported; a param without a number is left out. */
export function loadParams(
  file: SourceFile,
  node: Node | undefined,
  diagnostics: Diagnostics,
): Map<string, ParamDefinition> {
  const params = new Map<string, ParamDefinition>();
  for (const { key, keyAt, value } of entriesOf(file, node)) {
    const param = NAME_PATTERN.test(key) ? readParam(file, value, diagnostics) : undefined;
    if (param !== undefined) params.set(key, { name: key, at: keyAt, ...param });
  }
  return params;
}

function readParam(
  file: SourceFile,
  node: Node | undefined,
  diagnostics: Diagnostics,
): Pick<ParamDefinition, 'value' | 'range'> | undefined {
  if (!isMap(node)) {
    const value = numberOf(node);
    return value === undefined ? undefined : { value, range: undefined };
  }
  const part = (key: string): Node | undefined => memberOf(file, node, key);
  const [value, min, max] = [part('value'), part('min'), part('max')].map(numberOf);
  if (value === undefined) return undefined;
  if (min === undefined || max === undefined) return { value, range: undefined };
  const place = (key: string): ReturnType<typeof spanOf> => spanOf(file, part(key) ?? node);
  if (min >= max) {
    diagnostics.error('wrong_type', place('max'), `\`max\`: must be more than min, ${min}, found ${max}`);
  } else if (value < min || value > max) {
    diagnostics.error(
      'wrong_type',
      place('value'),
      `\`value\`: must be from ${min} to ${max}, found ${value}`,
      'change the value, or widen the range',
    );
  }
  return { value, range: { min, max } };
}

function numberOf(node: Node | undefined): number | undefined {
  const value: unknown = isScalar(node) ? node.value : undefined;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

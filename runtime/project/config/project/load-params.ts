import { isMap, type Node } from 'yaml';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import type { ParamDefinition } from '../model/pipelines.js';
import { numberOf, type Section } from '../yaml/section.js';

/** Reads `params:`. Wrong shapes are already reported; a param without a number is left out. */
export function loadParams(pipeline: Section<'pipeline'>): Map<string, ParamDefinition> {
  const params = new Map<string, ParamDefinition>();
  for (const { key, keyAt, value } of pipeline.entries('params')) {
    const param = NAME_PATTERN.test(key) ? readParam(pipeline, value) : undefined;
    if (param !== undefined) params.set(key, { name: key, at: keyAt, ...param });
  }
  return params;
}

function readParam(
  pipeline: Section<'pipeline'>,
  node: Node | undefined,
): Pick<ParamDefinition, 'value' | 'range'> | undefined {
  const param = pipeline.of('pipeline.params.*', node);
  const value = isMap(node) ? param.number('value') : numberOf(node);
  if (value === undefined) return undefined;
  const [min, max] = [param.number('min'), param.number('max')];
  if (min === undefined || max === undefined) return { value, range: undefined };
  if (min >= max) param.wrong('max', `must be more than min, ${min}, found ${max}`);
  else if (value < min || value > max)
    param.wrong(
      'value',
      `must be from ${min} to ${max}, found ${value}`,
      'change the value, or widen the range',
    );
  return { value, range: { min, max } };
}

import { didYouMean } from '../../../ground/core/nearest.js';
import type { PipelineDefinition } from '../model/pipelines.js';

/** Values that replace those of the YAML file, by the name of the param. */
export type PipelineParams = ReadonlyMap<string, number>;

/** Why a pipeline does not take a value of a param. */
export interface ParamProblem {
  readonly message: string;
  readonly help?: string;
}

/** Why the value cannot replace that of the file; undefined if it can. */
export function paramProblem(
  { name: pipeline, params }: Pick<PipelineDefinition, 'name' | 'params'>,
  name: string,
  value: number,
): ParamProblem | undefined {
  const param = params.get(name);
  if (param === undefined) {
    return {
      message: `the pipeline \`${pipeline}\` has no param \`${name}\``,
      help: didYouMean(name, params.keys()) ?? existing(params),
    };
  }
  if (!Number.isFinite(value)) return { message: `\`${name}\`: must be a finite number, found ${value}` };
  const { range } = param;
  if (range === undefined || (value >= range.min && value <= range.max)) return undefined;
  return { message: `\`${name}\`: must be from ${range.min} to ${range.max}, found ${value}` };
}

function existing(params: PipelineDefinition['params']): string {
  return params.size === 0 ? 'it has no params' : `it has ${[...params.keys()].join(', ')}`;
}

/**
 * The same pipeline with other values of some params.
 * @throws RangeError with the message of `paramProblem`
 */
export function withParams(definition: PipelineDefinition, values: PipelineParams): PipelineDefinition {
  const params = new Map(definition.params);
  for (const [name, value] of values) {
    const problem = paramProblem(definition, name, value);
    if (problem !== undefined) throw new RangeError(problem.message);
    const param = params.get(name);
    if (param !== undefined) params.set(name, { ...param, value });
  }
  return { ...definition, params };
}

import type { ParamDefinition, PipelineDefinition } from '../../project/config/model/pipelines.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';

/** A param that tuning may change. */
export type RangedParam = ParamDefinition & { readonly range: NonNullable<ParamDefinition['range']> };

/** The params with a range. @throws CommandFailure if there are none, or if the pipeline does not rank */
export function rangedParams({ name, task, params }: PipelineDefinition): readonly RangedParam[] {
  if (task !== 'rank')
    throw new CommandFailure(
      `the pipeline ${name} scores one entity and has no ranking`,
      'name a pipeline with rank:',
    );
  const ranged = [...params.values()].flatMap((param) =>
    param.range === undefined ? [] : [{ ...param, range: param.range }],
  );
  if (ranged.length > 0) return ranged;
  const [first] = params.values();
  const example = `${first?.name ?? 'w_text'}: { value: ${first?.value ?? 1}, min: ${Math.min(0, first?.value ?? 0)}, max: ${Math.max(3, 2 * (first?.value ?? 1))} }`;
  throw new CommandFailure(
    `the pipeline ${name} has no param with a range`,
    `write one under params: in pipelines/${name}.yaml, for example ${example}`,
  );
}

import type { Kernel } from '../../language/expression/environment.js';
import { ANYTHING, compileText } from './compile-input.js';
import type { OpenPipeline } from './open-pipeline.js';
import { NameUse } from './name-use.js';
import { written, type WrittenExpression } from './meaning/written.js';
import type { Plan } from './plan.js';

/** Compiles what stands under `answer:`, and returns it with its expressions. All steps are compiled before, so it sees their outputs and the last score. */
export function compileAnswer({
  definition,
  names,
  diagnostics,
}: OpenPipeline): Plan['answer'] & { readonly expressions: readonly WrittenExpression[] } {
  const use = new NameUse();
  const kernels: Kernel[] = [];
  const expressions: WrittenExpression[] = [];
  const values = [...definition.answer].flatMap(([name, text]) => {
    const compiled = compileText(text, ANYTHING, names.environment(use), diagnostics);
    if (compiled === undefined) return [];
    kernels.push(...compiled.kernels);
    expressions.push(written(text, compiled));
    return { name, slot: compiled.slot, type: compiled.type, text: text.value };
  });
  const { definitions } = names;
  return {
    expressions,
    values,
    named: values.filter(
      ({ name, slot }) => !definitions.some((one) => one.name === name && one.slot === slot),
    ),
    kernels: [...(use.readsScore ? [names.score.copy] : []), ...names.takeKernels(), ...kernels],
  };
}

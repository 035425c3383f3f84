import type { OptionPath } from '../../../project/config/project/check-options.js';
import type { Located } from '../../../project/config/yaml/source.js';
import type { CompiledExpression } from '../../../language/expression/environment.js';
import type { Operand } from '../../../language/expression/operand.js';

/** An expression of a pipeline: its text with its place, and its typed form. */
export interface WrittenExpression {
  readonly text: Located<string>;
  readonly root: Operand;
  readonly slot: number;
}

/** An expression of a step. */
export interface StepExpression extends WrittenExpression {
  /** `when`, or the path from `with:` to the option. */
  readonly where: 'when' | OptionPath;
}

export function written(text: Located<string>, { root, slot }: CompiledExpression): WrittenExpression {
  return { text, root, slot };
}

import type { PlannedStep, Plan } from '../../compile/plan.js';
import type { Kernel } from '../../../language/expression/environment.js';
import { emitParts, expressionOf, sourcesOf } from '../../../language/expression/emit.js';
import type { Operand } from '../../../language/expression/operand.js';
import type { FrameLayout } from '../../../language/frame/frame-layout.js';

/** An expression of the plan, computed part by part. */
interface Parted {
  readonly root: Operand;
  readonly kernels: readonly Kernel[];
  readonly readsScore: boolean;
}

/** A number that a sum multiplies by a weight. */
export interface WeightedPart {
  readonly part: Operand;
  readonly weight: number;
}

/**
 * The expressions of a plan with a column for each of their parts, which a ranking does not keep. It is made by the first
 * explanation of a plan that needs it.
 */
export class ExpressionParts {
  static readonly #known = new WeakMap<Plan, ExpressionParts>();
  /** By the column of the result. */
  readonly #expressions = new Map<number, Parted>();
  readonly #slots = new Map<Operand, number>();
  readonly #definitions = new Map<number, { readonly name: string; readonly text: string }>();
  /** By column: the output of a step that it has. */
  readonly outputs = new Map<number, { readonly step: PlannedStep; readonly output: string }>();
  /** All columns of the plan, and then those of the parts. */
  readonly layout: FrameLayout;
  readonly score: number;

  static of(plan: Plan): ExpressionParts {
    const known = ExpressionParts.#known.get(plan) ?? new ExpressionParts(plan);
    ExpressionParts.#known.set(plan, known);
    return known;
  }

  private constructor({ layout, steps, answer, definitions, definition }: Plan) {
    this.layout = layout.extended();
    this.score = layout.columns.findIndex(({ name }) => name === 'score');
    for (const step of steps)
      for (const [output, slot] of step.outputs) this.outputs.set(slot, { step, output });
    const kernels = [...steps.flatMap(({ prepare, inputs }) => [...prepare, ...inputs]), ...answer.kernels];
    for (const expression of new Set(kernels.map(expressionOf))) {
      if (expression === undefined) continue;
      const { slot, root } = expression;
      const readsScore = sourcesOf(root).includes(this.score);
      this.#expressions.set(slot, { root, kernels: emitParts(root, this.layout, this.#slots), readsScore });
    }
    for (const { name, slot } of definitions) {
      const text = definition.define.get(name)?.value;
      if (text !== undefined && this.#expressions.has(slot)) this.#definitions.set(slot, { name, text });
    }
  }

  /** The expression that a column has; undefined if it is a value of the request or the output of a step. */
  at(slot: number): Parted | undefined {
    return this.#expressions.get(slot);
  }

  definition(slot: number): { readonly name: string; readonly text: string } | undefined {
    return this.#definitions.get(slot);
  }

  /** The column of a part. */
  slotOf(part: Operand): number {
    return part.tag === 'source' ? part.slot : (this.#slots.get(part) ?? -1);
  }

  /** The columns that an expression reads, and those that its definitions read. */
  sources(slot: number): number[] {
    const expression = this.#expressions.get(slot);
    return expression === undefined
      ? [slot]
      : [slot, ...sourcesOf(expression.root).flatMap((source) => this.sources(source))];
  }

  /** The kernels that compute the parts of all expressions; with `ofScore`, of those alone that read the score. */
  kernels(ofScore: boolean): Kernel[] {
    return [...this.#expressions.values()].flatMap(({ kernels, readsScore }) =>
      readsScore || !ofScore ? kernels : [],
    );
  }

  /**
   * Divides a sum into its parts, as written: what is added, and what a number of the request multiplies or divides.
   * @param numberOf the value of a part that is the same for all candidates
   * @param parts gets the parts
   * @returns what constants add
   */
  flatten(part: Operand, weight: number, numberOf: (part: Operand) => number, parts: WeightedPart[]): number {
    if (part.tag === 'constant' && typeof part.value === 'number') return weight * part.value;
    const { node } = part;
    const [left, right] = part.tag === 'operation' && part.args.every(isNumber) ? part.args : [];
    if (left !== undefined && node.kind === 'unary' && node.op === '-')
      return this.flatten(left, -weight, numberOf, parts);
    if (left !== undefined && right !== undefined && node.kind === 'binary') {
      switch (node.op) {
        case '+':
        case '-':
          return (
            this.flatten(left, weight, numberOf, parts) +
            this.flatten(right, node.op === '+' ? weight : -weight, numberOf, parts)
          );
        case '*':
          for (const [factor, of] of [
            [left, right],
            [right, left],
          ] as const)
            if (this.#isFactor(factor, of))
              return this.flatten(of, weight * numberOf(factor), numberOf, parts);
          break;
        case '/':
          if (this.#isFactor(right, left))
            return this.flatten(left, weight / numberOf(right), numberOf, parts);
      }
    }
    parts.push({ part, weight });
    return 0;
  }

  isPrivate(slot: number): boolean {
    return this.layout.columns[slot]?.isPrivate === true;
  }

  /**
   * Whether a part is the weight of another: a constant, or a number of the request beside one of the candidates. A
   * private number is none, because weights are shown.
   */
  #isFactor(factor: Operand, of: Operand): boolean {
    if (factor.tag === 'constant') return true;
    return factor.scope === 'request' && of.scope === 'candidate' && !this.isPrivate(this.slotOf(factor));
  }
}

function isNumber({ type }: Operand): boolean {
  return type.kind === 'number' || type.kind === 'bool';
}

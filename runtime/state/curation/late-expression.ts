import type { ColumnOf } from '../../ground/api/columns.js';
import { nearestOf } from '../../ground/core/nearest.js';
import { compileExpression, type Expected } from '../../language/expression/compile.js';
import type {
  Environment,
  ExpressionProblem,
  Kernel,
  NamedNumber,
  NameProblem,
  Source,
} from '../../language/expression/environment.js';
import { Frame } from '../../language/frame/frame.js';
import { FrameLayout } from '../../language/frame/frame-layout.js';
import { runKernelsAtOnce } from '../../language/expression/run-kernels.js';

type Meaning = Source | NamedNumber;

/** What the values of a name are, for who compares them. `texts`: a list of texts. */
export const COMPARED_TYPES = ['text', 'number', 'bool', 'texts'] as const;

export interface ComparedName {
  /** Such as `product.brand`. */
  readonly name: string;
  readonly type: (typeof COMPARED_TYPES)[number];
}

/** What an attribute means that the plan does not read; undefined if it is no attribute. */
export type FindAttribute = (path: string) => Source | NameProblem | undefined;

/**
 * The names that a compiled plan can give a meaning to: those that were resolved while the plan was compiled. Rules that
 * come later can use these names, because their values are read for every request.
 */
export class KnownNames {
  readonly #meanings = new Map<string, Meaning>();
  #nearest: ((name: string) => string | undefined) | undefined;

  /** An environment that resolves names for the plan, and remembers them. It compiles nothing into the plan. */
  learning(names: Environment): Environment {
    const learned = <M extends Meaning | NameProblem>(name: string, meaning: M): M => {
      if (!('problem' in meaning)) this.#meanings.set(name, meaning);
      return meaning;
    };
    return {
      layout: new FrameLayout(),
      name: (name) => learned(name, names.name(name)),
      path: (segments) => learned(segments.join('.'), names.path(segments)),
      feature: (view, feature) => learned(`${view}:${feature}`, names.feature(view, feature)),
    };
  }

  /** The names that conditions on a candidate can compare with a text, a number or a bool. */
  compared(): readonly ComparedName[] {
    return [...this.#meanings].flatMap(([name, meaning]): ComparedName[] => {
      if ('constant' in meaning || meaning.scope !== 'candidate') return [];
      return comparedAs(name, meaning.type);
    });
  }

  /**
   * The environment of an expression that is compiled after the plan.
   * @param find what an attribute means that the plan does not read; undefined: nothing has the name
   */
  environment(layout: FrameLayout, find: FindAttribute): Environment {
    const unknown = new Map<string, Source | NameProblem>();
    const problem = (name: string): Source | NameProblem => {
      const found = unknown.get(name) ?? (name.includes(':') ? undefined : find(name)) ?? this.#unknown(name);
      unknown.set(name, found);
      return found;
    };
    const meaningOf = (name: string): Meaning | NameProblem => this.#meanings.get(name) ?? problem(name);
    const source = (name: string): Source | NameProblem => {
      const meaning = meaningOf(name);
      return 'constant' in meaning ? problem(name) : meaning;
    };
    return {
      layout,
      name: meaningOf,
      path: (segments) => source(segments.join('.')),
      feature: (view, feature) => source(`${view}:${feature}`),
    };
  }

  #unknown(name: string): NameProblem {
    const guess = (this.#nearest ??= nearestOf(this.#meanings.keys()))(name);
    return {
      problem: 'unknown_name',
      message: `the pipeline does not read \`${name}\` for its rules`,
      help:
        guess === undefined
          ? `list it under \`reads\` of the step \`use: curation\``
          : `did you mean \`${guess}\`? Otherwise list it under \`reads\` of the step \`use: curation\``,
    };
  }
}

/** A name, if its values can be compared with a text, a number or a bool. */
export function comparedAs(name: string, type: Source['type']): ComparedName[] {
  if (type.kind === 'list')
    return type.of.kind === 'text' || type.of.kind === 'ref' ? [{ name, type: 'texts' }] : [];
  if (type.kind === 'ref') return [{ name, type: 'text' }];
  return type.kind === 'vector' || type.kind === 'time' ? [] : [{ name, type: type.kind }];
}

/** Where an expression of a rule finds its values. */
export interface LatePlace {
  readonly names: KnownNames;
  /** Of the plan that computes it. */
  readonly plan: FrameLayout;
  readonly find: FindAttribute;
}

/** An expression of a rule, computed beside the columns of a plan. */
export class LateExpression {
  readonly #kernels: readonly Kernel[];
  readonly #slot: number;
  /** The columns that are not those of the plan. */
  readonly #own: FrameLayout;

  private constructor(kernels: readonly Kernel[], slot: number, own: FrameLayout) {
    this.#kernels = kernels;
    this.#slot = slot;
    this.#own = own;
  }

  /** Compiles an expression. @returns its errors, if it has any */
  static compile(
    text: string,
    expected: Expected,
    { names, plan, find }: LatePlace,
  ): LateExpression | readonly ExpressionProblem[] {
    const layout = plan.extended();
    const result = compileExpression(text, names.environment(layout, find), expected);
    if (!result.ok) return result.problems;
    const { kernels, slot } = result.expression;
    return new LateExpression(kernels, slot, layout.from(plan.columns.length));
  }

  /** The values for the request in a frame, which the call does not change. */
  column(frame: Frame): Frame['columns'][number] | undefined {
    if (this.#own.columns.length === 0) return frame.columns[this.#slot];
    const joined = Frame.beside(frame, this.#own);
    runKernelsAtOnce(this.#kernels, joined);
    return joined.columns[this.#slot];
  }

  numbers(frame: Frame): ColumnOf<'number'> {
    return this.column(frame) as ColumnOf<'number'>;
  }
}

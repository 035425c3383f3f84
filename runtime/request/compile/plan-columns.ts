import type { ValueType } from '../../ground/api/types.js';
import type { NameProblem, Source } from '../../language/expression/environment.js';
import { FramePool } from '../../language/frame/frame.js';
import type { FrameLayout } from '../../language/frame/frame-layout.js';
import type { CompiledRules } from '../../state/curation/curation-lists.js';
import { comparedAs, type ComparedName } from '../../state/curation/late-expression.js';
import type { AddedLimits, RulePlan, WiderPlan } from '../../state/curation/rule-plan.js';
import type { HydrationBuilder } from './hydration-builder.js';
import { levelsOf } from './levels.js';
import { tooDeep } from './path-problems.js';
import type { PipelineReads } from './pipeline-reads.js';
import type { Plan } from './plan.js';
import { attributesOf, shownColumns } from './shown-columns.js';

/**
 * Makes a plan anew with columns that rules of curation need. New columns follow those of the plan, so its steps, components
 * and kernels stay as they are. Nothing is created, loaded or connected for it.
 */
export class PlanColumns implements RulePlan {
  inService: Wider | undefined;
  #plan: Plan | undefined;

  constructor(private readonly reads: PipelineReads) {}

  get layout(): FrameLayout {
    return this.reads.layout;
  }

  /** @param plan that was compiled with these reads */
  finish(plan: Plan): void {
    this.#plan = plan;
  }

  find(segments: readonly string[], { references }: AddedLimits): Source | NameProblem {
    const { hydration } = this.reads;
    const resolved = hydration.resolve(segments);
    if ('problem' in resolved) return resolved;
    const path = segments.join('.');
    if (hydration.isPrivate(resolved))
      return {
        problem: 'private_value',
        message: `\`${path}\` is private, and the pipeline does not read it for its rules`,
        help: 'list it under `reads` of the step `use: curation` if rules may use it',
      };
    if (resolved.hops.length > references) return tooDeep(segments.length - 1, references);
    if (resolved.type.kind === 'vector')
      return {
        problem: 'expression_type',
        message: `\`${path}\` is a vector, and the pipeline does not read it for its rules`,
        help: 'list it under `reads` of the step `use: curation`',
      };
    return hydration.source(segments, false);
  }

  attributes(): readonly ComparedName[] {
    const { candidates } = this.reads.hydration;
    const all = new Map([...candidates.entity.attributes, ...candidates.carried]);
    return [...all].flatMap(([name, { type, isPrivate }]) =>
      isPrivate === true ? [] : this.#compared([candidates.name, name], type),
    );
  }

  /** An attribute, or the fields of a record. */
  #compared(path: readonly string[], type: ValueType): readonly ComparedName[] {
    const record = type.kind === 'list' ? type.of : type;
    if (record.kind === 'record')
      return [...record.fields].flatMap(([name, field]) => this.#compared([...path, name], field));
    const found = this.reads.hydration.source(path, false);
    return 'problem' in found ? [] : comparedAs(path.join('.'), found.type);
  }

  widened(paths: Iterable<string>): Wider {
    if (this.#plan === undefined) throw new Error('the plan is not compiled yet');
    const layout = this.layout.extended();
    const hydration = this.reads.hydration.copied(layout);
    for (const path of paths) hydration.source(path.split('.'), true);
    return new Wider(this.#plan, layout, hydration);
  }
}

/** What a wider plan has instead of the plan that it extends. */
type WiderParts = Pick<Plan, 'layout' | 'nodes' | 'levels' | 'attributes' | 'shown' | 'frames' | 'wider'>;

class Wider implements WiderPlan {
  rules: WiderPlan['rules'] = new Map();
  readonly added: number;
  readonly #whole: Plan;
  readonly #parts: WiderParts;

  constructor(
    private readonly plan: Plan,
    readonly layout: FrameLayout,
    private readonly hydration: HydrationBuilder,
  ) {
    this.added = layout.columns.length - plan.layout.columns.length;
    const nodes = Object.freeze(hydration.build(plan.prefix));
    const { levels, definitions, steps } = plan;
    const [features, histories] = [
      levels.flatMap((level) => level.features),
      levels.flatMap((level) => level.histories),
    ];
    this.#parts = {
      layout,
      nodes,
      levels: Object.freeze(levelsOf(nodes, features, histories)),
      attributes: Object.freeze(attributesOf(nodes)),
      shown: shownColumns(layout, definitions, steps),
      frames: new FramePool(layout),
      wider: this,
    };
    this.#whole = Object.freeze({ ...plan, ...this.#parts });
  }

  source(segments: readonly string[]): Source | NameProblem {
    return this.hydration.source(segments, true);
  }

  /** The plan, or one with other values of params, with these columns. */
  of(plan: Plan): Plan {
    return plan === this.plan ? this.#whole : Object.freeze({ ...plan, ...this.#parts });
  }
}

/** What a new request runs: the plan, with the columns that rules in service or those of a preview need. */
export function planInService(plan: Plan, preview: CompiledRules | undefined): Plan {
  const { columns, wider } = plan;
  if (columns === undefined || wider !== undefined) return plan;
  const chosen = preview?.plans.has(columns) === true ? preview.plans.get(columns) : columns.inService;
  return chosen instanceof Wider ? chosen.of(plan) : plan;
}

/** A plan with other values of params, with the columns of the plan whose frames it takes. */
export function likePlan(plan: Plan, { wider }: Plan): Plan {
  return wider instanceof Wider ? wider.of(plan) : plan;
}

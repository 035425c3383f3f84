import type { Plan, PlannedStep } from './plan.js';

/** Where the result of a plan depends on some of its params. */
export interface Dependence {
  /** Index of the first step that the params can change; undefined if they change nothing. */
  readonly first: number | undefined;
  /** The steps from `first` on that run again for other values, in order. The outputs of the others stay the same. */
  readonly again: readonly PlannedStep[];
  /** Whether the value of a name depends on the params: of a param, a definition, or an output `as:output`. */
  readonly depends: (name: string) => boolean;
}

/**
 * Finds the steps that other values of params can change. A step changes with the values that it reads. A feature or
 * model also changes with the candidates and scores that earlier steps leave. Filters and rules after the first such step
 * run again in any case, because they change the ranking.
 */
export function dependenceOf({ steps, open }: Plan, params: Iterable<string>): Dependence {
  const changed = new Set(params);
  const depends = (name: string): boolean =>
    changed.has(name) || Array.from(open?.readsOfDefinitions.get(name) ?? []).some(depends);
  let first: number | undefined;
  let isRankingChanged = false;
  const again: PlannedStep[] = [];
  for (const [index, step] of steps.entries()) {
    const isChanged: boolean = isRankingChanged || step.reads.some(depends);
    if (isChanged) first ??= index;
    if (first === undefined || step.kind === 'effect') continue;
    if (step.kind === 'filter' || step.kind === 'rule') {
      again.push(step);
      isRankingChanged ||= isChanged;
    } else if (isChanged) {
      again.push(step);
      for (const output of step.outputs.keys()) changed.add(`${step.as}:${output}`);
    }
  }
  return { first, again, depends };
}

import { expressionOf, sourcesOf } from '../../language/expression/emit.js';
import type { CompiledExpression, Kernel } from '../../language/expression/environment.js';
import { FramePool } from '../../language/frame/frame.js';
import type { FrameLayout } from '../../language/frame/frame-layout.js';
import { levelsOf } from './levels.js';
import type {
  FeatureRead,
  HydrationNode,
  LaterValues,
  PhasedStep,
  Phases,
  Plan,
  PlannedStep,
  ReadLevel,
} from './plan.js';

/** What gives columns their values. A column without a source comes from a step or the body. */
type Origin = CompiledExpression | HydrationNode | FeatureRead;

interface Maker {
  readonly of: Origin;
  /** The columns that it reads, and those that it fills. */
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** By column. */
type Makers = ReadonlyMap<number, Maker>;

/** What can wait: the steps with `top:` that need it, by their numbers. */
type Needs = ReadonlyMap<unknown, string>;

/** The parts of a plan that read and fill columns. */
export type PhasedParts = Pick<Plan, 'definition' | 'layout' | 'levels' | 'steps' | 'answer' | 'log'>;

/**
 * Finds what only steps with `top:` read. All other readers need a value for all candidates: steps without `top:`, effects,
 * components that read more than their rows, `answer:`, and a log. Undefined if nothing can wait.
 */
export function phasesOf(plan: PhasedParts): Phases | undefined {
  const { definition, layout, levels, steps } = plan;
  // Rules of curation that come later can name any column.
  if (definition.task !== 'rank' || steps.some(({ slots }) => slots === undefined)) return undefined;
  const kernels = [
    ...steps.flatMap((step) => [...step.prepare, ...step.inputs]),
    ...plan.answer.kernels,
    ...plan.log.kernels,
  ];
  const makers = makersOf(plan, kernels);
  const needs = needsOf(plan, makers);
  if (needs.size === 0) return undefined;
  const neededBy = (kernel: Kernel): string | undefined => needs.get(expressionOf(kernel));
  const isEarly = (kernel: Kernel): boolean => neededBy(kernel) === undefined;
  // What an expression or a read needs is needed by more steps than itself, or by the same.
  const parts = [...new Set(needs.values())]
    .map((numbers) => ({
      numbers: numbers.split(',').map(Number),
      values: {
        levels: levelsWhere(levels, (read) => needs.get(read) === numbers),
        kernels: kernels.filter((kernel) => neededBy(kernel) === numbers),
        ...laterColumns(
          [...new Set(makers.values())].filter(({ of }) => needs.get(of) === numbers),
          layout,
        ),
      },
    }))
    .sort((a, b) => b.numbers.length - a.numbers.length);
  const phased = steps.map(({ number, prepare, inputs }): [number, PhasedStep] => {
    const later = parts.flatMap(({ numbers, values }) => (numbers.includes(number) ? values : []));
    return [number, { prepare: prepare.filter(isEarly), inputs: inputs.filter(isEarly), later }];
  });
  return Object.freeze({
    levels: levelsWhere(levels, (read) => !needs.has(read)),
    steps: new Map(phased),
    top: Math.max(...steps.map(({ top = 0 }, i) => (phased[i]?.[1].later.length === 0 ? 0 : top))),
    frames: new FramePool(layout),
    shared: layout.columns.flatMap(({ shape }, slot) => (shape.scope === 'request' ? slot : [])),
  });
}

function levelsWhere(levels: readonly ReadLevel[], is: (read: unknown) => boolean): ReadLevel[] {
  const [nodes, features, histories] = [
    levels.flatMap((level) => level.nodes),
    levels.flatMap((level) => level.features),
    levels.flatMap((level) => level.histories),
  ];
  return levelsOf(nodes.filter(is), features.filter(is), histories.filter(is));
}

/** Whether what the step reads can wait until the step knows its candidates. */
function canWait({ top, kind, component }: PlannedStep): boolean {
  return top !== undefined && kind !== 'effect' && component.readsRowsOnly === true;
}

/** The columns that a step reads. By the ids of a feature's key, it finds the row of an identifier. */
function slotsOf({ slots = [], needs }: PlannedStep): readonly number[] {
  return [...slots, ...[...needs.values()].flatMap(({ ids }) => ids)];
}

function makersOf({ levels }: PhasedParts, kernels: readonly Kernel[]): Makers {
  const makers = new Map<number, Maker>();
  const add = (maker: Maker): void => {
    for (const slot of maker.to) makers.set(slot, maker);
  };
  for (const of of new Set(kernels.map(expressionOf)))
    if (of !== undefined) add({ of, from: sourcesOf(of.root), to: [of.slot] });
  for (const { nodes, features } of levels) {
    for (const of of nodes)
      add({ of, from: [of.ids], to: of.wants.flatMap(({ indexed, slot }) => (indexed ? slot : [])) });
    for (const of of features) add({ of, from: of.ids, to: of.wants.map(({ slot }) => slot) });
  }
  return makers;
}

function needsOf(plan: PhasedParts, makers: Makers): Needs {
  const early = earlyMakers(plan, makers);
  const steps = new Map<Maker, Set<number>>();
  const need = (slot: number, number: number): void => {
    const maker = makers.get(slot);
    if (maker === undefined || early.has(maker) || steps.get(maker)?.has(number) === true) return;
    steps.set(maker, (steps.get(maker) ?? new Set()).add(number));
    for (const source of maker.from) need(source, number);
  };
  for (const step of plan.steps) if (canWait(step)) for (const slot of slotsOf(step)) need(slot, step.number);
  // What nobody is known to read is made for all candidates.
  for (const maker of makers.values()) if (!steps.has(maker)) takeEarly(maker, makers, early);
  for (const maker of early) steps.delete(maker);
  return new Map(Array.from(steps, ([{ of }, numbers]) => [of, [...numbers].join()]));
}

/** What is needed for all candidates. */
function earlyMakers({ steps, answer, log, definition }: PhasedParts, makers: Makers): Set<Maker> {
  const early = new Set<Maker>();
  const shown = definition.log === undefined ? answer.values : [...answer.values, ...log.values];
  const read = steps.flatMap((step) => (canWait(step) ? [] : slotsOf(step)));
  const conditions = steps.flatMap(({ when }) => when?.slot ?? []);
  for (const slot of [...shown.map((value) => value.slot), ...read, ...conditions])
    takeEarly(makers.get(slot), makers, early);
  for (const maker of makers.values()) if (!isForSome(maker.of)) takeEarly(maker, makers, early);
  return early;
}

function takeEarly(maker: Maker | undefined, makers: Makers, early: Set<Maker>): void {
  if (maker === undefined || early.has(maker)) return;
  early.add(maker);
  for (const source of maker.from) takeEarly(makers.get(source), makers, early);
}

/** Whether it can be made for some candidates. The entities of lists are read for all of them together. */
function isForSome(of: Origin): boolean {
  if ('kernels' in of) return true;
  if (of.scope !== 'candidate') return false;
  return !('list' in of && of.list);
}

function laterColumns(
  makers: readonly Maker[],
  { columns }: FrameLayout,
): Pick<LaterValues, 'from' | 'to' | 'kept'> {
  const ofCandidates = (slots: readonly number[]): number[] =>
    [...new Set(slots)].filter((slot) => columns[slot]?.shape.scope === 'candidate');
  const to = ofCandidates(makers.flatMap((maker) => maker.to));
  const from = ofCandidates(makers.flatMap((maker) => maker.from)).filter((slot) => !to.includes(slot));
  const kept = new Uint8Array(columns.length).fill(1);
  for (const slot of to) kept[slot] = 0;
  return { from, to, kept };
}

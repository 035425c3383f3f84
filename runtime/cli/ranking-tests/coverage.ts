import type { Plan } from '../../request/compile/plan.js';
import type { Span } from '../../project/config/yaml/source.js';
import { entriesOf, memberOf } from '../../project/config/yaml/tree.js';
import type { Outcome } from './run/outcome.js';

/** A part of a pipeline that a test can fire. */
export interface CoveredPart {
  readonly pipeline: string;
  /** 1-based, as written. */
  readonly step: number;
  readonly as: string;
  readonly use: string;
  /** What fires it, e.g. `runs`, `when: is true`, `removes a candidate`, `pins position 1`. */
  readonly what: string;
  /** Its place in the pipeline. */
  readonly at: Span;
  /** How many cases fired it. */
  readonly fired: number;
}

interface Part extends Omit<CoveredPart, 'fired'> {
  fired: number;
  readonly isFired: (outcome: Outcome) => boolean;
}

/**
 * Counts which steps and rules of the pipelines the cases fire. Add every outcome, then read `parts`. It needs only plans
 * and outcomes, so that other commands can use it.
 */
export class Coverage {
  readonly #parts = new Map<string, Part[]>();

  add(plan: Plan, outcome: Outcome): void {
    for (const part of this.#partsOf(plan)) if (part.isFired(outcome)) part.fired++;
  }

  /** Adds a pipeline that no case may have used. */
  addPipeline(plan: Plan): void {
    this.#partsOf(plan);
  }

  /** In the order of the pipelines and their steps. */
  get parts(): CoveredPart[] {
    return [...this.#parts.values()].flat().map(({ pipeline, step, as, use, what, at, fired }) => ({
      pipeline,
      step,
      as,
      use,
      what,
      at,
      fired,
    }));
  }

  /** Variants of a pipeline with other stubs have the same parts. */
  #partsOf(plan: Plan): Part[] {
    const { name } = plan.definition;
    let parts = this.#parts.get(name);
    if (parts === undefined) {
      parts = plan.definition.components.flatMap((_, index) => partsOfStep(plan, index));
      this.#parts.set(name, parts);
    }
    return parts;
  }
}

function partsOfStep({ definition, steps }: Plan, index: number): Part[] {
  const written = definition.components[index];
  const planned = steps.find(({ number }) => number === index + 1);
  if (written === undefined || planned === undefined) return [];
  const { number, as, use, kind } = planned;
  const of = (outcome: Outcome): Outcome['steps'][number] | undefined =>
    outcome.steps.find(({ step }) => step.number === number);
  const part = (what: string, at: Span, isFired: (outcome: Outcome) => boolean): Part => ({
    pipeline: definition.name,
    step: number,
    as,
    use,
    what,
    at,
    fired: 0,
    isFired,
  });
  const ran = (outcome: Outcome): boolean => of(outcome)?.outcome === 'ran';
  const at = written.use.at;
  const parts: Part[] = [];
  if (written.when !== undefined) {
    parts.push(
      part('`when` is true', written.when.at, (outcome) => ran(outcome) || of(outcome)?.outcome === 'failed'),
    );
    parts.push(
      part('`when` is not true', written.when.at, (outcome) => of(outcome)?.outcome === 'not_asked_for'),
    );
  }
  if (kind === 'feature' || kind === 'model') parts.push(part('runs', at, ran));
  if (kind === 'filter') {
    parts.push(part('removes a candidate', at, (outcome) => (of(outcome)?.removed.length ?? 0) > 0));
    parts.push(
      part('keeps a candidate', at, (outcome) => {
        const found = of(outcome);
        return found?.outcome === 'ran' && found.removed.length < found.seen;
      }),
    );
  }
  if (kind === 'rule') parts.push(...partsOfRule(written.use.at.file, written, part, of, number));
  return parts;
}

type Step = Plan['definition']['components'][number];

function partsOfRule(
  file: Span['file'],
  { use, with: options }: Step,
  part: (what: string, at: Span, isFired: (outcome: Outcome) => boolean) => Part,
  of: (outcome: Outcome) => Outcome['steps'][number] | undefined,
  number: number,
): Part[] {
  const positions = entriesOf(file, memberOf(options, 'positions')).filter(({ key }) => /^\d+$/.test(key));
  // Each pin of a rule is a part of its own.
  if (positions.length > 0)
    return positions.map(({ key, keyAt }) =>
      part(`pins position ${key}`, keyAt, (outcome) =>
        [...outcome.candidates.values()].some(({ edits }) =>
          edits.some(
            (edit) => edit.kind === 'pin' && edit.step.number === number && String(edit.position) === key,
          ),
        ),
      ),
    );
  const applies = part('applies to a candidate', use.at, (outcome) => (of(outcome)?.applied ?? 0) > 0);
  const where = memberOf(options, 'where');
  if (where === undefined) return [applies];
  return [
    applies,
    part('`where` leaves a candidate out', use.at, (outcome) => {
      const found = of(outcome);
      return found?.outcome === 'ran' && found.applied < found.seen;
    }),
  ];
}

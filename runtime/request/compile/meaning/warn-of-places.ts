import type { FixedPlace, RuleComponent } from '../../../ground/api/component.js';
import { isForAll, type CurationRule } from '../../../project/config/model/curation.js';
import type { Located, Span } from '../../../project/config/yaml/source.js';
import { put } from '../../../state/curation/rule-index.js';
import type { OpenPipeline } from '../open-pipeline.js';
import type { PlannedStep } from '../plan.js';
import type { StepPlaces } from './step-places.js';

/** What a step asks for one position or one candidate, wherever the step runs. */
interface Ask {
  /** Pins win over slots, and those of curation win over those of the pipeline. Of two equal ones, the later step wins. */
  readonly strength: number;
  /** Undefined: the candidate is hidden. */
  readonly position: number | undefined;
  /** Undefined: any candidate that meets a condition. */
  readonly id: string | undefined;
  readonly at: Span;
  /** Who asks, with the place. */
  readonly by: string;
  /** The condition of the step; undefined: it works on every candidate of every request. */
  readonly when: string | undefined;
  /** The name of the step. */
  readonly step: string;
}

/**
 * Warns of a pin or a slot that loses in every request in which both candidates are there: a later or stronger step that
 * always runs asks for the same position, or asks something else for the same candidate. Of a step with a condition of its
 * own nothing is said, since it may be meant to win over one without. Rules of a list are compared with each other elsewhere.
 */
export function warnOfPlaces(
  { definition, places, diagnostics }: OpenPipeline,
  steps: readonly PlannedStep[],
): void {
  const asks = steps.flatMap((step) => {
    const own = places.get(step.number - 1);
    const at = definition.components[step.number - 1]?.use.at;
    if (own === undefined || at === undefined || step.top !== undefined) return [];
    const by = `the step \`${step.as}\` (line ${at.file.position(at.start).line})`;
    return asksOf(step, own, by);
  });
  const byPosition = new Map<number, number[]>();
  const byId = new Map<string, number[]>();
  for (const [order, { position, id }] of asks.entries()) {
    if (position !== undefined) put(byPosition, position, order);
    if (id !== undefined) put(byId, id, order);
  }
  for (const [order, ask] of asks.entries()) {
    const { position, id, at } = ask;
    if (position === undefined || at.file !== definition.file) continue;
    const winnerOf = (orders: readonly number[] = [], isOther: (one: Ask) => boolean): Ask | undefined => {
      const found = orders.find((index) => {
        const one = asks[index];
        if (one === undefined || one.step === ask.step || !isOther(one)) return false;
        if (one.when !== undefined && one.when !== ask.when) return false;
        return one.strength > ask.strength || (one.strength === ask.strength && index > order);
      });
      return found === undefined ? undefined : asks[found];
    };
    const other =
      (id === undefined ? undefined : winnerOf(byId.get(id), (one) => one.position !== position)) ??
      winnerOf(byPosition.get(position), (one) => one.id !== undefined && one.id !== id);
    if (other !== undefined) diagnostics.warning('contradiction', at, messageOf(ask, other), HELP);
  }
}

const HELP = 'choose another position, or remove one of the two';
const STRENGTH = { slot: 0, pin: 1, curation: 2 };

function asksOf({ component, as, when }: PlannedStep, { locate, rules }: StepPlaces, by: string): Ask[] {
  const { places = [] } = component as RuleComponent;
  const step = { step: as, when: when?.text };
  const own = places.map(({ position, id, option }: FixedPlace) => ({
    ...step,
    strength: id === undefined ? STRENGTH.slot : STRENGTH.pin,
    position,
    id,
    at: locate(option),
    by,
  }));
  const isAlways = (rule: CurationRule): boolean =>
    isForAll(rule) && rule.from === -Infinity && rule.until === Infinity;
  const curated = rules.filter(isAlways).flatMap((rule) => {
    const ask = (id: Located<string>, position: number | undefined): Ask => ({
      ...step,
      strength: STRENGTH.curation,
      position,
      id: id.value,
      at: id.at,
      by: `the rule ${rule.name} (${id.at.file.path}, line ${id.at.file.position(id.at.start).line})`,
    });
    return [
      ...rule.pins.map(({ id, position }) => ask(id, position)),
      ...rule.hides.map((id) => ask(id, undefined)),
    ];
  });
  return [...own, ...curated];
}

function messageOf({ position, id }: Ask, { position: elsewhere, id: winner, by }: Ask): string {
  if (id !== undefined && winner === id)
    return elsewhere === undefined
      ? `the pin never holds: ${by} hides \`${id}\``
      : `${by} pins \`${id}\` to position ${elsewhere}, and wins`;
  return `${by} pins \`${winner ?? ''}\` to position ${position ?? 0} too, and wins wherever \`${winner ?? ''}\` is a candidate`;
}

import type { FeatureValue } from '../../../ground/api/step-input.js';
import type { JsonValue } from '../../../ground/api/types.js';
import { isStep } from '../files/check-expectations.js';
import type { Expectations, LocatedList, OfValue } from '../files/expectations.js';
import type { Edit, Outcome, RankedCase, StepRef } from '../run/outcome.js';
import type { Failure } from './failure.js';
import { isNear, numberText, stepText, valueText } from './words.js';

/** Compares an answer with what a case expects. Every expectation that does not hold is one failure. */
export function checkOutcome(expected: Expectations, outcome: Outcome): Failure[] {
  if (expected.error !== undefined)
    return [
      {
        at: expected.error.code.at,
        what: 'error',
        message: `expected the error ${expected.error.code.value}, but the request was answered`,
      },
    ];
  return [
    ...checkOrder(expected, outcome),
    ...checkScores(expected, outcome),
    ...checkPositions(expected, outcome),
    ...checkRemoved(expected, outcome),
    ...checkMoved(expected, outcome),
    ...checkStatuses(expected, outcome),
    ...checkValues(expected, outcome),
    ...checkDegraded(expected, outcome),
    ...checkScored(expected, outcome),
  ];
}

function checkOrder({ order, first }: Expectations, { page }: Outcome): Failure[] {
  const failures: Failure[] = [];
  const check = (what: string, list: LocatedList | undefined, found: readonly string[]): void => {
    if (list === undefined) return;
    const wanted = list.items.map(({ value }) => value);
    const at = wanted.findIndex((id, i) => found[i] !== id);
    const differs = at === -1 ? wanted.length : at;
    if (at === -1 && found.length === wanted.length) return;
    const place = list.items[differs];
    failures.push({
      at: place?.at ?? list.at,
      what,
      message: `place ${differs + 1}: expected ${wanted[differs] ?? 'no more candidates'}, found ${found[differs] ?? 'no more candidates'}`,
    });
  };
  check('order', order, page);
  check('first', first, page.slice(0, first?.items.length));
  return failures;
}

function checkScores({ scores, tolerance }: Expectations, { candidates }: Outcome): Failure[] {
  return scores.flatMap(({ id, value, at }) => {
    const found = candidates.get(id.value)?.score ?? NaN;
    if (isNear(found, value, tolerance)) return [];
    const message = `the score of ${id.value}: expected ${numberText(value)}, found ${numberText(found)}`;
    return [{ at, what: 'scores', message }];
  });
}

function checkPositions({ positions }: Expectations, { candidates }: Outcome): Failure[] {
  return positions.flatMap(({ id, value, at }) => {
    const place = candidates.get(id.value)?.place ?? 0;
    if (place === value) return [];
    const found = place === 0 ? 'a filter removed it' : `found ${place}`;
    return [{ at, what: 'positions', message: `the position of ${id.value}: expected ${value}, ${found}` }];
  });
}

function checkRemoved({ removed }: Expectations, { steps, candidates }: Outcome): Failure[] {
  if (removed === undefined) return [];
  const by = new Map(steps.flatMap(({ step, removed: ids }) => ids.map((id) => [id, step] as const)));
  const failures: Failure[] = [];
  for (const { id, value, at } of removed.ids) {
    const filter = by.get(id.value);
    if (filter === undefined) {
      const place = candidates.get(id.value)?.place ?? 0;
      const message = `expected that a filter removes ${id.value}, found it at place ${place}`;
      failures.push({ at: id.at, what: 'removed', message });
    } else if (value !== undefined && !isStep(filter, value)) {
      const message = `expected that \`${value}\` removes ${id.value}, but ${stepText(filter)} removed it`;
      failures.push({ at, what: 'removed', message });
    }
  }
  const named = new Set(removed.ids.map(({ id }) => id.value));
  for (const [id, filter] of by)
    if (!named.has(id))
      failures.push({
        at: removed.at,
        what: 'removed',
        message: `${stepText(filter)} removed ${id}, which is not in the list`,
      });
  return failures;
}

/** The rules that changed a score, except those that set it, or a place. Each once, in the order that they ran. */
export function movesOf({ edits }: Pick<RankedCase, 'edits'>): StepRef[] {
  return [...new Set(edits.filter(isMove).map(({ step }) => step))];
}

function isMove({ sets, step }: Edit): boolean {
  return !sets && step.kind === 'rule';
}

function checkMoved({ moved }: Expectations, { candidates }: Outcome): Failure[] {
  return moved.flatMap(({ id, value, at }) => {
    const found = movesOf(candidates.get(id.value) ?? { edits: [] });
    const isSame =
      found.length === value.length && found.every((step, i) => isStep(step, value[i]?.value ?? ''));
    if (isSame) return [];
    const wanted = value.map((step) => step.value).join(', ') || 'no rule';
    const message = `what moved ${id.value}: expected ${wanted}, found ${found.map(stepText).join(', ') || 'no rule'}`;
    return [{ at, what: 'moved', message }];
  });
}

function checkStatuses({ statuses }: Expectations, outcome: Outcome): Failure[] {
  return statuses.flatMap(({ name, id, expected, at }) => {
    const found = valueOf(name.value, id?.value, outcome);
    if (found.status === expected) return [];
    const message = `the status of ${labelOf(name.value, id?.value)}: expected ${expected}, found ${found.status}`;
    return [{ at, what: 'statuses', message }];
  });
}

function checkValues({ values, tolerance }: Expectations, outcome: Outcome): Failure[] {
  return values.flatMap((expected) => {
    const { name, id } = expected;
    const found = valueOf(name.value, id?.value, outcome);
    return differing('values', expected, labelOf(name.value, id?.value), found, tolerance);
  });
}

function checkScored(
  { score, answer, tolerance }: Expectations,
  { candidates, page, answered }: Outcome,
): Failure[] {
  const found = candidates.get(page[0] ?? '')?.score ?? NaN;
  const ofScore: Failure[] =
    score === undefined || isNear(found, score.value, tolerance)
      ? []
      : [
          {
            at: score.at,
            what: 'score',
            message: `the score: expected ${numberText(score.value)}, found ${numberText(found)}`,
          },
        ];
  return [
    ...ofScore,
    ...answer.flatMap((expected) => {
      const value = answered.get(expected.name.value) ?? ABSENT;
      return differing('answer', expected, expected.name.value, value, tolerance);
    }),
  ];
}

const ABSENT: FeatureValue = { value: undefined, status: 'absent' };

function differing(
  what: string,
  { expected, at }: OfValue<JsonValue>,
  label: string,
  found: FeatureValue,
  tolerance: number,
): Failure[] {
  if (isSameValue(expected, found.value, tolerance)) return [];
  const status = found.value === undefined ? ` (${found.status})` : '';
  const message = `the value of ${label}: expected ${valueText(expected)}, found ${valueText(found.value)}${status}`;
  return [{ at, what, message }];
}

/** A bool is 0 or 1 in the frame; an unknown value equals null. */
function isSameValue(expected: JsonValue, found: unknown, tolerance: number): boolean {
  if (expected === null || found === undefined) return expected === null && found === undefined;
  if (typeof expected === 'boolean') return found === (expected ? 1 : 0);
  if (typeof expected === 'number') return typeof found === 'number' && isNear(found, expected, tolerance);
  if (Array.isArray(expected) && Array.isArray(found))
    return (
      expected.length === found.length &&
      (expected as readonly JsonValue[]).every((one, i) => isSameValue(one, found[i] as unknown, tolerance))
    );
  return expected === found;
}

function valueOf(name: string, id: string | undefined, { values }: Outcome): FeatureValue {
  const found = values.get(name);
  if (found === undefined) return ABSENT;
  return 'status' in found ? found : (found.get(id ?? '') ?? ABSENT);
}

function labelOf(name: string, id: string | undefined): string {
  return id === undefined ? name : `${name} of ${id}`;
}

function checkDegraded({ degraded }: Expectations, { degraded: found }: Outcome): Failure[] {
  if (degraded === undefined) return [];
  const wanted = degraded.reasons.map(({ value }) => value);
  if (wanted.length === found.length && wanted.every((reason) => found.includes(reason))) return [];
  const message = `why the answer is degraded: expected ${wanted.join(', ') || 'nothing'}, found ${found.join(', ') || 'nothing'}`;
  return [{ at: degraded.at, what: 'degraded', message }];
}

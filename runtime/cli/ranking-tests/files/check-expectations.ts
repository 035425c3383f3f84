import { ERROR_CODES } from '../../../ground/api/error-codes.js';
import type { RuleComponent } from '../../../ground/api/component.js';
import { STATUS_NAMES } from '../../../ground/api/status.js';
import type { Plan } from '../../../request/compile/plan.js';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { Located } from '../../../project/config/yaml/source.js';
import { DEGRADATION_CAUSES } from '../../../request/pipeline/page/degraded.js';
import { slotsOf } from '../run/outcome.js';
import { suggestion } from './check-given.js';
import type { Expectations, OfValue } from './expectations.js';
import type { TestCase } from './test-case.js';

/**
 * Checks the names under `expect:`, and whether all expectations can hold together.
 * @param known reports an id that is no candidate
 */
export function checkExpectations(
  test: TestCase,
  expected: Expectations,
  plan: Plan,
  known: (id: Located<string>) => void,
  diagnostics: Diagnostics,
): void {
  checkTask(test, plan, diagnostics);
  for (const list of [expected.order, expected.first]) {
    list?.items.forEach(known);
    checkTwice(list?.items ?? [], diagnostics);
  }
  for (const { id } of [...expected.scores, ...expected.positions, ...expected.moved]) known(id);
  for (const { id } of expected.removed?.ids ?? []) known(id);
  checkSteps(expected, plan, diagnostics);
  checkValues(expected, plan, known, diagnostics);
  checkReasons(expected, plan, diagnostics);
  checkContradictions(expected, diagnostics);
}

const RANKING_KEYS = ['order', 'first', 'scores', 'positions', 'removed', 'moved'];
const SCORE_KEYS = ['score', 'answer'];

/** Reports expectations that the task of the pipeline does not have. */
function checkTask({ expect }: TestCase, { definition }: Plan, diagnostics: Diagnostics): void {
  const isRanking = definition.task === 'rank';
  if (expect?.kind !== 'map') return;
  for (const [key, { keyAt }] of expect.entries)
    if ((isRanking ? SCORE_KEYS : RANKING_KEYS).includes(key))
      diagnostics.error(
        'unknown_key',
        keyAt,
        isRanking
          ? `\`${key}\` is for pipelines that score one entity; \`${definition.name}\` ranks`
          : `\`${key}\` is for pipelines that rank; \`${definition.name}\` scores one entity`,
        isRanking ? 'use `scores`, with the id of the candidate' : 'use `score` or `answer`',
      );
}

function checkTwice(items: readonly Located<string>[], diagnostics: Diagnostics): void {
  const seen = new Set<string>();
  for (const { value, at } of items) {
    if (seen.has(value))
      diagnostics.error('duplicate_name', at, `\`${value}\` is in the list twice`, 'remove one of the two');
    seen.add(value);
  }
}

function checkSteps(expected: Expectations, plan: Plan, diagnostics: Diagnostics): void {
  const check = (step: Located<string>, kind: 'filter' | 'rule'): void => {
    const found = plan.steps.filter((one) => isStep(one, step.value));
    const fitting = plan.steps.filter((one) => fits(one, kind) && !setsScores(one));
    const names = [...new Set(fitting.map(({ as }) => as))];
    const otherwise =
      names.length === 0 ? `the pipeline has no ${kind}` : `its ${kind}s are ${names.join(', ')}`;
    if (found.length === 0)
      diagnostics.error(
        'unknown_step',
        step.at,
        `the pipeline \`${plan.definition.name}\` has no step \`${step.value}\``,
        suggestion(step.value, names, otherwise),
      );
    else if (found.every((one) => !fitting.includes(one)))
      diagnostics.error(
        'unknown_step',
        step.at,
        found.some(setsScores)
          ? `\`${step.value}\` sets the score of every candidate, so it does not count as a move`
          : `\`${step.value}\` is no ${kind}; it ${kind === 'filter' ? 'removes' : 'moves'} no candidate`,
        otherwise,
      );
  };
  for (const { value, at } of expected.removed?.ids ?? [])
    if (value !== undefined) check({ value, at }, 'filter');
  for (const { value: steps } of expected.moved) for (const step of steps) check(step, 'rule');
}

/** Whether a step removes candidates, or moves them. */
function fits({ kind, component }: Plan['steps'][number], wanted: 'filter' | 'rule'): boolean {
  return kind === wanted || (wanted === 'filter' && (component as Partial<RuleComponent>).removes === true);
}

function setsScores({ component }: Plan['steps'][number]): boolean {
  return (component as Partial<RuleComponent>).scoring === 'sets';
}

/** Whether a name or a number means a step. */
export function isStep(step: { readonly as: string; readonly number: number }, named: string): boolean {
  return step.as === named || String(step.number) === named;
}

function checkValues(
  expected: Expectations,
  plan: Plan,
  known: (id: Located<string>) => void,
  diagnostics: Diagnostics,
): void {
  const slots = slotsOf(plan);
  for (const { name, id, at } of [...expected.statuses, ...expected.values] as OfValue<unknown>[]) {
    const slot = slots.get(name.value);
    if (slot === undefined) {
      diagnostics.error(
        'unknown_name',
        name.at,
        `the pipeline does not read a value \`${name.value}\``,
        suggestion(name.value, slots.keys(), `\`millrace plan ${plan.definition.name}\` lists what it reads`),
      );
      continue;
    }
    const isOfRequest = plan.layout.columns[slot]?.shape.scope === 'request';
    if (isOfRequest === (id !== undefined))
      diagnostics.error(
        'wrong_type',
        isOfRequest ? (id?.at ?? at) : at,
        isOfRequest
          ? `\`${name.value}\` has one value for the whole request`
          : `\`${name.value}\` has a value for each candidate`,
        isOfRequest
          ? 'write the expected one without ids'
          : 'write a mapping from candidate ids, e.g. `{ p1: … }`',
      );
    else if (id !== undefined) known(id);
  }
  for (const { expected: status, at } of expected.statuses)
    if (!STATUS_NAMES.includes(status))
      diagnostics.error(
        'wrong_type',
        at,
        `there is no status \`${status}\``,
        suggestion(status, STATUS_NAMES, `the statuses are ${STATUS_NAMES.join(', ')}`),
      );
  const answered = plan.answer.values.map(({ name }) => name);
  for (const { name } of plan.definition.task === 'score' ? expected.answer : [])
    if (!answered.includes(name.value))
      diagnostics.error(
        'unknown_name',
        name.at,
        `the answer has no value \`${name.value}\``,
        suggestion(
          name.value,
          answered,
          answered.length === 0 ? 'the pipeline has no `answer:`' : `it has ${answered.join(', ')}`,
        ),
      );
}

function checkReasons({ degraded, error }: Expectations, plan: Plan, diagnostics: Diagnostics): void {
  const causes = Object.keys(DEGRADATION_CAUSES);
  for (const { value, at } of degraded?.reasons ?? []) {
    const [cause = '', of = ''] = value.split('=');
    if (!causes.includes(cause) || of === '')
      diagnostics.error(
        'wrong_type',
        at,
        `\`${value}\` is no reason why an answer is degraded`,
        suggestion(cause, causes, 'write a cause and a value, e.g. `skipped=ltr` or `unscored=1/3`'),
      );
    else if (cause === 'skipped' && !plan.steps.some(({ as }) => as === of)) {
      const names = plan.steps.map(({ as }) => as);
      diagnostics.error(
        'unknown_step',
        at,
        `the pipeline \`${plan.definition.name}\` has no step \`${of}\``,
        suggestion(of, names, `its steps are ${names.join(', ')}`),
      );
    }
  }
  if (error === undefined) return;
  const codes = Object.keys(ERROR_CODES);
  if (!codes.includes(error.code.value))
    diagnostics.error(
      'wrong_type',
      error.code.at,
      `there is no error \`${error.code.value}\``,
      suggestion(error.code.value, codes, 'docs/reference/errors.md lists the codes'),
    );
}

function checkContradictions(expected: Expectations, diagnostics: Diagnostics): void {
  const { order, first, removed, error, positions } = expected;
  const gone = new Set(removed?.ids.map(({ id }) => id.value));
  for (const { value, at } of [
    ...(order?.items ?? []),
    ...(first?.items ?? []),
    ...positions.map(({ id }) => id),
  ])
    if (gone.has(value))
      diagnostics.error(
        'contradiction',
        at,
        `\`${value}\` cannot be ranked and removed`,
        'remove it here or under `removed`',
      );
  if (error !== undefined) {
    const other = [
      order?.at,
      first?.at,
      removed?.at,
      positions[0]?.at,
      expected.scores[0]?.at,
      expected.moved[0]?.at,
      expected.snapshot,
    ].find((at) => at !== undefined);
    if (other !== undefined)
      diagnostics.error(
        'contradiction',
        other,
        'a request that fails has no answer',
        'expect either `error` or an answer',
      );
  }
  const places = new Map<number, Located<string>>();
  for (const { id, value, at } of positions) {
    const taken = places.get(value);
    if (taken !== undefined)
      diagnostics.error(
        'contradiction',
        at,
        `\`${id.value}\` and \`${taken.value}\` cannot both be at position ${value}`,
        'correct one of the two',
      );
    places.set(value, id);
  }
}

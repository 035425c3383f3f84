import { ERROR_CODES } from '../../api/error-codes.js';
import type { FeatureComponent, RuleComponent } from '../../api/plugin.js';
import { STATUS_NAMES } from '../../api/status.js';
import type { Plan } from '../../compile/plan.js';
import type { Diagnostics } from '../../config/diagnostics/diagnostics.js';
import type { ProjectConfig } from '../../config/project/model.js';
import type { Located } from '../../config/yaml/source.js';
import { DEGRADATION_CAUSES } from '../../pipeline/page/degraded.js';
import { PROPERTIES } from '../properties/properties.js';
import type { CompiledCase } from '../run/compile-cases.js';
import { slotsOf } from '../run/outcome.js';
import { kindOf } from '../run/stub.js';
import { checkGiven, suggestion } from './check-given.js';
import { readExpectations, type Expectations, type OfValue } from './expectations.js';
import { itemsIn, member, textIn } from './placed.js';
import { stubbedEntries, stubbedOutput, type StubbedEntry } from './stubbed.js';
import type { TestCase } from './test-case.js';

/** Checks the names of a case that need only the project. @returns false if its pipeline does not exist */
export function checkNames(test: TestCase, config: ProjectConfig, diagnostics: Diagnostics): boolean {
  checkGiven(test.given, config, diagnostics);
  for (const { value, at } of test.always)
    if (!PROPERTIES.has(value))
      diagnostics.error(
        'unknown_property',
        at,
        `there is no property \`${value}\``,
        suggestion(value, PROPERTIES.keys(), `the properties are ${[...PROPERTIES.keys()].join(', ')}`),
      );
  const definition = config.pipelines.find(({ name }) => name === test.pipeline.value);
  if (definition === undefined) {
    const names = config.pipelines.map(({ name }) => name);
    diagnostics.error(
      'unknown_pipeline',
      test.pipeline.at,
      `there is no pipeline \`${test.pipeline.value}\``,
      suggestion(test.pipeline.value, names, `the pipelines are ${names.join(', ')}`),
    );
    return false;
  }
  const steps = definition.components.map(({ as, use }) => (as ?? use).value);
  for (const { name, step, output } of stubbedEntries(test)) {
    if (output === undefined || output === '')
      diagnostics.error(
        'wrong_type',
        name.at,
        `\`${name.value}\` is not the name of an output`,
        'write the step and its output, e.g. `"ltr:score": { p1: 2 }`',
      );
    else if (!steps.includes(step))
      diagnostics.error(
        'unknown_step',
        name.at,
        `the pipeline \`${definition.name}\` has no step \`${step}\``,
        suggestion(step, steps, `its steps are ${steps.join(', ')}`),
      );
  }
  return true;
}

/** Checks the names of a case that need its compiled pipeline. */
export function checkCase(test: TestCase, { plan, stubs }: CompiledCase, diagnostics: Diagnostics): void {
  if (!checkCandidates(test, plan, diagnostics)) return;
  const ids = candidateIds(test, plan);
  const known = (id: Located<string>): void => {
    if (ids.includes(id.value)) return;
    diagnostics.error(
      'unknown_candidate',
      id.at,
      `\`${id.value}\` is not a candidate of the request`,
      suggestion(id.value, ids, ids.length === 0 ? 'the request has no candidates' : `it has ${some(ids)}`),
    );
  };
  const expected = readExpectations(test.expect);
  for (const entry of stubbedEntries(test)) checkStub(entry, plan, stubs, known, diagnostics);
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

/** Reports candidates without a key: their ids would be reported wherever the test names them. */
function checkCandidates(
  { request, expect }: TestCase,
  { candidateType, definition }: Plan,
  diagnostics: Diagnostics,
): boolean {
  const { key } = candidateType;
  if (definition.task === 'score' || member(expect, 'error') !== undefined) return true;
  const wrong = itemsIn(member(request, 'candidates')).filter(
    (one) => textIn(member(one, key)) === undefined,
  );
  for (const { at } of wrong)
    diagnostics.error('missing_key', at, `the candidate has no \`${key}\``, `write it as \`{ ${key}: p1 }\``);
  return wrong.length === 0;
}

/** The ids of the candidates of the request; for a pipeline that scores, the id of the entity. */
export function candidateIds({ request }: Pick<TestCase, 'request'>, plan: Plan): string[] {
  const { key, name } = plan.candidateType;
  const holders =
    plan.definition.task === 'rank' ? itemsIn(member(request, 'candidates')) : [member(request, name)];
  return holders.flatMap(
    (one) => textIn(member(one, key)) ?? (plan.definition.task === 'score' ? (textIn(one) ?? []) : []),
  );
}

function some(names: readonly string[]): string {
  return names.length > 8 ? `${names.slice(0, 8).join(', ')} …` : names.join(', ');
}

function checkStub(
  { name, step, output = '', written }: StubbedEntry,
  plan: Plan,
  stubs: CompiledCase['stubs'],
  known: (id: Located<string>) => void,
  diagnostics: Diagnostics,
): void {
  const planned = plan.steps.find(({ as }) => as === step);
  const computes = planned?.kind === 'feature' || planned?.kind === 'model';
  const outputs = computes
    ? (stubs.get(step)?.real ?? (planned.component as Partial<FeatureComponent>).outputs)
    : undefined;
  const kind = outputs?.[output];
  if (outputs === undefined || kind === undefined) {
    const names = Object.keys(outputs ?? {});
    diagnostics.error(
      'unknown_feature',
      name.at,
      `\`${step}\` has no output \`${output}\``,
      suggestion(
        output,
        names,
        names.length === 0 ? 'only features and models have outputs' : `its outputs are ${names.join(', ')}`,
      ),
    );
    return;
  }
  if (written.kind === 'map') for (const [id, { keyAt }] of written.entries) known({ value: id, at: keyAt });
  const stubbed = stubbedOutput(written);
  const given = kindOf(typeof stubbed === 'object' ? [...stubbed.values()] : [stubbed]);
  if ((given === 'text') !== (kind === 'text'))
    diagnostics.error(
      'wrong_type',
      written.at,
      `\`${name.value}\` is ${kind === 'text' ? 'a text' : 'a number'}, found ${given === 'text' ? 'a text' : 'a number'}`,
    );
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
    const fitting = plan.steps.filter((one) => one.kind === kind && !setsScores(one));
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
      suggestion(error.code.value, codes, 'docs/errors.md lists the codes'),
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

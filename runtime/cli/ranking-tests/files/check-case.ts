import type { FeatureComponent } from '../../../ground/api/component.js';
import { everyStep } from '../../../request/compile/component-life.js';
import type { Plan } from '../../../request/compile/plan.js';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import type { Located } from '../../../project/config/yaml/source.js';
import { PROPERTIES } from '../properties/properties.js';
import type { CompiledCase } from '../run/compile-cases.js';
import { kindOf } from '../run/stub.js';
import { checkGiven, suggestion } from './check-given.js';
import { checkExpectations } from './check-expectations.js';
import { readExpectations } from './expectations.js';
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
  const steps = [...(definition.retrieve?.retrievers ?? []), ...definition.components].map(
    ({ as, use }) => (as ?? use).value,
  );
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
  checkExpectations(test, expected, plan, known, diagnostics);
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
function candidateIds(test: TestCase, plan: Plan): string[] {
  const { request } = test;
  const stubs = stubbedEntries(test);
  const { key, name } = plan.candidateType;
  if (member(request, 'candidates') === undefined && plan.retrieval !== undefined)
    return stubs
      .filter(({ step }) => plan.retrieval?.plan.steps.some(({ as }) => as === step))
      .flatMap(({ written }) => (written.kind === 'map' ? [...written.entries.keys()] : []));
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
  const planned = everyStep(plan).find(({ as }) => as === step);
  const computes = planned !== undefined && ['feature', 'model', 'retriever'].includes(planned.kind);
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

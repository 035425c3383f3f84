import { createHash } from 'node:crypto';
import type { ColumnKind } from '../../../ground/api/columns.js';
import type { RuleComponent } from '../../../ground/api/component.js';
import type { NamedColumn, Plan } from '../../compile/plan.js';
import type { LogDefinition } from '../../../project/config/model/pipelines.js';
import { exploringStep } from '../../compile/exploration.js';
import { EXPERIMENT_FIELDS, EXPLORE_FIELDS, TEAM_FIELD } from '../../../state/ledger/experiment-columns.js';
import {
  recordSchema,
  type ColumnType,
  type JsonObject,
  type RecordColumn,
  type RecordSchema,
} from '../../../state/ledger/record-schema.js';
import { valueOwners } from './value-owners.js';

type Field = readonly [name: string, type: ColumnType, nullable?: 'nullable'];

/** One row a request. */
const RECORD_FIELDS: readonly Field[] = [
  ['request_id', 'text'],
  ['run_id', 'text', 'nullable'],
  ['time', 'time'],
  ['status', 'text'],
  ['degraded', 'texts'],
  ['sent', 'int32'],
  ['left', 'int32'],
  ['page_start', 'int32'],
  ['page_size', 'int32'],
  ['unit', 'text', 'nullable'],
  ['entities', 'texts'],
  ['share', 'float64'],
  ['ms', 'float64'],
];

/** The events of components, as JSON. Only requests that a service ran have them. */
const CUSTOM_EVENTS: Field = ['custom', 'texts'];

/** One row for each logged candidate. */
const CANDIDATE_FIELDS: readonly Field[] = [
  ['candidate_id', 'text'],
  ['sent_at', 'int32'],
  ['place', 'int32'],
  ['base_score', 'float64', 'nullable'],
  ['score', 'float64', 'nullable'],
  ['removed_by', 'int32'],
  ['weight', 'float64'],
  ['on_page', 'bool'],
];

/** One row for each change of a logged candidate by a step. */
const CHANGE_FIELDS: readonly Field[] = [
  ['step', 'int32'],
  ['row', 'int32'],
  ['before', 'float64', 'nullable'],
  ['after', 'float64', 'nullable'],
  ['position', 'int32'],
];

const TYPE_OF: Readonly<Record<ColumnKind, ColumnType>> = {
  number: 'float64',
  text: 'text',
  texts: 'texts',
  numbers: 'numbers',
  vector: 'vector',
};

/** The logged values of a plan: those of the request, and those of each candidate. */
export function loggedValues({ log, layout }: Plan): Readonly<Record<'record' | 'candidate', NamedColumn[]>> {
  const isOfRequest = ({ slot }: NamedColumn): boolean => layout.columns[slot]?.shape.scope === 'request';
  return {
    record: log.values.filter(isOfRequest),
    candidate: log.values.filter((value) => !isOfRequest(value)),
  };
}

/**
 * The schema of the rankings of a plan. Its columns are, in this order: fields of the request, values of the request,
 * fields of a candidate, values of a candidate, fields of a change.
 * @param project the version of the project
 * @param more further entries of `meta`
 * @param hasExperiments whether the columns of experiments follow the fields of the request
 * @param hasTeams whether one of the experiments interleaves; then TEAM_FIELD follows the fields of a candidate
 * @param isServed whether a service ran the requests; then the field `custom` follows the other fields of the request, and
 * the columns of exploration follow the fields of a candidate, if a step explores
 */
export function rankingSchema(
  plan: Plan,
  project: string,
  more: JsonObject = {},
  isServed = false,
  hasExperiments = false,
  hasTeams = false,
): RecordSchema {
  const { definition, steps, log } = plan;
  const values = loggedValues(plan);
  const exploring = isServed ? exploringStep(steps) : undefined;
  const columns = [
    ...[
      ...RECORD_FIELDS,
      ...(isServed ? [CUSTOM_EVENTS] : []),
      ...(hasExperiments ? EXPERIMENT_FIELDS : []),
    ].map((field) => fieldColumn('record', field)),
    ...values.record.map((value) => valueColumn('record', value, plan)),
    ...[
      ...CANDIDATE_FIELDS,
      ...(hasTeams ? [TEAM_FIELD] : []),
      ...(exploring === undefined ? [] : EXPLORE_FIELDS),
    ].map((field) => fieldColumn('candidate', field)),
    ...values.candidate.map((value) => valueColumn('candidate', value, plan)),
    ...CHANGE_FIELDS.map((field) => fieldColumn('change', field)),
  ];
  return recordSchema('ranking', columns, {
    pipeline: definition.name,
    pipeline_version: pipelineVersion(plan),
    project,
    models: modelVersions(plan),
    score_steps: scoreSteps(plan),
    steps: definition.components.map(({ as, use }) => (as ?? use).value),
    task: definition.task,
    candidate_type: plan.candidateType.name,
    of: valueOwners(plan),
    hidden: log.hidden,
    log: definition.log === undefined ? null : writtenLog(definition.log),
    ...(exploring && {
      explore: {
        step: exploring.step.as,
        top: exploring.exploration.top,
        ...exploring.exploration.draw,
      },
    }),
    ...more,
  });
}

/** The numbers of the steps that set the base score: those before the first rule that adjusts scores. */
function scoreSteps({ steps }: Plan): number[] {
  const sets: number[] = [];
  for (const { kind, component, number } of steps) {
    if (kind !== 'rule') continue;
    if ((component as RuleComponent).scoring !== 'sets') break;
    sets.push(number);
  }
  return sets;
}

/** The first 12 hex digits of a SHA-256 of the pipeline's file and the values of its params. */
export function pipelineVersion({ definition: { file, params } }: Plan): string {
  const values = Array.from(params.values(), ({ name, value }) => [name, value]);
  return createHash('sha256')
    .update(JSON.stringify([file.text, values]))
    .digest('hex')
    .slice(0, 12);
}

/** By model step: the version of its file. */
export function modelVersions({ steps }: Plan): JsonObject {
  return Object.fromEntries(
    steps.flatMap(({ as, kind, version }) => (kind === 'model' ? [[as, version ?? null]] : [])),
  );
}

export function writtenLog({ share, unit, candidates, sample, features, hash }: LogDefinition): JsonObject {
  return {
    share,
    unit,
    candidates,
    sample,
    features: typeof features === 'string' ? features : features.map(({ value }) => value),
    hash: [...hash.keys()],
  };
}

function fieldColumn(rows: RecordColumn['rows'], [name, type, nullable]: Field): RecordColumn {
  return { name, is: 'field', rows, type, nullable: nullable !== undefined };
}

function valueColumn(
  rows: RecordColumn['rows'],
  { name, slot }: NamedColumn,
  { layout }: Plan,
): RecordColumn {
  const shape = layout.columns[slot]?.shape;
  if (shape === undefined) throw new RangeError(`the frame has no column ${slot}`);
  const size = shape.kind === 'vector' ? { size: shape.size } : {};
  return { name, is: 'value', rows, type: TYPE_OF[shape.kind], nullable: true, ...size };
}

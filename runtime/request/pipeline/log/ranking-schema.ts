import { createHash } from 'node:crypto';
import type { ColumnKind } from '../../../ground/api/columns.js';
import type { RuleComponent } from '../../../ground/api/component.js';
import type { NamedColumn, Plan } from '../../compile/plan.js';
import type { LogDefinition } from '../../../project/config/model/pipelines.js';
import { fieldColumns, type Field } from '../../../state/ledger/fields.js';
import { RANKING_FIELDS } from '../../../state/ledger/ranking-fields.js';
import {
  recordSchema,
  type ColumnType,
  type JsonObject,
  type RecordColumn,
  type RecordSchema,
} from '../../../state/ledger/record-schema.js';
import { valueOwners } from './value-owners.js';

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
 * @param more further entries of `meta`, and further fields of the request and of a candidate
 */
export function rankingSchema(
  plan: Plan,
  project: string,
  more: {
    readonly meta: JsonObject;
    readonly record?: readonly Field[];
    readonly candidate?: readonly Field[];
  },
): RecordSchema {
  const { definition, log } = plan;
  const values = loggedValues(plan);
  const columns = [
    ...(['record', 'candidate'] as const).flatMap((rows) => [
      ...fieldColumns([...RANKING_FIELDS[rows], ...(more[rows] ?? [])], rows),
      ...values[rows].map((value) => valueColumn(rows, value, plan)),
    ]),
    ...fieldColumns(RANKING_FIELDS.change, 'change'),
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
    ...more.meta,
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

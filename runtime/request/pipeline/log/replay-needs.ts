import type { Plan } from '../../compile/plan.js';
import type { DecodedRecord } from '../../../state/ledger/record-decoder.js';
import type { Json, RecordSchema } from '../../../state/ledger/record-schema.js';
import { pipelineVersion } from './ranking-schema.js';

/** A value that requests bring to the steps: from the store, from the body, or from retrievers. */
export interface BaseColumn {
  readonly name: string;
  readonly slot: number;
}

/** The values that a plan needs to run its steps without the store and without the body. */
export function baseColumns({ nodes, levels, layout, retrieval }: Plan): readonly BaseColumn[] {
  const slots = new Set([
    ...(retrieval?.retrievers ?? []).flatMap(({ outputs }) => [...outputs.values()]),
    ...nodes.flatMap(({ wants }) => wants.map(({ slot }) => slot)),
    ...nodes.filter(({ parent, scope }) => parent === undefined && scope === 'request').map(({ ids }) => ids),
    ...levels.flatMap(({ features }) => features.flatMap(({ wants }) => wants.map(({ slot }) => slot))),
  ]);
  return [...slots].map((slot) => ({ slot, name: layout.columns[slot]?.name ?? '' }));
}

/** Why the records of a schema cannot be replayed, with what to configure; undefined if they can. */
export function schemaProblem(
  plan: Plan,
  base: readonly BaseColumn[],
  schema: RecordSchema,
): string | undefined {
  const { meta } = schema;
  const changed = versionProblem(plan, { version: meta['pipeline_version'], models: meta['models'] });
  if (changed !== undefined) return changed;
  if (plan.definition.task === 'rank' && objectOf(meta['log'])['candidates'] !== 'all')
    return 'not all candidates were logged: write `log: { candidates: all, features: all }`';
  const [history] = plan.levels.flatMap(({ histories }) => histories);
  if (history !== undefined)
    return `a step counts the interactions of \`${history.of}\`, which are not logged`;
  return valueProblem(plan, base, schema);
}

/** Why a plan is not the one of a pipeline that served a request; undefined if it is. */
export function versionProblem(
  plan: Plan,
  logged: { readonly version: Json | undefined; readonly models: Json | undefined },
): string | undefined {
  const version = pipelineVersion(plan);
  const { name } = plan.definition;
  if (logged.version !== version)
    return `version ${textOf(logged.version)} of the pipeline ${name} served them, and the project has version ${version}`;
  for (const { as, version: model } of plan.steps) {
    const served = objectOf(logged.models)[as];
    if (model !== undefined && served !== model)
      return `version ${textOf(served)} of the model of step ${as} served them, and the project has version ${model}`;
  }
  return undefined;
}

function valueProblem(
  plan: Plan,
  base: readonly BaseColumn[],
  { meta, columns }: RecordSchema,
): string | undefined {
  const logged = new Set(columns.flatMap(({ is, name }) => (is === 'value' ? [name] : [])));
  const missing = base.find(({ name }) => !logged.has(name));
  if (missing !== undefined)
    return listOf(meta['hidden']).includes(missing.name)
      ? `the pipeline reads \`${missing.name}\`, which is private and never logged`
      : `\`${missing.name}\` was not logged: write \`log: { candidates: all, features: all }\` in the pipeline ${plan.definition.name}`;
  const hashed = new Set(listOf(meta['hashed']));
  if (hashed.has(plan.candidateType.name)) return `the ids of \`${plan.candidateType.name}\` were hashed`;
  const roots = new Set(plan.nodes.flatMap((node) => (node.isIdRead ? [] : [node.parent ? -1 : node.ids])));
  for (const { slot, name } of base) {
    const type = plan.layout.columns[slot]?.idsOf;
    if (type !== undefined && hashed.has(type) && !roots.has(slot))
      return `\`${name}\` was hashed, because it holds ids of \`${type}\``;
  }
  return undefined;
}

/** Causes of a degraded answer that the values of a record do not show. */
const NOT_REPEATABLE = /^(unranked|skipped)=/;

/** Why one record cannot be replayed; undefined if it can. */
export function recordProblem(record: DecodedRecord): string | undefined {
  const status = record.field('status')?.at(0);
  if (status !== 'ok') return `they failed (${String(status)})`;
  const degraded = record.field('degraded')?.at(0);
  const causes = typeof degraded === 'object' ? degraded.map(String) : [];
  const cause = causes.find((one) => NOT_REPEATABLE.test(one));
  if (cause !== undefined) return `they were degraded (${cause})`;
  if (record.rows.candidate !== record.field('sent')?.at(0)) return 'not all candidates were logged';
  return undefined;
}

/** The name of the pipeline that served a ranking. */
export function pipelineOf({ schema }: DecodedRecord): string {
  return textOf(schema.meta['pipeline']);
}

/** The pipeline that served a ranking, and the one that was called, if an arm of it served. */
export function pipelinesOf(record: DecodedRecord): readonly string[] {
  return [pipelineOf(record), textOf(record.schema.meta['experiment_pipeline'])];
}

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : 'unknown';
}

export function objectOf(value: Json | undefined): Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : {};
}

function listOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

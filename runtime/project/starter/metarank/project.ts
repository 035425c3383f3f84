import { INTERACTION_TYPES } from '../../../ground/api/interactions.js';
import { stringify } from 'yaml';
import { isJsonObject } from '../../../ground/core/value-fit.js';
import { emptyModel } from '../empty-model.js';
import { textIn, type MetarankConfig, type MetarankModel } from './config.js';
import { Draft, nameOf, type Note } from './draft.js';
import type { MetarankEvents } from './events.js';
import { mapFeature } from './features.js';
import { kindOf, type Column, type MappedFeature } from './mapper.js';
import { migrationText, type MigratedPipeline } from './migration-text.js';

/** A new project, and what became of each part of the configuration. */
export interface MetarankProject {
  /** By path. */
  readonly files: Readonly<Record<string, string>>;
  readonly notes: readonly Note[];
}

/** Kinds of feedback that a project has without declaring them. */
const DEFAULT_KINDS: readonly string[] = INTERACTION_TYPES;
const LEAST_LIMIT = 1000;

/**
 * Makes a project of a configuration of Metarank.
 * @param events what the events show; undefined if there are none, and types are then those that features need
 * @param project the name of the project
 */
export function projectFromMetarank(
  config: MetarankConfig,
  events: MetarankEvents | undefined,
  project: string,
): MetarankProject {
  const draft = new Draft(events);
  const mapped = new Map<string, MappedFeature>();
  const used = new Set(config.models.flatMap(({ features }) => features));
  for (const feature of config.features) {
    const what = `features.${feature.name}`;
    const result = used.has(feature.name) ? mapFeature(feature, draft) : 'no model uses it';
    if (typeof result === 'string') draft.notes.push({ what, state: 'left out', detail: result });
    else {
      mapped.set(feature.name, result);
      draft.notes.push({ what, state: result.state, detail: result.detail });
    }
  }
  const files: Record<string, string> = {};
  const pipelines: MigratedPipeline[] = [];
  for (const model of config.models) addModel(model, mapped, draft, files, pipelines);
  noteSections(config, draft);
  return {
    files: {
      'millrace.yaml': projectText(config, draft, project),
      ...entityFiles(draft),
      ...files,
      'MIGRATION.md': migrationText(draft.notes, pipelines),
    },
    notes: draft.notes,
  };
}

const MODELS: Readonly<Record<string, string>> = {
  shuffle: 'it returns a random order; there is no such step',
  noop: 'it returns the order that was sent; a pipeline whose score is 0 does the same',
  trending: 'recommendations without candidates: send the candidates, and rank them by a counter',
  als: 'recommendations without candidates: send similar items as candidates',
  semantic: 'recommendations without candidates: let a vector search find the candidates',
};

function addModel(
  model: MetarankModel,
  mapped: ReadonlyMap<string, MappedFeature>,
  draft: Draft,
  files: Record<string, string>,
  pipelines: MigratedPipeline[],
): void {
  const what = `models.${model.name}`;
  if (model.type !== 'lambdamart') {
    const detail = MODELS[model.type] ?? `the type ${model.type} is not known`;
    draft.notes.push({ what, state: 'left out', detail });
    return;
  }
  const name = nameOf(model.name);
  const own = [...new Set(model.features)].flatMap((feature) => mapped.get(feature) ?? []);
  for (const feature of model.features)
    if (!mapped.has(feature) && !draft.notes.some((note) => note.what === `features.${feature}`))
      draft.notes.push({
        what: `${what}.features`,
        state: 'left out',
        detail: `no feature is called ${feature}`,
      });
  const columns = columnsOf(own);
  files[`pipelines/${name}.yaml`] = pipelineText(name, own, draft);
  if (columns.length > 0) files[`models/${name}.txt`] = emptyModel(columns);
  const { backend, weights } = model.options;
  const library = isJsonObject(backend) ? textIn(backend, 'type') : undefined;
  const labels = isJsonObject(weights)
    ? Object.keys(weights).map((kind) => `${kindOf(kind)}=${textIn(weights, kind) ?? '1'}`)
    : [];
  pipelines.push({ name, labels: labels.length === 0 ? undefined : labels.join(',') });
  draft.notes.push({
    what,
    state: 'to do',
    detail:
      `pipeline \`${name}\` at /api/v1/${name}; its model is empty until \`millrace train\`` +
      (library === 'xgboost'
        ? '; for XGBoost, replace `use: lightgbm` by `use: xgboost`, and train with --lib xgboost'
        : ''),
  });
  if (labels.length > 0)
    draft.notes.push({
      what: `${what}.weights`,
      state: 'carried',
      detail: `\`--label ${labels.join(',')}\` of \`millrace dataset build\``,
    });
}

/** The columns of a model. LightGBM refuses spaces and quotes in their names, and two columns of one name. */
function columnsOf(own: readonly MappedFeature[]): readonly Column[] {
  const names = new Set<string>();
  return own
    .flatMap((one) => one.columns)
    .map(({ name, value }) => {
      let unique = name.replace(/[^\w.-]/g, '_');
      while (names.has(unique)) unique += '_';
      names.add(unique);
      return { name: unique, value };
    });
}

function pipelineText(name: string, own: readonly MappedFeature[], draft: Draft): string {
  const columns = columnsOf(own);
  const steps = own.flatMap((one) => one.steps);
  const text = JSON.stringify([columns, steps]);
  const reads = (word: string): boolean => text.includes(word);
  const optional = (fields: ReadonlyMap<string, string>, prefix: string): [string, string][] =>
    [...fields]
      .filter(([field]) => reads(`${prefix}.${field}`))
      .map(([field, type]) => [field, `optional(${type})`]);
  const request = {
    ...(draft.carried.size > 0 ? { candidates: Object.fromEntries(draft.carried) } : {}),
    query: 'optional(query)',
    user: 'optional(user)',
    ...Object.fromEntries(optional(draft.sent, 'request')),
  };
  const counters = [...draft.counters.keys()].filter((counter) => reads(`${counter}:`));
  const pipeline = {
    pipeline: name,
    rank: 'product',
    request,
    limits: { candidates: Math.max(LEAST_LIMIT, draft.events?.longest ?? 0) },
    ...(counters.length > 0 ? { features: counters } : {}),
    components: [
      ...steps,
      ...(columns.length > 0
        ? [
            {
              use: 'lightgbm',
              as: 'ltr',
              with: {
                model: `models/${name}.txt`,
                inputs: Object.fromEntries(columns.map((one) => [one.name, one.value])),
              },
            },
            { use: 'score', with: { value: 'ltr:score' } },
          ]
        : [{ use: 'score', with: { value: '0' } }]),
    ],
    log: { candidates: 'page', unit: 'user' },
  };
  const head =
    '# Made of a configuration of Metarank. The model is empty until `millrace train` replaces it.\n';
  return head + stringify(pipeline, { lineWidth: 0 });
}

function entityFiles(draft: Draft): Record<string, string> {
  const entity = (type: string, attributes: ReadonlyMap<string, string>, more: object = {}): string =>
    stringify({ entity: type, ...more, attributes: Object.fromEntries(attributes) });
  return {
    ...(draft.items.size > 0
      ? { 'schemas/entities/product.yaml': entity('product', draft.items, { extends: 'ProductEntity' }) }
      : {}),
    ...(draft.users.size > 0 ? { 'schemas/entities/user.yaml': entity('user', draft.users) } : {}),
    ...Object.fromEntries(
      [...draft.counters].map(([counter, { of, features }]) => [
        `schemas/counters/${counter}.yaml`,
        stringify({ counter, of, features: Object.fromEntries(features) }, { aliasDuplicateObjects: false }),
      ]),
    ),
  };
}

function projectText({ sections }: MetarankConfig, draft: Draft, project: string): string {
  const state = sections['state'];
  const api = sections['api'];
  const isRedis = isJsonObject(state) && textIn(state, 'type') === 'redis';
  const port = isJsonObject(api) ? Number(textIn(api, 'port')) : NaN;
  const kinds = [...draft.kinds].filter((kind) => !DEFAULT_KINDS.includes(kind));
  return stringify({
    project,
    store: isRedis ? 'redis' : 'embedded',
    ...(Number.isInteger(port) ? { port } : {}),
    ...(kinds.length > 0
      ? { events: Object.fromEntries([...DEFAULT_KINDS, ...kinds].map((kind) => [kind, {}])) }
      : {}),
  });
}

/** Says what became of the sections of the configuration that are no models and no features. */
function noteSections({ sections }: MetarankConfig, { notes }: Draft): void {
  const note = (what: string, state: Note['state'], detail: string): void =>
    void notes.push({ what, state, detail });
  for (const [name, section] of Object.entries(sections)) {
    const options = isJsonObject(section) ? section : {};
    const type = textIn(options, 'type');
    if (name === 'state' && type === 'redis')
      note(
        name,
        'to do',
        'set REDIS_URL to the address; what Metarank stored there is not read, import the events',
      );
    else if (name === 'state')
      note(name, 'carried', '`store: embedded`; what Metarank stored is not read, import the events');
    else if (name === 'api') note(name, 'carried', '`port:` in millrace.yaml; HOST sets the address');
    else if (name === 'source')
      note(
        name,
        type === 'file' ? 'carried' : 'to do',
        type === 'file'
          ? '`millrace ledger import --map metarank` reads the file'
          : type === 'kafka'
            ? 'declare it in `sources/`: `use: kafka`, `map: metarank`, `into: feedback`, and another one with `into: entities` (docs/sources.md)'
            : `there is no source for ${type ?? 'it'}: write a plugin (docs/sources.md), or send events to POST /api/v1/feedback and uploads to POST /api/v1/entities/upload`,
      );
    else if (name === 'train')
      note(name, 'left out', 'training reads data sets of the ledger: `millrace dataset build`');
    else if (name === 'core')
      note(name, 'left out', 'sessions and usage reports have no equal; clicks belong to a request');
    else if (name === 'inference')
      note(name, 'left out', 'encoders run as models of a pipeline (docs/models.md)');
    else note(name, 'left out', 'the section is not known');
  }
}

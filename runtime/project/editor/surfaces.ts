import { isJsonObject } from '../../ground/core/value-fit.js';
import type { Plugin } from '../../ground/api/plugin.js';
import type { SinkPlugin } from '../../ground/api/ledger.js';
import type { ReaderPlugin } from '../../ground/api/reader.js';
import type { SourcePlugin } from '../../ground/api/source.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { ProjectConfig } from '../config/model/project.js';
import { viewsOfCounters } from '../config/project/load-counters.js';
import { FEEDBACK_COLUMNS, READY_MAPS } from '../config/project/ready-maps.js';
import { yamlSchema, type SchemaName } from '../config/project/schemas.js';
import { FILE_KINDS, type FileKind } from '../config/yaml/file-kinds.js';
import { knownNames, type KnownName, type StepOutputs } from './known-names.js';
import { expressionDefinitions, optionSchema } from './option-schema.js';
import { projectSchema } from './project-schema.js';

/** What the schemas are made of. */
export interface Registry {
  readonly config: ProjectConfig;
  readonly plugins: readonly Plugin[];
  readonly sinks: readonly SinkPlugin[];
  readonly sources: readonly SourcePlugin[];
  readonly readers: readonly ReaderPlugin[];
  readonly outputs: readonly StepOutputs[];
}

/** A kind of YAML file of a project. To add one, add it to FILE_KINDS. */
export interface Surface {
  /** The schema is `<name>.schema.json`. */
  readonly name: string;
  /** The folder of its files; '' for one file in the project's folder. */
  readonly folder: string;
  /** The one file; undefined: all `*.yaml` files in the folder. */
  readonly file?: string;
  readonly schema: (registry: Registry) => JsonObject;
}

const SCHEMA_OF: Readonly<Record<FileKind, Surface['schema']>> = {
  pipeline: pipelineSchema,
  entity: ({ config }) => withTypes('entity', config),
  view: viewSchema,
  counter: counterSchema,
  sink: sinkSchema,
  source: sourceSchema,
  front: frontSchema,
  experiment: experimentSchema,
  curation: () => edited('curation', []),
  test: testSchema,
};

export const SURFACES: readonly Surface[] = [
  { name: 'project', folder: '', file: 'millrace.yaml', schema: projectSchema },
  ...(Object.keys(FILE_KINDS) as FileKind[]).map((kind) => {
    const { folder, schema: name } = FILE_KINDS[kind];
    return { name, folder, schema: SCHEMA_OF[kind] };
  }),
];

/** Replaces parts of a shipped schema; a path that the schema does not have is a mistake in this file. */
function edited(
  name: SchemaName,
  edits: readonly (readonly [path: string, change: (schema: JsonObject) => JsonValue])[],
): JsonObject {
  const schema = structuredClone(yamlSchema(name)) as Record<string, JsonValue>;
  for (const [path, change] of edits) {
    const keys = path.split('/');
    const last = keys.pop() ?? '';
    const parent = keys.reduce<Record<string, JsonValue>>(
      (inner, key) => inner[key] as Record<string, JsonValue>,
      schema,
    );
    const found = parent[last];
    if (!isJsonObject(found)) throw new Error(`the schema ${name} has no ${path}`);
    parent[last] = change(found);
  }
  return schema;
}

/** The choices are offered first; what else the schema takes stays valid. */
function offering(choices: readonly string[], schema: JsonObject): JsonObject {
  const { title, description, ...rest } = schema;
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    anyOf: [...(choices.length === 0 ? [] : [{ enum: [...choices] }]), rest],
  };
}

/** Only the choices are valid, and variables. */
function only(
  choices: readonly string[],
  descriptions?: readonly string[],
): (schema: JsonObject) => JsonObject {
  return ({ title, description }) => ({
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    enum: [...choices],
    ...(descriptions === undefined ? {} : { enumDescriptions: [...descriptions] }),
  });
}

const PLAIN_TYPES = ['int', 'float', 'bool', 'string', 'timestamp', 'list(string)', 'list(float)'];

function typesOf({ entities }: ProjectConfig): string[] {
  const names = [...entities.keys()];
  return [...PLAIN_TYPES, ...names.flatMap((name) => [`ref(${name})`, `list(ref(${name}))`])];
}

function withTypes(name: 'entity' | 'feature-view', config: ProjectConfig): JsonObject {
  return unmarked(edited(name, [['$defs/type', (schema) => offering(typesOf(config), schema)]]));
}

function viewSchema({ config, readers }: Registry): JsonObject {
  const schema = withTypes('feature-view', config) as Record<string, JsonValue>;
  const properties = schema['properties'] as Record<string, JsonObject>;
  const { of, use } = properties;
  if (of !== undefined) properties['of'] = { ...of, items: { enum: [...config.entities.keys()] } };
  if (use !== undefined) properties['use'] = outsideNames(readers)(use);
  return { ...schema, allOf: optionsByUse(readers, [], false) };
}

function counterSchema({ config }: Registry): JsonObject {
  const kinds = only([...config.events.keys()]);
  return unmarked(
    edited('counter', [
      ['properties/of/items', only([...config.entities.keys()])],
      ['properties/features/additionalProperties/properties/event', kinds],
      ['properties/features/additionalProperties/properties/over', kinds],
    ]),
  );
}

/** The names of plugins that are no steps. */
function outsideNames(
  plugins: readonly (SinkPlugin | SourcePlugin | ReaderPlugin)[],
): (schema: JsonObject) => JsonObject {
  return only(
    plugins.map(({ name }) => name),
    plugins.map(({ summary }) => summary),
  );
}

function sinkSchema({ sinks }: Registry): JsonObject {
  const schema = edited('sink', [['properties/use', outsideNames(sinks)]]);
  return { ...unmarked(schema), allOf: optionsByUse(sinks, [], false) };
}

function sourceSchema({ config, sources }: Registry): JsonObject {
  const kinds = [...config.events.keys()];
  const entities = [...config.entities.keys()];
  const schema = edited('source', [
    ['properties/use', outsideNames(sources)],
    ['properties/into/anyOf/1/properties/entities', only(entities)],
    ['properties/into/anyOf/1/properties/features', only([...config.views.keys()])],
    ['properties/map/anyOf/0', only(READY_MAPS)],
    [
      'properties/map/anyOf/1',
      (map) => ({ ...map, propertyNames: { enum: [...FEEDBACK_COLUMNS, ...entities] } }),
    ],
    ['properties/event/anyOf/0', only(kinds)],
    ['properties/about', only(entities)],
  ]);
  return { ...unmarked(schema), allOf: optionsByUse(sources, [], false) };
}

function frontSchema({ config }: Registry): JsonObject {
  const pipelines = config.pipelines.filter(({ task }) => task === 'rank');
  const fields = pipelines.flatMap(({ request }) => [...request.fields.keys()]);
  return unmarked(
    edited('front', [
      ['properties/pipeline', only(pipelines.map(({ name }) => name))],
      [
        'properties/map',
        (map) => ({ ...map, propertyNames: { enum: [...new Set(['candidates', ...fields])] } }),
      ],
    ]),
  );
}

function experimentSchema({ config }: Registry): JsonObject {
  const pipelines = only(config.pipelines.map(({ name }) => name));
  const events = only([...config.events.keys()]);
  const units = config.pipelines.flatMap(({ request }) =>
    [...request.fields.values()].flatMap(({ kind, name }) => (kind === 'entity' ? [name] : [])),
  );
  return unmarked(
    edited('experiment', [
      ['properties/pipeline', pipelines],
      ['properties/unit', only([...new Set(units)])],
      ['$defs/arm/properties/pipeline', pipelines],
      ['$defs/metric/properties/event', events],
      ['$defs/metric/properties/over', events],
    ]),
  );
}

function testSchema({ config }: Registry): JsonObject {
  const named = (names: Iterable<string>) => (schema: JsonObject) => ({
    ...schema,
    propertyNames: { enum: [...names] },
  });
  return unmarked(
    edited('test', [
      ['properties/pipeline', only(config.pipelines.map(({ name }) => name))],
      ['$defs/given/properties/entities', named(config.entities.keys())],
      ['$defs/given/properties/features', named([...config.views.keys(), ...config.counters.keys()])],
    ]),
  );
}

function pipelineSchema({ config, plugins: all, outputs }: Registry): JsonObject {
  const retrievers = all.filter(({ kind }) => kind === 'retriever');
  const plugins = all.filter(({ kind }) => kind !== 'retriever');
  const names = knownNames(config, outputs);
  const types = [...config.entities.keys()];
  const fieldTypes = [...types, ...PLAIN_TYPES].flatMap((type) => [type, `optional(${type})`]);
  const views = [...config.views.values(), ...viewsOfCounters(config.counters).values()];
  const viewNames = views.map(({ name }) => name);
  const features = views.flatMap(({ name, features: own }) => [...own.keys()].map((one) => `${name}:${one}`));
  const schema = edited('pipeline', [
    ['properties/rank', only(types)],
    ['properties/score', only(types)],
    ['$defs/type', (type) => offering([...fieldTypes, ...typesOf(config)], type)],
    ['properties/features/items', (item) => requirement(item, viewNames, features)],
    ['properties/define/additionalProperties', marked(names)],
    ['properties/answer/additionalProperties', marked(names)],
    ['$defs/step/properties/when', marked(names)],
    ['$defs/step/properties/use', usedNames(plugins)],
    ['properties/retrieve/items/properties/when', marked(names)],
    ['properties/retrieve/items/properties/use', usedNames(retrievers)],
    ['properties/retrieve/items', (one) => ({ ...one, allOf: optionsByUse(retrievers, names, true) })],
    ['properties/log/properties/hash/items', only(types)],
    ['$defs/step', (step) => ({ ...step, allOf: optionsByUse(plugins, names, true) })],
  ]);
  const { $defs } = schema as { readonly $defs: JsonObject };
  return { ...unmarked(schema), $defs: { ...unmarked($defs), ...expressionDefinitions(names) } };
}

function usedNames(plugins: Registry['plugins']): (schema: JsonObject) => JsonObject {
  return only(
    plugins.map(({ name }) => name),
    plugins.map(({ kind, summary }) => `${kind}: ${summary}`),
  );
}

function marked(names: readonly KnownName[]): (schema: JsonObject) => JsonValue {
  return (schema) => optionSchema(schema, names, false);
}

/** A line of `features:` names a view that exists. */
function requirement(item: JsonObject, views: readonly string[], features: readonly string[]): JsonObject {
  const { title, description } = item;
  if (views.length === 0) return item;
  const bound = `^(${views.join('|')})(\\(.*\\))?$`;
  return {
    title: title ?? '',
    description: description ?? '',
    anyOf: [
      { enum: [...views, ...features] },
      { type: 'string', pattern: bound },
      {
        type: 'object',
        additionalProperties: { type: 'string', pattern: bound },
        minProperties: 1,
        maxProperties: 1,
      },
    ],
  };
}

/** The options of each plugin, where `use` names it. */
function optionsByUse(
  plugins: readonly { readonly name: string; readonly options: JsonObject }[],
  names: readonly KnownName[],
  takesParams: boolean,
): JsonObject[] {
  return plugins.map(({ name, options }) => ({
    if: { properties: { use: { const: name } }, required: ['use'] },
    then: { properties: { with: optionSchema(untitled(options), names, takesParams) } },
  }));
}

/** The title of an options schema repeats the name of the plugin. */
function untitled(options: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(options).filter(([key]) => key !== 'title'));
}

/** The schema without the keyword `millrace`, which only Millrace reads. */
function unmarked<T extends JsonValue>(schema: T): T {
  if (Array.isArray(schema)) return schema.map((one: JsonValue) => unmarked(one)) as unknown as T;
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => (key === 'millrace' ? [] : [[key, unmarked(value)]])),
  ) as unknown as T;
}

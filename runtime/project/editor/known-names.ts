import type { OutputKind } from '../../ground/api/component.js';
import { typeText, type ValueType } from '../../ground/api/types.js';
import { viewsOfCounters } from '../config/project/load-counters.js';
import type { EntityType } from '../config/model/entities.js';
import type { ProjectConfig } from '../config/model/project.js';

/** What an expression of one name can be. */
export const NAME_KINDS = ['number', 'bool', 'text', 'time', 'list', 'vector'] as const;

/** A name that expressions can use, with what it is, for hover. */
export interface KnownName {
  readonly name: string;
  readonly kind: (typeof NAME_KINDS)[number];
  readonly description: string;
}

/** What a step of the project gives to later steps. */
export interface StepOutputs {
  readonly pipeline: string;
  readonly step: string;
  readonly use: string;
  readonly outputs: Readonly<Record<string, OutputKind>>;
}

/** How many references a path may follow: `product.brand.name` follows one. */
const MOST_REFERENCES = 2;

/** All names that expressions of the project can use, sorted. */
export function knownNames(config: ProjectConfig, outputs: readonly StepOutputs[]): KnownName[] {
  const names = new Map<string, KnownName>();
  const add = (known: KnownName): void => {
    if (!names.has(known.name)) names.set(known.name, known);
  };
  for (const [root, type] of rootsOf(config)) for (const known of pathsOf(root, type, config, 0)) add(known);
  for (const { request, candidateType, params, define, features, name } of config.pipelines) {
    for (const { name: attribute, type } of request.candidates.values())
      add(ofType(`${candidateType.value}.${attribute}`, type, `of each candidate of the request`));
    for (const field of request.fields.values())
      if (field.kind === 'scalar') add(ofType(`request.${field.name}`, field.type, 'of the request'));
    for (const param of params.values())
      add({ name: param.name, kind: 'number', description: `param of ${name}: ${param.value}` });
    for (const [definition, text] of define)
      add({ name: definition, kind: 'number', description: `definition of ${name}: ${text.value}` });
    for (const requirement of features) addView(requirement.name.value, requirement.view.value, config, add);
  }
  for (const view of [...config.views.keys(), ...config.counters.keys()]) addView(view, view, config, add);
  for (const { pipeline, step, use, outputs: own } of outputs)
    for (const [output, kind] of Object.entries(own))
      add({
        name: `${step}:${output}`,
        kind,
        description: `output of the step ${step} (${use}) of ${pipeline}`,
      });
  add({ name: 'score', kind: 'number', description: 'the score so far' });
  return [...names.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The entities that a path can begin with, by the names that pipelines give them. */
function rootsOf({ entities, pipelines }: ProjectConfig): Map<string, EntityType> {
  const roots = new Map<string, EntityType>();
  const add = (name: string, type: string): void => {
    const entity = entities.get(type);
    if (entity !== undefined) roots.set(name, entity);
  };
  for (const type of entities.keys()) add(type, type);
  for (const { request } of pipelines)
    for (const field of request.fields.values()) if (field.kind === 'entity') add(field.name, field.entity);
  return roots;
}

function pathsOf(
  root: string,
  { name, attributes }: EntityType,
  config: ProjectConfig,
  followed: number,
): KnownName[] {
  return [...attributes.values()].flatMap((attribute) => {
    const { type } = attribute;
    const path = `${root}.${attribute.name}`;
    const own = ofType(path, type, `attribute of ${name}`);
    const target = type.kind === 'ref' ? config.entities.get(type.entity) : undefined;
    return target === undefined || followed === MOST_REFERENCES
      ? [own]
      : [own, ...pathsOf(path, target, config, followed + 1)];
  });
}

function addView(
  name: string,
  view: string,
  { views, counters }: ProjectConfig,
  add: (known: KnownName) => void,
): void {
  const definition = views.get(view) ?? viewsOfCounters(counters).get(view);
  for (const feature of definition?.features.values() ?? []) {
    const otherwise = feature.default === undefined ? '' : `, default ${JSON.stringify(feature.default)}`;
    add(ofType(`${name}:${feature.name}`, feature.type, `feature of ${view}${otherwise}`));
  }
}

function ofType(name: string, type: ValueType, what: string): KnownName {
  return { name, kind: kindOf(type), description: `${typeText(type)}, ${what}` };
}

function kindOf({ kind }: ValueType): KnownName['kind'] {
  switch (kind) {
    case 'int':
    case 'float':
      return 'number';
    case 'string':
    case 'ref':
      return 'text';
    case 'timestamp':
      return 'time';
    case 'record':
    case 'list':
      return 'list';
    default:
      return kind;
  }
}

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { NAME_PATTERN } from '../../ground/api/types.js';
import type { ForeignEvent } from '../foreign/foreign-event.js';
import { addToProfiles, isNumeric, type ColumnProfile } from '../foreign/profile.js';
import { UsageError } from '../config/diagnostics/failure.js';
import { emptyModel, type ModelColumn } from './empty-model.js';

/** The pipeline of a new project. */
export const NEW_PIPELINE = 'search';
const STEP = 'ltr';
const MODEL = `models/${STEP}.txt`;
/** A text with more values than this is no category. */
const MOST_CATEGORIES = 200;
/** Attributes whose text is compared with the query. */
const TITLES = ['title', 'name', 'product_name', 'item_name', 'headline', 'description'];

type Profiles = Map<string, ColumnProfile>;

/** Learns from the events what the entity types and the pipeline of a new project need. */
export class NewProject {
  readonly #candidateType: string;
  readonly #entities = new Map<string, Profiles>();
  readonly #sent: Profiles = new Map();
  readonly #carried: Profiles = new Map();
  #hasUser = false;
  #longest = 0;

  constructor(candidateType: string) {
    this.#candidateType = candidateType;
  }

  see(event: ForeignEvent): void {
    switch (event.is) {
      case 'entity': {
        let profiles = this.#entities.get(event.type);
        if (profiles === undefined)
          this.#entities.set(event.type, (profiles = new Map<string, ColumnProfile>()));
        addToProfiles(profiles, event.values);
        return;
      }
      case 'ranking':
        this.#longest = Math.max(this.#longest, event.candidates.length);
        for (const { carried } of event.candidates) addToProfiles(this.#carried, carried);
        break;
      case 'impression':
        addToProfiles(this.#carried, event.candidate.carried);
        break;
      case 'feedback':
        return;
    }
    this.#hasUser ||= event.owners.user !== undefined;
    addToProfiles(this.#sent, event.sent);
  }

  /** The files of the project, by path. */
  files(folder: string): Readonly<Record<string, string>> {
    const name = basename(resolve(folder))
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^[^a-z]+|_+$/g, '');
    const type = this.#candidateType;
    const items = attributesOf(this.#entities.get(type) ?? new Map<string, ColumnProfile>());
    const users = attributesOf(this.#entities.get('user') ?? new Map<string, ColumnProfile>());
    const sent = attributesOf(this.#sent).filter(({ name: field }) => field !== 'query');
    const carried = attributesOf(this.#carried).filter(
      ({ name: field }) => !items.some((one) => one.name === field),
    );
    const hasQuery = this.#sent.has('query');
    const title = hasQuery
      ? TITLES.find((one) =>
          items.some(({ name: attribute, type: of }) => attribute === one && of === 'string'),
        )
      : undefined;
    const columns = [
      ...[...items, ...carried].flatMap((one) => columnsOf(type, one)),
      ...users.flatMap((one) => columnsOf('user', one)),
      ...sent.flatMap((one) => columnsOf('request', one)),
      ...(title === undefined
        ? []
        : ['bm25', 'overlap'].map((output): ModelColumn => ({ name: `${title}__${output}` }))),
    ];
    return {
      'millrace.yaml': `project: ${NAME_PATTERN.test(name) ? name : 'imported'}\nstore: embedded\n`,
      ...(items.length > 0 || type !== 'product'
        ? { [`schemas/entities/${type}.yaml`]: entityText(type, items) }
        : {}),
      ...(users.length > 0 ? { 'schemas/entities/user.yaml': entityText('user', users) } : {}),
      [`pipelines/${NEW_PIPELINE}.yaml`]: this.#pipelineText(columns, sent, carried, hasQuery, title),
      ...(columns.length > 0 ? { [MODEL]: emptyModel(columns) } : {}),
    };
  }

  #pipelineText(
    columns: readonly ModelColumn[],
    sent: readonly Attribute[],
    carried: readonly Attribute[],
    hasQuery: boolean,
    title: string | undefined,
  ): string {
    const type = this.#candidateType;
    const hasUser = this.#hasUser || this.#entities.has('user');
    const fields = [
      ...(carried.length > 0
        ? [`  candidates:`, ...carried.map(({ name, type: of }) => `    ${name}: ${of}`)]
        : []),
      ...(hasQuery ? ['  query: optional(query)'] : []),
      ...(hasUser ? ['  user: optional(user)'] : []),
      ...sent.map(({ name, type: of }) => `  ${name}: optional(${of})`),
    ];
    const limit = Math.max(1000, this.#longest);
    return [
      '# Written by `millrace ledger import`. The model is empty until `millrace train` replaces it.',
      `pipeline: ${NEW_PIPELINE}`,
      `rank: ${type}`,
      ...(fields.length > 0 ? ['request:', ...fields] : []),
      `limits: { candidates: ${limit} }`,
      'components:',
      ...(title === undefined
        ? []
        : [
            '  - use: text_match',
            `    as: ${title}`,
            `    with: { query: query.query, field: ${type}.${title} }`,
          ]),
      ...(columns.length > 0
        ? [
            '  - use: lightgbm',
            `    as: ${STEP}`,
            `    with: { model: ${MODEL} }`,
            '  - use: score',
            '    unscored: last',
            `    with: { value: "${STEP}:score" }`,
          ]
        : ['  - use: score', '    with: { value: 0 }']),
      `log: { candidates: page${hasUser ? ', unit: user' : ''} }`,
      '',
    ].join('\n');
  }
}

/**
 * @param named how the command line names the folder
 * @throws UsageError if the folder has files
 */
export async function checkNewFolder(folder: string, named = `--new-project ${folder}`): Promise<void> {
  const entries = await readdir(folder).catch(() => []);
  if (entries.length > 0)
    throw new UsageError(
      `${named}: the folder is not empty; remove it if an import that was stopped left it`,
    );
}

export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

export interface Attribute {
  readonly name: string;
  /** As it is written in YAML. */
  readonly type: string;
  readonly profile: ColumnProfile;
}

export function attributesOf(profiles: ReadonlyMap<string, ColumnProfile>): Attribute[] {
  return Array.from(profiles, ([name, profile]) => ({ name, type: typeOf(profile), profile })).filter(
    (one): one is Attribute => one.type !== undefined && NAME_PATTERN.test(one.name),
  );
}

function typeOf(profile: ColumnProfile): string | undefined {
  const { filled, bools, wholes, lists, textLists, times } = profile;
  if (lists > 0) return textLists === filled ? 'list(string)' : undefined;
  if (bools === filled) return 'bool';
  if (isNumeric(profile)) return wholes === filled ? 'int' : 'float';
  return times.get('text') === filled ? 'timestamp' : 'string';
}

/** The columns of the model for an attribute: a number is one, and a text with few values is a category. */
function columnsOf(owner: string, { name, type, profile }: Attribute): ModelColumn[] {
  const column = `${owner}__${name}`;
  if (profile.distinct.size < 2) return [];
  if (type === 'int' || type === 'float') return [{ name: column }];
  if (type === 'string' && profile.distinct.size <= MOST_CATEGORIES)
    return [{ name: column, categories: [...profile.distinct].sort() }];
  return [];
}

export function entityText(type: string, attributes: readonly Attribute[]): string {
  return [
    `entity: ${type}`,
    ...(type === 'product' ? ['extends: ProductEntity'] : []),
    ...(attributes.length > 0
      ? ['attributes:', ...attributes.map(({ name, type: of }) => `  ${name}: ${of}`)]
      : []),
    '',
  ].join('\n');
}

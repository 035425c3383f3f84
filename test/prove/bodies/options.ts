/** Cases of the options of plugins that see a request's values: each kind of value that an option takes, in a real step. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { Plugin } from '../../../runtime/ground/api/plugin.js';
import type { JsonObject, JsonValue } from '../../../runtime/ground/api/types.js';
import { packageFinder } from '../../../runtime/ground/core/find-package.js';
import { compileProject } from '../../../runtime/serve/app/project/compile-project.js';
import { Diagnostics } from '../../../runtime/project/config/diagnostics/diagnostics.js';
import {
  checkOptions,
  type MarkedText,
  type OptionPath,
} from '../../../runtime/project/config/project/check-options.js';
import { isJsonObject } from '../../../runtime/ground/core/value-fit.js';
import { markOf, type Mark } from '../../../runtime/project/config/project/marks.js';
import { SourceFile } from '../../../runtime/project/config/yaml/source.js';
import { AllowedHosts } from '../../../runtime/project/settings/allowed-hosts.js';
import { type ValueKind, VALUE_KINDS } from '../../../runtime/language/expression/domain.js';
import { documentedExamples, type DocumentedExample } from '../../support/documented-example.js';
import { findPostgres } from '../../support/needs.js';
import { writeProject } from '../../support/project.js';
import { freePort } from '../../support/redis-server.js';
import { repositoryPath } from '../../support/repository.js';
import {
  type Bound,
  bodyOf,
  ENTITY_FILES,
  type Layout,
  LAYOUTS,
  nameOf,
  pipelineFile,
  type Place,
  RANKING_LIMIT,
  RETRIEVED,
} from './columns.js';
import type { Generated } from './language.js';
import type { GrowingCase } from './load.js';
import { ELEMENT_SIZES, grows, SHAPES } from './values.js';

export interface GeneratedOptions extends Generated {
  /** All options whose values are expressions: `boost.where`. */
  readonly options: readonly string[];
  /** Options of plugins whose optional package is not installed, with the package. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** Files that examples of plugins name, where the folder of the plugin has none. */
const EXAMPLE_FILES: Readonly<Record<string, string>> = {
  'boosts/brands.csv': 'key,amount\na,1.5\n',
  'boosts/devices.csv': 'brand,device,amount\na,b,1.5\n',
  'models/brands.csv': 'category,code\na,1\n',
  'pins.csv': 'key,position,id\na,1,t0\n',
};

/** What plugins need beside Millrace, where this machine lacks it. */
const LACKING: Readonly<Record<string, () => string | undefined>> = {
  onnx: () =>
    packageFinder(repositoryPath())('onnxruntime-node') === undefined ? 'onnxruntime-node' : undefined,
  postgres: () => (findPostgres() === undefined ? 'PostgreSQL' : undefined),
};

type ExpressionMark = Extract<Mark, { kind: 'expression' }>;
type Marked = MarkedText & { readonly mark: ExpressionMark };

/** One way of writing a step: its option has the values of one column. */
interface Trial {
  readonly option: string;
  readonly focus: string;
  /** The column of the option; undefined if its value is an entity. */
  readonly focused: Bound | undefined;
  readonly bounds: readonly Bound[];
  readonly kind: Plugin['kind'];
  readonly step: object;
}

export async function optionCases(): Promise<GeneratedOptions> {
  const plugins = await shippedPlugins();
  const options: string[] = [];
  const leftOut = new Map<string, string>();
  const trials: Trial[] = [];
  for (const plugin of plugins) {
    const own = markedOptions(plugin.options).map((path) => `${plugin.name}.${path}`);
    options.push(...own);
    const lacking = LACKING[plugin.name]?.();
    if (lacking === undefined) trials.push(...trialsOf(plugin, own));
    else for (const option of own) leftOut.set(option, lacking);
  }
  const accepted = (await thoseThatCompile(trials)).flatMap(withShared);
  const files: Record<string, string | Uint8Array> = { ...fixedFiles() };
  const cases: GrowingCase[] = [];
  const known = new Set<string>();
  let turn = 0;
  for (const { option, focus, bounds, kind, step } of accepted) {
    if (known.has(`${option} ${focus}`)) continue;
    known.add(`${option} ${focus}`);
    const name = `option_${known.size}`;
    Object.assign(files, pipelineOf(name, kind, step));
    const hasText = bounds.some(({ argument }) => argument === 'text' || argument === 'texts');
    for (const shape of hasText ? Object.keys(SHAPES) : ['words']) {
      const layouts = Object.keys(LAYOUTS);
      const own: Layout = bounds.some(({ argument }) => grows(argument))
        ? (layouts[turn++ % layouts.length] ?? '')
        : 'many candidates';
      const layout = kind === 'retriever' ? RETRIEVED : own;
      const elements = ELEMENT_SIZES[turn % ELEMENT_SIZES.length] ?? '';
      cases.push({
        covers: `option ${option}`,
        what: `${option}: ${focus}: ${shape}, ${layout}`,
        file: `pipelines/${name}.yaml`,
        limit: RANKING_LIMIT,
        make: (bytes, seed) => bodyOf(`/api/v1/${name}`, bounds, layout, { shape, elements }, bytes, seed),
      });
    }
  }
  return { files, cases, options, leftOut };
}

async function shippedPlugins(): Promise<readonly Plugin[]> {
  const names = readdirSync(repositoryPath('plugins'));
  const modules = await Promise.all(
    names.map((name) => import(`../../../plugins/${name}/index.js`) as Promise<{ readonly plugin?: Plugin }>),
  );
  return modules.flatMap(({ plugin }) => plugin ?? []);
}

/** The paths of options, by names of properties, whose values or keys are expressions. */
function markedOptions(schema: JsonValue | undefined, path: readonly string[] = []): string[] {
  if (Array.isArray(schema)) return schema.flatMap((one: JsonValue) => markedOptions(one, path));
  if (!isJsonObject(schema)) return [];
  const own = markOf(schema)?.kind === 'expression' ? [path.join('.')] : [];
  const { properties, ...others } = schema;
  const named = Object.entries((properties ?? {}) as JsonObject).flatMap(([name, inner]) =>
    markedOptions(inner, [...path, name]),
  );
  return [
    ...new Set([...own, ...named, ...Object.values(others).flatMap((inner) => markedOptions(inner, path))]),
  ];
}

function trialsOf(plugin: Plugin, options: readonly string[]): Trial[] {
  const readme = repositoryPath('plugins', plugin.name, 'README.md');
  const examples = documentedExamples(readme).filter(({ isSource }) => !isSource);
  const trials = examples.flatMap((example) => trialsOfExample(plugin, example, options));
  const shown = new Set(trials.map(({ option }) => option));
  // An option of the first level that no example shows joins each of them, or replaces what is not required.
  const missing = options.filter((option) => !shown.has(option) && option.split('.').length === 2);
  return [
    ...trials,
    ...missing.flatMap((option) =>
      examples.flatMap((example) =>
        [false, true].flatMap((isAlone) =>
          trialsOfExample(plugin, example, options, option.split('.')[1], isAlone),
        ),
      ),
    ),
  ];
}

function trialsOfExample(
  plugin: Plugin,
  example: DocumentedExample,
  options: readonly string[],
  added?: string,
  isAlone = false,
): Trial[] {
  const required = (plugin.options['required'] ?? []) as readonly string[];
  const shown = (example.with?.toJSON() ?? {}) as JsonObject;
  const kept = Object.entries(shown).filter(([name]) => !isAlone || required.includes(name));
  const text = JSON.stringify({
    ...Object.fromEntries(kept),
    ...(added === undefined ? {} : { [added]: 'x' }),
  });
  const { contents } = parseDocument(text);
  const at = { file: new SourceFile('README.md', text), start: 0, end: text.length };
  const checked = checkOptions(contents ?? undefined, plugin.options, new Diagnostics(), at);
  if (checked === undefined) return [];
  const marks = checked.marks.filter((one): one is Marked => one.mark.kind === 'expression');
  const isAny = ({ mark }: Marked): boolean => mark.type === 'any';
  return marks.flatMap((focus) =>
    candidatesFor(focus.mark).flatMap((value) =>
      // The other options of any type have values of the same kind, or one that most take.
      (marks.every((one) => one === focus || !isAny(one)) ? [value] : [value, ...OTHERS]).map(
        (other): Trial => {
          const bounds: Bound[] = [];
          let focused: Bound | undefined;
          const written = structuredClone(checked.value) as Record<string, unknown>;
          for (const [role, one] of marks.entries()) {
            const chosen = one === focus ? value : isAny(one) ? other : (candidatesFor(one.mark)[0] ?? value);
            if (typeof chosen === 'string') {
              write(written, one, chosen);
              continue;
            }
            const bound: Bound = { ...chosen, role: role % 3 };
            bounds.push(bound);
            if (one === focus) focused = bound;
            write(written, one, nameOf(bound));
          }
          const option = optionOf(plugin.name, focus.path, options);
          return {
            option,
            focus: typeof value === 'string' ? value : `${value.argument as string} of the ${value.place}`,
            focused,
            bounds,
            kind: plugin.kind,
            step: {
              use: plugin.name,
              ...(plugin.kind === 'feature' || plugin.kind === 'model' ? { as: 'made' } : {}),
              with: settled(plugin.name, written),
            },
          };
        },
      ),
    ),
  );
}

/** A step that takes values of candidates also takes those of an entity that they share. */
function withShared(trial: Trial): Trial[] {
  const { focused, bounds, step } = trial;
  if (focused?.place !== 'candidate') return [trial];
  const shared: Bound = { ...focused, place: 'shared' };
  const text = JSON.stringify(step).replaceAll(nameOf(focused), nameOf(shared));
  return [
    trial,
    {
      ...trial,
      focus: `${focused.argument as string} of an entity that they share`,
      bounds: bounds.map((bound) => (bound === focused ? shared : bound)),
      step: JSON.parse(text) as object,
    },
  ];
}

type Chosen = Omit<Bound, 'role'> | 'thing' | 'owner';
const OTHERS: readonly Chosen[] = [
  { argument: 'text', place: 'candidate' },
  { argument: 'number', place: 'request' },
  'owner',
];

/** The columns that may be the value of an option. The compiler tells which of them it takes. */
function candidatesFor({ type, scope }: ExpressionMark): readonly Chosen[] {
  const kinds: readonly ValueKind[] = type === 'any' ? VALUE_KINDS : [type];
  const places: readonly Place[] =
    scope === 'request' ? ['request'] : scope === 'any' ? ['candidate', 'request'] : ['candidate'];
  const columns = kinds.flatMap((argument) => places.map((place): Chosen => ({ argument, place })));
  return type === 'any' ? [...columns, 'thing', 'owner'] : columns;
}

/** The option that has the place. A place also names the keys of mappings and the numbers of elements. */
function optionOf(plugin: string, path: OptionPath, options: readonly string[]): string {
  const found = options.filter((option) => {
    const wanted = option.split('.');
    for (const segment of [plugin, ...path]) if (String(segment) === wanted[0]) wanted.shift();
    return wanted.length === 0;
  });
  return found.reduce((best, one) => (one.length > best.length ? one : best), '');
}

/** Writes an expression at the place of a marked text, or as the key there. */
function write(options: Record<string, unknown>, { path, inKey }: Marked, text: string): void {
  const holder = path
    .slice(0, -1)
    .reduce<unknown>((inner, key) => (inner as JsonObject)[key], options) as Record<string | number, unknown>;
  const last = path.at(-1) ?? '';
  if (!inKey) holder[last] = text;
  else {
    holder[text] = holder[last];
    Reflect.deleteProperty(holder, last);
  }
}

/** The host of model servers, which the settings must allow. No server is there. */
const MODEL_HOST = '127.0.0.1:9';
/** Where `startProject` starts PostgreSQL. */
export const POSTGRES_PORT = await freePort();
export const ALLOWED_HOSTS = `${MODEL_HOST},127.0.0.1:${POSTGRES_PORT}`;

/** What the examples of these plugins lack here: a server that answers all or is not there, attributes, and the other column of a model. */
function settled(plugin: string, options: Record<string, unknown>): Record<string, unknown> {
  if (plugin === 'open_inference') return { ...options, url: `http://${MODEL_HOST}`, check: 'off' };
  if (plugin === 'vectors') return { of: 'thing.vector_0', to: options['to'] };
  if (plugin === 'postgres')
    return {
      ...options,
      url: `postgres://owner@127.0.0.1:${POSTGRES_PORT}/postgres`,
      query: statementOf(options['params']),
      outputs: [],
    };
  // The rules of the list compare with a query, and those of a draft with a category.
  if (plugin === 'curation') return { query: 'owner.text_0', category: 'owner.text_1', ...options };
  if (plugin === 'words') return { query: options['query'], fields: { 'thing.text_0': 1 } };
  if (plugin !== 'lightgbm' || options['inputs'] === undefined) return options;
  return { ...options, inputs: { product__rating: 'thing.number_5', ...options['inputs'] } };
}

/** A statement that reads every parameter, of whatever type. */
function statementOf(params: unknown): string {
  const read = Array.isArray(params) ? params.map((_, i) => `$${i + 1}::text`) : [];
  return `select 't0' as id where concat('', ${['null', ...read].join(', ')}) is not null`;
}

function pipelineOf(name: string, kind: Plugin['kind'], step: object): Record<string, string> {
  if (kind === 'retriever')
    return pipelineFile(name, { use: 'score', with: { value: '1' } }, { retrieve: [step] });
  const file = pipelineFile(name, { ...step, on_error: 'skip' });
  return Object.fromEntries(
    Object.entries(file).map(([path, text]) => {
      const pipeline = JSON.parse(text) as { components: object[] };
      pipeline.components.unshift({ use: 'score', with: { value: 'coalesce(thing.number_6, 1)' } });
      return [path, JSON.stringify(pipeline)];
    }),
  );
}

function fixedFiles(): Readonly<Record<string, string | Uint8Array>> {
  const models = readdirSync(repositoryPath('plugins')).flatMap((plugin) => {
    const folder = repositoryPath('plugins', plugin, 'models');
    if (!existsSync(folder)) return [];
    return readdirSync(folder).map((name): [string, Buffer] => [
      `models/${name}`,
      readFileSync(repositoryPath('plugins', plugin, 'models', name)),
    ]);
  });
  return { ...ENTITY_FILES, ...EXAMPLE_FILES, ...CURATION_FILES, ...Object.fromEntries(models) };
}

/** A list of rules, for the step and for the routes of curation. */
export const CURATION_FILES = {
  'curation/campaigns.yaml':
    'curation: campaigns\nrules:\n  - { query: red shoe, hide: [t1] }\n  - { query: red, match: prefix, pin: { 1: t2 } }\n  - { query: shoe, match: contains, pin: { 2: t3 } }\n',
};

async function thoseThatCompile(trials: readonly Trial[]): Promise<readonly Trial[]> {
  const files = Object.assign(
    { 'millrace.yaml': await readFile(repositoryPath('millrace.yaml'), 'utf8'), ...fixedFiles() },
    ...trials.map(({ kind, step }, i) => pipelineOf(`trial_${i}`, kind, step)),
  ) as Record<string, string | Uint8Array>;
  const root = await writeProject(files);
  try {
    const { diagnostics } = await compileProject(root, {
      modelHosts: AllowedHosts.parse(ALLOWED_HOSTS) ?? AllowedHosts.none,
    });
    const wrong = new Set(
      diagnostics.filter(({ severity }) => severity === 'error').map(({ at }) => at.file.path),
    );
    return trials.filter((_, i) => !wrong.has(`pipelines/trial_${i}.yaml`));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

import { parseDuration } from '../../../ground/api/duration.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { EntityType } from '../model/entities.js';
import type { EngineDefinition, EnginePaths, FieldSource, FrontDefinition } from '../model/fronts.js';
import type { PipelineDefinition } from '../model/pipelines.js';
import { Section } from '../yaml/section.js';
import { itemsOf, locatedText, textOf } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';
import { isReserved } from './check-pipelines.js';
import { pipelineOf, type ExperimentNames } from './check-experiments.js';

const DEFAULT_WINDOW = 300;
const DEFAULT_TIMEOUT = 10_000;
const MAX_TIMEOUT = 60_000;
const DEFAULT_CONNECTIONS = 64;
const DEFAULT_MAX_BYTES = 16 * 2 ** 20;
const DEFAULT_SIZE = 10;

/** The keys of `with` that describe an engine which the product does not know. */
const NEEDED_PATHS = ['search', 'from', 'size', 'hits', 'id'] as const;
const PATH_KEYS = [...NEEDED_PATHS, 'default_size', 'unless'] as const;

/** What fronts may name. */
export interface FrontNames extends Pick<ExperimentNames, 'pipelines' | 'pipelineNames'> {
  /** Paths of the service, and folders, which end with a slash. */
  readonly reservedRoutes: readonly string[];
  readonly entities: ReadonlyMap<string, EntityType>;
}

/** Loads the fronts of a project, and checks the names in them. Wrong shapes are already reported. */
export function loadFronts(
  files: readonly ParsedFile[],
  names: FrontNames,
  diagnostics: Diagnostics,
): FrontDefinition[] {
  const fronts = files.flatMap((parsed) => loadFront(parsed, diagnostics) ?? []);
  const taken = new Map<string, string>();
  for (const front of fronts) {
    const { path, name } = front;
    const other = taken.get(path.value);
    if (isReserved(path.value.toLowerCase(), names.reservedRoutes))
      diagnostics.error(
        'duplicate_route',
        path.at,
        `the service itself uses the path ${path.value}`,
        'give the front another `path:`',
      );
    else if (other !== undefined)
      diagnostics.error(
        'duplicate_route',
        path.at,
        `the front \`${other}\` already has the path ${path.value === '' ? '/' : path.value}`,
        'give one of them another `path:`',
      );
    taken.set(path.value, name);
    const pipeline = pipelineOf(front.pipeline, names, diagnostics);
    if (pipeline !== undefined) checkPipeline(front, pipeline, names, diagnostics);
  }
  return fronts;
}

/** @returns undefined if a required key is missing or wrong, which is reported */
function loadFront({ file, name, root }: ParsedFile, diagnostics: Diagnostics): FrontDefinition | undefined {
  const front = new Section('front', file, root, diagnostics);
  const pipeline = front.located('pipeline');
  const use = front.word('use');
  if (use === undefined || pipeline === undefined) return undefined;
  const engine = readEngine(front.section('with'), use);
  const timeoutMs = parseDuration(front.text('timeout') ?? '') ?? DEFAULT_TIMEOUT;
  if (timeoutMs < 1 || timeoutMs > MAX_TIMEOUT) front.wrong('timeout', 'must be from 1ms to 60s');
  if (engine === undefined) return undefined;
  const path = front.located('path') ?? { value: `/${name.value}`, at: name.at };
  const [fields, carried] = [front.entries('map'), front.section('map').entries('candidates')];
  return {
    name: name.value,
    use,
    pipeline,
    window: front.whole('window') ?? DEFAULT_WINDOW,
    path: path.value === '/' ? { ...path, value: '' } : path,
    auth: front.word('auth') ?? 'forward',
    timeoutMs,
    map: new Map(
      fields.flatMap(({ key, keyAt, value }) => {
        if (key === 'candidates') return [];
        const texts = [textOf(value), ...itemsOf(value).map(textOf)];
        return [[key, { from: texts.flatMap((text) => sourceOf(text) ?? []), at: keyAt }]];
      }),
    ),
    carried: new Map(
      carried.map(({ key, keyAt, value }) => {
        const text = textOf(value) ?? '';
        return [key, { path: text === 'place' ? undefined : text.split('.').slice(1), at: keyAt }];
      }),
    ),
    pass: front.texts('pass'),
    engine,
    file,
    at: name.at,
  };
}

function sourceOf(text: string | undefined): FieldSource | undefined {
  if (text === undefined) return undefined;
  const dot = text.indexOf('.');
  const [of, rest] = [text.slice(0, dot), text.slice(dot + 1)];
  if (of === 'body') return { of, path: rest.split('.') };
  return of === 'header' ? { of, name: rest.toLowerCase() } : of === 'param' ? { of, name: rest } : undefined;
}

function readEngine(
  engine: Section<'front.with'>,
  use: FrontDefinition['use'],
): EngineDefinition | undefined {
  const url = engine.located('url');
  const paths = use === 'http' ? readPaths(engine) : undefined;
  for (const key of use === 'http' ? [] : PATH_KEYS)
    if (engine.has(key))
      engine.diagnostics.error(
        'unknown_key',
        engine.keyAt(key),
        `\`${key}\` has a meaning only with \`use: http\``,
        'remove the key',
      );
  if (url === undefined || (use === 'http' && paths === undefined)) return undefined;
  return {
    url,
    headers: new Map(
      engine.entries('headers').flatMap(({ key, value }) => {
        const text = locatedText(engine.file, value);
        return text === undefined ? [] : [[key, text]];
      }),
    ),
    connections: engine.whole('connections') ?? DEFAULT_CONNECTIONS,
    maxBytes: engine.whole('max_bytes') ?? DEFAULT_MAX_BYTES,
    paths,
  };
}

function readPaths(engine: Section<'front.with'>): EnginePaths | undefined {
  const missing = NEEDED_PATHS.filter((key) => !engine.has(key));
  if (missing.length > 0) {
    engine.diagnostics.error(
      'missing_key',
      engine.at(),
      `\`use: http\` also needs ${missing.map((key) => `\`${key}\``).join(', ')}`,
      'docs/fronts.md has them for Typesense, Meilisearch and Solr',
    );
    return undefined;
  }
  const path = (key: 'from' | 'size' | 'hits' | 'id'): string[] => (engine.text(key) ?? '').split('.');
  return {
    search: engine.text('search') ?? '',
    from: path('from'),
    size: path('size'),
    defaultSize: engine.whole('default_size') ?? DEFAULT_SIZE,
    hits: path('hits'),
    id: path('id'),
    unless: engine.texts('unless').map(({ value }) => value.split('.')),
  };
}

function checkPipeline(
  { map, carried, window, pipeline: { at } }: FrontDefinition,
  { name, task, request, limits, candidateType }: PipelineDefinition,
  { entities }: FrontNames,
  diagnostics: Diagnostics,
): void {
  if (task === 'score') {
    diagnostics.error(
      'ranking_only',
      at,
      `the pipeline \`${name}\` scores one entity; a front needs a ranking`,
    );
    return;
  }
  if (window > limits.candidates)
    diagnostics.error(
      'wrong_type',
      at,
      `the window of ${window} is more than the ${limits.candidates} candidates that \`${name}\` takes`,
      `write \`limits: { candidates: ${window} }\` in the pipeline, or decrease the window`,
    );
  const attributes = [
    ...request.candidates.keys(),
    ...(entities.get(candidateType.value)?.attributes.keys() ?? []),
  ];
  for (const [given, known, what] of [
    [map, [...request.fields.keys()], 'field under `request:`'],
    [carried, attributes, 'attribute of candidates'],
  ] as const)
    for (const [key, { at: keyAt }] of given)
      if (!known.includes(key))
        diagnostics.error(
          'unknown_name',
          keyAt,
          `the pipeline \`${name}\` has no ${what} with the name \`${key}\``,
          didYouMean(key, known) ?? (known.length === 0 ? undefined : `there are ${known.join(', ')}`),
        );
}

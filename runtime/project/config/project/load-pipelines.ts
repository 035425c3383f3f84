import { isMap } from 'yaml';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { parseDuration } from '../../../ground/api/duration.js';
import { checkNames, checkRoutes } from './check-pipelines.js';
import { checkScored } from './check-scored.js';
import { loadLog } from './load-log.js';
import { loadParams } from './load-params.js';
import { loadRequest } from './load-request.js';
import { loadRetrieve } from './load-retrieve.js';
import type { EntityType } from '../model/entities.js';
import type { PipelineDefinition, PipelineLimits, StepDefinition } from '../model/pipelines.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import { parseRequirement } from './parse-requirement.js';
import type { TypeContext } from './parse-type.js';
import type { Located } from '../yaml/source.js';
import { Section } from '../yaml/section.js';
import { locatedText } from '../yaml/tree.js';
import type { ParsedFile } from '../yaml/yaml-file.js';

const DEFAULT_CANDIDATES = 1000;
const DEFAULT_TIME = 1000;
const MAX_TIME = 60_000;
const DEFAULT_PAGE = { size: 24, maxSize: 100 };

/** The names that pipelines may refer to, and the routes that they cannot use. */
export interface KnownNames {
  readonly entities: ReadonlyMap<string, EntityType>;
  /** Includes types whose files have errors. */
  readonly entityNames: ReadonlySet<string>;
  readonly viewNames: ReadonlySet<string>;
  /** Paths and folders of the service. A pipeline cannot use them as routes. */
  readonly reservedRoutes: readonly string[];
}

/** Loads the pipelines of a project. Names inside expressions, plugins and views are checked during compilation. */
export function loadPipelines(
  files: readonly ParsedFile[],
  known: KnownNames,
  context: TypeContext,
): PipelineDefinition[] {
  const pipelines = files.map((parsed) => loadPipeline(parsed, known, context));
  for (const pipeline of pipelines) checkNames(pipeline, known.viewNames, context.diagnostics);
  checkRoutes(pipelines, known.reservedRoutes, context.diagnostics);
  return pipelines;
}

function loadPipeline(
  { file, root, name }: ParsedFile,
  known: KnownNames,
  context: TypeContext,
): PipelineDefinition {
  const { diagnostics } = context;
  const pipeline = new Section('pipeline', file, root, diagnostics);
  const task =
    pipeline.value('rank') === undefined && pipeline.value('score') !== undefined ? 'score' : 'rank';
  const candidateType = pipeline.located(task) ?? { value: '', at: name.at };
  if (NAME_PATTERN.test(candidateType.value))
    checkCandidateType(task, candidateType, known.entityNames, diagnostics);
  if (task === 'score') checkScored(pipeline, candidateType.value, known.entities.get(candidateType.value));
  const request = loadRequest(
    pipeline.section('request'),
    { task, candidateType: known.entities.get(candidateType.value), ...known },
    context,
  );
  const limits = readLimits(pipeline.section('limits'));
  const params = loadParams(pipeline);
  const define = readExpressions(pipeline, 'define');
  return {
    name: name.value,
    at: name.at,
    file,
    route: pipeline.located('route') ?? { value: `/api/v1/${name.value}`, at: name.at },
    task,
    candidateType,
    request,
    limits,
    onStoreError: pipeline.word('on_store_error') ?? 'fail',
    features: pipeline.items('features').flatMap((item) => parseRequirement(file, item, diagnostics) ?? []),
    params,
    define,
    retrieve: loadRetrieve(pipeline, { task, limits, params, define }, (retriever) => readStep(retriever)),
    components: pipeline
      .items('components')
      .flatMap((item) => readStep(pipeline.of('pipeline.components', item)) ?? []),
    answer: readExpressions(pipeline, 'answer'),
    page: readPage(pipeline.section('page')),
    log: loadLog(pipeline, request, candidateType.value, known.entityNames),
  };
}

function checkCandidateType(
  task: PipelineDefinition['task'],
  { value, at }: Located<string>,
  entities: ReadonlySet<string>,
  diagnostics: Diagnostics,
): void {
  if (task === 'rank' && (value === 'query' || value === 'request'))
    diagnostics.error('reserved_name', at, `\`${value}\` cannot be ranked, because a request has only one`);
  if (task === 'score' && value === 'request')
    diagnostics.error(
      'reserved_name',
      at,
      'the request itself cannot be scored',
      'score an entity of the request; its other fields are `request.<field>`',
    );
  if (entities.has(value)) return;
  diagnostics.error(
    'unknown_entity',
    at,
    `there is no entity type \`${value}\``,
    didYouMean(value, entities) ?? `declare it in schemas/entities/${value}.yaml`,
  );
}

function readLimits(limits: Section<'pipeline.limits'>): PipelineLimits {
  const time = parseDuration(limits.text('time') ?? '');
  if (time !== undefined && (time < 1 || time > MAX_TIME)) limits.wrong('time', 'must be from 1ms to 60s');
  return { candidates: limits.whole('candidates') ?? DEFAULT_CANDIDATES, time: time ?? DEFAULT_TIME };
}

function readPage(page: Section<'pipeline.page'>): PipelineDefinition['page'] {
  const size = page.whole('size');
  const givenMax = page.whole('max_size');
  const maxSize = givenMax ?? DEFAULT_PAGE.maxSize;
  if (size !== undefined && size > maxSize)
    page.wrong(
      'size',
      `the page size ${size} is larger than max_size, ${maxSize}`,
      givenMax === undefined ? `add \`max_size: ${size}\`` : 'decrease size or increase max_size',
    );
  // A small max_size without a size is not a contradiction.
  return { size: size ?? Math.min(DEFAULT_PAGE.size, maxSize), maxSize };
}

function readExpressions(
  pipeline: Section<'pipeline'>,
  under: 'define' | 'answer',
): Map<string, Located<string>> {
  const definitions = new Map<string, Located<string>>();
  for (const { key, value } of pipeline.entries(under)) {
    const text = locatedText(pipeline.file, value);
    if (text !== undefined && NAME_PATTERN.test(key)) definitions.set(key, text);
  }
  return definitions;
}

function readStep(
  step: Section<'pipeline.components'> | Section<'pipeline.retrieve'>,
): StepDefinition | undefined {
  const use = step.located('use');
  if (use === undefined) return undefined;
  const options = step.value('with');
  return {
    use,
    as: step.located('as'),
    when: step.located('when'),
    ...(step.place === 'pipeline.components' ? onlySteps(step) : NO_CANDIDATES),
    with: isMap(options) ? options : undefined,
    // The place that represents a step is its `use`.
    at: { ...use.at, start: step.keyAt('use').start },
  };
}

type OnlySteps = Pick<StepDefinition, 'top' | 'onError' | 'unscored'>;

/** What a retriever does not have. */
const NO_CANDIDATES: OnlySteps = { top: undefined, onError: 'skip', unscored: undefined };

function onlySteps(step: Section<'pipeline.components'>): OnlySteps {
  const [count, unscored] = [step.whole('top'), step.word('unscored')];
  return {
    top: count === undefined ? undefined : { value: count, at: step.at('top') },
    onError: step.word('on_error') ?? 'fail',
    unscored: unscored && { value: unscored, at: step.located('unscored')?.at ?? step.at() },
  };
}

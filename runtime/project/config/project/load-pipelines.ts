import { choiceOf } from '../model/choices.js';
import { isMap, type Node } from 'yaml';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { parseDuration } from '../../../ground/api/duration.js';
import { checkNames, checkRoutes } from './check-pipelines.js';
import { checkScored } from './check-scored.js';
import { loadLog } from './load-log.js';
import { loadParams } from './load-params.js';
import { loadRequest } from './load-request.js';
import type { EntityType } from '../model/entities.js';
import type {
  FeatureRequirement,
  PipelineDefinition,
  PipelineLimits,
  StepDefinition,
} from '../model/pipelines.js';
import { nearest } from '../../../ground/core/nearest.js';
import { parseRequirement } from './parse-requirement.js';
import type { TypeContext } from './parse-type.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';
import { entriesOf, entryOf, itemsOf, locatedText, memberOf, spanOf, textOf } from '../yaml/tree.js';
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
  const member = (key: string): Node | undefined => memberOf(file, root, key);
  const task = member('rank') === undefined && member('score') !== undefined ? 'score' : 'rank';
  const candidateType = locatedText(file, member(task)) ?? { value: '', at: name.at };
  if (NAME_PATTERN.test(candidateType.value))
    checkCandidateType(task, candidateType, known.entityNames, diagnostics);
  if (task === 'score')
    checkScored(file, root, candidateType.value, known.entities.get(candidateType.value), diagnostics);
  const request = loadRequest(
    file,
    member('request'),
    task,
    known.entities.get(candidateType.value),
    known.entities.get('request'),
    known.entityNames,
    context,
  );
  return {
    name: name.value,
    at: name.at,
    file,
    route: locatedText(file, member('route')) ?? { value: `/api/v1/${name.value}`, at: name.at },
    task,
    candidateType,
    request,
    limits: readLimits(file, member('limits'), diagnostics),
    onStoreError: choiceOf('pipeline.on_store_error', textOf(member('on_store_error'))),
    features: readRequirements(file, member('features'), diagnostics),
    params: loadParams(file, member('params'), diagnostics),
    define: readExpressions(file, member('define')),
    components: itemsOf(member('components')).flatMap((item) => readStep(file, item) ?? []),
    answer: readExpressions(file, member('answer')),
    page: readPage(file, entryOf(file, root, 'page')?.value, diagnostics),
    log: loadLog(file, root, request, candidateType.value, known.entityNames, diagnostics),
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
  const guess = nearest(value, entities);
  diagnostics.error(
    'unknown_entity',
    at,
    `there is no entity type \`${value}\``,
    guess === undefined ? `declare it in schemas/entities/${value}.yaml` : `did you mean \`${guess}\`?`,
  );
}

function readLimits(file: SourceFile, node: Node | undefined, diagnostics: Diagnostics): PipelineLimits {
  const timeNode = memberOf(file, node, 'time');
  const time = parseDuration(textOf(timeNode) ?? '');
  if (timeNode !== undefined && time !== undefined && (time < 1 || time > MAX_TIME))
    diagnostics.error('wrong_type', spanOf(file, timeNode), '`time`: must be from 1ms to 60s');
  return {
    candidates: wholeNumber(memberOf(file, node, 'candidates')) ?? DEFAULT_CANDIDATES,
    time: time ?? DEFAULT_TIME,
  };
}

function readPage(
  file: SourceFile,
  node: Node | undefined,
  diagnostics: Diagnostics,
): PipelineDefinition['page'] {
  const sizeNode = memberOf(file, node, 'size');
  const size = wholeNumber(sizeNode);
  const givenMax = wholeNumber(memberOf(file, node, 'max_size'));
  const maxSize = givenMax ?? DEFAULT_PAGE.maxSize;
  if (size !== undefined && sizeNode !== undefined && size > maxSize)
    diagnostics.error(
      'wrong_type',
      spanOf(file, sizeNode),
      `\`size\`: the page size ${size} is larger than max_size, ${maxSize}`,
      givenMax === undefined ? `add \`max_size: ${size}\`` : 'decrease size or increase max_size',
    );
  // A small max_size without a size is not a contradiction.
  return { size: size ?? Math.min(DEFAULT_PAGE.size, maxSize), maxSize };
}

function readRequirements(
  file: SourceFile,
  node: Node | undefined,
  diagnostics: Diagnostics,
): FeatureRequirement[] {
  return itemsOf(node).flatMap((item) => parseRequirement(file, item, diagnostics) ?? []);
}

function readExpressions(file: SourceFile, node: Node | undefined): Map<string, Located<string>> {
  const definitions = new Map<string, Located<string>>();
  for (const { key, value } of entriesOf(file, node)) {
    const text = locatedText(file, value);
    if (text !== undefined && NAME_PATTERN.test(key)) definitions.set(key, text);
  }
  return definitions;
}

function readStep(file: SourceFile, node: Node): StepDefinition | undefined {
  const member = (key: string): Node | undefined => memberOf(file, node, key);
  const use = locatedText(file, member('use'));
  if (use === undefined) return undefined;
  const top = member('top');
  const count = wholeNumber(top);
  const options = member('with');
  const unscored = locatedText(file, member('unscored'));
  return {
    use,
    as: locatedText(file, member('as')),
    when: locatedText(file, member('when')),
    top: top === undefined || count === undefined ? undefined : { value: count, at: spanOf(file, top) },
    onError: choiceOf('pipeline.on_error', textOf(member('on_error'))),
    unscored: unscored && { ...unscored, value: choiceOf('pipeline.unscored', unscored.value) },
    with: isMap(options) ? options : undefined,
    at: stepSpan(file, node, use),
  };
}

/** Returns the place that represents a step: its `use`. */
function stepSpan(file: SourceFile, node: Node, use: Located<string>): Span {
  const entry = entryOf(file, node, 'use');
  return entry === undefined ? use.at : { file, start: entry.keyAt.start, end: use.at.end };
}

function wholeNumber(node: Node | undefined): number | undefined {
  const value: unknown = node !== undefined && 'value' in node ? node.value : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

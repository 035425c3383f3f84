import { resolve } from 'node:path';
import { Diagnostics, type Diagnostic } from '../diagnostics/diagnostics.js';
import { checkFeastFields } from './load-feast-source.js';
import { deepFreeze } from '../../../ground/core/freeze.js';
import { FILE_KINDS, LOADED_KINDS, type LoadedKind } from '../yaml/file-kinds.js';
import type { Environment } from '../yaml/interpolate.js';
import { loadCuration } from '../curation/load-curation.js';
import { loadEntities, PREDEFINED_TYPES } from './load-entities.js';
import { loadCounters } from './load-counters.js';
import { checkExperiments } from './check-experiments.js';
import { loadExperiments } from './load-experiments.js';
import { loadFronts } from './load-fronts.js';
import { loadEvents } from './load-events.js';
import { hideSecrets } from './hide-secrets.js';
import { loadPackages } from './load-packages.js';
import { loadPipelines } from './load-pipelines.js';
import { loadServices } from './load-services.js';
import { loadSinks } from './load-sinks.js';
import { loadSources } from './load-sources.js';
import { loadTimeZone } from './load-time-zone.js';
import { checkViewKeys, loadViews } from './load-views.js';
import { warnOfUnfollowed } from './warn-unfollowed.js';
import { warnOfUnreached } from './warn-unreached.js';
import { warnOfMisnamedFolders } from './misnamed-folders.js';
import type { ProjectConfig } from '../model/project.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import type { EntityReference, TypeContext } from './parse-type.js';
import { hasFolder, placeOf, readYamlFiles } from './project-files.js';
import type { SourceFile } from '../yaml/source.js';
import { parseFile, stemOf, type ParsedFile } from '../yaml/yaml-file.js';

export interface LoadedProject {
  /** Undefined if any diagnostic is an error. */
  readonly config: ProjectConfig | undefined;
  /**
   * The configuration without the pipelines, sinks, sources, fronts and experiments whose own files have errors. The others can still be compiled, so that all errors are reported together. Undefined if entity types or views have errors, because
   * pipelines would only repeat them.
   */
  readonly checkable: ProjectConfig | undefined;
  /**
   * The same if entity types or views have errors. Types and attributes may be missing, so only mistakes that have nothing to do
   * with them can be found: those of `APART_FROM_SCHEMAS`.
   */
  readonly partial: ProjectConfig | undefined;
  /** All diagnostics, sorted by file and place. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads and checks the YAML files in a project's folder: those of `LOADED_KINDS`, the lists of `curation`, and the kinds of
 * feedback in millrace.yaml. The content of the files never makes it
 * reject. The result is deeply frozen.
 * @param environment values for `${NAME}` in the files
 * @param reservedRoutes paths that pipelines cannot use, and folders, which end with a slash
 */
export async function loadProject(
  root: string,
  environment: Environment = process.env,
  reservedRoutes: readonly string[] = [],
): Promise<LoadedProject> {
  const diagnostics = new Diagnostics();
  const context: TypeContext = { diagnostics, references: [] };
  const files = await readFiles(root, diagnostics);
  const parse = (kind: LoadedKind): ParsedFile[] =>
    files[kind].flatMap((file) => parseFile(file, kind, environment, diagnostics) ?? []);

  const [parsedEntities, parsedViews] = [parse('entity'), parse('view')];
  const parsedCounters = parse('counter');
  const entities = loadEntities(parsedEntities, context);
  const views = loadViews(parsedViews, context, entities);
  const entityNames = new Set([...entities.keys(), ...declaredNames(files.entity, parsedEntities)]);
  const viewNames = new Set([
    ...declaredNames(files.view, parsedViews),
    ...declaredNames(files.counter, parsedCounters),
  ]);
  const events = await loadEvents(root, environment, entityNames, diagnostics);
  const counters = loadCounters(parsedCounters, { entities, entityNames, events, views }, context);
  const packages = await loadPackages(root, environment, diagnostics);
  const services = await loadServices(root, environment, diagnostics);
  const known = { entities, entityNames, viewNames, reservedRoutes };
  const pipelines = loadPipelines(parse('pipeline'), known, context);
  for (const file of [...files.sink, ...files.source, ...files.view]) hideSecrets(file);
  const sinks = loadSinks(parse('sink'), diagnostics);
  const sources = loadSources(parse('source'), { ...known, views, events, pipelines }, diagnostics);
  warnOfUnreached(counters, sources, events, diagnostics);
  warnOfUnfollowed(counters, pipelines, entities, diagnostics);
  const experiments = loadExperiments(parse('experiment'), diagnostics);
  const pipelineNames = new Set(files.pipeline.map(stemOf));
  checkExperiments(experiments, { pipelines, pipelineNames, events }, diagnostics);
  const fronts = loadFronts(parse('front'), { ...known, pipelines, pipelineNames }, diagnostics);
  const timeZone = await loadTimeZone(root, environment, diagnostics);
  const curation = await loadCuration(root, timeZone, diagnostics);
  checkReferences(context.references, entityNames, diagnostics);
  checkViewKeys(views, entities, diagnostics);
  checkFeastFields(views, diagnostics);
  await warnOfMisnamedFolders(root, diagnostics);
  if (files.pipeline.length === 0 && !diagnostics.hasErrors)
    await reportNoPipelines(root, files.entity.length + files.view.length > 0, diagnostics);

  const wrong = new Set(
    diagnostics.all.flatMap(({ severity, at }) => (severity === 'error' ? at.file.path : [])),
  );
  const whole = {
    root: resolve(root),
    entities,
    views,
    counters,
    pipelines,
    sinks,
    sources,
    fronts,
    experiments,
    curation,
    events,
    timeZone,
    packages,
    services,
  };
  const schemasSound = ![...wrong].some((path) => path.startsWith('schemas/'));
  const rest = withoutWrong(whole, wrong);
  return Object.freeze({
    config: deepFreeze(wrong.size === 0 ? whole : undefined),
    checkable: deepFreeze(schemasSound ? rest : undefined),
    partial: deepFreeze(schemasSound ? undefined : rest),
    diagnostics: diagnostics.all,
  });
}

/** A project without the files that have errors. */
function withoutWrong(whole: ProjectConfig, wrong: ReadonlySet<string>): ProjectConfig {
  const sound = <T extends { readonly file: SourceFile }>(all: readonly T[]): T[] =>
    all.filter(({ file }) => !wrong.has(file.path));
  return {
    ...whole,
    pipelines: sound(whole.pipelines),
    sinks: sound(whole.sinks),
    sources: sound(whole.sources),
    fronts: sound(whole.fronts),
    experiments: sound(whole.experiments),
    // A step that names a list with errors is not wrong itself.
    curation: whole.curation.map((list) => (wrong.has(list.file.path) ? { ...list, rules: [] } : list)),
  };
}

/**
 * The part of a project that commands for data need: entity types and views, independent of models and plugins. Pipelines
 * with errors are missing.
 */
export interface LoadedSchemas {
  /** Undefined if `diagnostics` contains errors. */
  readonly config:
    | Pick<ProjectConfig, 'entities' | 'views' | 'counters' | 'events' | 'pipelines' | 'experiments'>
    | undefined;
  /** All diagnostics of the files in `schemas/`. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads and checks the entity types and views of a project. The content of the files never makes it reject. */
export async function loadSchemas(
  root: string,
  environment: Environment = process.env,
): Promise<LoadedSchemas> {
  const diagnostics = new Diagnostics();
  if (!(await hasFolder(root, '.'))) reportNoFolder(root, diagnostics);
  const { checkable, diagnostics: all } = await loadProject(root, environment);
  diagnostics.addAll(all.filter(({ at }) => at.file.path.startsWith('schemas/')));
  return { config: diagnostics.hasErrors ? undefined : checkable, diagnostics: diagnostics.all };
}

/** Reads the files of all kinds that `loadProject` checks. */
async function readFiles(root: string, diagnostics: Diagnostics): Promise<Record<LoadedKind, SourceFile[]>> {
  const read = LOADED_KINDS.map(
    async (kind) => [kind, await readYamlFiles(root, FILE_KINDS[kind].folder, diagnostics)] as const,
  );
  return Object.fromEntries(await Promise.all(read)) as Record<LoadedKind, SourceFile[]>;
}

/** A type or view whose file has errors still counts as declared, so that its uses are not reported too. */
function declaredNames(files: readonly SourceFile[], parsed: readonly ParsedFile[]): Set<string> {
  return new Set([...files.map(stemOf), ...parsed.flatMap(({ alias }) => alias ?? [])]);
}

function checkReferences(
  references: readonly EntityReference[],
  known: ReadonlySet<string>,
  diagnostics: Diagnostics,
): void {
  for (const { entity, at } of references) {
    if (known.has(entity)) continue;
    diagnostics.error(
      'unknown_entity',
      at,
      `there is no entity type \`${entity}\``,
      didYouMean(entity, known) ??
        `declare it in schemas/entities/${entity}.yaml; these types exist without a file: ${PREDEFINED_TYPES.join(', ')}`,
    );
  }
}

/**
 * A project that declares entity types or feature views can serve these without a pipeline. A project that declares
 * nothing is an error.
 */
async function reportNoPipelines(root: string, hasSchemas: boolean, diagnostics: Diagnostics): Promise<void> {
  const at = placeOf('pipelines');
  if (!(await hasFolder(root, '.'))) {
    reportNoFolder(root, diagnostics);
    return;
  }
  const message = (await hasFolder(root, 'pipelines'))
    ? 'the folder pipelines/ contains no pipeline'
    : 'the project has no folder pipelines/';
  const help = 'a pipeline is a file such as pipelines/ranking.yaml';
  if (hasSchemas)
    diagnostics.warning(
      'missing_file',
      at,
      `${message}: the service offers entities and features, but no ranking`,
      help,
    );
  else diagnostics.error('missing_file', at, message, help);
}

function reportNoFolder(root: string, diagnostics: Diagnostics): void {
  diagnostics.error(
    'missing_file',
    placeOf('pipelines'),
    `the project folder ${root} does not exist`,
    'pass the folder that contains pipelines/ and schemas/',
  );
}

import { MillraceError } from '../../../ground/api/errors.js';
import type { RequestListener } from 'node:http';
import { adviceOf, type StepAdvice } from '../../../request/compile/advice.js';
import { unknownIdWarnings } from '../connect/unknown-ids.js';
import type { Diagnostic } from '../../../project/config/diagnostics/diagnostics.js';
import { eventNumbers } from '../../../project/config/project/load-events.js';
import { planInService } from '../../../request/compile/plan-columns.js';
import type { Plan } from '../../../request/compile/plan.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import { registerGeneration } from '../container/register-generation.js';
import { TOKENS, type Container } from '../container/tokens.js';
import { Drafts } from '../../../state/curation/drafts.js';
import { ListWriter, type ListWriterParts } from '../../../state/curation/list-writer.js';
import { CurationService } from '../../../state/curation/curation-service.js';
import { CurationWatch } from '../../../state/curation/curation-watch.js';
import { HeldLog, RetrievalLog } from './held-log.js';
import { ExperimentStates } from '../../../request/experiments/experiment-states.js';
import { Stops } from '../../../request/experiments/stops.js';
import type { Cards } from '../../../state/index/cards.js';
import type { EntityIndex } from '../../../state/index/entity-index.js';
import type { Scans } from '../../../state/index/export/scans.js';
import type { FeatureStore } from '../../../state/index/feature-store.js';
import type { OnlineFeatures } from '../../../state/index/online-features.js';
import type { Feedback } from '../../feedback/feedback.js';
import type { ComparedProject } from '../../compare/comparisons.js';
import { Workshop } from '../../compare/workshop.js';
import { comparingOf } from '../comparing-of.js';
import { Judging } from '../../judging/judging.js';
import { CounterRebuilds } from '../../feedback/counter-rebuilds.js';
import type { Forget } from '../../../state/privacy/forget.js';
import { createHttpApp } from '../../http/app.js';
import type { Audience } from '../../http/edge/audience.js';
import type { HttpServices } from '../../http/services.js';
import { describeError } from '../../../ground/core/describe-error.js';
import { checkExploreSalt } from '../../../request/pipeline/components/check-explore-salt.js';
import { checkLogSalt, logHasherOf } from '../../../request/pipeline/log/log-hasher.js';
import { DecodedHistories } from '../../../request/resident/decoded-histories.js';
import { mountPipeline } from '../../../request/pipeline/pipeline.js';
import { rehearse } from '../../../request/pipeline/rehearse.js';
import type { Pipeline } from '../../../request/pipeline/types.js';
import { DEFAULT_EVENT_CODES } from '../../../state/store/event-codes.js';
import { Usage } from '../../../ground/core/usage.js';
import type { ResidentTables } from '../../../request/resident/resident-tables.js';
import { idHasherOf } from '../../../project/settings/privacy-settings.js';
import { version as millraceVersion } from '../../../project/settings/version.js';
import { ProjectInvalidError, type CompiledProject } from './compile-project.js';
import { projectVersion } from './project-version.js';

/** Much longer than a request needs to arrive, run and be sent. */
const RETIRE_MS = 10 * 60_000;

/** Ids of one look-up in the index. */
const MOST_LOOKED_UP = 500;

/** A model in service. */
export interface ServedModel {
  readonly pipeline: string;
  readonly step: string;
  readonly version: string;
}

/**
 * One loaded version of a project, compiled, wired and ready to answer. A reload replaces all of it. A request only
 * uses the pipelines, types, routes and reference of one generation.
 */
export interface Generation {
  readonly config: ProjectConfig;
  readonly pipelines: readonly Pipeline[];
  readonly models: readonly ServedModel[];
  readonly entities: EntityIndex;
  readonly cards: Cards;
  readonly features: FeatureStore;
  readonly scans: Scans;
  readonly online: OnlineFeatures;
  readonly feedback: Feedback;
  readonly forget: Forget;
  readonly experiments: ExperimentStates;
  readonly resident: ResidentTables;
  readonly warnings: readonly Diagnostic[];
  readonly advice: readonly StepAdvice[];
  /** See `projectVersion`. */
  readonly version: string;
  /** The time of its creation, in epoch milliseconds. */
  readonly loadedAt: number;
  /** See `CompiledProject.files`. */
  readonly files: CompiledProject['files'];
  /** See `CompiledProject.optionFiles`. */
  readonly optionFiles: CompiledProject['optionFiles'];
  /** See `CompiledProject.code`. */
  readonly code: CompiledProject['code'];
  /** See `CompiledProject.release`. */
  readonly release: CompiledProject['release'];
  /** See `CompiledProject.sinks`. */
  readonly sinks: CompiledProject['sinks'];
  /** See `CompiledProject.sources`. */
  readonly sources: CompiledProject['sources'];
  /** See `CompiledProject.curation`. */
  readonly curation: CompiledProject['curation'];
  /**
   * Returns its routes, which are created once.
   * @param audience selects the routes for one listener; by default all routes
   * @throws MillraceError project_invalid if two routes are the same
   */
  http(audience?: Audience): RequestListener;
  /** Runs its pipelines on artificial requests, at most for this time, see `rehearse`. */
  warmUp(limitMs: number): Promise<void>;
  /** Closes it when nothing uses it any more, or after `limitMs`. Longer work, such as an effect, is abandoned. */
  retire(limitMs?: number): Promise<void>;
}

/**
 * Wires a compiled project into the process. If that fails, it closes the project.
 * @param container the container of the process
 * @throws ProjectInvalidError; MillraceError store_unavailable, invalid_setting
 */
export async function createGeneration(container: Container, compiled: CompiledProject): Promise<Generation> {
  const { config, diagnostics, pipelines } = compiled;
  const services = container.createChildContainer();
  let release = (): Promise<void> => Promise.resolve();
  try {
    if (config === undefined || diagnostics.some(({ severity }) => severity === 'error'))
      throw new ProjectInvalidError(diagnostics);
    checkLogSalt(config.pipelines, services.resolve(TOKENS.settings));
    const plans = pipelines.map(({ plan }) => plan);
    // Commands and tests rank without exploration, and need no secret.
    if (services.resolve(TOKENS.stops) !== undefined)
      checkExploreSalt(plans, services.resolve(TOKENS.settings));
    release = await registerGeneration(services, config, plans, compiled);
    await services.resolve(TOKENS.stops)?.follow(config.experiments.map(({ name }) => name));
    compiled.curation.onPlans = () => {
      const wider = plans.map((plan) => planInService(plan, undefined));
      services.resolve(TOKENS.resident).extend([...new Set([...plans, ...wider])]);
    };
    const watch = new CurationWatch({
      lists: compiled.curation,
      root: config.root,
      store: services.resolve(TOKENS.store),
      prefix: services.resolve(TOKENS.settings).prefix,
      logger: services.resolve(TOKENS.logger),
      pollMs: services.resolve(TOKENS.settings).reloadPollMs,
    });
    await watch.start();
    // Whoever edits the files sees at once what the index does not hold.
    const found =
      services.resolve(TOKENS.settings).reload === 'watch'
        ? await unknownIdWarnings(services, pipelines, config.entities)
        : [];
    const checked = { ...compiled, diagnostics: [...diagnostics, ...found] };
    return wire(services, checked, config, watch, release);
  } catch (error) {
    await compiled.close();
    await release();
    throw error;
  }
}

/** Finds the ids of a list that the index does not hold, as candidates of the pipelines that apply the list. */
function unknownIdsOf(
  { curation, pipelines }: CompiledProject,
  entities: EntityIndex,
): ListWriterParts['unknownIds'] {
  return async (list, ids) => {
    const names = new Set(curation.pipelinesOf(list));
    const types = new Set(
      pipelines.flatMap(({ name, plan }) => (names.has(name) ? [plan.candidateType.name] : [])),
    );
    if (types.size === 0) return [];
    const unknown = new Set(ids);
    for (const entity_type of types)
      for (let first = 0; first < ids.length; first += MOST_LOOKED_UP) {
        const { entities: found } = await entities.get({
          entity_type,
          entity_ids: ids.slice(first, first + MOST_LOOKED_UP),
        });
        for (const [id, entity] of Object.entries(found)) if (entity !== null) unknown.delete(id);
      }
    return [...unknown];
  };
}

/** Makes the parts of a generation, and what listens and ends with it. */
function wire(
  services: Container,
  compiled: CompiledProject,
  config: ProjectConfig,
  watch: CurationWatch,
  release: () => Promise<void>,
): Generation {
  const entities = services.resolve(TOKENS.entityIndex);
  const online = services.resolve(TOKENS.onlineFeatures);
  compiled.reader.bind({ entities, online, types: config.entities });
  const plans = compiled.pipelines.map(({ plan }) => plan);
  const stops = services.resolve(TOKENS.stops) ?? storeStops(services);
  const parts: GenerationParts = {
    services,
    compiled,
    config,
    usage: new Usage(),
    version: projectVersion(config, compiled.files),
    experiments: new ExperimentStates(config.experiments, stops, services.resolve(TOKENS.clock)),
  };
  const { usage, version, experiments } = parts;
  const pipelines = mountPipelines(parts, true);
  const { diagnostics: warnings, files, optionFiles, code, sinks, sources, curation } = compiled;
  const features = services.resolve(TOKENS.featureStore);
  const feedback = services.resolve(TOKENS.feedback);
  let retired: Promise<void> | undefined;
  const retire = async (limitMs: number): Promise<void> => {
    const logger = services.resolve(TOKENS.logger);
    watch.stop();
    if (!(await usage.idle(limitMs)))
      logger.warn({ project_version: version, waited_ms: limitMs }, 'closed while something still used it');
    for (const { recording } of [feedback, features]) await recording.idle(limitMs);
    for (const error of await compiled.close())
      logger.warn({ error: describeError(error) }, 'a component could not be closed');
    await release();
  };
  return {
    config,
    pipelines,
    models: plans.flatMap(modelsOf),
    entities,
    cards: services.resolve(TOKENS.cards),
    features,
    scans: services.resolve(TOKENS.scans),
    online,
    feedback,
    forget: services.resolve(TOKENS.forget),
    experiments,
    resident: services.resolve(TOKENS.resident),
    warnings,
    advice: adviceOf(plans),
    version,
    loadedAt: Date.now(),
    ...{ files, optionFiles, code, sinks, sources, curation },
    release: compiled.release,
    http: listenersOf(parts, pipelines, watch),
    warmUp: async (limitMs) => {
      const until = performance.now() + limitMs;
      const used = { layouts: services.resolve(TOKENS.layouts), now: services.resolve(TOKENS.clock) };
      for (const plan of plans) await rehearse(plan, used, until);
    },
    retire: (limitMs = RETIRE_MS) => (retired ??= retire(limitMs)),
  };
}

/** What the parts of a generation are made of. */
interface GenerationParts {
  readonly services: Container;
  readonly compiled: CompiledProject;
  readonly config: ProjectConfig;
  readonly usage: Usage;
  readonly version: string;
  readonly experiments: ExperimentStates;
}

/** For a process that follows no stops. */
function storeStops(services: Container): Stops {
  return new Stops(services.resolve(TOKENS.store), services.resolve(TOKENS.settings).prefix);
}

function modelsOf({ definition, steps }: Plan): ServedModel[] {
  return steps.flatMap(({ as, version }) =>
    version === undefined ? [] : [{ pipeline: definition.name, step: as, version }],
  );
}

/** @param isLive whether requests take part in experiments */
function mountPipelines(
  { services, compiled, config, usage, version }: GenerationParts,
  isLive: boolean,
): Pipeline[] {
  const { pipelines, filters } = compiled;
  const logger = services.resolve(TOKENS.logger);
  const settings = services.resolve(TOKENS.settings);
  const codes = services.resolve(TOKENS.eventCodes);
  const stops = services.resolve(TOKENS.stops);
  const planOf = (name: string): Plan => {
    const found = pipelines.find(({ plan }) => plan.definition.name === name);
    if (found === undefined) throw new Error(`there is no plan of the pipeline ${name}`);
    return found.plan;
  };
  const numbers = codes === DEFAULT_EVENT_CODES ? undefined : codes.numbersOf(eventNumbers(config.events));
  const histories = new DecodedHistories(numbers, services.resolve(TOKENS.clock));
  const held = new HeldLog(logger);
  const failures = new RetrievalLog(logger);
  const metrics = services.resolve(TOKENS.metrics);
  const cards = services.resolve(TOKENS.cards);
  const columns = services.resolve(TOKENS.conditionColumns);
  return pipelines.map(({ plan, experiments: live }) =>
    mountPipeline(plan, config.entities, {
      store: services.resolve(TOKENS.store),
      layouts: services.resolve(TOKENS.layouts),
      resident: services.resolve(TOKENS.resident),
      sources: services.resolve(TOKENS.featureSources),
      usage,
      ...(filters === undefined ? {} : { index: { filters, columns, most: settings.indexCandidates } }),
      hasher: idHasherOf(settings),
      isLax: settings.accept === 'lax',
      exploreSalt: stops === undefined ? '' : settings.exploreSalt,
      records: {
        ledger: services.resolve(TOKENS.ledger),
        hasherOf: (definition) => logHasherOf(definition, settings),
        projectVersion: version,
        isRolledBack: compiled.release !== undefined,
        onError: (error) =>
          logger.error({ error: describeError(error) }, 'a request could not be recorded in the ledger'),
      },
      live:
        !isLive || stops === undefined
          ? undefined
          : live && { live, isStopped: (experiment) => stops.has(experiment), planOf },
      historyRetention: settings.historyRetention,
      histories,
      trial: (name, work) => services.resolve(TOKENS.trials).run(version, name, work),
      now: services.resolve(TOKENS.clock),
      cards,
      onMisspelt: (pipeline, { field, near }) =>
        logger.warn(
          { pipeline, field, near },
          'a field of a request is ignored; did you mean the one near it?',
        ),
      onNoCards: (message) => logger.warn({ pipeline: plan.definition.name }, message),
      onEffectError: (step, error) =>
        logger.warn({ step: step.as, error: describeError(error) }, 'an effect failed'),
      onRetrieved: (reports) => {
        metrics.retrieved(plan.definition.name, reports);
        failures.report(plan.definition.name, reports);
      },
      onHeld: (step, ms) => held.report(plan.definition.name, step, ms),
    }),
  );
}

/** Creates the routes of each audience when they are first asked for. */
function listenersOf(
  parts: GenerationParts,
  pipelines: readonly Pipeline[],
  watch: CurationWatch,
): Generation['http'] {
  const httpServices = httpServicesOf(parts, pipelines, watch);
  const listeners = new Map<Audience | undefined, RequestListener>();
  return (audience) => {
    let listener = listeners.get(audience);
    if (listener === undefined) {
      // Only a process that listens opens the file of audit lines.
      const auditLog = parts.services.resolve(TOKENS.auditLog);
      listeners.set(audience, (listener = createHttpApp({ ...httpServices, auditLog }, audience)));
    }
    return listener;
  };
}

/** The store as /readyz asks it: with the sources of features, and its data if they are required. */
function pingedStore(services: Container): HttpServices['store'] {
  const store = services.resolve(TOKENS.store);
  const sources = services.resolve(TOKENS.featureSources);
  const monitor = services.resolve(TOKENS.storeMonitor);
  const settings = services.resolve(TOKENS.settings);
  return {
    async ping() {
      await Promise.all([store.ping(), sources.ping()]);
      const emptied = monitor.warnings().find(({ code }) => code === 'store_emptied');
      if (settings.requireData && emptied !== undefined)
        throw new MillraceError('store_unavailable', emptied.detail);
    },
    warnings: () => monitor.warnings(),
  };
}

/** Comparisons of this generation's pipelines, and looks at single rankings; none if the process compares nothing. */
function comparing(parts: GenerationParts, drafts: Drafts): Pick<HttpServices, 'comparisons' | 'workshop'> {
  const { services, config, usage } = parts;
  const comparisons = services.resolve(TOKENS.comparisons);
  if (comparisons === undefined) return {};
  const project: ComparedProject = {
    settings: services.resolve(TOKENS.settings),
    ...{ config, usage, drafts, pipelines: mountPipelines(parts, false) },
    entities: services.resolve(TOKENS.entityIndex),
    cards: services.resolve(TOKENS.cards),
  };
  const workshop = new Workshop(services.resolve(TOKENS.logger), comparisons.load);
  return comparingOf(comparisons, workshop, project.settings, () => project);
}

function rebuildsOf({ services, config }: GenerationParts): CounterRebuilds {
  const settings = services.resolve(TOKENS.settings);
  return new CounterRebuilds({
    counters: config.counters,
    types: config.entities,
    kinds: config.events,
    store: services.resolve(TOKENS.store),
    layouts: services.resolve(TOKENS.layouts),
    prefix: settings.prefix,
    ledger: settings.ledgerDir,
    hashIds: settings.hashIds,
    log: services.resolve(TOKENS.logger),
  });
}

function httpServicesOf(
  parts: GenerationParts,
  pipelines: readonly Pipeline[],
  watch: CurationWatch,
): HttpServices {
  const { services, compiled, config, usage, version, experiments } = parts;
  const store = services.resolve(TOKENS.store);
  const settings = services.resolve(TOKENS.settings);
  const entities = services.resolve(TOKENS.entityIndex);
  const writer = new ListWriter({
    lists: compiled.curation,
    watch,
    store,
    prefix: settings.prefix,
    unknownIds: unknownIdsOf(compiled, entities),
  });
  const drafts = new Drafts(writer, services.resolve(TOKENS.clock));
  return {
    ...comparing(parts, drafts),
    judging: new Judging({
      ...{ store, config, pipelines, prefix: settings.prefix, now: services.resolve(TOKENS.clock) },
      cards: services.resolve(TOKENS.cards),
      warn: (message) => services.resolve(TOKENS.logger).warn(message),
    }),
    live: services.resolve(TOKENS.live),
    curation: new CurationService(writer),
    drafts,
    entities,
    features: services.resolve(TOKENS.featureStore),
    feastWrites: services.resolve(TOKENS.feastWrites),
    scans: services.resolve(TOKENS.scans),
    online: services.resolve(TOKENS.onlineFeatures),
    feedback: services.resolve(TOKENS.feedback),
    forget: services.resolve(TOKENS.forget),
    counters: rebuildsOf(parts),
    experiments,
    pipelines,
    fronts: compiled.fronts,
    store: pingedStore(services),
    shared: compiled.shared,
    metrics: services.resolve(TOKENS.metrics),
    instance: services.resolve(TOKENS.instance),
    keys: services.resolve(TOKENS.keys),
    sessions: services.resolve(TOKENS.sessions),
    invitations: services.resolve(TOKENS.invitations),
    previewLinks: services.resolve(TOKENS.previewLinks),
    tracing: services.resolve(TOKENS.tracing),
    entityTypes: config.entities,
    views: config.views,
    curationLists: config.curation.map(({ name }) => name),
    counterNames: [...config.counters.keys()],
    experimentNames: config.experiments.map(({ name }) => name),
    eventKinds: config.events,
    logger: services.resolve(TOKENS.logger),
    version: millraceVersion,
    projectVersion: version,
    release: compiled.release,
    watched: services.resolve(TOKENS.watched),
    releases: services.resolve(TOKENS.releases),
    projectName: settings.sources.projectName,
    watches: settings.reload === 'watch',
    workbench: settings.workbench,
    imageHosts: settings.imageHosts,
    bodyMemory: services.resolve(TOKENS.bodyMemory),
    limits: { rankingBytes: settings.rankingBytes, uploadBytes: settings.uploadBytes },
    times: { onlineMs: settings.onlineMs, requestMs: settings.requestMs },
    admission: services.resolve(TOKENS.admission),
    edge: services.resolve(TOKENS.edge),
    usage,
  };
}

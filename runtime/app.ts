import 'reflect-metadata'; // tsyringe asks for it before anything of it is loaded
import type { Express } from 'express';
import type { Logger } from 'pino';
import { container as rootContainer } from 'tsyringe';
import { MillraceError } from './api/errors.js';
import { compilePipeline } from './compile/compile-pipeline.js';
import type { Plan } from './compile/plan.js';
import type { Diagnostic } from './config/diagnostics.js';
import { Diagnostics } from './config/diagnostics.js';
import { loadProject } from './config/load-project.js';
import type { ProjectConfig } from './config/model.js';
import { registerPlugins } from './container/plugins.js';
import { registerServices, type Overrides } from './container/services.js';
import { TOKENS } from './container/tokens.js';
import type { EntityIndex } from './entities/entity-index.js';
import type { FeatureStore } from './features/feature-store.js';
import type { OnlineFeatures } from './features/online-features.js';
import { createHttpApp } from './http/app.js';
import { describeError } from './http/describe-error.js';
import { mountPipeline } from './pipeline/pipeline.js';
import { describePlan } from './pipeline/describe.js';
import type { Pipeline, PlanDescription } from './pipeline/types.js';
import type { ResidentTables } from './resident/resident-tables.js';
import { SETTINGS, type Settings } from './settings.js';
import type { Store } from './store/store.js';
import { version } from './version.js';

/** A project with errors. They are in `diagnostics`, warnings too. */
export class ProjectInvalidError extends MillraceError {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const [first] = errors;
    const count = `the project has ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}`;
    super(
      'project_invalid',
      first === undefined ? count : `${count}; the first: ${placeOf(first)}: ${first.message}`,
    );
    this.name = 'ProjectInvalidError';
  }
}

function placeOf({ at }: Diagnostic): string {
  const { line, column } = at.file.position(at.start);
  return `${at.file.path}:${line}:${column}`;
}

export interface CompiledPipeline {
  readonly name: string;
  readonly plan: Plan;
  describe(): PlanDescription;
}

export interface CompiledProject {
  /** Undefined if the files could not be read; `diagnostics` says why. */
  readonly config: ProjectConfig | undefined;
  /** The pipelines without errors. */
  readonly pipelines: readonly CompiledPipeline[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A project, wired and ready to answer. */
export interface App {
  readonly config: ProjectConfig;
  readonly pipelines: readonly Pipeline[];
  readonly entities: EntityIndex;
  readonly features: FeatureStore;
  readonly online: OnlineFeatures;
  readonly store: Store;
  readonly resident: ResidentTables;
  readonly logger: Logger;
  readonly warnings: readonly Diagnostic[];
  http(): Express;
  close(): Promise<void>;
}

/** Loads, checks and compiles a project: exactly what start-up does before it touches the store. */
export async function compileProject(
  root: string,
  prefix: string = SETTINGS.prefix.default,
): Promise<CompiledProject> {
  const loaded = await loadProject(root);
  const diagnostics = new Diagnostics();
  diagnostics.addAll(loaded.diagnostics);
  const pipelines: CompiledPipeline[] = [];
  // Where only some pipelines are wrong, the others are compiled all the same: every error is told at once.
  const { checkable } = loaded;
  if (checkable !== undefined) {
    const plugins = await registerPlugins(rootContainer.createChildContainer(), root);
    for (const definition of checkable.pipelines) {
      const plan = await compilePipeline(definition, checkable, plugins, { prefix }, diagnostics);
      if (plan !== undefined)
        pipelines.push({ name: definition.name, plan, describe: () => describePlan(plan) });
    }
  }
  return { config: loaded.config, pipelines, diagnostics: diagnostics.all };
}

/**
 * Load → validate → compile → connect the store → wire. Nothing listens yet.
 * @throws ProjectInvalidError before the store is touched; MillraceError store_unavailable, data_folder_in_use
 */
export async function createApp(settings: Settings, overrides: Overrides = {}): Promise<App> {
  const {
    config,
    pipelines: compiled,
    diagnostics,
  } = await compileProject(settings.project, settings.prefix);
  if (config === undefined || diagnostics.some(({ severity }) => severity === 'error')) {
    throw new ProjectInvalidError(diagnostics);
  }
  const services = await registerServices(
    rootContainer.createChildContainer(),
    settings,
    config,
    compiled.map(({ plan }) => plan),
    overrides,
  );
  const resident = services.resolve(TOKENS.resident);
  const store = services.resolve(TOKENS.store);
  const logger = services.resolve(TOKENS.logger);
  const entities = services.resolve(TOKENS.entityIndex);
  const features = services.resolve(TOKENS.featureStore);
  const sources = services.resolve(TOKENS.featureSources);
  const online = services.resolve(TOKENS.onlineFeatures);
  const pipelines = compiled.map(({ plan }) =>
    mountPipeline(plan, config.entities, {
      store,
      layouts: services.resolve(TOKENS.layouts),
      resident,
      sources,
      now: services.resolve(TOKENS.clock),
      onEffectError: (step, error) =>
        logger.warn({ step: step.as, error: describeError(error) }, 'an effect failed'),
    }),
  );
  resident.start();
  return {
    config,
    pipelines,
    entities,
    features,
    online,
    store,
    resident,
    logger,
    warnings: diagnostics,
    http: () =>
      createHttpApp({
        entities,
        features,
        online,
        pipelines,
        store: {
          async ping() {
            await Promise.all([store.ping(), sources.ping()]);
          },
        },
        resident,
        entityTypes: config.entities,
        views: config.views,
        logger,
        version,
        limits: { rankingBytes: settings.rankingBytes, uploadBytes: settings.uploadBytes },
      }),
    async close() {
      resident.close();
      await Promise.all([store.close(), sources.close()]);
    },
  };
}

import 'reflect-metadata'; // tsyringe requires this import before any of its own modules is loaded
import { container as rootContainer } from 'tsyringe';
import { loadSchemas } from '../../project/config/project/load-project.js';
import { ExperimentStates } from '../../request/experiments/experiment-states.js';
import { Stops } from '../../request/experiments/stops.js';
import type { EntityIndex } from '../../state/index/entity-index.js';
import type { Scans } from '../../state/index/export/scans.js';
import type { FeatureSources } from '../../state/index/feature-source.js';
import type { FeatureStore } from '../../state/index/feature-store.js';
import type { OnlineFeatures } from '../../state/index/online-features.js';
import { ReaderSources } from '../../state/readers/reader-sources.js';
import type { Forget } from '../../state/privacy/forget.js';
import type { Settings } from '../../project/settings/settings.js';
import { openSourcesOf, registerData, registerOnline } from './container/register-generation.js';
import { registerServices, type Overrides } from './container/services.js';
import { TOKENS } from './container/tokens.js';
import { ProjectInvalidError } from './project/compile-project.js';
import { LEDGER_MS, openSinks } from './project/recording.js';

/** Stores entities and features, but runs no pipeline. */
export interface DataApp {
  readonly entities: EntityIndex;
  readonly features: FeatureStore;
  /** Connects the sources of features outside the store at the first read. */
  readonly online: Pick<OnlineFeatures, 'read'>;
  readonly scans: Scans;
  readonly forget: Forget;
  readonly experiments: ExperimentStates;
  close(): Promise<void>;
}

/**
 * Loads the schemas, connects the store and wires the services, for commands that store data. Pipelines, plugins and
 * model files may have errors or be missing.
 * @throws ProjectInvalidError before the store is touched; MillraceError store_unavailable, data_folder_in_use
 */
export async function createDataApp(settings: Settings, overrides: Overrides = {}): Promise<DataApp> {
  const { config, diagnostics } = await loadSchemas(settings.project);
  if (config === undefined) throw new ProjectInvalidError(diagnostics);
  const isRecorded = [...config.views.values()].some(({ history }) => history === true);
  const sinks = isRecorded && overrides.ledger === undefined ? await openSinks(settings) : undefined;
  const services = await registerServices(rootContainer.createChildContainer(), settings, {
    ...overrides,
    ...(sinks === undefined ? {} : { ledger: sinks.ledger }),
  });
  registerData(services, config);
  const store = services.resolve(TOKENS.store);
  const features = services.resolve(TOKENS.featureStore);
  let sources: Promise<FeatureSources> | undefined;
  const openOnline = async (): Promise<OnlineFeatures> => {
    sources ??= openSourcesOf(config.views, settings).then((others) => {
      const open = new ReaderSources({
        readers: [],
        caches: new Map(),
        others,
        clock: services.resolve(TOKENS.clock),
      });
      services.register(TOKENS.featureSources, { useValue: open });
      return open;
    });
    await sources;
    return services.resolve(TOKENS.onlineFeatures);
  };
  registerOnline(services, config);
  return {
    online: { read: async (...args) => (await openOnline()).read(...args) },
    entities: services.resolve(TOKENS.entityIndex),
    features,
    scans: services.resolve(TOKENS.scans),
    forget: services.resolve(TOKENS.forget),
    experiments: new ExperimentStates(
      config.experiments,
      new Stops(store, settings.prefix),
      services.resolve(TOKENS.clock),
    ),
    close: async () => {
      await features.recording.idle(LEDGER_MS);
      await sinks?.ledger.close(LEDGER_MS);
      await sources?.then(
        (open) => open.close(),
        () => undefined,
      );
      await store.close();
    },
  };
}

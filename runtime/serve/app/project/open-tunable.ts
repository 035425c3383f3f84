import 'reflect-metadata'; // tsyringe requires this import before any of its own modules is loaded
import { container as rootContainer } from 'tsyringe';
import type { EntityIndex } from '../../../state/index/entity-index.js';
import type { FeatureStore } from '../../../state/index/feature-store.js';
import type { Feedback } from '../../feedback/feedback.js';
import { readersOf } from '../../../request/pipeline/hydrate/source-cells.js';
import type { PipelineServices } from '../../../request/pipeline/pipeline-services.js';
import { registerGeneration } from '../container/register-generation.js';
import { registerServices, type Overrides } from '../container/services.js';
import { TOKENS } from '../container/tokens.js';
import { compileTunable, type CompiledTunable } from './compile-tunable.js';

/** One pipeline on the store of the settings, compiled so that its params can be changed. It does not serve. */
export interface OpenTunable extends CompiledTunable {
  readonly services: PipelineServices;
  readonly entities: EntityIndex;
  readonly features: FeatureStore;
  readonly feedback: Feedback;
}

/**
 * Compiles a pipeline for tuning, and connects the store.
 * @throws ProjectInvalidError and MillraceError unknown_pipeline, before the store is touched; MillraceError
 *   store_unavailable, data_folder_in_use
 */
export async function openTunable(
  settings: Parameters<typeof compileTunable>[0],
  pipeline: string,
  overrides: Overrides = {},
): Promise<OpenTunable> {
  const compiled = await compileTunable(settings, pipeline);
  const { config, plan, version, leftModels } = compiled;
  let closeStore = (): Promise<void> => Promise.resolve();
  let release = (): Promise<void> => Promise.resolve();
  const close = async (): Promise<void> => {
    await compiled.close();
    await release();
    await closeStore();
  };
  try {
    const root = await registerServices(rootContainer.createChildContainer(), settings, overrides);
    const store = root.resolve(TOKENS.store);
    closeStore = () => store.close();
    const services = root.createChildContainer();
    release = await registerGeneration(services, config, [plan]);
    const sources = services.resolve(TOKENS.featureSources);
    return {
      config,
      plan,
      services: {
        store,
        layouts: services.resolve(TOKENS.layouts),
        now: services.resolve(TOKENS.clock),
        readers: readersOf(plan, sources),
        isLax: settings.accept === 'lax',
      },
      entities: services.resolve(TOKENS.entityIndex),
      features: services.resolve(TOKENS.featureStore),
      feedback: services.resolve(TOKENS.feedback),
      version,
      leftModels,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

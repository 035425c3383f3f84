import 'reflect-metadata'; // tsyringe requires this import before any of its own modules is loaded
import { container as rootContainer } from 'tsyringe';
import { audiencesOf } from '../../http/edge/audience.js';
import type { Settings } from '../../../project/settings/settings.js';
import { registerServices, type Overrides } from '../container/services.js';
import { TOKENS, type Container } from '../container/tokens.js';
import { ProjectInvalidError, type CompiledProject } from './compile-project.js';
import { createGeneration, type Generation } from './generation.js';

/** Opens a service. */
export interface OpenOptions {
  /** Compiles the files of the project. */
  readonly compile: () => Promise<CompiledProject>;
  /** Compiles what serves instead, if there is something. Never rejects. */
  readonly instead?: (services: Container) => Promise<CompiledProject | undefined>;
  readonly overrides: Overrides;
}

/**
 * Compiles the project, then opens the services of the process, then wires the first generation. If one of them fails,
 * everything that was opened is closed again.
 * @throws ProjectInvalidError before the store is touched; MillraceError store_unavailable, data_folder_in_use
 */
export async function openFirst(
  settings: Settings,
  { compile, instead, overrides }: OpenOptions,
): Promise<{ readonly services: Container; readonly first: Generation }> {
  const compiled = await compile();
  try {
    if (compiled.diagnostics.some(({ severity }) => severity === 'error'))
      throw new ProjectInvalidError(compiled.diagnostics);
    const services = await registerServices(rootContainer.createChildContainer(), settings, overrides);
    const other = await instead?.(services);
    const first = await createGeneration(services, other ?? compiled).catch(async (error: unknown) => {
      await services.resolve(TOKENS.store).close();
      throw error;
    });
    if (other !== undefined) await compiled.close();
    return { services, first };
  } catch (error) {
    await compiled.close();
    throw error;
  }
}

/** Wires a generation that can serve at once, with its routes. If that fails, it is closed. */
export async function openNext(services: Container, compiled: CompiledProject): Promise<Generation> {
  const generation = await createGeneration(services, compiled);
  try {
    for (const audience of audiencesOf(services.resolve(TOKENS.settings))) generation.http(audience);
  } catch (error) {
    await generation.retire();
    throw error;
  }
  return generation;
}

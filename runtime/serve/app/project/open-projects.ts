import 'reflect-metadata'; // tsyringe requires this import before any of its own modules is loaded
import { container as rootContainer } from 'tsyringe';
import { registerServices, type Overrides } from '../container/services.js';
import { TOKENS } from '../container/tokens.js';
import { OutboundMetrics } from '../../metrics/outbound-metrics.js';
import type { Settings } from '../../../project/settings/settings.js';
import { compileProject, ProjectInvalidError, type CompiledProject } from './compile-project.js';
import type { CompileOptions } from './compile-parts.js';
import { createGeneration, type Generation } from './generation.js';

/** Several projects, or versions of one, that run over one store in this process. They do not serve. */
export interface OpenProjects {
  /** In the order of the folders. */
  readonly projects: readonly Generation[];
  close(): Promise<void>;
}

/** One of the folders has a project with errors. */
export class OneProjectInvalidError extends ProjectInvalidError {
  constructor(
    readonly root: string,
    diagnostics: ProjectInvalidError['diagnostics'],
  ) {
    super(diagnostics);
  }
}

/**
 * Compiles the projects, connects the store once, and wires each project to it. An embedded store has only one owner,
 * so projects that are compared must share it.
 * @param check throws if a project lacks what the caller needs
 * @throws OneProjectInvalidError and what `check` throws, before the store is touched; MillraceError store_unavailable, data_folder_in_use
 */
export async function openProjects(
  settings: Settings & Pick<CompileOptions, 'params'>,
  roots: readonly string[],
  check: (projects: readonly CompiledProject[]) => void,
  overrides: Overrides = {},
): Promise<OpenProjects> {
  const waiting: CompiledProject[] = [];
  const projects: Generation[] = [];
  let closeStore = (): Promise<void> => Promise.resolve();
  const close = async (): Promise<void> => {
    for (const project of projects) await project.retire(0);
    for (const compiled of waiting) await compiled.close();
    await closeStore();
  };
  try {
    const outbound = new OutboundMetrics();
    for (const root of roots) {
      const compiled = await compileProject(root, settings, outbound);
      waiting.push(compiled);
      if (compiled.diagnostics.some(({ severity }) => severity === 'error'))
        throw new OneProjectInvalidError(root, compiled.diagnostics);
    }
    check(waiting);
    const services = await registerServices(rootContainer.createChildContainer(), settings, overrides);
    closeStore = () => services.resolve(TOKENS.store).close();
    for (const compiled of waiting.splice(0)) projects.push(await createGeneration(services, compiled));
    return { projects, close };
  } catch (error) {
    await close();
    throw error;
  }
}

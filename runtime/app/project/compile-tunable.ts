import type { Plan } from '../../compile/plan.js';
import type { ProjectConfig } from '../../config/project/model.js';
import type { Settings } from '../../settings/settings.js';
import { compileProject, projectVersion, ProjectInvalidError } from './compile-project.js';

/** One pipeline, compiled for tuning, without a store. */
export interface CompiledTunable {
  readonly config: ProjectConfig;
  /** Undefined if the project has no such pipeline. */
  readonly plan: Plan | undefined;
  /** See `projectVersion`. */
  readonly version: string;
  close(): Promise<void>;
}

/** Compiles a pipeline for tuning. @throws ProjectInvalidError */
export async function compileTunable(settings: Settings, pipeline: string): Promise<CompiledTunable> {
  const compiled = await compileProject(settings.project, { ...settings, tunable: pipeline });
  const { config, diagnostics, pipelines, files } = compiled;
  const close = async (): Promise<void> => {
    await compiled.close();
  };
  if (config !== undefined && !diagnostics.some(({ severity }) => severity === 'error'))
    return { config, plan: pipelines[0]?.plan, version: projectVersion(config, files), close };
  await close();
  throw new ProjectInvalidError(diagnostics);
}

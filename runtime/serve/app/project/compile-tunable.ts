import type { Plan } from '../../../request/compile/plan.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import type { Settings } from '../../../project/settings/settings.js';
import { unknownPipeline } from './unknown-pipeline.js';
import { compileProject, ProjectInvalidError } from './compile-project.js';
import type { CompileOptions } from './compile-parts.js';
import { projectVersion } from './project-version.js';

/** What a command says of `leftModels`. */
export const MODELS_LEFT =
  'note: a model of the project does not fit it any more, so steps with models predict nothing; train them again\n';

/** One pipeline, compiled for tuning, without a store. */
export interface CompiledTunable {
  readonly config: ProjectConfig;
  readonly plan: Plan;
  /** See `projectVersion`. */
  readonly version: string;
  /** Whether models that exist were left out, because the project has errors with them. */
  readonly leftModels: boolean;
  close(): Promise<void>;
}

/**
 * Compiles a pipeline for tuning. With `untrained`, a model that reads what the project has no longer is left out, too.
 * @throws ProjectInvalidError; MillraceError unknown_pipeline
 */
export async function compileTunable(
  settings: Settings & Pick<CompileOptions, 'untrained'>,
  pipeline: string,
): Promise<CompiledTunable> {
  const compiled = await compileProject(settings.project, {
    ...settings,
    pipelines: [pipeline],
    tunable: true,
  });
  const { config, diagnostics, pipelines, files } = compiled;
  const close = async (): Promise<void> => {
    await compiled.close();
  };
  const isValid = !diagnostics.some(({ severity }) => severity === 'error');
  const [compiledPipeline] = pipelines;
  if (config !== undefined && isValid && compiledPipeline !== undefined)
    return {
      config,
      plan: compiledPipeline.plan,
      version: projectVersion(config, files),
      leftModels: settings.untrained === 'all',
      close,
    };
  await close();
  if (!isValid && settings.untrained === 'missing')
    return await compileTunable({ ...settings, untrained: 'all' }, pipeline);
  if (config === undefined || !isValid) throw new ProjectInvalidError(diagnostics);
  throw unknownPipeline(
    pipeline,
    config.pipelines.map(({ name }) => name),
    'the project',
  );
}

import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { loadProject } from '../../project/config/project/load-project.js';
import type { GuessTarget } from '../../learn/dataset/import/file-guess.js';
import { UsageError } from '../../project/config/diagnostics/failure.js';
import { unknownPipeline } from '../../serve/app/project/unknown-pipeline.js';

/** The pipeline whose rankings the foreign lists become. */
export interface ImportTarget extends GuessTarget {
  readonly pipeline: string;
}

/**
 * Reads what a pipeline of an existing project takes.
 * @param name needed if the project has several pipelines
 * @throws UsageError, ProjectInvalidError; MillraceError unknown_pipeline
 */
export async function importTarget(
  project: string,
  env: Readonly<Record<string, string | undefined>>,
  name: string | undefined,
): Promise<ImportTarget> {
  const { config, diagnostics } = await loadProject(project, env);
  if (config === undefined || diagnostics.some(({ severity }) => severity === 'error'))
    throw new ProjectInvalidError(diagnostics);
  const ranking = config.pipelines.filter(({ task }) => task === 'rank');
  const names = config.pipelines.map((one) => one.name);
  const [only, ...others] = ranking;
  const definition =
    name === undefined && others.length === 0 ? only : ranking.find((one) => one.name === name);
  if (definition === undefined && name !== undefined) throw unknownPipeline(name, names, 'the project');
  if (definition === undefined)
    throw new UsageError(
      names.length === 0
        ? `${project} has no pipeline; --new-project DIR writes a project for the files`
        : `the project has several pipelines; name one: --pipeline ${ranking[0]?.name ?? names[0] ?? ''}`,
    );
  const { request, candidateType } = definition;
  return {
    pipeline: definition.name,
    candidateType: candidateType.value,
    known: { fields: new Set(request.fields.keys()), carried: new Set(request.candidates.keys()) },
  };
}

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { unknownPipeline } from '../serve/app/project/unknown-pipeline.js';
import { NAME_PATTERN } from '../ground/api/types.js';
import { OneProjectInvalidError, openProjects } from '../serve/app/project/open-projects.js';
import type { PipelineDefinition } from '../project/config/model/pipelines.js';
import type { PipelineParams } from '../project/config/project/param-values.js';
import type { Contestant } from '../learn/judge/contestant.js';
import type { SettingFlags } from '../project/settings/settings.js';
import { settingsOf, tellStrayErrors, type CliContext } from './context.js';
import { CommandFailure, UsageError } from '../project/config/diagnostics/failure.js';
import { checkOut, type CheckedOut } from '../learn/judge/git-project.js';

export interface Contestants {
  readonly all: readonly Contestant[];
  close(): Promise<void>;
}

/** What a word of the command line names. */
export type Named =
  | { readonly kind: 'pipeline'; readonly text: string }
  | { readonly kind: 'folder'; readonly text: string; readonly root: string }
  | { readonly kind: 'git'; readonly text: string; readonly ref: string }
  | { readonly kind: 'file'; readonly text: string; readonly path: string };

/**
 * Tells what a word names: `search` a pipeline of the project, `git:REF` a commit, any other word a path.
 * @throws UsageError if there is nothing at the path
 */
export async function namedBy(text: string): Promise<Named> {
  if (text.startsWith('git:')) {
    const ref = text.slice('git:'.length);
    if (ref === '') throw new UsageError('git: needs a commit, branch or tag, for example git:HEAD');
    return { kind: 'git', text, ref };
  }
  if (NAME_PATTERN.test(text)) return { kind: 'pipeline', text };
  const path = resolve(text);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined)
    throw new UsageError(
      `${text} is not a pipeline (a name), a folder of a project, or git:REF; nothing is at this path`,
    );
  return found.isDirectory() ? { kind: 'folder', text, root: path } : { kind: 'file', text, path };
}

/**
 * Opens the named pipelines over the store of the settings. A folder or a commit gives the pipeline that has the name
 * of the first named pipeline, or else its only pipeline.
 * @throws ProjectInvalidError, MillraceError unknown_pipeline and CommandFailure, before the store is touched; MillraceError
 *   of the store
 * @param params by pipeline: values that replace those of its file
 */
export async function openContestants(
  context: CliContext,
  flags: SettingFlags,
  named: readonly Named[],
  params: ReadonlyMap<string, PipelineParams> = new Map(),
): Promise<Contestants> {
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  const checkedOut: CheckedOut[] = [];
  const leave = async (): Promise<void> => {
    for (const one of checkedOut) await one.remove();
  };
  try {
    const roots: string[] = [];
    for (const one of named) roots.push(await rootOf(context, one, settings.project, checkedOut));
    const folders = [...new Set(roots)];
    const name = named.find(({ kind }) => kind === 'pipeline')?.text;
    const definitions: PipelineDefinition[] = [];
    const opened = await openProjects(
      // The log goes to standard output, which must contain only the command's answer.
      { ...settings, logLevel: 'silent', resident: new Set<string>(), params },
      folders,
      (projects) => {
        for (const [at, one] of named.entries()) {
          const pipelines = projects[folders.indexOf(roots[at] ?? '')]?.config?.pipelines ?? [];
          definitions.push(definitionOf(one, pipelines, one.kind === 'pipeline' ? one.text : name));
        }
        checkSameType(named, definitions);
      },
    ).catch((error: unknown) => {
      if (error instanceof OneProjectInvalidError && error.root !== settings.project) {
        const label = named[roots.indexOf(error.root)]?.text ?? error.root;
        context.stderr.write(`the project of ${label} cannot be loaded:\n`);
      }
      throw error;
    });
    const close = async (): Promise<void> => {
      await opened.close();
      await leave();
    };
    const all = named.map((one, at) => {
      const project = opened.projects[folders.indexOf(roots[at] ?? '')];
      const definition = definitions[at];
      const pipeline = project?.pipelines.find((found) => found.name === definition?.name);
      if (project === undefined || definition === undefined || pipeline === undefined)
        throw new Error('the pipeline was not opened');
      return { label: one.text, pipeline, definition, project };
    });
    return { all, close };
  } catch (error) {
    await leave();
    throw error;
  }
}

/** @throws CommandFailure if the pipelines rank entities of different types */
function checkSameType(named: readonly Named[], definitions: readonly PipelineDefinition[]): void {
  const types = definitions.map(({ candidateType }) => candidateType.value);
  const other = types.findIndex((type) => type !== types[0]);
  if (other > 0)
    throw new CommandFailure(
      `${named[0]?.text ?? ''} ranks ${types[0] ?? ''} and ${named[other]?.text ?? ''} ranks ${types[other] ?? ''}, so they cannot be compared`,
    );
}

async function rootOf(
  context: CliContext,
  named: Named,
  project: string,
  checkedOut: CheckedOut[],
): Promise<string> {
  if (named.kind === 'folder') return named.root;
  if (named.kind === 'file')
    throw new UsageError(`${named.text} is a file; expected a pipeline, a folder of a project, or git:REF`);
  if (named.kind === 'pipeline') return project;
  const one = await checkOut(context, project, named.ref);
  checkedOut.push(one);
  return one.folder;
}

/**
 * The ranking of a project that has a name, or else the only one.
 * @throws MillraceError unknown_pipeline; CommandFailure
 */
function definitionOf(
  named: Named,
  pipelines: readonly PipelineDefinition[],
  name: string | undefined,
): PipelineDefinition {
  const names = pipelines.map((one) => one.name);
  const only = pipelines.length === 1 ? pipelines[0] : undefined;
  const definition = name === undefined ? only : pipelines.find((one) => one.name === name);
  const where = named.kind === 'pipeline' ? 'the project' : named.text;
  if (definition === undefined && name !== undefined) throw unknownPipeline(name, names, where);
  if (definition === undefined)
    throw new CommandFailure(
      `${where} has several pipelines: ${names.join(', ')}`,
      'name a pipeline of the project as the other side',
    );
  if (definition.task !== 'rank')
    throw new CommandFailure(
      `the pipeline ${definition.name} scores one entity and has no ranking`,
      'name a pipeline with rank:',
    );
  return definition;
}

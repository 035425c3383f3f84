import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { NAME_PATTERN } from '../../api/types.js';
import { OneProjectInvalidError, openProjects } from '../../app/project/open-projects.js';
import type { Generation } from '../../app/project/generation.js';
import type { PipelineDefinition } from '../../config/project/model.js';
import type { Pipeline } from '../../pipeline/types.js';
import type { SettingFlags } from '../../settings/settings.js';
import { settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../failure.js';
import { unknownPipeline } from '../load/target.js';
import { checkOut, type CheckedOut } from './git-project.js';

/** A pipeline that is compared, ready to run. */
export interface Contestant {
  /** As the user named it. */
  readonly label: string;
  readonly pipeline: Pipeline;
  readonly definition: PipelineDefinition;
  readonly project: Generation;
}

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
 * @throws ProjectInvalidError; MillraceError unknown_pipeline and those of the store; CommandFailure
 */
export async function openContestants(
  context: CliContext,
  flags: SettingFlags,
  named: readonly Named[],
): Promise<Contestants> {
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  const checkedOut: CheckedOut[] = [];
  const leave = async (): Promise<void> => {
    for (const one of checkedOut) await one.remove();
  };
  try {
    const roots: string[] = [];
    for (const one of named) roots.push(await rootOf(one, settings.project, checkedOut));
    const folders = [...new Set(roots)];
    const opened = await openProjects(
      // The log goes to standard output, which must contain only the command's answer.
      { ...settings, logLevel: 'silent', resident: new Set<string>() },
      folders,
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
    try {
      const name = named.find(({ kind }) => kind === 'pipeline')?.text;
      const all = named.map((one, at) => {
        const project = opened.projects[folders.indexOf(roots[at] ?? '')];
        if (project === undefined) throw new Error('the project was not opened');
        return contestant(one, project, one.kind === 'pipeline' ? one.text : name);
      });
      checkSameType(all);
      return { all, close };
    } catch (error) {
      await opened.close();
      throw error;
    }
  } catch (error) {
    await leave();
    throw error;
  }
}

/** @throws CommandFailure if the pipelines rank entities of different types */
function checkSameType(all: readonly Contestant[]): void {
  const [first, ...others] = all;
  const typeOf = ({ definition }: Contestant): string => definition.candidateType.value;
  const other = others.find((one) => first !== undefined && typeOf(one) !== typeOf(first));
  if (first !== undefined && other !== undefined)
    throw new CommandFailure(
      `${first.label} ranks ${typeOf(first)} and ${other.label} ranks ${typeOf(other)}, so they cannot be compared`,
    );
}

async function rootOf(named: Named, project: string, checkedOut: CheckedOut[]): Promise<string> {
  if (named.kind === 'folder') return named.root;
  if (named.kind === 'file')
    throw new UsageError(`${named.text} is a file; expected a pipeline, a folder of a project, or git:REF`);
  if (named.kind === 'pipeline') return project;
  const one = await checkOut(project, named.ref);
  checkedOut.push(one);
  return one.folder;
}

function contestant(named: Named, project: Generation, name: string | undefined): Contestant {
  const { pipelines, config } = project;
  const names = pipelines.map((one) => one.name);
  const only = pipelines.length === 1 ? pipelines[0] : undefined;
  const pipeline = name === undefined ? only : pipelines.find((one) => one.name === name);
  const where = named.kind === 'pipeline' ? 'the project' : named.text;
  if (pipeline === undefined && name !== undefined) throw unknownPipeline(name, names, where);
  const definition = config.pipelines.find((one) => one.name === pipeline?.name);
  if (pipeline === undefined || definition === undefined)
    throw new CommandFailure(
      `${where} has several pipelines: ${names.join(', ')}`,
      'name a pipeline of the project as the other side',
    );
  if (definition.task !== 'rank')
    throw new CommandFailure(
      `the pipeline ${definition.name} scores one entity and has no ranking`,
      'name a pipeline with rank:',
    );
  return { label: named.text, pipeline, definition, project };
}

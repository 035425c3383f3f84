import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { Input, ProjectFile } from '../api/plugin.js';
import type { CheckedOptions, MarkedText, OptionPath } from '../config/check-options.js';
import type { Diagnostics } from '../config/diagnostics.js';
import type { ExpressionMarkScope, ExpressionMarkType } from '../config/marks.js';
import type { Located } from '../config/source.js';

export type BindExpression = (
  text: Located<string>,
  type: ExpressionMarkType,
  scope: ExpressionMarkScope,
) => Input | undefined;

type Bound = Record<string | number, unknown>;

/**
 * The options as `create` takes them: expressions as inputs, files read, mappings keyed by expressions as lists.
 * @returns undefined if anything was wrong; it is in `diagnostics`.
 */
export async function bindOptions(
  checked: CheckedOptions,
  root: string,
  bind: BindExpression,
  diagnostics: Diagnostics,
): Promise<unknown> {
  const options = structuredClone(checked.value) as Bound;
  const keyed = new Map<string, { path: OptionPath; entries: { input: Input; value: unknown }[] }>();
  let complete = true;
  for (const marked of checked.marks) {
    const value = await boundValue(marked, root, bind, diagnostics);
    if (value === undefined) complete = false;
    else if (marked.inKey) {
      const path = marked.path.slice(0, -1);
      const list = keyed.get(JSON.stringify(path)) ?? { path, entries: [] };
      list.entries.push({ input: value as Input, value: at(options, marked.path) });
      keyed.set(JSON.stringify(path), list);
    } else {
      set(options, marked.path, value);
    }
  }
  for (const { path, entries } of keyed.values()) set(options, path, entries);
  return complete ? options : undefined;
}

async function boundValue(
  { mark, text }: MarkedText,
  root: string,
  bind: BindExpression,
  diagnostics: Diagnostics,
): Promise<Input | ProjectFile | string | undefined> {
  switch (mark.kind) {
    case 'id':
      return text.value;
    case 'expression':
      return bind(text, mark.type, mark.scope);
    case 'file':
      return readProjectFile(text, root, diagnostics);
  }
}

/** Reads a file of the project; a path that leaves the project's folder is refused, through links too. */
async function readProjectFile(
  text: Located<string>,
  root: string,
  diagnostics: Diagnostics,
): Promise<ProjectFile | undefined> {
  const path = text.value;
  const outside = (to: string): boolean => to.startsWith('..') || isAbsolute(to);
  if (isAbsolute(path) || outside(relative(root, resolve(root, path)))) {
    diagnostics.error(
      'missing_file',
      text.at,
      `\`${path}\` is outside the project`,
      'give a path below the project folder',
    );
    return undefined;
  }
  try {
    const real = await realpath(join(root, path));
    if (outside(relative(await realpath(root), real))) {
      diagnostics.error('missing_file', text.at, `\`${path}\` is a link that leaves the project`);
      return undefined;
    }
    const content = await readFile(real);
    return { path, content, version: createHash('sha256').update(content).digest('hex').slice(0, 12) };
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : (error as Error).message;
    diagnostics.error(
      'missing_file',
      text.at,
      `file \`${path}\` ${reason}`,
      'paths are relative to the project folder',
    );
    return undefined;
  }
}

function at(value: unknown, path: OptionPath): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Bound)[key], value);
}

function set(options: Bound, path: OptionPath, value: unknown): void {
  const last = path[path.length - 1];
  if (last === undefined) throw new Error('the options themselves cannot be marked');
  (at(options, path.slice(0, -1)) as Bound)[last] = value;
}

import type { ProjectFile } from '../../ground/api/build-context.js';
import type { Input } from '../../ground/api/input.js';
import type { CheckedOptions, MarkedText, OptionPath } from '../../project/config/project/check-options.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { ExpressionMarkScope, ExpressionMarkType } from '../../project/config/project/marks.js';
import type { Located } from '../../project/config/yaml/source.js';
import type { OptionFiles } from './option-files.js';

export type BindExpression = (
  text: Located<string>,
  type: ExpressionMarkType,
  scope: ExpressionMarkScope,
  path: OptionPath,
) => Input | undefined;

type Bound = Record<string | number, unknown>;

/**
 * Makes the options that `create` takes. An expression becomes an input, and a file path becomes the file. A mapping
 * whose keys are expressions becomes a list.
 * @returns undefined if there were errors; they are in `diagnostics`
 */
export async function bindOptions(
  checked: CheckedOptions,
  files: Pick<OptionFiles, 'read'>,
  bind: BindExpression,
  diagnostics: Diagnostics,
): Promise<unknown> {
  const options = structuredClone(checked.value) as Bound;
  const keyed = new Map<string, { path: OptionPath; entries: { input: Input; value: unknown }[] }>();
  let complete = true;
  for (const marked of checked.marks) {
    const value = await boundValue(marked, files, bind, diagnostics);
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
  { mark, text, path }: MarkedText,
  files: Pick<OptionFiles, 'read'>,
  bind: BindExpression,
  diagnostics: Diagnostics,
): Promise<Input | ProjectFile | string | undefined> {
  switch (mark.kind) {
    case 'id':
      return text.value;
    case 'expression':
      return bind(text, mark.type, mark.scope, path);
    case 'file':
      return files.read(text, diagnostics);
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

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** The size of one folder of the source. */
interface FolderSize {
  readonly folder: string;
  lines: number;
  files: number;
  functions: number;
  over60: number;
  over80: number;
  /** Functions with more than MOST_PARAMETERS. */
  wide: number;
}

const NOTHING = { lines: 0, files: 0, functions: 0, over60: 0, over80: 0, wide: 0 };

/** A function that is above a limit. */
interface LargeFunction {
  /** As in `runtime/serve/app/app.ts:12 createApp`. */
  readonly place: string;
  readonly lines: number;
  readonly parameters: number;
}

const LONG = 60;
/** No function is longer: test/architecture/sizes.test.ts. */
export const TOO_LONG = 80;
/** No function has more, but for those that test/architecture/sizes.test.ts lists. */
export const MOST_PARAMETERS = 5;

/**
 * Measures each wing of `runtime`, and `plugins`. The working directory is the root of the repository.
 * @param root the checkout that is measured. In one that has no wings yet, a folder counts for the wing that has it today
 */
export function houseSizes(root = '.'): { folders: FolderSize[]; large: LargeFunction[] } {
  const folders = new Map<string, FolderSize>();
  const large: LargeFunction[] = [];
  const wings = wingsOf(readFileSync(join('docs', 'architecture.md'), 'utf8'));
  const source = ['runtime', 'plugins'].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((file) => join(top, file)),
  );
  for (const file of source.sort()) {
    if (!file.endsWith('.ts')) continue;
    const [top = '', inside = '', further] = file.split('/');
    if (top === 'runtime' && further === undefined) continue;
    const folder = top === 'runtime' ? join(top, wings.get(inside) ?? inside) : top;
    const size = folders.get(folder) ?? { folder, ...NOTHING };
    folders.set(folder, size);
    addFile(root, file, size, large);
  }
  return { folders: [...folders.values()].sort((a, b) => (a.folder < b.folder ? -1 : 1)), large };
}

/** The wing of each folder in the table of layers of docs/architecture.md. */
function wingsOf(page: string): ReadonlyMap<string, string> {
  const [, layers = ''] = /^## Layers\n([^]*?)^## /m.exec(page) ?? [];
  return new Map(
    [...layers.matchAll(/^\| `(\w+)\/([\w-]+)` /gm)].map(([, wing = '', folder = '']) => [folder, wing]),
  );
}

function addFile(root: string, path: string, size: FolderSize, large: LargeFunction[]): void {
  const text = readFileSync(join(root, path), 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineOf = (at: number): number => source.getLineAndCharacterOfPosition(at).line + 1;
  size.files++;
  size.lines += text.split('\n').length - 1;
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
    const from = lineOf(node.getStart());
    const lines = lineOf(node.getEnd()) - from + 1;
    const parameters = node.parameters.length;
    size.functions++;
    if (lines > LONG) size.over60++;
    if (lines > TOO_LONG) size.over80++;
    if (parameters > MOST_PARAMETERS) size.wide++;
    if (lines > TOO_LONG || parameters > MOST_PARAMETERS)
      large.push({ place: `${path}:${from} ${nameOf(node)}`, lines, parameters });
  };
  visit(source);
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (ts.isConstructorDeclaration(node)) return `${node.parent.name?.text ?? ''}.constructor`;
  return node.name?.getText() ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : '=>');
}

/** `node dist/scripts/house-sizes.js [--json] [DIR]`, in the root of the repository. DIR is another checkout, to compare with. */
if (process.argv[1] === fileURLToPath(import.meta.url))
  print(houseSizes(process.argv.slice(2).find((word) => word !== '--json')));

function print({ folders, large }: ReturnType<typeof houseSizes>): void {
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ folders, large }, undefined, 2));
    return;
  }
  const all = { folder: 'all', ...NOTHING };
  for (const one of folders)
    for (const key of Object.keys(NOTHING) as (keyof typeof NOTHING)[]) all[key] += one[key];
  console.table([...folders, all]);
  console.table(large.sort((a, b) => b.lines - a.lines));
}

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
const MOST_PARAMETERS = 5;

/** Measures each wing of `runtime`, and `plugins`. The working directory is the root of the repository. */
export function houseSizes(): { folders: FolderSize[]; large: LargeFunction[] } {
  const folders: FolderSize[] = [];
  const large: LargeFunction[] = [];
  const inside = readdirSync('runtime', { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [join('runtime', entry.name)] : [],
  );
  for (const folder of [...inside.sort(), 'plugins']) {
    const size = { folder, lines: 0, files: 0, functions: 0, over60: 0, over80: 0, wide: 0 };
    folders.push(size);
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
      if (file.endsWith('.ts')) addFile(join(folder, file), size, large);
  }
  return { folders, large };
}

function addFile(path: string, size: FolderSize, large: LargeFunction[]): void {
  const text = readFileSync(path, 'utf8');
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

/** `node dist/scripts/house-sizes.js [--json]`, in the root of the repository. */
if (process.argv[1] === fileURLToPath(import.meta.url)) print(houseSizes());

function print({ folders, large }: ReturnType<typeof houseSizes>): void {
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ folders, large }, undefined, 2));
    return;
  }
  console.table(folders);
  console.table(large.sort((a, b) => b.lines - a.lines));
}

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import ts from 'typescript';
import { repositoryPath } from '../../support/repository.js';

const ROOT = repositoryPath();

export interface Import {
  readonly file: string;
  /** Path from the repository's root, or the name of a package. */
  readonly of: string;
  /** True for a file of this repository. */
  readonly ours: boolean;
}

/** Returns every import of the TypeScript files below a folder, including imports of types. */
export function importsIn(folder: string): Import[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join(folder, file.replaceAll('\\', '/')))
    .filter((file) => file.endsWith('.ts'));
  return files.flatMap((file) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(join(ROOT, file), 'utf8'), true, true);
    return importedFiles.map(({ fileName }) => {
      const ours = fileName.startsWith('.');
      const of = ours ? relative(ROOT, join(ROOT, dirname(file), fileName)).replaceAll('\\', '/') : fileName;
      return { file, of, ours };
    });
  });
}

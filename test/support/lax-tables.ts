import { readFileSync } from 'node:fs';
import { repositoryPath } from './repository.js';

/** The tables of docs/lax.md, for the tests and the script that check them. */

const PAGE = readFileSync(repositoryPath('docs', 'lax.md'), 'utf8');

/** The cells of the rows of the table after a comment of the page. */
function rowsAfter(mark: string): readonly (readonly string[])[] {
  const after = (PAGE.split(`<!-- ${mark} -->`)[1] ?? '').split(/\n(?=#)/)[0] ?? '';
  return after
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    );
}

/** By row: a type, values of JSON that it accepts, and those that it refuses, each as `sent` → `becomes`. */
export const LAX_RULES = rowsAfter('rules');

/** What differs from pydantic. */
export const LAX_DIFFERENCES = rowsAfter('pydantic').map(([what = '']) => what);

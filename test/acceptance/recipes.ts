/**
 * Carries out recipes of CONTRIBUTING.md on a copy of the repository: edits the files that each recipe names, all at once,
 * builds with types, writes the generated files, and runs the tests of each recipe. A recipe that needs a file which
 * CONTRIBUTING.md does not name fails, and so does one that names a file which is not needed, or that touches more files than
 * its bound.
 * usage: node dist/test/acceptance/recipes.js
 */
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryPath } from '../support/repository.js';
import { endpoint } from './recipes/endpoint.js';
import { experimentMode } from './recipes/experiment-mode.js';
import { expressionFunction } from './recipes/expression-function.js';
import { featureStatus } from './recipes/feature-status.js';
import { ledgerField } from './recipes/ledger-field.js';
import { orderRule } from './recipes/order-rule.js';
import { setting } from './recipes/setting.js';
import { storeEngine } from './recipes/store-engine.js';
import type { Recipe } from './recipes/recipe.js';

const RECIPES: readonly Recipe[] = [
  expressionFunction,
  orderRule,
  endpoint,
  setting,
  experimentMode,
  storeEngine,
  ledgerField,
  featureStatus,
];
const copy = repositoryPath('.build', 'recipes');

/** The items of a recipe: the paths that each names, and whether it is needed only in some cases. */
function itemsOf(title: string): { readonly paths: readonly RegExp[]; readonly isOptional: boolean }[] {
  const page = readFileSync(repositoryPath('CONTRIBUTING.md'), 'utf8');
  const section = page.split(/^### /m).find((part) => part.startsWith(`${title}\n`));
  if (section === undefined) throw new Error(`CONTRIBUTING.md has no recipe “${title}”`);
  return [...section.matchAll(/^\d+\. (.*(?:\n {3}.*)*)/gm)].map(([, text = '']) => ({
    paths: [...text.matchAll(/`([\w.<>-]+\/[\w./<>-]*)`/g)].map(
      ([, path = '']) =>
        new RegExp(
          `^${path.replaceAll('.', '\\.').replace(/<\w+>/g, '[\\w-]+')}${path.endsWith('/') ? '.+' : ''}$`,
        ),
    ),
    isOptional: text.startsWith('If '),
  }));
}

/** Compares the files of a recipe with its text and its bound. @returns the number of files, and of those without tests and docs */
function compareFiles({ title, edits, most }: Recipe): readonly [all: number, code: number] {
  const files = [...new Set(edits.map(({ file }) => file))];
  const code = files.filter((file) => !/^(test|docs)\//.test(file)).length;
  assert.ok(code <= most, `“${title}” touches ${code} files beside tests and docs, more than ${most}`);
  const items = itemsOf(title);
  const isOf = (file: string, item: (typeof items)[number]): boolean =>
    item.paths.some((path) => path.test(file));
  const unnamed = files.filter((file) => !items.some((item) => isOf(file, item)));
  // "The code that uses it" names no path, and may be any file.
  assert.ok(
    unnamed.length <= items.filter(({ paths }) => paths.length === 0).length,
    `“${title}” of CONTRIBUTING.md does not name ${unnamed.join(', ')}`,
  );
  const used = items.filter((item) => !item.isOptional || files.some((file) => isOf(file, item)));
  assert.equal(
    files.length,
    used.length,
    `“${title}” of CONTRIBUTING.md has ${used.length} items for its files`,
  );
  return [files.length, code];
}

function makeCopy(): void {
  rmSync(copy, { recursive: true, force: true });
  const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repositoryPath(),
    encoding: 'utf8',
  });
  for (const file of tracked.split('\0'))
    if (file !== '' && existsSync(repositoryPath(file)))
      cpSync(repositoryPath(file), join(copy, file), { preserveTimestamps: true });
  cpSync(repositoryPath('dist'), join(copy, 'dist'), { recursive: true, preserveTimestamps: true });
  symlinkSync(repositoryPath('node_modules'), join(copy, 'node_modules'));
}

function carryOut({ title, edits }: Recipe): void {
  for (const { file, find, put } of edits) {
    const path = join(copy, file);
    if (find === undefined) {
      assert.ok(!existsSync(path), `“${title}”: ${file} exists`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, put);
      continue;
    }
    const parts = readFileSync(path, 'utf8').split(find);
    assert.equal(
      parts.length,
      2,
      `“${title}”: ${file} has ${JSON.stringify(find)} ${parts.length - 1} times`,
    );
    writeFileSync(path, parts.join(put));
  }
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  execFileSync(process.execPath, args, { cwd: copy, stdio: 'inherit', env: { ...process.env, ...env } });
}

/** Runs compiled tests of the copy. A pattern is expanded by mocha. */
function mocha(tests: readonly string[], env?: Readonly<Record<string, string>>): void {
  const files = tests.map((file) => join('dist', file));
  for (const file of files)
    assert.ok(existsSync(join(copy, file.replace(/\/\*.*/, ''))), `there is no test ${file}`);
  const options = ['--no-config', '--timeout', '60000', '--reporter', 'dot'];
  run(['node_modules/mocha/bin/mocha.js', ...options, ...files], env);
}

const counts = RECIPES.map(compareFiles);
makeCopy();
for (const recipe of RECIPES) carryOut(recipe);
// The copied build has the paths of packages as they are below the link.
run(['dist/scripts/generate.js']); // the types of the words of schemas
run(['scripts/build.mjs', '--preserveSymlinks']);
run(['dist/scripts/generate.js']);
mocha(
  RECIPES.flatMap(({ golden = [] }) => golden),
  { UPDATE_GOLDEN: '1' },
);
mocha([...new Set(RECIPES.flatMap(({ tests }) => tests))]);
for (const [at, recipe] of RECIPES.entries()) {
  await recipe.check((path) => import(pathToFileURL(join(copy, 'dist', path)).href));
  const [all = 0, code = 0] = counts[at] ?? [];
  console.log(`${recipe.title}: ${all} files, ${code} of them no tests or docs`);
}
rmSync(copy, { recursive: true });

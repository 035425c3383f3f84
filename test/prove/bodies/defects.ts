import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryPath } from '../../support/repository.js';
import type { ProofResult } from '../proof.js';
import { DEFECTS, type Defect } from './defects/defects.js';

/** Puts each known defect back into a copy of the compiled tree, and runs the proof there: it must fail. */
export async function putBackDefects(only: RegExp | undefined): Promise<ProofResult> {
  const rows: string[] = [];
  const missed: string[] = [];
  for (const defect of DEFECTS.filter(({ name }) => only?.test(name) !== false)) {
    const root = await copyOfTree();
    try {
      for (const edit of defect.edits) await apply(root, edit);
      const lines = await proveIn(root, defect);
      const found = lines.filter((line) => new RegExp(defect.tells).test(line));
      rows.push(`| ${defect.name} | ${found.length} | ${(found[0] ?? 'nothing').replaceAll('|', '\\|')} |`);
      console.log(rows.at(-1));
      if (found.length === 0) missed.push(`${defect.name} is put back, and the proof does not fail`);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  }
  return {
    markdown: ['| defect put back | cases that fail | the first |', '| --- | --- | --- |', ...rows].join(
      '\n',
    ),
    missed,
  };
}

/** A folder like the repository, whose `dist` is a copy. */
async function copyOfTree(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-defect-'));
  for (const name of await readdir(repositoryPath()))
    if (name !== 'dist' && name !== '.git') await symlink(repositoryPath(name), join(root, name));
  await cp(repositoryPath('dist'), join(root, 'dist'), {
    recursive: true,
    filter: (path) => !path.endsWith('.map') && !path.endsWith('.d.ts'),
  });
  return root;
}

async function apply(root: string, { file, find, put }: Defect['edits'][number]): Promise<void> {
  const path = join(root, 'dist', file);
  const text = await readFile(path, 'utf8');
  if (text.split(find).length !== 2) throw new Error(`dist/${file} does not have once: ${find}`);
  await writeFile(
    path,
    text.replace(find, () => put),
  );
}

/** The lines that say what the proof missed. */
async function proveIn(root: string, { only }: Defect): Promise<readonly string[]> {
  const script = join(root, 'dist', 'test', 'prove', 'index.js');
  const child = spawn(process.execPath, [script, 'bodies', `--only=${only}`], { cwd: root });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output += part.toString()));
  await once(child, 'close');
  return output.split('\n').filter((line) => line.startsWith('missed: '));
}

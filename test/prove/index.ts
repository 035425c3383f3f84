import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { repositoryPath } from '../support/repository.js';
import type { Proof } from './proof.js';
import { PROOFS } from './proofs.js';

const USAGE = `usage: npm run prove -- NAME … [--short] [--write]

--short  a run of at most a minute for each, as in CI
--write  put the figures into the page of the proof

`;

async function main(args: readonly string[]): Promise<void> {
  const flags = new Set(args.filter((arg) => arg.startsWith('--')));
  const names = args.filter((arg) => !arg.startsWith('--'));
  const unknown = [
    ...[...flags].filter((flag) => flag !== '--short' && flag !== '--write'),
    ...names.filter((name) => name !== 'all' && !PROOFS.some((proof) => proof.name === name)),
  ];
  if (names.length === 0 || unknown.length > 0) {
    process.stderr.write(
      USAGE + PROOFS.map(({ name, summary }) => `${name.padEnd(18)} ${summary}\n`).join(''),
    );
    if (unknown.length > 0) process.stderr.write(`\nunknown: ${unknown.join(', ')}\n`);
    process.exitCode = 2;
    return;
  }
  const chosen = names.includes('all') ? PROOFS : PROOFS.filter(({ name }) => names.includes(name));
  for (const proof of chosen) await prove(proof, flags.has('--short'), flags.has('--write'));
}

async function prove(proof: Proof, short: boolean, write: boolean): Promise<void> {
  console.log(`--- ${proof.name}: ${proof.summary}`);
  const { markdown, missed } = await proof.run({ short });
  console.log(markdown);
  for (const line of missed) console.error(`missed: ${line}`);
  if (missed.length > 0) process.exitCode = 1;
  if (write) await writeBlock(proof, markdown, short);
}

/** Replaces the figures between the two markers of this proof in docs/reliability.md. */
async function writeBlock(
  { name, page: file = 'reliability.md' }: Proof,
  markdown: string,
  short: boolean,
): Promise<void> {
  const path = repositoryPath('docs', file);
  const page = await readFile(path, 'utf8');
  const [open, close] = [`<!-- prove:${name} -->`, `<!-- /prove:${name} -->`];
  const [from, to] = [page.indexOf(open), page.indexOf(close)];
  if (from < 0 || to < from) throw new Error(`docs/${file} lacks the marks ${open} and ${close}`);
  const when = new Date().toISOString().slice(0, 10);
  const how = `Measured on ${when}, Node ${process.versions.node}, ${cpus().length} cores, ${short ? 'short' : 'full'} form.`;
  await writeFile(
    path,
    `${page.slice(0, from + open.length)}\n\n${how}\n\n${markdown.trim()}\n\n${page.slice(to)}`,
  );
}

await main(process.argv.slice(2));

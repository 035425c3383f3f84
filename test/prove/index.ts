import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { format, resolveConfig } from 'prettier';
import { repositoryPath } from '../support/repository.js';
import type { Proof, ProofOptions } from './proof.js';
import { PROOFS } from './proofs.js';

const USAGE = `usage: npm run prove -- NAME … | all | nightly [--short] [--write]

all      every proof
nightly  every proof and torture script in the full form, the tests on Node 22 and 24, and generated clients
         on the wire; a failure does not stop the others

--short  a run of at most a minute for each, as in CI
--data=DIR  real products and judgments, for the proofs that can use them
--earlier=DIR  a built checkout of the earlier version, for the proof \`upgrade\`
--only=PATTERN  the cases that match, for the proofs that can run some of them
--defects  put known defects back into a copy of dist, one after the other: the proof must fail on each
--write  put the figures into the page of the proof

`;

/** The scripts of test/torture. Their short forms run in CI. */
const TORTURE = [
  'embedded-kill',
  'redis-faults',
  'redis-cluster',
  'redis-sentinel',
  'staleness',
  'staleness-failover',
  'reload',
  'fuzz',
];

/** How one proof or script ended. */
interface Outcome {
  readonly name: string;
  readonly minutes: number;
  /** Empty if it holds. */
  readonly missed: readonly string[];
}

async function main(args: readonly string[]): Promise<void> {
  const data = args.find((arg) => arg.startsWith('--data='))?.slice('--data='.length);
  const earlier = args.find((arg) => arg.startsWith('--earlier='))?.slice('--earlier='.length);
  const only = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length);
  const flags = new Set(args.filter((arg) => arg.startsWith('--') && !/^--(data|earlier|only)=/.test(arg)));
  const names = args.filter((arg) => !arg.startsWith('--'));
  const unknown = [
    ...[...flags].filter((flag) => !['--short', '--write', '--defects'].includes(flag)),
    ...names.filter(
      (name) => name !== 'all' && name !== 'nightly' && !PROOFS.some((proof) => proof.name === name),
    ),
  ];
  if (names.length === 0 || unknown.length > 0) {
    process.stderr.write(
      USAGE + PROOFS.map(({ name, summary }) => `${name.padEnd(18)} ${summary}\n`).join(''),
    );
    if (unknown.length > 0) process.stderr.write(`\nunknown: ${unknown.join(', ')}\n`);
    process.exitCode = 2;
    return;
  }
  const isNightly = names.includes('nightly');
  const isAll = isNightly || names.includes('all');
  const short = flags.has('--short') && !isNightly;
  const options = {
    short,
    data,
    earlier,
    only: only === undefined ? undefined : new RegExp(only),
    defects: flags.has('--defects'),
  };
  const outcomes: Outcome[] = [];
  for (const proof of PROOFS.filter(({ name }) => isAll || names.includes(name)))
    outcomes.push(await timed(proof.name, () => prove(proof, options, flags.has('--write'))));
  if (isNightly) {
    for (const name of TORTURE) outcomes.push(await timed(name, () => torture(name)));
    outcomes.push(await timed('wire', testWire));
    for (const version of ['22', '24']) outcomes.push(await timed(`Node ${version}`, () => testOn(version)));
  }
  if (outcomes.length > 1) console.log(summaryOf(outcomes));
  if (outcomes.some(({ missed }) => missed.length > 0)) process.exitCode = 1;
}

/** An error is an outcome too, so that the other proofs still run. */
async function timed(name: string, run: () => Promise<readonly string[]>): Promise<Outcome> {
  const began = performance.now();
  const missed = await run().catch((error: unknown) => [
    error instanceof Error ? (error.stack ?? error.message) : String(error),
  ]);
  for (const line of missed) console.error(`missed: ${line}`);
  return { name, minutes: (performance.now() - began) / 60_000, missed };
}

async function prove(proof: Proof, options: ProofOptions, write: boolean): Promise<readonly string[]> {
  console.log(`--- ${proof.name}: ${proof.summary}`);
  const { markdown, missed } = await proof.run(options);
  console.log(markdown);
  if (write) await writeBlock(proof, markdown, options.short);
  return missed;
}

function torture(name: string): Promise<readonly string[]> {
  console.log(`--- ${name}: npm run build && node dist/test/torture/${name}.js`);
  return script(name, [repositoryPath('dist', 'test', 'torture', `${name}.js`)]);
}

/** CI runs all tests on the oldest version of Node, and those over HTTP on the newest, with fewer random cases. */
function testOn(version: string): Promise<readonly string[]> {
  console.log(`--- npm run test:node -- ${version}`);
  const env = { MILLRACE_TEST_DRAWS: '8' };
  return script(`Node ${version}`, [repositoryPath('scripts', 'test-on-node.mjs'), version], env);
}

/** CI runs the linters and the TypeScript client; each night also generated clients and breaking changes. */
function testWire(): Promise<readonly string[]> {
  console.log('--- npm run test:wire -- --nightly');
  return script('wire', [repositoryPath('scripts', 'test-wire.mjs'), '--nightly']);
}

async function script(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: 'inherit' });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return code === 0 ? [] : [`${name} ended with ${code ?? signal ?? 'nothing'}`];
}

function summaryOf(outcomes: readonly Outcome[]): string {
  const lines = outcomes.map(
    ({ name, minutes, missed }) =>
      `${minutes.toFixed(1).padStart(6)} min  ${missed.length === 0 ? 'holds ' : 'MISSED'}  ${name}`,
  );
  const total = outcomes.reduce((sum, { minutes }) => sum + minutes, 0);
  return [...lines, `${total.toFixed(1).padStart(6)} min  in all`].join('\n');
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
  const written = `${page.slice(0, from + open.length)}\n\n${how}\n\n${markdown.trim()}\n\n${page.slice(to)}`;
  // As `npm run format` wants it: a page of figures must not fail the check of a change.
  await writeFile(path, await format(written, { ...(await resolveConfig(path)), filepath: path }));
}

await main(process.argv.slice(2));

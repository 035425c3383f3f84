import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { pipeline } from 'node:stream/promises';
import { createWriteStream } from 'node:fs';
import { chromium } from 'playwright-core';
import { findChromium } from '../support/needs.js';
import { repositoryPath } from '../support/repository.js';
import { installStep, outputPattern, runShellSteps, shellSteps } from '../support/documented-shell.js';
import { startProcess } from '../support/service-process.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';
import { cardTitles } from './support/search-page.js';
import { oddCatalogues, type OddCatalogue } from './support/odd-catalogues.js';

/** The whole transcript, in seconds of the processor. */
const MOST_SECONDS = 120;
const GATE = 'lower(delta.ndcg@10) > 0';

/** Runs the first five minutes of a new user from the packed tarball. */
export const start: Proof = {
  name: 'start',
  page: 'start.md',
  summary:
    'from the packed tarball: init, rank, evaluate, tune, the gate and the service, for odd catalogues',
  run: prove,
};

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

/** A catalogue as files in a folder. */
interface Case extends Pick<OddCatalogue, 'name' | 'products' | 'judgments' | 'guesses'> {
  readonly folder: string;
  /** Whether the gate must pass: the script knows that there is something to find. */
  readonly mustGain: boolean;
}

async function prove({ short, data }: ProofOptions): Promise<ProofResult> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-start-'));
  try {
    const cases: Case[] = [];
    for (const [at, one] of oddCatalogues().entries()) {
      const own = join(folder, `catalogue-${at + 1}`);
      await mkdir(own);
      for (const [file, content] of one.files) await writeFile(join(own, file), content);
      cases.push({ ...one, folder: own, mustGain: true });
    }
    if (data !== undefined) cases.push(await chorus(data, join(folder, 'chorus')));
    const tarball = await pack(folder);
    const missed: string[] = [...(await differencesOfPage(tarball))];
    console.log(`docs/start.md, with the packed tarball: ${missed.length} blocks differ`);
    const rows: string[] = [];
    let bin: string | undefined;
    for (const one of cases) {
      const shown = await transcript(one, tarball, folder, bin, short);
      ({ bin } = shown);
      missed.push(...shown.missed);
      rows.push(shown.row);
      console.log(shown.row);
    }
    if (bin === undefined) throw new Error('there was no catalogue');
    const index = short ? [] : await indexFigures(folder, bin);
    return {
      markdown: [
        '| catalogue | products | init, CPU | whole transcript, CPU | NDCG@10, out of fold | gain on unseen queries | gate |',
        '| --- | ---: | ---: | ---: | --- | --- | --- |',
        ...rows,
        ...index,
      ].join('\n'),
      missed,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function pack(folder: string): Promise<string> {
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], repositoryPath(), {});
  const name = (await readdir(folder)).find((file) => file.endsWith('.tgz'));
  if (name === undefined) throw new Error('npm pack made no tarball');
  return join(folder, name);
}

/** Runs docs/start.md as a user does, in an empty folder. */
async function differencesOfPage(tarball: string): Promise<readonly string[]> {
  const page = await readFile(repositoryPath('docs', 'start.md'), 'utf8');
  const steps = [installStep(page), ...shellSteps(page)];
  const printed = await runShellSteps(steps, [], tarball);
  return steps.flatMap(({ heading, output }, at) =>
    outputPattern(output).test(printed[at] ?? '')
      ? []
      : [`docs/start.md, ${heading}: ${printed[at] ?? 'nothing'}`],
  );
}

/** @param bin the command, once it is installed; the first catalogue installs it as docs/start.md does */
async function transcript(
  one: Case,
  tarball: string,
  folder: string,
  bin: string | undefined,
  short: boolean,
): Promise<{ readonly bin: string; readonly row: string; readonly missed: readonly string[] }> {
  const missed: string[] = [];
  const expected = (what: string, holds: boolean, ran: Ran): void => {
    if (holds) return;
    missed.push(`${one.name}: ${what}`);
    console.error(`${ran.stdout}\n${ran.stderr}`);
  };
  let seconds = 0;
  const files = ['--from', one.products, '--judgments', one.judgments];
  if (bin === undefined) {
    await run('npm', ['init', '--yes'], folder, {});
    const install = await run('npm', ['install', tarball], folder, {});
    seconds += install.seconds;
    expected('the tarball cannot be installed', install.code === 0, install);
  }
  const installed = bin ?? join(folder, 'node_modules', 'millrace', 'dist', 'bundle', 'bin.js');
  const init = await run('npx', ['--no', 'millrace', 'init', 'shop', ...files], one.folder, {});
  const shop = join(one.folder, 'shop');
  const millrace = async (...argv: readonly string[]): Promise<Ran> => {
    const ran = await run(process.execPath, [installed, ...argv], shop, {});
    seconds += ran.seconds;
    return ran;
  };
  seconds += init.seconds;
  console.log(`--- ${one.name}\n${init.stdout}`);
  expected('init fails', init.code === 0, init);
  const said = init.stdout.replace(/\s+/g, ' ');
  for (const guess of one.guesses) expected(`init does not say ${guess.source}`, guess.test(said), init);
  const valid = await millrace('validate');
  expected(
    'the project has errors or warnings',
    valid.code === 0 && /^ok:/m.test(valid.stdout) && !/warning/.test(valid.stderr + valid.stdout),
    valid,
  );

  const query = /^"?([^",;]+)/.exec(
    (await readFile(join(shop, 'judgments', 'test.csv'), 'utf8')).split('\n')[1] ?? '',
  );
  const ranked = await millrace('rank', 'search', '--judged', query?.[1] ?? '', '--explain');
  console.log(ranked.stdout);
  expected('rank --judged prints no steps', ranked.code === 0 && /score\s+text/.test(ranked.stdout), ranked);
  const train = ['--judgments', 'judgments/train.csv'];
  const before = await millrace('evaluate', 'search', ...train);
  expected('evaluate fails', before.code === 0, before);
  const tuned = await millrace('tune', 'search', ...train, '--write', ...(short ? ['--restarts', '1'] : []));
  console.log(tuned.stdout);
  expected('tune fails', tuned.code === 0, tuned);
  const gate = await millrace(
    'evaluate',
    'search',
    '--against',
    'git:HEAD',
    '--judgments',
    'judgments/test.csv',
    '--require',
    GATE,
  );
  const passes = gate.code === 0;
  expected('the gate fails', passes || (!one.mustGain && /^FAIL/m.test(gate.stdout)), gate);
  console.log(
    gate.stdout
      .split('\n')
      .filter((line) => /^(ndcg|PASS|FAIL)/.test(line))
      .join('\n'),
  );
  expected(`it takes ${seconds.toFixed(0)} s`, seconds < MOST_SECONDS, gate);

  const [address] = /\/workbench\?\S+/.exec(init.stdout) ?? [];
  expected('init prints no address of a search', address !== undefined, init);
  const status = await ask(installed, shop, address ?? '/workbench');
  if (status !== 'ok') missed.push(`${one.name}: ${status}`);
  const products = /loaded ([\d,]+) products/.exec(init.stdout)?.[1] ?? '?';
  const outOfFold = /out of fold: (.*), delta/.exec(tuned.stdout)?.[1] ?? '?';
  const delta = /^ndcg@10 +[\d.]+ +([+-][\d.]+ +\[.*?\])/m.exec(gate.stdout)?.[1]?.replace(/ +/g, ' ') ?? '?';
  const cells = [
    one.name,
    products,
    `${init.seconds.toFixed(1)} s`,
    `${seconds.toFixed(0)} s`,
    outOfFold,
    delta,
    passes ? 'passes' : 'fails',
  ];
  return { bin: installed, row: `| ${cells.join(' | ')} |`, missed };
}

/**
 * Serves the project, ranks over HTTP without naming a candidate, and opens a search in a browser.
 * @param address of the search, as `init` prints it
 * @returns what is wrong, or `ok`
 */
async function ask(bin: string, shop: string, address: string): Promise<string> {
  const service = await startProcess(
    ['--project', shop, '--port', '0'],
    { MILLRACE_INDEX_CANDIDATES: '20000' },
    bin,
  );
  try {
    const body = JSON.stringify({ candidates: { from: 'index', limit: 5 }, query: { query: 'shoe' } });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}/api/v1/search`, { method: 'POST', headers, body });
    const text = await answer.text();
    const { ranked_candidates: ranked = [] } = JSON.parse(text) as { ranked_candidates?: unknown[] };
    const page = await fetch(`${service.url}/redoc`);
    if (!answer.ok || ranked.length !== 5)
      return `the service answered ${answer.status}: ${text.slice(0, 200)}`;
    return page.ok ? await look(service.url + address) : `/redoc answered ${page.status}`;
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
  }
}

/** Opens the page of a search in Chromium, if there is one, and looks for the card of a product. */
async function look(address: string): Promise<string> {
  const executablePath = findChromium();
  if (executablePath === undefined) return 'ok';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.goto(address);
    const shown = await cardTitles(page);
    console.log(`${address}: ${shown.length} cards, the first: ${shown[0] ?? 'none'}`);
    if (shown.length > 0) return 'ok';
    return `${address} shows no card: ${await page.locator('main').innerText()}`;
  } finally {
    await browser.close();
  }
}

/** How long candidates from the index take, embedded, for docs/candidates.md. */
async function indexFigures(folder: string, bin: string): Promise<readonly string[]> {
  const lines = [
    '',
    '| products in the index | condition | median | slowest of 30 |',
    '| ---: | --- | ---: | ---: |',
  ];
  for (const count of [1000, 10_000]) {
    const own = join(folder, `index-${count}`);
    await mkdir(own);
    const rows = Array.from({ length: count }, (_, at) =>
      JSON.stringify({
        product_id: `p${at}`,
        title: `shoe ${at % 97}`,
        brand: `b${at % 50}`,
        price: (at * 7) % 1000,
      }),
    );
    await writeFile(join(own, 'products.jsonl'), `${rows.join('\n')}\n`);
    await run(process.execPath, [bin, 'init', 'shop', '--from', 'products.jsonl'], own, {});
    const service = await startProcess(['--project', join(own, 'shop'), '--port', '0'], {}, bin);
    try {
      for (const where of ['product.price < 100', 'true']) {
        const body = JSON.stringify({ candidates: { from: 'index', where }, query: { query: 'shoe 12' } });
        const times: number[] = [];
        for (let i = 0; i < 40; i++) {
          const began = performance.now();
          const headers = { 'content-type': 'application/json' };
          const answer = await fetch(`${service.url}/api/v1/search`, { method: 'POST', headers, body });
          await answer.arrayBuffer();
          // The first requests compile.
          if (i >= 10) times.push(performance.now() - began);
          if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
        }
        times.sort((a, b) => a - b);
        const shown = [times[15] ?? NaN, times.at(-1) ?? NaN].map((ms) => `${ms.toFixed(0)} ms`);
        lines.push(`| ${[count.toLocaleString('en'), `\`${where}\``, ...shown].join(' | ')} |`);
      }
    } finally {
      service.child.kill('SIGTERM');
      await service.ended;
    }
  }
  return lines;
}

/** Real products and human grades. */
async function chorus(data: string, folder: string): Promise<Case> {
  await mkdir(folder);
  const products = createWriteStream(join(folder, 'products.jsonl'));
  await pipeline(createReadStream(join(data, 'products.jsonl.gz')), createGunzip(), products);
  await writeFile(join(folder, 'judgments.csv'), await readFile(join(data, 'Broad_Query_Set_rated.csv')));
  const files = { products: 'products.jsonl', judgments: 'judgments.csv' };
  return {
    name: 'Icecat, human grades',
    ...files,
    guesses: [/supplier\s+→\s+ref\s+\(161\)/],
    folder,
    mustGain: false,
  };
}

async function run(
  command: string,
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(MILLRACE_|GIT_|npm_(?!config_(registry|userconfig)))/.test(name),
  );
  // What a shared machine does besides does not count.
  const timed = 'TIMEFORMAT="cpu %U %S"; { time "$@" 2>&3; } 3>&2';
  const child = spawn('bash', ['-c', timed, 'bash', command, ...argv], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  const [line = '', user = '', system = ''] = /^cpu ([\d.]+) ([\d.]+)$/m.exec(stderr) ?? [];
  const seconds = Number(user) + Number(system);
  if (!(seconds > 0)) throw new Error(`${command} ${argv.join(' ')} has no times: ${stderr}`);
  return { code: code ?? 1, stdout, stderr: stderr.replace(`${line}\n`, ''), seconds };
}

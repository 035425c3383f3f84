import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { findChromium } from '../support/needs.js';
import { repositoryPath } from '../support/repository.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';
import { cardTitles, typeQuery } from './support/search-page.js';
import { ODD_TABLES, type OddTable } from './support/odd-tables.js';

/** From an empty folder to the first search, for one table. */
const MOST_MINUTES = 2;

/** Makes a search page from tables of odd shapes, as a new user does, and types into it. */
export const firstSearch: Proof = {
  name: 'first-search',
  page: 'start.md',
  summary: 'from an empty folder to a search in a browser, for tables of odd shapes, English and German',
  run: prove,
};

async function prove({ short, only }: ProofOptions): Promise<ProofResult> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('there is no Chromium; set CHROMIUM to its path');
  const folder = await mkdtemp(join(tmpdir(), 'millrace-first-search-'));
  const pictures = join(tmpdir(), 'millrace-first-search');
  await mkdir(pictures, { recursive: true });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const missed: string[] = [];
  const rows: string[] = [];
  try {
    const install = await seconds(() => (short ? Promise.resolve() : installPackage(folder)));
    for (const [at, table] of ODD_TABLES.entries()) {
      if (only?.test(table.name) === false) continue;
      const own = join(folder, `table-${at + 1}`);
      await mkdir(own);
      await writeFile(join(own, table.file), table.content);
      const picture = join(pictures, `${at + 1}.png`);
      const bin = short
        ? repositoryPath('dist', 'bundle', 'bin.js')
        : join(folder, 'node_modules/millrace/dist/bundle/bin.js');
      const { titles, opened, took } = await firstSearchOf(table, { own, bin, browser, picture });
      const minutes = (took + install) / 60;
      const [first = 'nothing'] = titles;
      if (!table.finds.test(first)) missed.push(`${table.name}: ${table.query} finds ${first}`);
      if (opened.length === 0) missed.push(`${table.name}: the address that init prints shows no card`);
      if (minutes > MOST_MINUTES) missed.push(`${table.name}: it takes ${minutes.toFixed(1)} minutes`);
      const commands = 3 + (table.convert === undefined ? 0 : 1);
      const cells = [table.name, commands, minutes.toFixed(1), table.query, first.replaceAll(/\s+/g, ' ')];
      rows.push(`| ${cells.join(' | ')} |`);
      console.log(rows.at(-1));
    }
    console.log(`pictures of the pages: ${pictures}`);
  } finally {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
  const head = '| table | commands | minutes | typed | the first card |\n| --- | ---: | ---: | --- | --- |';
  return { markdown: [head, ...rows].join('\n'), missed };
}

async function installPackage(folder: string): Promise<void> {
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], repositoryPath());
  await run('npm', ['init', '--yes'], folder);
  await run('bash', ['-c', 'npm install --no-audit --no-fund ./millrace-*.tgz'], folder);
}

interface Place {
  readonly own: string;
  readonly bin: string;
  readonly browser: Browser;
  /** Where the picture of the page goes. */
  readonly picture: string;
}

/** @returns the cards of the address that `init` prints, those of the typed query, and the seconds of all steps */
async function firstSearchOf(
  { file, convert, query }: OddTable,
  { own, bin, browser, picture }: Place,
): Promise<{
  readonly opened: readonly string[];
  readonly titles: readonly string[];
  readonly took: number;
}> {
  let opened: readonly string[] = [];
  let titles: readonly string[] = [];
  const took = await seconds(async () => {
    if (convert !== undefined) await run('bash', ['-c', convert.command], own);
    const said = await run(process.execPath, [bin, 'init', 'shop', '--from', convert?.file ?? file], own);
    const address = /\/workbench\?\S+/.exec(said)?.[0] ?? '/workbench';
    const dev = spawn(process.execPath, [bin, 'dev', '--port', '0'], {
      cwd: join(own, 'shop'),
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const page = await browser.newPage();
    try {
      await page.goto((await originOf(dev)) + address);
      opened = await cardTitles(page);
      titles = await typeQuery(page, query);
      await page.screenshot({ path: picture, fullPage: true });
    } finally {
      await page.close();
      dev.kill();
      await once(dev, 'close');
    }
  });
  return { opened, titles, took };
}

/** Where `dev` serves. */
async function originOf(dev: ReturnType<typeof spawn>): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    for (const stream of [dev.stdout, dev.stderr])
      stream?.on('data', (text: Buffer) => {
        said += text.toString();
        const [origin] = /http:\/\/127\.0\.0\.1:\d+(?=\/workbench)/.exec(said) ?? [];
        if (origin !== undefined && said.includes('Ctrl-C')) resolve(origin);
      });
    dev.once('close', () => {
      reject(new Error(`dev ended: ${said}`));
    });
  });
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

/** @returns what it printed @throws Error if it fails */
async function run(command: string, argv: readonly string[], cwd: string): Promise<string> {
  const child = spawn(command, argv, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (said += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${argv.join(' ')}: ${said}`);
  return said;
}

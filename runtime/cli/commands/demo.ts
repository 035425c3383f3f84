import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { MillraceError } from '../../ground/api/errors.js';
import { endWithProcess, startService, type RunningService } from '../../serve/app/serve.js';
import type { SettingFlags, Settings } from '../../project/settings/settings.js';
import { settingsOf, type CliContext } from '../context.js';
import { DEMO_SEED, makeCatalogue, type Catalogue } from '../demo/catalogue.js';
import { freePort } from '../demo/free-port.js';
import { loadCatalogue, rowsOf } from '../demo/load-catalogue.js';
import { PACKAGE } from '../../ground/core/locations.js';
import { TUNING } from '../demo/loop/learning.js';
import { runLoop } from '../demo/loop/run-loop.js';
import { pageText } from '../report/page-text.js';
import {
  CANDIDATES,
  curlCommand,
  PAGE,
  SAMPLE_QUERY,
  SAMPLE_USER,
  sampleRequest,
} from '../demo/sample-request.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { wholeOption } from '../../learn/judge/options.js';
import { HttpTarget } from '../load/http-target.js';
import { startProgress } from '../../ground/core/progress.js';
import { scratchFolder } from '../../ground/core/scratch-folder.js';
import { addSettingFlags } from '../setting-flags.js';

const ROUTE = '/api/v1/ranking';
/** The pipeline that finds products by words. */
const SEARCH = 'search';

type Flags = SettingFlags & { readonly once?: boolean; readonly loop?: boolean; readonly seed: number };

export function demoCommand(context: CliContext): Command {
  const demo = new Command('demo')
    .description('start a service with a generated shop of 5,000 products, and rank some of them')
    .option('--once', 'stop after the first ranking')
    .option(
      '--loop',
      'instead, let simulated shoppers use a shop, learn from their clicks, and measure the gain',
    )
    .addOption(wholeOption('--seed <N>', 'seed of the shop of --loop', 1))
    .action((flags: Flags) => (flags.loop === true ? runLoopDemo(context, flags) : runDemo(context, flags)));
  return addSettingFlags(demo, ['port', 'host']);
}

async function runDemo(context: CliContext, flags: Flags): Promise<void> {
  const settings = await demoSettings(context, flags);
  const service = await startDemo(context, settings);
  if (flags.once !== true) endWithProcess(service, settings);
  try {
    await show(context, service, flags.once === true);
  } catch (error) {
    await service.close();
    throw error;
  }
  if (flags.once === true) {
    await service.close();
    return;
  }
  context.stdout.write(`\nThe service keeps running. Ctrl-C stops it.\n`);
}

/** Fails if nothing was learned. */
async function runLoopDemo(context: CliContext, flags: Flags): Promise<void> {
  const { stdout, env } = context;
  const settings = await demoSettings(context, { ...flags, port: '0' });
  const scratch = scratchFolder(context, join(tmpdir(), 'millrace-loop-'));
  try {
    const write = (text: string): boolean => stdout.write(text);
    const { isDeployed, share } = await runLoop({
      seed: flags.seed,
      learning: TUNING,
      folder: scratch.path,
      settings,
      env,
      write,
    });
    if (!isDeployed) throw new CommandFailure('the gate refused what was learned, so nothing was deployed');
    if (!(share > 0)) throw new CommandFailure('what was learned is not better than what was there before');
  } finally {
    await scratch.remove();
  }
}

/** Settings for the built-in project with the embedded store, in a folder that the next demo reuses. */
async function demoSettings(context: CliContext, flags: SettingFlags): Promise<Settings> {
  const project = PACKAGE;
  const given = await settingsOf(context, {
    ...flags,
    project,
    store: 'embedded',
    dataDir: join(project, '.millrace', 'demo'),
    logLevel: context.env.LOG_LEVEL ?? 'warn',
  });
  const port = await freePort(given.host, given.port);
  if (port !== given.port)
    context.stderr.write(
      `port ${String(given.port)} is in use; the demo uses ${port === 0 ? 'a free port' : `port ${String(port)}`}\n`,
    );
  // Keys of the environment are those of another service. On an address that others reach, MILLRACE_AUTH must allow it.
  const auth = given.auth === 'none' ? 'none' : 'auto';
  // The demo calls itself, and it is not for the network.
  const edge = { adminPort: 'off', tlsCert: '', tlsKey: '', tlsClientCa: '', audit: 'off' } as const;
  return { ...given, ...edge, port, lameDuckMs: 0, keysFile: '', auth };
}

/** If another demo is running, this one uses a temporary folder and removes it at the end. */
async function startDemo(context: CliContext, settings: Settings): Promise<RunningService> {
  try {
    return await startService(settings);
  } catch (error) {
    if (!(error instanceof MillraceError) || error.code !== 'data_folder_in_use') throw error;
    context.stderr.write('another demo is running; this one stores its data in a separate folder\n');
    const scratch = scratchFolder(context, join(tmpdir(), 'millrace-demo-'));
    const service = await startService({ ...settings, dataDir: scratch.path });
    return {
      ...service,
      async close() {
        await service.close();
        await scratch.remove();
      },
    };
  }
}

async function show(context: CliContext, service: RunningService, once: boolean): Promise<void> {
  const { stdout, stderr } = context;
  const catalogue = makeCatalogue(DEMO_SEED);
  const target = new HttpTarget(service.url);
  const start = performance.now();
  await loadCatalogue(catalogue, target, startProgress(stderr, 'loading the shop', rowsOf(catalogue)));
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  stdout.write(`${contents(catalogue)}, loaded in ${seconds} s\n\n`);

  const request = sampleRequest(catalogue);
  const { answer } = await target.run('ranking', request);
  if (answer.ranked_candidates === undefined) throw new Error('the shop ranks');
  const likes = favouriteBrand(catalogue, SAMPLE_USER);
  stdout.write(`"${SAMPLE_QUERY}" for user ${SAMPLE_USER}, who likes ${likes}: `);
  stdout.write(`the best ${String(PAGE)} of ${String(CANDIDATES)}\n\n`);
  stdout.write(pageText(answer, catalogue));
  const where = once ? 'while a demo runs without --once' : 'to paste into another terminal';
  stdout.write(`\nThe same request, ${where}:\n\n`);
  stdout.write(`${curlCommand(service.url + ROUTE, request)}\n\n`);
  const words = new URLSearchParams({ q: SAMPLE_QUERY }).toString();
  stdout.write(`Search in a browser, and the same as JSON:\n\n`);
  stdout.write(`${service.url}/workbench?pipeline=${SEARCH}&${words}\n`);
  stdout.write(`${service.url}/api/v1/${SEARCH}?${words}\n\n`);
  stdout.write(`Reference of the API   ${service.url}/redoc\n`);
  stdout.write(`Change a ranking       edit pipelines/*.yaml, start the demo again\n`);
}

function contents({ products, brands, categories, users }: Catalogue): string {
  const count = (items: readonly unknown[]): string => items.length.toLocaleString('en');
  return `${count(products)} products, ${count(brands)} brands, ${count(categories)} categories, ${count(users)} users`;
}

function favouriteBrand({ users, brands }: Catalogue, userId: string): string {
  const user = users.find(({ user_id: id }) => id === userId);
  return brands.find(({ brand_id: id }) => id === user?.favourite_brand)?.name ?? 'no brand';
}

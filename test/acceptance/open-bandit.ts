/**
 * Evaluates policies of a real shop off policy: the sample of the Open Bandit Dataset (Saito et al., NeurIPS 2021) that
 * the Python package obp carries, with 10,000 impressions of a random and of a Thompson policy for each campaign.
 * `millrace ledger import` makes a ledger of each log. IPS and SNIPS of one policy from the log of the other must equal a
 * plain computation with numpy. The interval must contain the clicks that the policy got when it served; in the campaigns
 * of a part of the items, the error of these clicks is allowed for.
 *
 * `node dist/test/acceptance/open-bandit.js --python PYTHON [--package DIR]`. Python needs numpy, and obp (pip install
 * --no-deps obp==0.4.1) or DIR, the folder obp of its unpacked wheel.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { millrace } from '../support/command-line.js';
import { writeProject } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';

interface Case {
  readonly pipeline: string;
  readonly log: string;
  readonly on_policy: number;
  readonly on_policy_error: number;
  readonly ips: number;
  readonly snips: number;
  readonly effective: number;
  readonly largest: number;
}

const PIPELINE = (name: string, score: string): string => `
pipeline: ${name}
rank: product
request: { candidates: { shown_at: int } }
components:
  - use: score
    with: { value: "${score}" }
page: { size: 10 }
log: { features: all, candidates: all }
`;

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { uniform: float, share_1: float, share_2: float, share_3: float }\n',
  'pipelines/uniform.yaml': PIPELINE('uniform', 'product.uniform'),
  'pipelines/thompson.yaml': PIPELINE(
    'thompson',
    'if(product.shown_at == 1, product.share_1, if(product.shown_at == 2, product.share_2, product.share_3))',
  ),
};

const MAPPING = (log: string): string => `
import: open_bandit
sources:
  - files: [items.csv]
    into: entities
    map: { product: item_id }
  - files: [${log}.csv]
    into: rankings
    map: { request: row, time: timestamp, product: item_id, position: position, propensity: propensity_score }
    feedback: { click: click }
    carry: { shown_at: position }
`;

const CLOSE = 1e-9;
/** In this campaign, which has all items, the interval alone must contain the value on policy. */
const STRICT = 'all';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { python: { type: 'string', default: 'python3' }, package: { type: 'string' } },
  });
  const folder = mkdtempSync(join(tmpdir(), 'millrace-open-bandit-'));
  try {
    const script = repositoryPath('test', 'acceptance', 'open_bandit.py');
    const more = values.package === undefined ? [] : [values.package];
    const prepared = JSON.parse(
      execFileSync(values.python, [script, folder, ...more], { encoding: 'utf8', maxBuffer: 1 << 24 }),
    ) as readonly { readonly campaign: string; readonly cases: readonly Case[] }[];
    const missed: string[] = [];
    for (const { campaign, cases } of prepared)
      for (const one of cases) missed.push(...(await verify(join(folder, campaign), campaign, one)));
    for (const line of missed) console.error(`missed: ${line}`);
    if (missed.length > 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Imports a log, and compares both estimators with the computation of numpy. @returns what does not hold */
async function verify(folder: string, campaign: string, one: Case): Promise<readonly string[]> {
  const project = await writeProject(FILES);
  const data = join(project, 'data');
  const store = ['--project', project, '--store', 'embedded', '--data-dir', data];
  const missed: string[] = [];
  try {
    const map = join(project, 'map.yaml');
    writeFileSync(map, MAPPING(one.log));
    const files = [join(folder, 'items.csv'), join(folder, `${one.log}.csv`)];
    const ledger = join(project, 'ledger');
    await run(
      'ledger',
      'import',
      ...files,
      '--map',
      map,
      '--pipeline',
      one.pipeline,
      '--out',
      ledger,
      ...store,
    );
    for (const estimator of ['ips', 'snips'] as const) {
      const arguments_ = [
        '--ledger',
        ledger,
        '--estimator',
        estimator,
        '--target',
        'score',
        '--json',
        ...store,
      ];
      const { code, stdout, stderr } = await millrace(['evaluate', one.pipeline, ...arguments_]);
      const what = `${campaign}: ${one.pipeline} from the log of ${one.log}, ${estimator}`;
      if (code !== 0) {
        // Refusing is right if numpy finds too few effective impressions too.
        if (one.effective < 100) console.log(`${what}: refused, ${one.effective.toFixed(1)} effective`);
        else missed.push(`${what}: ${stderr.trim()}`);
        continue;
      }
      const found = JSON.parse(stdout) as Record<
        'value' | 'lower' | 'upper' | 'effective' | 'largest',
        number
      >;
      for (const [name, value, expected] of [
        ['value', found.value, one[estimator]],
        ['effective', found.effective / one.effective, 1],
        ['largest', found.largest / one.largest, 1],
      ] as const)
        if (!(Math.abs(value - expected) <= CLOSE))
          missed.push(`${what}: ${name} ${value}, numpy ${expected}`);
      // The clicks on policy are a sample too: 10,000 impressions of about 50 clicks.
      const own = one.on_policy_error;
      const half = Math.hypot((found.upper - found.lower) / 2, campaign === STRICT ? 0 : 1.96 * own);
      if (!(Math.abs(found.value - one.on_policy) <= half))
        missed.push(`${what}: [${found.lower}, ${found.upper}] lacks ${one.on_policy} ± ${1.96 * own}`);
      console.log(
        `${what}: ${found.value.toFixed(5)} [${found.lower.toFixed(5)}, ${found.upper.toFixed(5)}], numpy ${one[estimator].toFixed(5)}, on policy ${one.on_policy}, ${Math.floor(found.effective)} effective`,
      );
    }
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
  return missed;
}

async function run(...argv: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await millrace(argv);
  if (code !== 0) throw new Error(`millrace ${argv.join(' ')}\n${stdout}${stderr}`);
}

await main();

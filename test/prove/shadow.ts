import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from '../../bench/support/measure.js';
import { isInShare } from '../../runtime/learn/shadow/run-arms.js';
import type { ArmReport } from '../../runtime/learn/shadow/tally.js';
import { FLUSH_MS } from '../../runtime/state/ledger/sink-queue.js';
import { writeProject } from '../support/project.js';
import { startRedisServer } from '../support/redis-server.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';
import { startShadow, type Followed } from './shadow/shadow-process.js';
import { CANDIDATES, EXPERIMENT, products, RATE, rankAll, requestId, SHOP } from './shadow/shop.js';
import { forkService, type ProvedService } from './support/service.js';

const SHARE = 0.1;
/** The most CPU of the live service for a request beside the arms, in that without them. */
const MOST_CPU = 1.02;
const LIMITS = ['--queue', '20', '--timeout', '3s', '--memory', '64MB'];

/** Runs arms that fail in every way beside a live service. */
export const shadow: Proof = {
  name: 'shadow',
  summary: 'live answers and CPU beside shadow arms that hang, throw, eat memory and return NaN',
  page: 'experiments/shadow.md',
  run: prove,
};

async function prove({ short }: ProofOptions): Promise<ProofResult> {
  const pairs = short ? 2 : 10;
  const requests = short ? 300 : 1500;
  const wanted = Array.from({ length: requests }, (_, at) => requestId(at)).filter((id) =>
    isInShare(id, SHARE),
  );
  const redis = await startRedisServer();
  const root = await writeProject(SHOP);
  const ledger = join(root, 'ledger');
  const env = { REDIS_URL: redis.url, MILLRACE_PROJECT: root, MILLRACE_LEDGER_DIR: ledger };
  let service: ProvedService | undefined;
  try {
    const live = (service = await forkService({ ...env, MILLRACE_STORE: 'redis' }));
    await upload(live.port);
    // Also warms up the service.
    const expected = (await measure(live, requests)).answers;
    let different = 0;
    const ratios: number[] = [];
    const costs: Record<'without' | 'beside', number[]> = { without: [], beside: [] };
    const followed: Followed[] = [];
    const round = async (kind: 'without' | 'beside'): Promise<number> => {
      const flags = ['--share', `${SHARE * 100}%`, ...LIMITS];
      const arms = kind === 'beside' ? await startShadow(EXPERIMENT, root, flags, env) : undefined;
      try {
        const { answers, cpuMs } = await measure(live, requests);
        for (const [id, answer] of expected) if (answers.get(id) !== answer) different += 1;
        if (arms !== undefined) followed.push(await arms.finish(wanted.at(-1) ?? ''));
        costs[kind].push(cpuMs);
        return cpuMs;
      } finally {
        arms?.kill();
      }
    };
    for (let pair = 0; pair < pairs; pair++) {
      // The order alternates, so that a drift of the machine affects both equally.
      const first = await round(pair % 2 === 0 ? 'without' : 'beside');
      const second = await round(pair % 2 === 0 ? 'beside' : 'without');
      const ratio = pair % 2 === 0 ? second / first : first / second;
      ratios.push(ratio);
      console.log(`pair ${pair + 1}: CPU × ${ratio.toFixed(3)}`);
    }
    ratios.sort((a, b) => a - b);
    const cpu = middle(ratios);
    const missed = followed.flatMap((one) => missesOf(one, wanted));
    if (different > 0) missed.push(`answers that differ beside the arms, bound 0, was ${different}`);
    // The ratio of a short run is that of one or two pairs, which says nothing.
    if (!short && cpu > MOST_CPU)
      missed.push(`CPU of a live request beside the arms, bound × ${MOST_CPU}, was × ${cpu.toFixed(3)}`);
    const sums = sumOf(followed.flatMap(({ report }) => report.arms));
    for (const [arm, count] of [
      ['hangs', sums.get('hangs')?.timeout],
      ['throws', sums.get('throws')?.failed],
      // On a busy machine, the time of a request ends before the heap is full.
      ['eats', sum([sums.get('eats')?.crashed ?? 0, sums.get('eats')?.timeout ?? 0])],
      ['nans', sums.get('nans')?.degraded],
      ['control', sums.get('control')?.ranked],
    ] as const)
      if (count === undefined || count === 0) missed.push(`the arm ${arm} did not do what it is for`);
    return {
      markdown: [
        `A service on Redis answers up to ${RATE} rankings of ${CANDIDATES} candidates a second, and logs them. Beside it, \`millrace shadow --follow\` runs five arms on`,
        `${SHARE * 100} % of the requests: ${pairs} rounds of ${requests} requests with the arms, and as many without, alternately.`,
        '',
        `- Live answers that differ from those without arms, in ${2 * pairs * requests} answers: ${different}.`,
        `- CPU of the service for a request: ${middle(costs.without).toFixed(3)} ms without arms, ${middle(costs.beside).toFixed(3)} ms beside them;`,
        `  the median of the ratios is ${cpu.toFixed(3)} (${ratios[0]?.toFixed(3) ?? ''} to ${ratios.at(-1)?.toFixed(3) ?? ''}).`,
        '',
        '| arm | requests of the share | ranked | of them degraded | timed out | crashed | failed | dropped | restarts |',
        '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
        ...Array.from(
          sums,
          ([arm, one]) =>
            `| ${[arm, wanted.length * pairs, ...FIGURES.map((figure) => one[figure])].join(' | ')} |`,
        ),
      ].join('\n'),
      missed,
    };
  } finally {
    service?.process.kill('SIGKILL');
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  }
}

/** Stores the products. */
async function upload(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/entities/upload`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ entity_type: 'product', entities: products() }),
  });
  if (response.status !== 200) throw new Error(`the products are not stored: ${await response.text()}`);
}

/** Sends all requests. @returns the answers, and the CPU time of the service for one, with that of its log */
async function measure(
  service: ProvedService,
  requests: number,
): Promise<{ readonly answers: ReadonlyMap<string, string>; readonly cpuMs: number }> {
  const before = await service.usage();
  const answers = await rankAll(service.port, requests);
  await pause(2 * FLUSH_MS);
  const after = await service.usage();
  return { answers, cpuMs: (after.cpuMs - before.cpuMs) / requests };
}

/** Each arm has to count each request of the share exactly once. */
function missesOf({ report, rows }: Followed, wanted: readonly string[]): string[] {
  const missed: string[] = [];
  if (report.requests !== wanted.length)
    missed.push(`requests of the share, ${wanted.length}, but the report has ${report.requests}`);
  for (const one of report.arms) {
    const counted = one.ranked + one.dropped + sum(Object.values(one.failed));
    if (counted !== wanted.length)
      missed.push(`${one.arm}: ${wanted.length} requests, but ${counted} counted`);
    const own = rows.filter(({ arm }) => arm === one.arm).map(({ request_id: id }) => id);
    const ids = new Set(own);
    if (own.length !== wanted.length || !wanted.every((id) => ids.has(id)))
      missed.push(`${one.arm}: ${own.length} lines for ${ids.size} requests, of ${wanted.length}`);
  }
  return missed;
}

const FIGURES = ['ranked', 'degraded', 'timeout', 'crashed', 'failed', 'dropped', 'restarts'] as const;

type Sums = Record<(typeof FIGURES)[number], number>;

/** The figures of each arm, in all rounds. */
function sumOf(reports: readonly ArmReport[]): ReadonlyMap<string, Sums> {
  const all = new Map<string, Sums>();
  for (const { arm, failed: codes, ranked, dropped, degraded, restarts } of reports) {
    const { timeout = 0, crashed = 0, ...others } = codes;
    const failed = sum(Object.values(others));
    const own: Sums = { ranked, degraded, timeout, crashed, failed, dropped, restarts };
    const before = all.get(arm);
    for (const figure of FIGURES) own[figure] += before?.[figure] ?? 0;
    all.set(arm, own);
  }
  return all;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const middle = (values: readonly number[]): number => median([...values].sort((a, b) => a - b));

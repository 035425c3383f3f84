import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TUNING, type Learning } from '../../runtime/cli/demo/loop/learning.js';
import { runLoop, type LoopResult } from '../../runtime/cli/demo/loop/run-loop.js';
import { quantile } from '../../runtime/ground/core/statistics.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';
import { trainingWithLightGbm } from './support/lightgbm-learning.js';

const SEEDS = { short: 1, full: 20 };
const LEAST_SHARE = 0.8;

/** Runs the whole loop on several shops, each with hidden tastes of its own. */
export const loop: Proof = {
  name: 'loop',
  summary: 'learning from clicks finds 0.8 of what could be gained, as the median of 20 shops',
  page: 'tutorial-loop.md',
  run: (options) => prove(options, TUNING),
};

/** The same with a model. It needs Python with LightGBM. */
export const loopLightGbm: Proof = {
  name: 'loop-lightgbm',
  summary: 'the same with a model of LightGBM instead of tuned params; needs Python with LightGBM',
  page: 'tutorial-loop.md',
  run: (options) => prove(options, trainingWithLightGbm()),
};

async function prove({ short }: ProofOptions, learning: Learning): Promise<ProofResult> {
  const results: LoopResult[] = [];
  const rows: string[] = [];
  for (let seed = 1; seed <= (short ? SEEDS.short : SEEDS.full); seed++) {
    const started = performance.now();
    const result = await runShop(seed, learning);
    results.push(result);
    const { before, learned, share, isDeployed } = result;
    const figures = [before, learned, share].map((figure) => figure.toFixed(2));
    rows.push(`| ${[seed, ...figures, isDeployed ? 'accepted' : 'refused'].join(' | ')} |`);
    console.log(`${rows.at(-1) ?? ''} ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
  const median = quantile(Float64Array.from(results, ({ share }) => share).sort(), 0.5);
  return {
    markdown: [
      `The median of (learned − before) / (best − before) is ${median.toFixed(2)} over the shops below. The figures are`,
      'NDCG@10 of the products that a shopper really likes; the best possible order has 1.',
      '',
      '| seed | before | learned | share of what could be gained | gate |',
      '| ---: | -----: | ------: | ----------------------------: | ---- |',
      ...rows,
    ].join('\n'),
    missed:
      median >= LEAST_SHARE
        ? []
        : [`the median share is ${median.toFixed(3)}, at least ${LEAST_SHARE} is expected`],
  };
}

async function runShop(seed: number, learning: Learning): Promise<LoopResult> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-prove-loop-'));
  const printed: string[] = [];
  try {
    const settings = loadSettings({}, { project: folder, store: 'embedded' });
    const write = (text: string): number => printed.push(text);
    return await runLoop({ seed, learning, folder, settings, env: process.env, write });
  } catch (error) {
    console.log(printed.join(''));
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

import { plugin as dedupe } from '../plugins/dedupe/index.js';
import { plugin as diversify } from '../plugins/diversify/index.js';
import { plugin as group } from '../plugins/group/index.js';
import { plugin as limit } from '../plugins/limit/index.js';
import { plugin as slot } from '../plugins/slot/index.js';
import type { Plugin } from '../runtime/ground/api/plugin.js';
import type { RuleComponent } from '../runtime/ground/api/component.js';
import { Frame } from '../runtime/language/frame/frame.js';
import { FrameLayout } from '../runtime/language/frame/frame-layout.js';
import { Ranking } from '../runtime/request/ordering/ranking.js';
import { StepEdit } from '../runtime/request/ordering/step-edit.js';
import { FakeStep } from '../runtime/cli/testing/fake-step.js';
import { createStep } from '../runtime/cli/testing/create-step.js';
import { table } from './support/measure.js';

const COUNTS = [24, 100, 1000];
const PAGE = 24;
/** The largest exponent of the time over the number of candidates. */
const MOST_EXPONENT = 1.2;
/** Milliseconds for a page of 24 of 1,000 candidates by vectors of 64 numbers. */
const MOST_MMR_MS = 3;

interface RuleCase {
  readonly name: string;
  readonly plugin: Plugin;
  readonly options: Readonly<Record<string, unknown>>;
  /** Options of further steps of the plugin. */
  readonly more?: readonly RuleCase['options'][];
}

const CASES: readonly RuleCase[] = [
  { name: 'limit, page', plugin: limit, options: { by: 'brand', most: 2, within: 'page' } },
  { name: 'limit, window', plugin: limit, options: { by: 'brand', most: 1, within: 3 } },
  {
    name: 'three limits',
    plugin: limit,
    options: { by: 'brand', most: 3, within: 'page' },
    more: [
      { by: 'shelf', most: 4, within: 'page' },
      { by: 'brand', most: 1, within: 2 },
    ],
  },
  {
    name: 'two limits that cannot hold',
    plugin: limit,
    options: { by: 'shop', most: 1, within: 2 },
    more: [{ by: 'shop', most: 1, within: 3 }],
  },
  { name: 'dedupe', plugin: dedupe, options: { by: 'title' } },
  { name: 'group', plugin: group, options: { by: 'title', show: 'price' } },
  { name: 'slot', plugin: slot, options: { positions: [3, 8], where: 'is_new' } },
  { name: 'diversify, text', plugin: diversify, options: { by: 'brand', places: PAGE } },
  { name: 'diversify, window', plugin: diversify, options: { by: 'brand', places: PAGE, window: 5 } },
  { name: 'diversify, vector(64)', plugin: diversify, options: { by: 'embedding', places: PAGE } },
];

/** Measures each rule with its final order: of a page, and of all candidates, as the ledger needs it. */
export async function rulesBench(short: boolean): Promise<void> {
  const rows: string[][] = [];
  for (const { name, ...rule } of CASES) {
    const cells = [name];
    for (const isPage of [true, false]) {
      const times: number[] = [];
      for (const count of COUNTS) times.push(await timeOf(rule, count, isPage ? PAGE : count, short));
      const [first = NaN, , last = NaN] = times;
      const exponent = Math.log(last / first) / Math.log((COUNTS.at(-1) ?? 1) / (COUNTS[0] ?? 1));
      cells.push(...times.map((ms) => ms.toFixed(3)), exponent.toFixed(2));
      if (isPage && exponent > MOST_EXPONENT) fail(`${name}: the exponent is ${exponent.toFixed(2)}`);
      if (isPage && name.includes('vector') && last > MOST_MMR_MS) fail(`${name}: ${last.toFixed(2)} ms`);
    }
    rows.push(cells);
  }
  const head = (of: string): string[] => [...COUNTS.map((count) => `${of} ${count}`), 'exponent'];
  console.log(table(['ms, median', ...head('page of'), ...head('all of')], rows));
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

async function timeOf(
  { plugin, options, more = [] }: Omit<RuleCase, 'name'>,
  count: number,
  most: number,
  short: boolean,
): Promise<number> {
  const step = new FakeStep(count);
  let state = 1;
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  const list = <T>(make: (row: number) => T): T[] => Array.from({ length: count }, (_, row) => make(row));
  const columns = {
    brand: step.text(list(() => `b${Math.floor(20 * random() ** 2)}`)),
    shop: step.text(list(() => 'one')),
    shelf: step.text(list(() => `s${Math.floor(12 * random())}`)),
    title: step.text(list((row) => `t${row >> 1}`)),
    price: step.number(list(() => random())),
    is_new: step.bool(list(() => random() < 0.1)),
    embedding: step.vector(
      list(() => Array.from({ length: 64 }, () => random() - 0.5)),
      64,
    ),
  };
  const components: RuleComponent[] = [];
  for (const one of [options, ...more])
    components.push((await createStep(plugin, { with: one as never, columns })) as RuleComponent);
  const frame = new Frame(new FrameLayout());
  const scores = Float64Array.from(list(() => random()));
  const ids = list((row) => `p${row}`);
  const times: number[] = [];
  const rounds = short ? 50 : 400;
  for (let round = 0; round < rounds; round++) {
    frame.reset(count, 0);
    frame.scores.set(scores);
    const began = performance.now();
    const ranking = new Ranking(frame, 'product', ids, { page: { size: PAGE, first: 0 } });
    for (const [at, component] of components.entries())
      await component.apply(step, new StepEdit(ranking, at + 1));
    ranking.slice(0, most);
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1] ?? NaN;
}

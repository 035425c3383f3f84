import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { NumberColumn, TextColumn } from '../../runtime/ground/api/columns.js';
import type { FeatureComponent, StepOutput } from '../../runtime/ground/api/component.js';
import type { Plugin } from '../../runtime/ground/api/plugin.js';
import type * as CreateStep from '../../runtime/cli/testing/create-step.js';
import type * as FakeStepFile from '../../runtime/cli/testing/fake-step.js';
import { random } from '../support/catalogue.js';

/** Two checkouts, each with the step text_match. */
export interface TextPair {
  readonly before: string;
  readonly after: string;
  readonly candidates: number;
  readonly seed: number;
}

/** Texts that one measured block reads, in candidates. */
const BLOCK = 60_000;
const BLOCKS = 4;
const VOCABULARY = 2000;
const REQUESTS = 32;

type Run = () => Promise<void>;

const { before, after, candidates, seed } = workerData as TextPair;
const checkouts = seed % 2 === 0 ? [before, after] : [after, before];
const runs: Run[] = [];
for (const checkout of checkouts) runs.push(await runOf(checkout));
const [a, b] = runs as [Run, Run];
const rounds = Math.ceil(BLOCK / candidates / REQUESTS);
for (const run of [a, b, b, a]) await cpuOf(run, rounds);
const logs = [0, 0];
for (let block = 0; block < BLOCKS; block++) {
  // ABBA: a machine that slows down evenly changes nothing.
  for (const side of [0, 1, 1, 0]) {
    const cpu = await cpuOf(side === 0 ? a : b, rounds);
    logs[side] = (logs[side] ?? 0) + Math.log(cpu / (rounds * REQUESTS)) / (2 * BLOCKS);
  }
}
const [first = NaN, second = NaN] = logs.map(Math.exp);
parentPort?.postMessage(seed % 2 === 0 ? { before: first, after: second } : { before: second, after: first });

/** Milliseconds of CPU of this process, the compiler and the collector of garbage included. */
async function cpuOf(run: Run, times: number): Promise<number> {
  const from = process.cpuUsage();
  for (let i = 0; i < times; i++) await run();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

/** Computes the outputs of all requests once, with the step of a checkout. */
async function runOf(checkout: string): Promise<Run> {
  const load = async <T>(path: string): Promise<T> =>
    (await import(pathToFileURL(join(checkout, 'dist', path)).href)) as T;
  const { plugin } = await load<{ plugin: Plugin }>('plugins/text_match/index.js');
  const { createStep } = await load<typeof CreateStep>('runtime/cli/testing/create-step.js');
  const { FakeStep } = await load<typeof FakeStepFile>('runtime/cli/testing/fake-step.js');
  const next = random(seed);
  const vocabulary = Array.from({ length: VOCABULARY }, () => wordOf(next));
  const word = (): string => vocabulary[Math.floor(vocabulary.length * next() ** 2)] ?? '';
  const words = (count: number): string => Array.from({ length: count }, word).join(' ');
  const titles = Array.from({ length: 4 * candidates }, () => words(5 + Math.floor(next() * 8)));
  const steps = Array.from({ length: REQUESTS }, () => {
    const step = new FakeStep(candidates);
    const query = step.requestText(words(1 + Math.floor(next() * 4)));
    const texts = Array.from({ length: candidates }, () => titles[Math.floor(next() * titles.length)] ?? '');
    return { step, query, title: step.text(texts) };
  });
  const [{ query, title }] = steps as [(typeof steps)[0]];
  const component = (await createStep(plugin, {
    with: { query: 'query', field: 'title' },
    columns: { query, title },
  })) as FeatureComponent;
  const output = outputOf(component, candidates);
  return async () => {
    for (const { step } of steps) await component.compute(step, output);
  };
}

/** Syllables of Latin letters, one word in four with a capital, as titles have them. */
function wordOf(next: () => number): string {
  const one = (letters: string): string => letters[Math.floor(next() * letters.length)] ?? '';
  const syllables = 1 + Math.floor(next() * 4);
  const word = Array.from(
    { length: syllables },
    () => one('bcdfghklmnprstvw') + one('aeiouäé') + one('lnrst'),
  );
  const text = word.join('');
  return next() < 0.25 ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** The columns of the outputs, as the frame keeps them from request to request. */
function outputOf({ outputs }: FeatureComponent, count: number): StepOutput {
  const columns = new Map<string, NumberColumn>(
    Object.keys(outputs).map((name) => [
      name,
      { kind: 'number', stride: 1, status: new Uint8Array(count), values: new Float64Array(count) },
    ]),
  );
  const number = (name: string): NumberColumn => {
    const column = columns.get(name);
    if (column === undefined) throw new Error(`the step has no output ${name}`);
    return column;
  };
  return {
    number,
    text: (name): TextColumn => {
      throw new Error(`${name} is a number`);
    },
  };
}

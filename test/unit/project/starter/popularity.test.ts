import { expect } from 'chai';
import fc from 'fast-check';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Status } from '../../../../runtime/ground/api/status.js';
import { Random } from '../../../../runtime/ground/core/random.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { Census } from '../../../../runtime/project/starter/census.js';
import { guessProducts } from '../../../../runtime/project/starter/guess-products.js';
import type { GuessedNumber } from '../../../../runtime/project/starter/product-guess.js';
import { millrace } from '../../../support/command-line.js';
import { draws } from '../../../support/draws.js';
import { Missing } from '../../../support/interpreter.js';
import { withFiles } from '../../../support/temporary-files.js';
import { compiled } from '../../language/expression/shop.js';
import { fill, results, Table } from '../../language/expression/table.js';

type Row = Readonly<Record<string, number | string | undefined>>;

const POPULAR = ['orders_30d', 'ctr', 'rating', 'review_count', 'number_of_ratings', 'popularity', 'sales'];
const UNSURE = ['score', 'rank', 'discount', 'price'];
const NAMES = [...POPULAR, ...UNSURE, 'sales_rank'];

function guess(rows: readonly Row[]): readonly GuessedNumber[] {
  const census = new Census();
  for (const [at, row] of rows.entries()) {
    const known = Object.entries(row).filter((cell): cell is [string, number] => cell[1] !== undefined);
    census.add({ product_id: `p${at}`, title: `thing ${at}`, ...Object.fromEntries(known) });
  }
  return guessProducts(census, 'p.jsonl').numbers;
}

function valuesOf(expression: string, rows: readonly Row[]): readonly unknown[] {
  const name = /(?:product\.|product_stats:)([a-z0-9_]+)/.exec(expression)?.[1] ?? '';
  const path = expression.includes(`product_stats:${name}`) ? `product_stats:${name}` : `product.${name}`;
  const table = new Table({ [path]: { type: { kind: 'number' }, scope: 'candidate' } });
  const found = compiled(expression, table);
  const frame = new Frame(table.layout);
  fill(frame, table, { [path]: rows.map((row) => row[name] ?? new Missing(Status.absent)) }, rows.length, 0);
  return results(frame, found);
}

describe('numbers of popularity', () => {
  it('lie between 0 and 1, and add at most 1, whatever the columns hold', () => {
    const value = fc.oneof(
      fc.integer({ min: -1, max: 5 }),
      fc.integer({ min: -1000, max: 1_000_000_000 }),
      fc.double({ min: -1, max: 1, noNaN: true }),
      fc.constant(undefined),
    );
    const rows = fc.array(fc.record(Object.fromEntries(NAMES.map((name) => [name, value]))), {
      minLength: 2,
      maxLength: 40,
    });
    fc.assert(
      fc.property(rows, (given) => {
        const numbers = guess(given);
        expect(numbers.reduce((sum, { weight }) => sum + weight, 0)).to.be.at.most(1.02);
        for (const { name, weight, expression } of numbers) {
          if (UNSURE.includes(name)) expect(weight, name).to.equal(0);
          for (const one of valuesOf(expression, given))
            if (!(one instanceof Missing) && weight > 0) expect(one, expression).to.be.within(-0.01, 1.01);
        }
      }),
      { numRuns: draws(200) },
    );
  });

  it('take the least rank of sales as the best, and do not trust a rank of 0', () => {
    const ranks = (from: number): readonly Row[] =>
      Array.from({ length: 50 }, (_, at) => ({ sales_rank: from + at * at }));
    const [number] = guess(ranks(1));
    expect(number).to.include({ name: 'sales_rank', weight: 0.5 });
    const values = valuesOf(number?.expression ?? '', ranks(1)) as readonly number[];
    expect(values).to.deep.equal([...values].sort((a, b) => b - a));
    expect(guess(ranks(0))).to.deep.equal([]);
  });

  it('share the weight between them', () => {
    const rows = Array.from({ length: 9 }, (_, at) => Object.fromEntries(POPULAR.map((name) => [name, at])));
    expect(guess(rows).map(({ weight }) => weight)).to.deep.equal(Array.from({ length: 6 }, () => 0.17));
    expect(guess(rows.map(({ rating }) => ({ rating }))).map(({ weight }) => weight)).to.deep.equal([0.5]);
  });

  /** What popularity is, in catalogues where only the words of the title make a product relevant. */
  const SHAPES: Readonly<Record<string, (random: Random, isRelevant: boolean) => Row>> = {
    'a few products that all buy': (random) => ({ orders: Math.floor(1 / (random.next() + 1e-6)) }),
    'noise in seven columns': (random) =>
      Object.fromEntries(POPULAR.map((name) => [name, random.between(0, 1000)])),
    'more of what is not relevant': (random, isRelevant) => ({
      popularity: isRelevant ? random.between(0, 9) : random.between(0, 99_999),
      sales_rank: isRelevant ? random.between(50, 99) : random.between(1, 49),
    }),
    'unknown for most, and -1': (random) => ({
      ...(random.chance(0.3) ? { review_count: random.between(-1, 50_000) } : {}),
    }),
  };
  for (const [shape, rowOf] of Object.entries(SHAPES))
    it(`does no harm to the words: ${shape}`, async () => {
      const random = new Random(7);
      const [nouns, colours] = [
        ['lamp', 'desk', 'chair', 'shelf', 'sofa', 'stool'],
        ['red', 'blue', 'green', 'oak', 'white'],
      ];
      const lines: string[] = [];
      const judgments = ['query,product_id,grade'];
      for (const [at, noun] of nouns.entries())
        for (const [of, colour] of colours.entries())
          for (let copy = 0; copy < 6; copy++) {
            const id = `p${at}-${of}-${copy}`;
            // Half of the catalogue is what the queries of this test want.
            const row = rowOf(random, copy < 3);
            const title =
              copy < 3 ? `${colour} ${noun}` : `${noun} cover, fits ${colours[(of + 1) % 5] ?? ''}`;
            lines.push(JSON.stringify({ product_id: id, title: `${title} number ${copy}`, ...row }));
            for (const wanted of colours)
              judgments.push(`${wanted} ${noun},${id},${copy < 3 && wanted === colour ? 3 : 0}`);
          }
      await withFiles({ 'p.jsonl': lines.join('\n'), 'j.csv': judgments.join('\n') }, async (root) => {
        const shop = join(root, 'shop');
        const made = await millrace(['init', shop, '--from', join(root, 'p.jsonl'), '--no-git']);
        expect(made.code, made.stderr).to.equal(0);
        const pipelines = join(shop, 'pipelines');
        const search = await readFile(join(pipelines, 'search.yaml'), 'utf8');
        expect(search).to.match(/value: 0\.(17|5), min: -5/);
        for (const [name, value] of [
          ['words', '0'],
          ['loud', '5'],
        ] as const)
          await writeFile(
            join(pipelines, `${name}.yaml`),
            search
              .replaceAll(/value: 0\.\d+, min: -5/g, `value: ${value}, min: -5`)
              .replace('pipeline: search', `pipeline: ${name}`),
          );
        const gain = async (pipeline: string): Promise<number> => {
          const { code, stdout, stderr } = await millrace([
            ...['evaluate', pipeline, '--against', 'words', '--judgments', join(root, 'j.csv')],
            ...['--metrics', 'ndcg@10', '--project', shop, '--json'],
          ]);
          expect(code, stderr).to.equal(0);
          const { metrics } = JSON.parse(stdout) as {
            readonly metrics: readonly { readonly delta: { readonly mean: number } }[];
          };
          return metrics[0]?.delta.mean ?? NaN;
        };
        expect(await gain('search')).to.be.at.least(-0.005);
        // So much popularity is worse than the words alone.
        expect(await gain('loud')).to.be.below(-0.05);
      });
    });
});

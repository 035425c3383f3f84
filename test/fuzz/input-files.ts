import { expect } from 'chai';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { ValueType } from '../../runtime/ground/api/types.js';
import { CommandFailure } from '../../runtime/project/config/diagnostics/failure.js';
import { openInput } from '../../runtime/project/rows/open-input.js';
import { readAll } from '../support/chunks.js';
import { always, type FuzzTarget } from './fuzz-target.js';
import { byteEdits } from './mutate-bytes.js';
import { jsonEdits } from './mutate-json.js';
import { textEdits } from './mutate-text.js';

const TYPES: readonly (readonly [string, ValueType])[] = [
  ['title', { kind: 'string' }],
  ['price', { kind: 'float' }],
  ['clicks', { kind: 'int' }],
  ['hot', { kind: 'bool' }],
  ['tags', { kind: 'list', of: { kind: 'string' } }],
  ['embedding', { kind: 'vector', size: 2 }],
  ['since', { kind: 'timestamp' }],
];

const RECORDS = Array.from({ length: 12 }, (_, i) => ({
  product_id: `p${i}`,
  title: `a "quoted", größe ${i}`,
  price: i / 8,
  clicks: i,
  hot: i % 2 === 0,
  tags: ['x', `t${i}`],
  embedding: [1, i],
  since: '2026-01-31T09:30:00Z',
}));

const JSON_LINES = RECORDS.map((record) => JSON.stringify(record)).join('\n');
const CSV = [
  'product_id,title,price,clicks,hot,tags,embedding,since',
  ...RECORDS.map(
    ({ product_id, title, price, clicks, hot, tags, embedding, since }) =>
      `${product_id},"${title.replaceAll('"', '""')}",${price},${clicks},${hot},"${JSON.stringify(tags).replaceAll('"', '""')}","[${embedding.join()}]",${since}`,
  ),
].join('\r\n');

function parquet(): Buffer {
  const of = <K extends keyof (typeof RECORDS)[number]>(name: K): (typeof RECORDS)[number][K][] =>
    RECORDS.map((record) => record[name]);
  return Buffer.from(
    parquetWriteBuffer({
      codec: 'SNAPPY',
      rowGroupSize: 5,
      columnData: [
        { name: 'product_id', data: of('product_id'), type: 'STRING' },
        { name: 'title', data: of('title'), type: 'STRING' },
        { name: 'price', data: of('price'), type: 'DOUBLE' },
        { name: 'clicks', data: of('clicks').map(BigInt), type: 'INT64' },
        { name: 'hot', data: of('hot'), type: 'BOOLEAN' },
        { name: 'tags', data: of('tags'), type: 'JSON' },
        { name: 'since', data: of('since').map((time) => new Date(time)), type: 'TIMESTAMP' },
      ],
    }),
  );
}

const FILES: readonly (readonly [name: string, content: Buffer])[] = [
  ['a.jsonl', Buffer.from(JSON_LINES)],
  ['a.json', Buffer.from(JSON.stringify(RECORDS))],
  ['a.csv', Buffer.from(CSV)],
  ['a.csv.gz', gzipSync(CSV)],
  ['a.jsonl.gz', gzipSync(JSON_LINES)],
];
/**
 * Parquet files are only truncated. Pages have no checksum, and hyparquet (1.31) trusts their counts, so one flipped
 * bit can make it write billions of values.
 */
const PARQUET = parquet();

/** Damages files to load. The reader yields rows, bad rows with a reason, or an error that says why it stopped. */
export const inputFiles: FuzzTarget = {
  name: 'input files',
  quick: 150,
  async open() {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-fuzz-'));
    const bytes = fc
      .tuple(fc.constantFrom(...FILES), byteEdits)
      .map(([[name, content], { what, apply }]) => ({
        name,
        content: apply(content),
        what: `${name}: ${what}`,
      }));
    const text = fc
      .tuple(fc.constantFrom(['a.csv', CSV] as const, ['a.jsonl', JSON_LINES] as const), textEdits)
      .map(([[name, content], { what, apply }]) => ({
        name,
        content: Buffer.from(apply(content)),
        what: `${name}: ${what}`,
      }));
    const list = jsonEdits.map(({ what, apply }) => ({
      name: 'a.json',
      content: Buffer.from(apply(RECORDS)),
      what: `a.json: ${what}`,
    }));
    const cut = fc.nat(PARQUET.length).map((end) => ({
      name: 'a.parquet',
      content: PARQUET.subarray(0, end),
      what: `a.parquet: cut at ${end}`,
    }));
    return {
      run: always(fc.oneof({ weight: 3, arbitrary: bytes }, text, list, cut), async ({ name, content }) => {
        await writeFile(join(folder, name), content);
        await expectTold(join(folder, name));
      }),
      close: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

async function expectTold(path: string): Promise<void> {
  try {
    const columnTypes = (): Promise<Map<string, ValueType>> => Promise.resolve(new Map(TYPES));
    const input = await openInput(path, { stdin: Readable.from([]), columnTypes });
    try {
      const { rows, bad } = await readAll(input.chunks());
      for (const { line, value, json } of rows) {
        expect(line).to.be.above(0);
        expect(value).to.be.an('object');
        // A row is sent as its text if it has one. Only JSON can nest too deeply for JSON.stringify, and a JSON row
        // has its text.
        if (json === undefined) JSON.stringify(value);
      }
      for (const { line, problem } of bad) {
        expect(line).to.be.above(0);
        expectWords(problem);
      }
      input.misspelt();
    } finally {
      await input.close();
    }
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    expectWords(error.message);
  }
}

function expectWords(message: string): void {
  expect(message.trim()).not.to.equal('');
  expect(message.length).to.be.below(1000);
  expect(message).not.to.match(/Cannot read|is not a function|not iterable|stack size|\[object|at .*\.js:\d/);
}

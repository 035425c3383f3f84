import { strict as assert } from 'node:assert';
import { isKnown } from '../runtime/ground/api/status.js';
import { compileExpression } from '../runtime/language/expression/compile.js';
import type { Environment, ExpressionType, Source } from '../runtime/language/expression/environment.js';
import { runKernelsAtOnce } from '../runtime/language/expression/run-kernels.js';
import { shapeFor } from '../runtime/language/expression/types.js';
import { writeJson } from '../runtime/language/frame/cells.js';
import { Frame } from '../runtime/language/frame/frame.js';
import { FrameLayout } from '../runtime/language/frame/frame-layout.js';
import { measure, median, table } from './support/measure.js';

const ROWS = 1000;
const NOW = Date.UTC(2026, 5, 15, 12);
const SIZE = 64;
/** Runs in one measurement, since one run takes microseconds. */
const REPEATS = 20;

const TYPES: Readonly<
  Record<string, { readonly type: ExpressionType; readonly scope: 'candidate' | 'request' }>
> = {
  'product.price': { type: { kind: 'number' }, scope: 'candidate' },
  'product.lat': { type: { kind: 'number' }, scope: 'candidate' },
  'product.brand': { type: { kind: 'text' }, scope: 'candidate' },
  'product.title': { type: { kind: 'text' }, scope: 'candidate' },
  'product.added': { type: { kind: 'time' }, scope: 'candidate' },
  'product.scores': { type: { kind: 'list', of: { kind: 'number' } }, scope: 'candidate' },
  'product.vec': { type: { kind: 'vector', size: SIZE }, scope: 'candidate' },
  'request.zone': { type: { kind: 'text' }, scope: 'request' },
  'request.agent': { type: { kind: 'text' }, scope: 'request' },
};

/** The first is what the others are compared with. */
const EXPRESSIONS = [
  'log1p(product.price)',
  'length(product.title)',
  'hour(product.added)',
  'hour(product.added, "Europe/Berlin")',
  'month(product.added, request.zone)',
  'product.scores[2]',
  'mean(product.scores)',
  'product.vec[7]',
  'norm(product.vec)',
  'vector(product.scores, 8)',
  'hash(product.brand, 1000)',
  'cross(product.brand, product.title)',
  'bucket(product.price, 10, 20, 50, 100)',
  'piecewise(product.price, 0, 1, 50, 2, 100, 0)',
  'geo_distance(52.5, 13.4, product.lat, product.lat)',
  'if(platform(request.agent) == "mobile", product.price, 0)',
];

/** What functions of expressions cost for 1,000 candidates: microseconds of one run, and nanoseconds for each candidate. */
export async function expressionsBench(short: boolean): Promise<void> {
  const runs = EXPRESSIONS.map(prepared);
  const measured = await measure(
    runs.map(({ text, run }) => ({
      name: text,
      run: () => {
        for (let i = 0; i < REPEATS; i++) run();
        return Promise.resolve();
      },
    })),
    short ? 20 : 200,
  );
  const first = median(measured[0]?.ms ?? []);
  console.log(`\n${ROWS} candidates, medians\n`);
  console.log(
    table(
      ['expression', 'µs', 'ns a row', '× the first'],
      measured.map(({ name, ms }) => {
        const micros = (median(ms) / REPEATS) * 1000;
        const ratio = (median(ms) / first).toFixed(1);
        return [name, micros.toFixed(1), ((micros / ROWS) * 1000).toFixed(1), ratio];
      }),
    ),
  );
}

/** An expression over a frame that is full of known values. */
function prepared(text: string): { readonly text: string; readonly run: () => void } {
  const layout = new FrameLayout();
  const sources = new Map<string, Source>();
  for (const [name, { type, scope }] of Object.entries(TYPES))
    sources.set(name, { type, scope, slot: layout.add(shapeFor(type, scope), name) });
  const environment: Environment = {
    layout,
    name: (name) => ({ problem: 'unknown_name', message: name }),
    path: (segments) =>
      sources.get(segments.join('.')) ?? { problem: 'unknown_name', message: segments.join('.') },
    feature: (view) => ({ problem: 'unknown_name', message: view }),
  };
  const compiled = compileExpression(text, environment, { type: 'any', scope: 'any' });
  assert(compiled.ok, compiled.ok ? '' : compiled.problems[0]?.message);
  const frame = new Frame(layout);
  frame.reset(ROWS, NOW);
  for (const [name, source] of sources) fill(frame, name, source);
  const { kernels, slot } = compiled.expression;
  const run = (): void => {
    runKernelsAtOnce(kernels, frame);
  };
  run();
  assert(isKnown(frame.columns[slot]?.status[0]), `${text} has a value`);
  return { text, run };
}

const AGENT =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36';

function fill(frame: Frame, name: string, { slot, scope }: Source): void {
  const column = frame.columns[slot];
  assert(column !== undefined);
  const values: Readonly<Record<string, (row: number) => unknown>> = {
    'product.price': (row) => (row * 7) % 120,
    'product.lat': (row) => (row % 90) - 45,
    'product.brand': (row) => `brand-${row % 50}`,
    'product.title': (row) => `A lamp of the number ${row}`,
    'product.added': (row) => NOW - row * 9_000_000,
    'product.scores': (row) => Array.from({ length: 8 }, (_, i) => row + i / 2),
    'product.vec': (row) => Array.from({ length: SIZE }, (_, i) => (row % 10) + i / 2),
    'request.zone': () => 'America/New_York',
    'request.agent': () => AGENT,
  };
  for (let row = 0; row < (scope === 'request' ? 1 : ROWS); row++)
    writeJson(column, row, values[name]?.(row) as never);
}

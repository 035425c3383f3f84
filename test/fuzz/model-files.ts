import { expect } from 'chai';
import fc from 'fast-check';
import { readBooster as readLightGbm } from '../../plugins/lightgbm/booster.js';
import { plugin as lightgbm } from '../../plugins/lightgbm/index.js';
import { readBooster as readXgBoost } from '../../plugins/xgboost/booster.js';
import { plugin as xgboost } from '../../plugins/xgboost/index.js';
import { OptionError } from '../../runtime/ground/api/option-error.js';
import type { Component, ModelComponent } from '../../runtime/ground/api/component.js';
import type { Plugin } from '../../runtime/ground/api/plugin.js';
import { NodeRule, type TreeEnsemble } from '../../runtime/ground/api/tree-ensemble.js';
import { FlatScorer } from '../../runtime/language/trees/flat-scorer.js';
import { interpret } from '../../runtime/language/trees/interpreter.js';
import { createComponent, NO_NOTICES } from '../support/create-component.js';
import { randomColumns, randomEnsemble } from '../support/random-ensemble.js';
import { compute, FakeStep } from '../support/step-input.js';
import { writeUbjson } from '../unit/plugins/xgboost/ubjson.js';
import { editsOf, type Edit } from './edits.js';
import { always, type FuzzTarget } from './fuzz-target.js';
import { byteEdits } from './mutate-bytes.js';
import { jsonEdits } from './mutate-json.js';
import { lightGbmJson, lightGbmText, xgboostJson, xgboostLinear } from './written-models.js';

const FEATURES = 4;
const ROWS = 40;

const ensembleOf = (of: 'float32' | 'float64', outputs: number, categoricalFrom: number): TreeEnsemble =>
  randomEnsemble(outputs + categoricalFrom, {
    trees: 2 * outputs,
    leaves: 6,
    features: FEATURES,
    outputs,
    thresholds: 5,
    precision: of,
    comparison: of === 'float32' ? 'less' : 'less_or_equal',
    rules: of === 'float32' ? [NodeRule.nan, NodeRule.nan | NodeRule.defaultLeft] : [0, 1, 2, 5, 6],
    categoricalFrom,
  });

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

/** Texts that replace a number in a file. */
const NUMBERS = [
  '',
  '0',
  '-0',
  '1',
  '-1',
  '-2',
  '-7',
  '2',
  '3',
  '5',
  '1.5',
  '0.5',
  '1e9',
  '1e15',
  '-1e9',
  '2147483647',
  '2147483648',
  '-2147483648',
  '4294967295',
  '4294967296',
  '4294967297',
  '1e308',
  '-1e308',
  '1e400',
  '1e-320',
  'nan',
  'NaN',
  '-nan',
  'inf',
  '-inf',
  'Infinity',
  'null',
  'true',
  '[]',
  '0x10',
  '1 2',
  'a',
  '"1"',
  '9'.repeat(400),
];

const numberEdit: fc.Arbitrary<Edit<string>> = fc
  .record({
    kind: fc.constantFrom('number', 'number', 'number', 'number', 'line', 'lines', 'twice'),
    at: share,
    other: share,
    number: fc.constantFrom(...NUMBERS),
  })
  .map(({ kind, at, other, number }) => ({
    what: `${kind} at ${at.toFixed(4)}, ${other.toFixed(4)}: ${number.slice(0, 30)}`,
    apply(text) {
      if (kind === 'number') {
        const numbers = [...text.matchAll(/-?\d[\d.e+-]*/gi)];
        const found = numbers[Math.floor(at * numbers.length)];
        if (found === undefined) return text;
        return text.slice(0, found.index) + number + text.slice(found.index + found[0].length);
      }
      const lines = text.split('\n');
      const line = Math.floor(at * lines.length);
      const second = Math.floor(other * lines.length);
      if (kind === 'line') lines.splice(line, 1);
      else if (kind === 'twice') lines.splice(line, 0, lines[line] ?? '');
      else [lines[line], lines[second]] = [lines[second] ?? '', lines[line] ?? ''];
      return lines.join('\n');
    },
  }));

const edited = (text: string, edits: fc.Arbitrary<Edit<string>>): fc.Arbitrary<Written> =>
  edits.map(({ what, apply }) => ({ what, content: Buffer.from(apply(text)) }));
const bytes = (content: Buffer): fc.Arbitrary<Written> =>
  byteEdits.map(({ what, apply }) => ({ what, content: apply(content) }));
const json = (value: unknown): fc.Arbitrary<Written> =>
  jsonEdits.map(({ what, apply }) => ({ what, content: Buffer.from(apply(value)) }));

/** A file and a description of its damage. */
interface Written {
  readonly what: string;
  readonly content: Buffer;
}

interface Case extends Written {
  readonly plugin: 'lightgbm' | 'xgboost';
}

function cases(): fc.Arbitrary<Case> {
  const of = (plugin: Case['plugin'], ...files: fc.Arbitrary<Written>[]): fc.Arbitrary<Case> =>
    fc.oneof(...files).map(({ what, content }) => ({ plugin, what: `${plugin}: ${what}`, content }));
  const texts = [
    lightGbmText(ensembleOf('float64', 1, FEATURES), false),
    lightGbmText(ensembleOf('float64', 3, 2), false),
    lightGbmText(ensembleOf('float64', 1, 3), true),
  ];
  const dumps = [lightGbmJson(ensembleOf('float64', 1, FEATURES)), lightGbmJson(ensembleOf('float64', 3, 2))];
  const saved = [
    xgboostJson(ensembleOf('float32', 1, FEATURES), false, false),
    xgboostJson(ensembleOf('float32', 3, 2), false, true),
    xgboostJson(ensembleOf('float32', 3, FEATURES), true, false),
    xgboostLinear(FEATURES),
  ];
  return fc.oneof(
    of('lightgbm', ...texts.flatMap((text) => [edited(text, editsOf(numberEdit)), bytes(Buffer.from(text))])),
    of('lightgbm', ...dumps.flatMap((one) => [json(one), edited(JSON.stringify(one), editsOf(numberEdit))])),
    of('xgboost', ...saved.flatMap((one) => [json(one), edited(JSON.stringify(one), editsOf(numberEdit))])),
    of('xgboost', ...saved.map((one) => bytes(writeUbjson(one)))),
  );
}

const PLUGINS = { lightgbm, xgboost };

/** Messages of a JavaScript engine. They show that a reader did not check its input. */
const INTERNAL =
  /Cannot read|Invalid (typed )?array length|is not a function|not iterable|undefined|stack size|out of memory|WebAssembly|RangeError|\[object/;

/** Damages model files. Each gives a load error in words, or a model that scores equally in every form. */
export const modelFiles: FuzzTarget = {
  name: 'model files',
  quick: 75,
  open: () =>
    Promise.resolve({
      run: always(cases(), async ({ plugin, content }) => {
        const component = await created(PLUGINS[plugin], content);
        if (component === undefined) return;
        await component.warm?.(NO_NOTICES);
        expectSameInEveryForm(plugin, content, await scores(component));
      }),
    }),
};

/** @returns undefined if the file was rejected with a proper error */
async function created(plugin: Plugin, content: Buffer): Promise<Component | undefined> {
  const options = {
    model: { path: 'model', content, version: '000000000000' },
    predict: 'raw',
    iterations: 'best',
  };
  const step = new FakeStep(0);
  const column = step.number([]);
  try {
    const iterations = plugin.name === 'xgboost' ? {} : { iterations: undefined };
    return await createComponent(plugin, { ...options, ...iterations }, () => column);
  } catch (error) {
    // Several unbound columns are reported together.
    const faults: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const fault of faults) {
      if (!(fault instanceof OptionError)) throw error;
      expect(fault.message).not.to.match(INTERNAL);
    }
    return undefined;
  }
}

/** Returns scores by output, from columns with unusual numbers. */
async function scores(component: Component): Promise<number[][]> {
  // Every input of these models is column 0.
  const step = new FakeStep(ROWS);
  step.number(Array.from(VALUES));
  const found = await compute(component as ModelComponent, step);
  return Object.values(found).map((cells) => cells as number[]);
}

const VALUES = randomColumns(1, ensembleOf('float64', 1, 2), ROWS)[3] ?? new Float64Array(ROWS);

function expectSameInEveryForm(plugin: Case['plugin'], content: Buffer, found: readonly number[][]): void {
  const ensemble = ensembleIn(plugin, content);
  if (ensemble === undefined) return;
  const rows = Int32Array.from({ length: ROWS }, (_, row) => row);
  const columns = Array.from({ length: ensemble.features }, () => ({ values: VALUES, stride: 1 as const }));
  const flat = Array.from({ length: ensemble.outputs }, () => new Float64Array(ROWS));
  new FlatScorer(ensemble).score(rows, columns, flat);
  for (const row of rows) {
    const wanted = interpret(ensemble, new Array<number>(ensemble.features).fill(VALUES[row] ?? NaN));
    for (const [output, value] of wanted.entries()) {
      expect(flat[output]?.[row], `row ${row}`).to.be.deep.equal(value);
      expect(found[output]?.[row], `row ${row}`).to.be.deep.equal(value);
    }
  }
}

function ensembleIn(plugin: Case['plugin'], content: Buffer): TreeEnsemble | undefined {
  if (plugin === 'lightgbm') return readLightGbm(content, 'raw').ensemble;
  const { scored } = readXgBoost(content, 'raw', 'best');
  return 'ensemble' in scored ? scored.ensemble : undefined;
}

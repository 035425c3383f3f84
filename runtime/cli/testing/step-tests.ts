import assert from 'node:assert/strict';
import type { Input } from '../../ground/api/input.js';
import type {
  Component,
  FeatureComponent,
  FilterComponent,
  RuleComponent,
} from '../../ground/api/component.js';
import { COMPONENT_KINDS, type Plugin } from '../../ground/api/plugin.js';
import type { TextColumn, TextsColumn } from '../../ground/api/columns.js';
import { Status } from '../../ground/api/status.js';
import type { StepInput } from '../../ground/api/step-input.js';
import { NAME_PATTERN, type JsonObject, type JsonValue } from '../../ground/api/types.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { ExpressionMarkScope, ExpressionMarkType } from '../../project/config/project/marks.js';
import { TextCodes } from '../../request/resident/text-codes.js';
import type { ConformanceTest } from './conformance-test.js';
import { unequalAccounts } from './account-tests.js';
import { createBound, optionsOf, type StepSetup } from './create-step.js';
import { FakeRanking } from './fake-ranking.js';
import { absent, compute, FakeStep, type Cell } from './fake-step.js';
import { assertStrict } from './outside-tests.js';

/** Options that the suite tries, with what they need. Columns that are not given are filled by the suite. */
export type StepExample = Omit<StepSetup, 'columns'> & {
  /** Kinds of expressions that may have any: by default number. */
  readonly kinds?: Readonly<Record<string, 'number' | 'text' | 'texts' | 'vector'>>;
};

const SCORES = [0, 3, -2, 5, 1, 4];
const NUMBERS = [1, 0, -2.5, 1e9, 7, 0];
const TEXTS = ['red lamp', '', 'blue Lamps', 'p1', 'lumen', 'Écran'];

/**
 * What every step plugin must do, whatever it computes.
 * @param examples at least one set of options
 */
export function stepTests(plugin: Plugin, examples: readonly StepExample[]): ConformanceTest[] {
  const run = (count: number, fill: Fill, rows?: readonly number[]): Promise<Outcome[]> =>
    runAll(plugin, examples, count, fill, rows);
  return [
    ...declarationTests(plugin, examples),
    {
      name: 'works with no candidates',
      run: async () => {
        for (const { touched } of await run(0, 'present')) assert.deepEqual(touched, []);
      },
    },
    {
      name: 'works if every value is absent, and then changes no score',
      run: async () => {
        for (const { scores } of await run(5, 'absent')) assert.deepEqual(scores, SCORES.slice(0, 5));
      },
    },
    {
      name: 'works if some values are absent',
      run: async () => {
        for (const { scores } of await run(6, 'mixed')) assert.ok(scores.every(Number.isFinite));
      },
    },
    {
      name: 'does not change rows outside its input',
      run: async () => {
        const rows = [1, 2, 4];
        for (const { touched } of await run(6, 'present', rows))
          assert.deepEqual(
            touched.filter((row) => !rows.includes(row)),
            [],
          );
      },
    },
    ...sameOutcomes(run),
    {
      name: 'does not write into its input, which other steps read too',
      run: async () => {
        for (const { given, kept } of await run(6, 'mixed')) assert.deepEqual(kept, given);
      },
    },
    {
      name: 'gives the same output for the same input, unless it says that it is random',
      run: async () => {
        const [once, again] = [await run(6, 'present'), await run(6, 'present')];
        assert.deepEqual(once.filter(isRepeatable), again.filter(isRepeatable));
      },
    },
  ];
}

/** What a plugin says of itself. */
function declarationTests(plugin: Plugin, examples: readonly StepExample[]): ConformanceTest[] {
  return [
    {
      name: 'has a name, a kind and a summary',
      run: () => {
        assert.match(plugin.name, NAME_PATTERN);
        assert.ok(COMPONENT_KINDS.includes(plugin.kind), `kind: ${plugin.kind}`);
        assert.match(plugin.summary, /^[A-Z].*\.$/, 'the summary is one sentence');
      },
    },
    {
      name: 'has an options schema that is valid, describes each option and refuses unknown ones',
      run: () => {
        assertStrict(plugin);
        assert.deepEqual(undescribedOptions(plugin.options), []);
      },
    },
    {
      name: 'accepts its examples',
      run: () => {
        assert.ok(examples.length > 0, 'the suite needs an example');
        for (const example of examples) {
          const diagnostics = new Diagnostics();
          optionsOf(plugin, example.with, diagnostics);
          assert.deepEqual(
            diagnostics.all.map(({ message }) => message),
            [],
          );
        }
      },
    },
  ];
}

/** What a retriever may return in these tests. */
const MOST_FOUND = 100;

/** What must not change what a step does, and what it says of that. */
function sameOutcomes(
  run: (count: number, fill: Fill, rows?: readonly number[]) => Promise<Outcome[]>,
): ConformanceTest[] {
  return [
    {
      name: 'gives the same for its rows without the other rows, if it says that it reads no others',
      run: async () => {
        const rows = [1, 2, 4];
        const [all, alone] = [await run(6, 'present', rows), await run(6, 'rows', rows)];
        for (const [i, { readsRowsOnly, outputs, scores }] of all.entries())
          if (readsRowsOnly && isRepeatable(all[i]))
            assert.deepEqual([alone[i]?.outputs, alone[i]?.scores], [outputs, scores]);
      },
    },
    {
      name: 'gives the same for texts that the process keeps with codes',
      run: async () => {
        const [plain, coded] = [await run(6, 'present'), await run(6, 'coded')];
        const made = ({ outputs, scores }: Outcome): unknown => [outputs, scores];
        assert.deepEqual(coded.filter(isRepeatable).map(made), plain.filter(isRepeatable).map(made));
      },
    },
    {
      name: 'divides its values into contributions that sum to them, if it has `contributions`',
      run: async () => {
        for (const fill of ['present', 'mixed'] as const)
          for (const { unequal } of await run(6, fill)) assert.deepEqual(unequal, []);
      },
    },
  ];
}

/** `rows`: present in the rows of the step, and absent in the others. `coded`: present, and most texts have codes. */
type Fill = 'present' | 'absent' | 'mixed' | 'rows' | 'coded';

/** What a component changed. */
interface Outcome {
  readonly isRandom: boolean;
  readonly readsRowsOnly: boolean;
  /** Rows that it wrote, removed, or placed in any way. */
  readonly touched: readonly number[];
  readonly scores: readonly number[];
  readonly outputs: unknown;
  /** The accounts that do not sum to the value. */
  readonly unequal: readonly string[];
  /** Its input before and after it ran. */
  readonly given: unknown;
  readonly kept: unknown;
}

function isRepeatable(outcome: Outcome | undefined): boolean {
  return outcome?.isRandom !== true;
}

async function runAll(
  plugin: Plugin,
  examples: readonly StepExample[],
  count: number,
  fill: Fill,
  rows?: readonly number[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const example of examples) {
    const step = new FakeStep(count, rows);
    const filler = new Filler(step, fill, example.kinds ?? {});
    const component = await createBound(
      plugin,
      example,
      ({ value }, type, scope) => filler.input(value, type, scope),
      (name) =>
        filler.input(
          name,
          example.kinds?.[name] ?? 'number',
          plugin.kind === 'retriever' ? 'request' : 'candidate',
        ),
    );
    try {
      await component.warm?.({ warn: () => undefined });
      const given = step.snapshot();
      const readsRowsOnly = component.readsRowsOnly === true;
      const outcome = await runStep(component, step);
      const unequal = unequalAccounts(component, step, outcome);
      const isRandom = component.isRandom === true;
      outcomes.push({ ...outcome, unequal, isRandom, readsRowsOnly, given, kept: step.snapshot() });
    } finally {
      await component.close?.();
    }
  }
  return outcomes;
}

type Ran = Omit<Outcome, 'isRandom' | 'given' | 'kept' | 'readsRowsOnly' | 'unequal'>;

async function runStep(component: Component, step: FakeStep): Promise<Ran> {
  const before = SCORES.slice(0, step.count);
  if ('compute' in component) {
    const outputs = await compute(component satisfies FeatureComponent, step);
    const written = Object.values(outputs).flatMap((cells) =>
      [...cells.keys()].filter((row) => isWritten(cells[row])),
    );
    return { touched: [...new Set(written)], scores: before, outputs };
  }
  if ('select' in component) {
    const selection = await (component satisfies FilterComponent).select(step);
    assert.ok(Array.isArray(selection.removed) && typeof selection.reason === 'string');
    assert.ok(Number.isInteger(selection.undecided), '`undecided` is a count');
    return { touched: selection.removed, scores: before, outputs: selection };
  }
  if ('retrieve' in component) {
    const { now, signal, trace } = step as StepInput;
    const column: StepInput['column'] = (input) => step.column(input);
    const found = await component.retrieve({ now, signal, trace, column, most: MOST_FOUND, timeoutMs: 1000 });
    assert.ok(found.ids.every((id) => typeof id === 'string'));
    for (const name of Object.keys(found.columns)) {
      assert.ok(name in component.outputs, `\`${name}\` is declared under \`outputs\``);
      assert.ok((found.columns[name]?.length ?? 0) >= found.ids.length, 'a column has a number for each id');
    }
    return { touched: [], scores: before, outputs: found };
  }
  if (!('apply' in component)) {
    await component.run?.(step);
    const order = Int32Array.from(step.rows);
    const scores = Float64Array.from(step.rows, (row) => SCORES[row] ?? 0);
    const page = { requestId: 'r1', start: 0, rows: order, scores, total: order.length, order: () => order };
    await component.served?.(step, page);
    return { touched: [], scores: before, outputs: step.emitted };
  }
  const ranking = new FakeRanking(before);
  const report = await (component satisfies RuleComponent).apply(step, ranking);
  assert.ok(Number.isInteger(report.applied) && Number.isInteger(report.skipped), 'a report has two counts');
  const scores = [...ranking.scores];
  assert.ok(scores.every(Number.isFinite), 'scores are finite');
  const changed = [...scores.keys()].filter((row) => scores[row] !== before[row]);
  return {
    touched: [...changed, ...ranking.touched()],
    scores,
    outputs: [report, ranking.touched(), [...ranking.final()]],
  };
}

/** Makes columns with values that tend to break components. */
class Filler {
  readonly #dictionary = new TextCodes({ left: 1e6 });

  constructor(
    private readonly step: FakeStep,
    private readonly fill: Fill,
    private readonly kinds: NonNullable<StepExample['kinds']>,
  ) {}

  input(text: string, type: ExpressionMarkType, scope: ExpressionMarkScope): Input {
    const { step } = this;
    const wanted = type === 'any' ? (this.kinds[text] ?? 'number') : type;
    const isRequest = scope === 'request' || (scope === 'any' && /^(user|query|request)\./.test(text));
    const lists = TEXTS.map((one) => one.split(' '));
    const vectors = NUMBERS.map((one, row) => [one, row, -1]);
    const hasOne = this.fill !== 'absent' && this.fill !== 'mixed';
    const one = <T>(value: T): Cell<T> => (hasOne ? value : absent);
    switch (wanted) {
      case 'text':
        return this.#coded(isRequest ? step.requestText(one('lamp')) : step.text(this.#cells(TEXTS), text));
      case 'texts':
        return this.#coded(
          isRequest ? step.requestTexts(one(['lamp'])) : step.texts(this.#cells(lists), text),
        );
      case 'vector':
        return isRequest
          ? step.requestVector(one([1, 2, -1]), 3)
          : step.vector(this.#cells(vectors), 3, text);
      case 'bool':
        return isRequest
          ? step.requestNumber(one(1))
          : step.bool(this.#cells(NUMBERS.map((value) => value > 0)), text);
      default:
        return isRequest ? step.requestNumber(one(1)) : step.number(this.#cells(NUMBERS), text);
    }
  }

  #coded<K extends 'text' | 'texts'>(input: Input<K>): Input<K> {
    const column: TextColumn | TextsColumn = this.step.column(input);
    if (this.fill !== 'coded') return input;
    const codes = column.values.map((text, at) => (at % 3 === 2 ? -1 : this.#dictionary.retain(text)));
    if (column.kind === 'text') column.codes = Int32Array.from(codes);
    else column.codes = codes;
    column.dictionary = this.#dictionary;
    return input;
  }

  #cells<T>(values: readonly T[]): Cell<T>[] {
    const isKnown = (row: number): boolean =>
      this.fill === 'present' ||
      this.fill === 'coded' ||
      (this.fill === 'mixed' && row % 2 === 0) ||
      (this.fill === 'rows' && this.step.rows.includes(row));
    return values.slice(0, this.step.count).map((value, row) => (isKnown(row) ? value : absent));
  }
}

function isWritten(cell: Cell<number | string> | undefined): boolean {
  return typeof cell !== 'object' || cell.status !== Status.absent;
}

/** The options of a schema that have no description. */
function undescribedOptions({ properties }: JsonObject): string[] {
  return Object.entries((properties ?? {}) as Readonly<Record<string, JsonValue>>).flatMap(
    ([name, option]) => {
      const { description } = option as JsonObject;
      return typeof description === 'string' && description !== '' ? [] : [name];
    },
  );
}

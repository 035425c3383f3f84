import { strict as assert } from 'node:assert';
import type { Recipe } from './recipe.js';

interface Testing {
  readonly FakeRanking: new (scores: readonly number[]) => {
    putLast(rows: readonly number[]): void;
    limit(bound: { groups: Int32Array; most: number; within: number }): void;
    final(): Int32Array;
    touched(): number[];
  };
}

const ENTRY = `import type { AskOf, RuleKind } from '../rule-kind.js';
import { checkRows } from './rows.js';

/** Places rows behind all others. */
export const putLast: RuleKind<AskOf<'putLast'>> = {
  strength: 0,
  take(ask, count) {
    checkRows(ask, count);
    return [...ask];
  },
  rowsOf: (rows) => rows,
  sort(rows, list) {
    const isLast = new Set(rows);
    return Int32Array.from([...list].sort((a, b) => Number(isLast.has(a)) - Number(isLast.has(b))));
  },
};
`;

export const orderRule: Recipe = {
  title: 'A kind of rule',
  most: 3,
  edits: [
    {
      file: 'runtime/ground/api/ranking-edit.ts',
      find: 'export interface OrderRules {\n',
      put: 'export interface OrderRules {\n  /** Places rows behind all others. */\n  putLast(rows: readonly number[]): void;\n',
    },
    { file: 'runtime/request/ordering/rules/put-last.ts', put: ENTRY },
    {
      file: 'runtime/request/ordering/rules.ts',
      find: 'import { reorder }',
      put: "import { putLast } from './rules/put-last.js';\nimport { reorder }",
    },
    { file: 'runtime/request/ordering/rules.ts', find: '  reserve,\n', put: '  reserve,\n  putLast,\n' },
  ],
  tests: ['test/unit/request/ordering/**/*.test.js', 'test/unit/plugins/order-rules.test.js'],
  async check(load) {
    const { FakeRanking } = (await load('runtime/cli/testing/index.js')) as Testing;
    const ranking = new FakeRanking([4, 3, 2, 1]);
    ranking.putLast([0, 2]);
    assert.deepEqual([...ranking.final()], [1, 3, 0, 2]);
    assert.deepEqual(ranking.touched(), [0, 2]);
    ranking.limit({ groups: Int32Array.from([0, 1, 0, 1]), most: 1, within: 2 });
    assert.deepEqual([...ranking.final()], [1, 0, 3, 2]);
    assert.throws(() => {
      ranking.putLast([4]);
    }, RangeError);
  },
};

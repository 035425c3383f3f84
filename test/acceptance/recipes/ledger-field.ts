import { strict as assert } from 'node:assert';
import type { Recipe } from './recipe.js';

interface Fields {
  readonly RANKING_NAMES: { readonly record: readonly string[] };
}

export const ledgerField: Recipe = {
  title: 'A field of the ledger',
  most: 2,
  edits: [
    {
      file: 'runtime/state/ledger/ranking-fields.ts',
      find: "    ['ms', 'float64'],\n",
      put: "    ['ms', 'float64'],\n    ['repeated', 'int32', 'nullable'],\n",
    },
    {
      file: 'runtime/request/pipeline/log/ranking-log.ts',
      find: '      share: this.#log.share,\n      ms,\n',
      put: '      share: this.#log.share,\n      ms,\n      repeated: request.duplicates.length,\n',
    },
  ],
  tests: [
    'test/pipelines/ledger-frames.test.js',
    'test/pipelines/log.test.js',
    'test/unit/learn/dataset/**/*.test.js',
    'test/docs/datasets.test.js',
  ],
  golden: ['test/pipelines/ledger-frames.test.js'],
  async check(load) {
    const { RANKING_NAMES } = (await load('runtime/state/ledger/ranking-fields.js')) as Fields;
    assert.equal(RANKING_NAMES.record.includes('repeated'), true);
  },
};

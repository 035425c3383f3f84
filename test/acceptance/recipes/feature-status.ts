import { strict as assert } from 'node:assert';
import type { Recipe } from './recipe.js';

interface Statuses {
  readonly Status: Readonly<Record<string, number>>;
}

export const featureStatus: Recipe = {
  title: 'A feature status',
  most: 2,
  edits: [
    {
      file: 'runtime/ground/api/status.ts',
      find: '  failed: {\n    code: 8,\n',
      put:
        "  outdated: {\n    code: 9,\n    isKnown: false,\n    feast: 'OUTSIDE_MAX_AGE',\n    summary: 'the row was written by an older job',\n  },\n" +
        '  failed: {\n    code: 8,\n',
    },
    {
      file: 'runtime/state/store/codec/feature-decoder.ts',
      find: "view.expired === 'fail' ? Status.failed : Status.expired",
      put: "view.expired === 'fail' ? Status.failed : view.ttl === 0 ? Status.outdated : Status.expired",
    },
  ],
  tests: ['test/docs/concepts.test.js', 'test/unit/state/store/**/*.test.js', 'test/features/**/*.test.js'],
  async check(load) {
    const { Status } = (await load('runtime/ground/api/status.js')) as Statuses;
    assert.equal(Status['outdated'], 9);
  },
};

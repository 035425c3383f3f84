import { strict as assert } from 'node:assert';
import type { Recipe } from './recipe.js';

interface Modes {
  readonly isLive: (experiment: { mode: string }) => boolean;
}

interface Document {
  readonly EXPERIMENT_STATE: { readonly properties: { readonly mode: { readonly enum: readonly string[] } } };
}

export const experimentMode: Recipe = {
  title: 'An experiment mode',
  most: 2,
  edits: [
    {
      file: 'schemas/experiment.schema.json',
      find: '"enum": ["split", "interleave", "shadow"]',
      put: '"enum": ["split", "interleave", "shadow", "draft"]',
    },
    {
      file: 'runtime/project/config/model/experiment-modes.ts',
      find: '  shadow: {',
      put: '  draft: { isLive: false, isMixed: false },\n  shadow: {',
    },
    {
      file: 'docs/experiments/live.md',
      find: '; `shadow`: [no user sees the arms](#from-shadow-to-a-split)',
      put: '; `draft`: nothing runs; `shadow`: [no user sees the arms](#from-shadow-to-a-split)',
    },
  ],
  tests: ['test/docs/experiments.test.js'],
  async check(load) {
    const modes = (await load('runtime/project/config/model/experiment-modes.js')) as Modes;
    assert.equal(modes.isLive({ mode: 'draft' }), false);
    const { EXPERIMENT_STATE } = (await load('runtime/serve/http/routes/list-experiments.js')) as Document;
    assert.equal(EXPERIMENT_STATE.properties.mode.enum.includes('draft'), true);
  },
};

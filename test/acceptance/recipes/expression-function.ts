import { strict as assert } from 'node:assert';
import type { Recipe } from './recipe.js';

interface Registry {
  readonly FUNCTIONS: ReadonlyMap<string, { readonly group: string }>;
}

export const expressionFunction: Recipe = {
  title: 'An expression function',
  most: 1,
  edits: [
    {
      file: 'runtime/language/expression/functions/math.ts',
      find: "  ofNumber('exp',",
      put: "  ofNumber('cbrt', 'The cube root.', Math.cbrt),\n  ofNumber('exp',",
    },
    {
      file: 'test/support/interpreter.ts',
      find: "    case 'sqrt':\n",
      put: "    case 'sqrt':\n    case 'cbrt':\n",
    },
  ],
  tests: ['test/unit/language/expression/**/*.test.js'],
  async check(load) {
    const { FUNCTIONS } = (await load('runtime/language/expression/functions/registry.js')) as Registry;
    assert.equal(FUNCTIONS.get('cbrt')?.group, 'math');
  },
};

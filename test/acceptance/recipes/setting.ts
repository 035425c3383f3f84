import { strict as assert } from 'node:assert';
import type { Recipe } from './recipe.js';

interface Module {
  readonly loadSettings: (env: Readonly<Record<string, string>>) => { readonly requireProject: boolean };
}

export const setting: Recipe = {
  title: 'A setting',
  most: 2,
  edits: [
    {
      file: 'runtime/project/settings/settings.ts',
      find: "  prefix: row({\n    env: 'MILLRACE_PREFIX',\n",
      put:
        "  requireProject: row({\n    env: 'MILLRACE_REQUIRE_PROJECT',\n    value: 'BOOL',\n    default: 'false',\n" +
        "    description: 'Whether an empty project is an error.',\n    expected: 'true or false',\n    parse: bool,\n  }),\n" +
        "  prefix: row({\n    env: 'MILLRACE_PREFIX',\n",
    },
    {
      file: 'runtime/serve/app/project/generation.ts',
      find: 'if (settings.requireData && ',
      put: 'if ((settings.requireData || settings.requireProject) && ',
    },
  ],
  tests: ['test/unit/project/settings/**/*.test.js', 'test/docs/settings.test.js'],
  async check(load) {
    const { loadSettings } = (await load('runtime/project/settings/settings.js')) as Module;
    assert.equal(loadSettings({ MILLRACE_REQUIRE_PROJECT: 'true' }).requireProject, true);
    assert.equal(loadSettings({}).requireProject, false);
  },
};

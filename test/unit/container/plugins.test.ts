import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { compileProject } from '../../../runtime/app.js';
import { writeProject } from '../../support/project.js';

describe("a project's own plugins", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['cannot be parsed', 'export const plugin = {', 'cannot be loaded'],
    ['fails while it is loaded', 'throw new Error("boom")', 'boom'],
    ['does not find Millrace', 'import "millrace/api";', 'npm install /'],
    ['exports nothing', 'export const other = 1;', 'exports no `plugin`'],
    ['has another name', 'export const plugin = { name: "other" };', 'calls itself other'],
    ['is no plugin', 'export const plugin = { name: "broken" };', 'definePlugin'],
  ];
  for (const [what, text, message] of cases) {
    it(`names the file of one that ${what}`, async () => {
      const root = await writeProject({
        'package.json': '{ "type": "module" }',
        'plugins/broken/index.js': text,
        'pipelines/ranking.yaml':
          'pipeline: ranking\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
      });
      const { diagnostics } = await compileProject(root);
      await rm(root, { recursive: true, force: true });
      expect(diagnostics.map(({ code, at }) => `${code} ${at.file.path}`)).to.deep.equal([
        'plugin_failed plugins/broken/index.js',
      ]);
      expect(`${diagnostics[0]?.message ?? ''} ${diagnostics[0]?.help ?? ''}`).to.contain(message);
    });
  }

  it('says once that plugins are not compiled, and nothing of the steps that use them', async () => {
    const sources = (names: readonly string[]): Record<string, string> =>
      Object.fromEntries(names.map((name) => [`plugins/${name}/index.ts`, '']));
    const pipeline = {
      'pipelines/ranking.yaml':
        'pipeline: ranking\nrank: product\ncomponents:\n  - use: own\n  - use: score\n    with: { value: own:score }\n',
    };
    const cases: readonly (readonly [names: readonly string[], place: string, told: string])[] = [
      [
        ['own'],
        'plugins/own',
        'there is no compiled index.js a plugin written in TypeScript has to be compiled first: run `npx tsc`',
      ],
      [
        ['own', 'other'],
        'plugins',
        '2 plugins have no compiled index.js: plugins/other, plugins/own a plugin written',
      ],
      [
        ['boost', 'bury', 'filter', 'linear', 'pin', 'score'],
        'plugins',
        '6 plugins have no compiled index.js: plugins/boost, plugins/bury, plugins/filter, plugins/linear, plugins/pin and 1 more remove the folders',
      ],
    ];
    for (const [names, place, told] of cases) {
      const root = await writeProject({ ...pipeline, ...sources(names) });
      const { diagnostics } = await compileProject(root);
      await rm(root, { recursive: true, force: true });
      expect(diagnostics.map(({ code, at }) => `${code} ${at.file.path}`)).to.deep.equal([
        `plugin_failed ${place}`,
      ]);
      expect(`${diagnostics[0]?.message ?? ''} ${diagnostics[0]?.help ?? ''}`).to.contain(told);
    }
  });
});

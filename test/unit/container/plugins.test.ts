import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { MillraceError } from '../../../runtime/api/errors.js';
import { compileProject } from '../../../runtime/app.js';
import { writeProject } from '../../support/project.js';

describe("a project's own plugins", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['cannot be parsed', 'export const plugin = {', 'cannot be loaded'],
    ['fails while it is loaded', 'throw new Error("boom")', 'boom'],
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
      const error: unknown = await compileProject(root).then(
        () => undefined,
        (caught: unknown) => caught,
      );
      await rm(root, { recursive: true, force: true });
      if (!(error instanceof MillraceError)) throw new Error(`no MillraceError: ${String(error)}`);
      expect(error.code).to.equal('project_invalid');
      expect(error.message).to.contain('plugins/broken').and.to.contain(message);
    });
  }
});

import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { warnOfCounts } from '../../../../runtime/request/compile/meaning/warn-of-counts.js';
import { Diagnostics } from '../../../../runtime/project/config/diagnostics/diagnostics.js';
import { loadProject } from '../../../../runtime/project/config/project/load-project.js';
import { writeProject } from '../../../support/project.js';

describe('a filter that removed every candidate of every test', () => {
  it('is a warning at the step, and one that kept a candidate is not', async () => {
    const root = await writeProject({
      'pipelines/search.yaml':
        'pipeline: search\nrank: product\ncomponents:\n  - { use: filter, with: { keep: true } }\n  - { use: filter, with: { keep: false } }\n',
    });
    try {
      const { config } = await loadProject(root, {});
      const [pipeline] = config?.pipelines ?? [];
      if (pipeline === undefined) throw new Error('the project has a pipeline');
      const diagnostics = new Diagnostics();
      const counts = [
        { step: 1, requests: 3, emptied: 2 },
        { step: 2, requests: 3, emptied: 3 },
      ];
      warnOfCounts(pipeline, counts, 'tests', diagnostics);
      expect(diagnostics.all.map(({ code, at }) => [code, at.file.position(at.start).line])).to.deep.equal([
        ['removes_all', 5],
      ]);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});

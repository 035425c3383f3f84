import { expect } from 'chai';
import { millrace } from '../support/command-line.js';
import { withFiles } from '../support/temporary-files.js';
import { call, post } from './harness.js';
import { serveProject } from './serve-project.js';

const FILES = {
  'schemas/entities/driver.yaml': 'entity: driver\nattributes: { name: string }\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [driver]\nfeatures: { trips: int }\n',
};

describe('a project that has entity types and feature views, and no pipeline', () => {
  it('is served: uploads, pushes, reads, readiness and the reference', () =>
    withFiles(FILES, (root) =>
      serveProject(root, async (url) => {
        expect((await call(`${url}/readyz`)).status).to.equal(200);
        const entities = [{ driver_id: '7', name: 'Ada' }];
        const upload = await post(`${url}/api/v1/entities/upload`, { entity_type: 'driver', entities });
        expect(upload.status).to.equal(200);
        const got = await post(`${url}/api/v1/entities/get`, { entity_type: 'driver', entity_ids: ['7'] });
        expect(got.json?.['entities']).to.deep.equal({ 7: entities[0] });
        const rows = [{ driver_id: '7', trips: 3 }];
        expect((await post(`${url}/api/v1/features/push`, { view: 'stats', rows })).status).to.equal(200);
        const online = await post(`${url}/feature/get-online-features`, {
          features: ['stats:trips'],
          entities: { driver_id: ['7', '8'] },
        });
        const [, trips] = online.json?.['results'] as { values: unknown }[];
        expect(trips?.values).to.deep.equal([3, null]);
        const reference = await call(`${url}/openapi.json`);
        expect(Object.keys(reference.json?.['paths'] as object)).to.include('/feature/get-online-features');
        expect((await post(`${url}/api/v1/ranking`, { candidates: [] })).status).to.equal(404);
      }),
    ));

  it('passes validate with a warning, and other commands say that it has no pipeline', () =>
    withFiles(FILES, async (root) => {
      const { code, stdout } = await millrace(['validate', '--project', root]);
      expect(stdout).to.contain('warning[missing_file]: the project has no folder pipelines/');
      expect(stdout).to.contain('ok: 0 pipelines,');
      expect(code).to.equal(0);
      const planned = await millrace(['plan', 'ranking', '--project', root]);
      expect(planned.code).to.equal(1);
      expect(planned.stderr).to.contain('the project has no pipeline ranking; it has none');
    }));
});

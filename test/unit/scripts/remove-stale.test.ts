import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryPath } from '../../support/repository.js';
import { withFiles } from '../../support/temporary-files.js';

type RemoveStale = (root: string) => number;

describe('the build', () => {
  it('removes what was made from a deleted plugin, and its folder', async () => {
    const script = pathToFileURL(repositoryPath('scripts', 'remove-stale.mjs')).href;
    const { removeStale } = (await import(script)) as { removeStale: RemoveStale };
    const files = {
      'plugins/kept/index.ts': '',
      'plugins/kept/options.schema.json': '{}',
      'dist/plugins/kept/index.js': '',
      'dist/plugins/kept/index.js.map': '',
      'dist/plugins/kept/index.d.ts': '',
      'dist/plugins/kept/options.schema.json': '{}',
      'dist/plugins/gone/index.js': '',
      'dist/plugins/gone/index.d.ts': '',
      'dist/plugins/gone/options.schema.json': '{}',
      'dist/assets/redoc.standalone.js': '',
    };
    await withFiles(files, (root) => {
      expect(removeStale(root)).to.equal(3);
      const has = (path: string): boolean => existsSync(join(root, path));
      expect(Object.keys(files).filter((path) => !has(path) && !path.includes('gone'))).to.deep.equal([]);
      expect(has('dist/plugins/gone')).to.equal(false);
      return Promise.resolve();
    });
  });
});

/** Broken projects and their exact diagnostics. UPDATE_GOLDEN=1 rewrites the expected files. */
import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadProjectFile } from '../../../../runtime/project/config/project/load-project-file.js';
import { loadProject } from '../../../../runtime/project/config/project/load-project.js';
import { distinct } from '../../../../runtime/project/config/diagnostics/diagnostics.js';
import { renderDiagnostics } from '../../../../runtime/project/config/diagnostics/render.js';
import { RESERVED_ROUTES } from '../../../../runtime/serve/http/routes.js';
import { repositoryPath } from '../../../support/repository.js';

const golden = repositoryPath('test/unit/project/config/golden');

describe('golden diagnostics', () => {
  for (const project of readdirSync(golden).sort()) {
    it(project, async () => {
      const { config, diagnostics } = await loadProject(join(golden, project), {}, RESERVED_ROUTES);
      const { diagnostics: ofFile } = await loadProjectFile(join(golden, project), {});
      const told = `${renderDiagnostics(distinct([...ofFile, ...diagnostics]), { color: false, width: 100 })}\n`;
      const expectedFile = join(golden, project, 'expected.txt');
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(expectedFile, told);
      expect(existsSync(expectedFile), `${expectedFile}; write it with UPDATE_GOLDEN=1`).to.equal(true);
      expect(told).to.equal(readFileSync(expectedFile, 'utf8'));
      expect(config === undefined).to.equal(diagnostics.some((d) => d.severity === 'error'));
    });
  }
});

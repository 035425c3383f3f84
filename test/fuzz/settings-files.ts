import { expect } from 'chai';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { DIAGNOSTIC_CODES } from '../../runtime/project/config/diagnostics/diagnostic-codes.js';
import { diagnosticsJson, renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';
import { loadProjectFile } from '../../runtime/project/config/project/load-project-file.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { repositoryPath } from '../support/repository.js';
import { always, type FuzzTarget } from './fuzz-target.js';
import { textEdits } from './mutate-text.js';

const FILES = ['sound', 'values', 'keys', 'secrets', 'broken'].map((name) =>
  readFileSync(repositoryPath(`test/unit/project/config/golden/settings-${name}/millrace.yaml`), 'utf8'),
);

/** Damages millrace.yaml. Reading it gives diagnostics with places in the file, or settings. */
export const settingsFiles: FuzzTarget = {
  name: 'millrace.yaml',
  quick: 15,
  open: () =>
    Promise.resolve({
      run: always(
        fc
          .tuple(fc.constantFrom(...FILES), textEdits)
          .map(([text, { what, apply }]) => ({ what, content: apply(text) })),
        async ({ content }) => {
          const { file, diagnostics } = await loadProjectFile('/srv/shop', {}, { content });
          for (const { code, at, message } of diagnostics) {
            expect(DIAGNOSTIC_CODES).to.have.property(code);
            expect(at.start, message).to.be.within(0, content.length);
            expect(at.end, message).to.be.within(at.start, Math.max(content.length, at.start + 1));
            expect(at.file.shown, message).to.have.length(content.length);
          }
          expect(renderDiagnostics(diagnostics, { color: false, width: 80 })).not.to.match(
            /undefined|\[object/,
          );
          JSON.stringify(diagnosticsJson(diagnostics));
          if (diagnostics.length > 0) return;
          try {
            loadSettings({}, { project: '/srv/shop' }, file);
          } catch (error) {
            expect(error).to.be.instanceOf(MillraceError);
          }
        },
      ),
      close: () => Promise.resolve(),
    }),
};

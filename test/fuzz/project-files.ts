import { expect } from 'chai';
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { DIAGNOSTIC_CODES } from '../../runtime/project/config/diagnostics/diagnostic-codes.js';
import { diagnosticsJson, renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';
import { writeProject } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';
import { always, type FuzzTarget } from './fuzz-target.js';
import { textEdits } from './mutate-text.js';

const PROJECTS = ['.', 'bench/project', 'bench/composite', 'test/unit/project/config/golden/sound'];
const FOLDERS = ['schemas/entities', 'schemas/features', 'pipelines'];

function filesOf(project: string): Record<string, string> {
  const root = repositoryPath(project);
  return Object.fromEntries(
    FOLDERS.flatMap((folder) =>
      readdirSync(join(root, folder))
        .filter((name) => name.endsWith('.yaml'))
        .map((name) => [`${folder}/${name}`, readFileSync(join(root, folder, name), 'utf8')]),
    ),
  );
}

/** Damages a file of a project. Loading and compiling gives diagnostics with places in its files, or pipelines. */
export const projectFiles: FuzzTarget = {
  name: 'project files',
  quick: 15,
  async open() {
    const projects = await Promise.all(
      PROJECTS.map(async (project) => {
        const files = filesOf(project);
        return { files, root: await writeProject(files) };
      }),
    );
    const place = fc.constantFrom(
      ...projects.flatMap(({ files, root }) =>
        Object.entries(files).map(([path, text]) => ({ root, path, text })),
      ),
    );
    return {
      run: always(
        fc
          .tuple(place, textEdits)
          .map(([at, { what, apply }]) => ({ ...at, what: `${at.path}: ${what}`, apply })),
        async ({ root, path, text, apply }) => {
          await writeFile(join(root, path), apply(text));
          try {
            await expectTold(root);
          } finally {
            await writeFile(join(root, path), text);
          }
        },
      ),
      async close() {
        for (const { root } of projects) await rm(root, { recursive: true, force: true });
      },
    };
  },
};

async function expectTold(root: string): Promise<void> {
  const project = await compileProject(root);
  expect(await project.close()).to.deep.equal([]);
  const { diagnostics, pipelines } = project;
  for (const { code, at, message } of diagnostics) {
    expect(DIAGNOSTIC_CODES).to.have.property(code);
    expect(message.trim()).not.to.equal('');
    expect(at.start, message).to.be.within(0, at.file.text.length);
    expect(at.end, message).to.be.within(at.start, Math.max(at.file.text.length, at.start + 1));
  }
  expect(renderDiagnostics(diagnostics, { color: false, width: 80 })).not.to.match(/undefined|\[object/);
  JSON.stringify(diagnosticsJson(diagnostics));
  if (!diagnostics.some(({ severity }) => severity === 'error')) expect(pipelines.length).to.be.above(0);
  for (const pipeline of pipelines) JSON.stringify(pipeline.describe());
}

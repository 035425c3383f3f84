import { expect } from 'chai';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../runtime/project/config/diagnostics/render.js';
import { writeProject } from './project.js';
import { repositoryPath } from './repository.js';

export interface Mistake {
  readonly what: string;
  readonly components: string;
  readonly features?: string;
  readonly params?: string;
  readonly define?: string;
  readonly log?: string;
  readonly retrieve?: string;
  readonly merge?: string;
}

const pipeline = ({ features, params, define, components, log, retrieve, merge }: Mistake): string =>
  [
    'pipeline: ranking',
    'rank: product',
    'request: { candidates: {}, query: optional(query), user: optional(user) }',
    ...(features === undefined ? [] : [`features: ${features}`]),
    ...(params === undefined ? [] : [`params: ${params}`]),
    ...(define === undefined ? [] : [`define: ${define}`]),
    ...(retrieve === undefined ? [] : [`retrieve: ${retrieve}`]),
    ...(merge === undefined ? [] : [`merge: ${merge}`]),
    'components:',
    components,
    ...(log === undefined ? [] : [`log: ${log}`]),
    '',
  ].join('\n');

/**
 * Creates one test per mistake. It compares the whole message for the user with a section of the golden file.
 * UPDATE_GOLDEN=1 rewrites the file.
 * @param files of the project, in addition to its pipeline
 */
export function testMistakes(
  mistakes: readonly Mistake[],
  files: Readonly<Record<string, string>>,
  golden: string,
): void {
  const path = repositoryPath(golden);
  const sections = new Map(
    (existsSync(path) ? readFileSync(path, 'utf8') : '')
      .split(/^## /m)
      .slice(1)
      .map((section) => [
        section.slice(0, section.indexOf('\n')),
        section.slice(section.indexOf('\n') + 1).trim(),
      ]),
  );
  const found: string[] = [];

  for (const mistake of mistakes) {
    it(mistake.what, async () => {
      const root = await writeProject({ ...files, 'pipelines/ranking.yaml': pipeline(mistake) });
      try {
        const { diagnostics } = await compileProject(root);
        const rendered = renderDiagnostics(diagnostics, { color: false, width: 80 });
        found.push(`## ${mistake.what}\n\n${rendered}\n`);
        expect(rendered.trim()).not.to.equal('');
        if (!process.env.UPDATE_GOLDEN) expect(rendered.trim()).to.equal(sections.get(mistake.what));
      } finally {
        await rm(root, { recursive: true, force: true });
      }
    });
  }

  after(() => {
    if (process.env.UPDATE_GOLDEN) writeFileSync(path, found.join('\n'));
  });
}

/** One file with an error does not hide the errors of the others. */
import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { compileProject } from '../../../../../runtime/serve/app/project/compile-project.js';
import { BASE } from '../../../../mistakes/base-project.js';
import { writeProject } from '../../../../support/project.js';

/** One mistake a file, that has nothing to do with the schemas, or that only they show. */
const ERRORS: Readonly<
  Record<string, { readonly text: string; readonly code: string; readonly isApart: boolean }>
> = {
  'pipelines/fliter.yaml': {
    text: 'pipeline: fliter\nrank: product\ncomponents:\n  - { use: fliter, with: { keep: product.price > 0 } }\n',
    code: 'unknown_plugin',
    isApart: true,
  },
  'pipelines/option.yaml': {
    text: 'pipeline: option\nrank: product\ncomponents:\n  - { use: limit, with: { by: product.brand, max: 3 } }\n',
    code: 'unknown_key',
    isApart: true,
  },
  'pipelines/function.yaml': {
    text: 'pipeline: function\nrank: product\ncomponents:\n  - { use: score, with: { value: lenght(product.title) } }\n',
    code: 'unknown_function',
    isApart: true,
  },
  'pipelines/attribute.yaml': {
    text: 'pipeline: attribute\nrank: product\ncomponents:\n  - { use: score, with: { value: product.pricee } }\n',
    code: 'unknown_attribute',
    isApart: false,
  },
  'sinks/topic.yaml': {
    text: 'sink: topic\nuse: kakfa\ntake: [ranking]\n',
    code: 'unknown_plugin',
    isApart: true,
  },
  'sources/clicks.yaml': {
    text: 'source: clicks\nuse: kakfa\ninto: feedback\n',
    code: 'unknown_plugin',
    isApart: true,
  },
  'curation/campaigns.yaml': {
    text: 'curation: campaigns\nrules:\n  - { query: tv, boost: { where: product.pricee > 1, multiply: 2 } }\n',
    code: 'unknown_attribute',
    isApart: false,
  },
  'pipelines/curated.yaml': {
    text: 'pipeline: curated\nrank: product\nrequest: { query: optional(query) }\ncomponents:\n  - { use: score, with: { value: product.price } }\n  - { use: curation, with: { list: campaigns } }\n',
    code: '',
    isApart: true,
  },
};
const FILES = Object.fromEntries(Object.entries(ERRORS).map(([path, { text }]) => [path, text]));

/** The errors of a project: path and code. */
async function errorsOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  const root = await writeProject({ ...BASE, ...FILES, ...files });
  try {
    const compiled = await compileProject(root);
    await compiled.close();
    return compiled.diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ at, code }) => `${at.file.path} ${code}`);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const own = (apart: boolean): string[] =>
  Object.entries(ERRORS)
    .filter(([, { code, isApart }]) => code !== '' && (isApart || !apart))
    .map(([path, { code }]) => `${path} ${code}`);

describe('the errors of a project', () => {
  it('are reported together', async () => {
    expect(await errorsOf({})).to.have.members(own(false));
  });

  it('are reported beside a pipeline that is no YAML', async () => {
    const errors = await errorsOf({ 'pipelines/search.yaml': 'pipeline: search\nrank: [product\n' });
    expect(errors).to.have.members([...own(false), 'pipelines/search.yaml yaml_syntax']);
  });

  for (const [path, text] of Object.entries(BASE)) {
    if (!path.startsWith('schemas/')) continue;
    const lines = text.split('\n').filter((line) => line !== '');
    const broken = lines.flatMap((line, at) => [
      { what: `without line ${at + 1}`, text: lines.filter((_, other) => other !== at) },
      { what: `with an open quote in line ${at + 1}`, text: lines.with(at, `${line} "`) },
      {
        what: `with a wrong type in line ${at + 1}`,
        text: lines.with(at, line.replace(/: .*/, ': "flaot"')),
      },
    ]);
    it(`are reported, apart from those that ${path} shows, whatever is wrong there`, async () => {
      for (const { what, text: all } of broken) {
        const errors = await errorsOf({ [path]: `${all.join('\n')}\n` });
        expect(errors, what).to.include.members(own(true));
        const isSound = !errors.some((error) => error.startsWith('schemas/'));
        const schemaErrors = errors.filter((error) => !error.startsWith('schemas/'));
        if (!isSound) expect(schemaErrors, what).to.have.members(own(true));
      }
    }).timeout(60_000);
  }
});

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { keepTypes, TYPES_FILE } from '../../../runtime/serve/app/project/keep-types.js';
import { millrace, type CommandResult } from '../../support/command-line.js';
import { startProject, writeProject } from '../../support/project.js';

const FILES = {
  'schemas/entities/product.yaml': 'entity: product\nattributes: { price: float, brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { ctr: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { upstream: float }, device: optional(string) }
features: [stats]
components:
  - use: score
    with: { value: product.price + stats:ctr }
`,
};

describe('millrace types', () => {
  let root = '';
  beforeEach(async () => {
    root = await writeProject(FILES);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));
  const types = (...argv: string[]): Promise<CommandResult> =>
    millrace(['types', '--project', root, ...argv]);
  const written = (): Promise<string> => readFile(join(root, TYPES_FILE), 'utf8');

  it('prints what each endpoint takes and answers', async () => {
    const { code, stdout } = await types();
    expect(code).to.equal(0);
    expect(stdout).to.contain(`export interface CandidateSearch {
  readonly product_id: Id;
  readonly price?: number | null;
  readonly brand?: Id | NestedBrand | null;
  readonly brand_id?: Id | null;
  readonly upstream?: number | null;
}
`);
    expect(stdout).to.contain(`  readonly rank: {
    readonly search: {
      readonly request: RequestSearch;
      readonly answer: AnswerSearch;
    };
  };
`);
    expect(stdout).to.match(/interface EntityProduct \{[^}]+readonly \[name: string\]: unknown;\n\}/);
    expect(stdout).to.contain('type Event = EventFeature | EventModel | EventBusinessLogic |');
  });

  it('writes the file of the project, or another one', async () => {
    const { code, stdout, stderr } = await types('--write');
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: '' });
    expect(stderr).to.match(/^wrote .*millrace-types\.ts\n$/);
    expect(await written()).to.equal((await types()).stdout);
    await types('--write', '--out', join(root, 'web', 'types.ts'));
    expect(await readFile(join(root, 'web', 'types.ts'), 'utf8')).to.equal(await written());
  });

  it('says what is wrong, and then writes nothing', async () => {
    expect(await types('--out', 'x.ts')).to.include({ code: 2, stderr: 'error: --out needs --write\n' });
    const blocked = await types('--write', '--out', join(root, 'pipelines', 'search.yaml', 'x.ts'));
    expect(blocked.code).to.equal(1);
    expect(blocked.stderr).to.match(
      /^error: cannot write .*x\.ts: a (?:file has this name|part of the path is a file)\n$/,
    );
    await writeFile(join(root, 'pipelines', 'search.yaml'), 'pipeline: search\nrank: prodct\n');
    const broken = await types('--write');
    expect(broken.code).to.equal(1);
    expect(broken.stderr).to.contain('did you mean `product`?');
    expect(await written().catch(() => 'nothing')).to.equal('nothing');
  });

  it('is kept current in a project that has the file', async () => {
    const project = await startProject(FILES);
    try {
      const logger = pino({ level: 'silent' });
      await keepTypes(root, project.app, logger);
      expect(await written().catch(() => 'nothing')).to.equal('nothing');
      await writeFile(join(root, TYPES_FILE), '// old');
      await keepTypes(root, project.app, logger);
      expect(await written()).to.equal((await types()).stdout);
    } finally {
      await project.close();
    }
  });
});

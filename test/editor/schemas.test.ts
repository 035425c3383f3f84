import { expect } from 'chai';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SURFACES } from '../../runtime/project/editor/surfaces.js';
import { modeline, SCHEMA_FOLDER } from '../../runtime/project/editor/write-schemas.js';
import { millrace } from '../support/command-line.js';
import { repositoryPath } from '../support/repository.js';
import { describeWith } from '../support/needs.js';
import { LanguageServer, type Problem } from './language-server.js';

describeWith('yaml-language-server', 'the schemas for editors, in yaml-language-server', () => {
  let project: string;
  let server: LanguageServer;
  /** What was started before the tests, in the order to end it. */
  const ends: (() => Promise<unknown>)[] = [];
  let opened: string[] = [];
  let number = 0;

  before(async function () {
    this.timeout(20_000);
    project = await mkdtemp(join(tmpdir(), 'millrace-editor-'));
    ends.push(() => rm(project, { recursive: true, force: true }));
    for (const name of ['pipelines', 'schemas', 'tests', 'millrace.yaml'])
      await cp(repositoryPath(name), join(project, name), { recursive: true });
    const { code, stderr } = await millrace(['schemas', '--write', '--project', project]);
    expect(code, stderr).to.equal(0);
    server = await LanguageServer.start(project);
    ends.push(() => server.stop());
  });

  afterEach(() => {
    for (const path of opened) server.close(path);
    opened = [];
  });

  after(async () => {
    for (const end of ends.reverse()) await end();
  });

  /** Opens a file of a surface. `|` marks the cursor, and is removed. */
  async function open(
    name: string,
    file: string,
    text: string,
  ): Promise<{
    readonly path: string;
    readonly place: { line: number; character: number };
    readonly problems: readonly Problem[];
  }> {
    const surface = SURFACES.find((one) => one.name === name);
    if (surface === undefined) throw new Error(`there is no surface ${name}`);
    const path = join(project, surface.folder, file);
    const marked = `${modeline(surface, project, join(project, SCHEMA_FOLDER))}\n${text}`;
    const before = marked.slice(0, Math.max(0, marked.indexOf('|'))).split('\n');
    opened.push(path);
    const problems = await server.open(path, marked.replace('|', ''));
    return { path, problems, place: { line: before.length - 1, character: before.at(-1)?.length ?? 0 } };
  }

  const pipeline = (components: string): string =>
    `pipeline: editing\nrank: product\nrequest: { user: optional(user) }\nfeatures: [product_stats]\ncomponents:\n${components}\n`;

  it('finds nothing wrong in the shipped project', async () => {
    for (const surface of SURFACES) {
      const files =
        surface.file === undefined
          ? await readdir(join(project, surface.folder)).catch(() => [])
          : [surface.file];
      for (const file of files.filter((one) => one.endsWith('.yaml'))) {
        const text = await readFile(join(project, surface.folder, file), 'utf8');
        const own = text.replace(/^# yaml-language-server.*\n/, '').replaceAll('|', '');
        const { problems } = await open(surface.name, `open-${file}`, own);
        expect(
          problems.map(({ message }) => message),
          `${surface.name} ${file}`,
        ).to.deep.equal([]);
      }
    }
  });

  const completions: readonly (readonly [
    what: string,
    surface: string,
    text: string,
    wanted: readonly string[],
  ])[] = [
    ['steps', 'pipeline', pipeline('  - use: |'), ['boost', 'filter', 'linear', 'lightgbm']],
    [
      'options of a step',
      'pipeline',
      pipeline('  - use: boost\n    with:\n      |'),
      ['where', 'add', 'multiply'],
    ],
    [
      'other options of another step',
      'pipeline',
      pipeline('  - use: filter\n    with:\n      |'),
      ['keep', 'absent'],
    ],
    [
      'attributes and features',
      'pipeline',
      pipeline('  - use: score\n    with:\n      value: |'),
      ['product.price', 'product_stats:ctr_30d', 'text:bm25'],
    ],
    [
      'weights',
      'pipeline',
      pipeline('  - use: linear\n    with:\n      weights:\n        |'),
      ['product.rating', 'product_stats:orders_30d'],
    ],
    ['entity types', 'pipeline', 'pipeline: editing\nrank: |\n', ['product', 'brand', 'user']],
    [
      'views',
      'pipeline',
      'pipeline: editing\nrank: product\nfeatures:\n  - |\n',
      ['product_stats', 'brand_stats:orders_30d'],
    ],
    [
      'types of attributes',
      'entity',
      'entity: shop\nattributes:\n  home: |\n',
      ['string', 'ref(brand)', 'list(ref(category))'],
    ],
    ['the key of a view', 'feature-view', 'view: shop_stats\nof:\n  - |\n', ['brand', 'user']],
    ['sinks', 'sink', 'sink: archive\nuse: |\n', ['file', 'kafka', 'redis_stream']],
    ['pipelines of a test', 'test', 'test: first\npipeline: |\n', ['ranking']],
    ['settings', 'project', 'project: shop\nst|', ['store']],
  ];
  for (const [what, surface, text, wanted] of completions)
    it(`completes ${what}`, async () => {
      const { path, place } = await open(surface, `editing_${number++}.yaml`, text);
      expect(await server.completions(path, place)).to.include.members([...wanted]);
    });

  const hovers: readonly (readonly [what: string, surface: string, text: string, wanted: RegExp])[] = [
    ['a key', 'pipeline', 'pipe|line: editing\nrank: product\ncomponents: []\n', /name of the pipeline/],
    ['an option', 'pipeline', pipeline('  - use: boost\n    with:\n      mul|tiply: 2'), /factor/],
    [
      'a weight',
      'pipeline',
      pipeline('  - use: linear\n    with:\n      weights:\n        product.ra|ting: 1'),
      /float, attribute of product/,
    ],
    ['a setting', 'project', 'project: shop\nsto|re: embedded\n', /MILLRACE\\?_STORE/],
    [
      'the key of a view',
      'feature-view',
      'view: shop_stats\no|f: [brand]\nfeatures: { a: int }\n',
      /entity types of the key/,
    ],
  ];
  for (const [what, surface, text, wanted] of hovers)
    it(`describes ${what}`, async () => {
      const { path, place } = await open(surface, `editing_${number++}.yaml`, text);
      expect(await server.hover(path, place)).to.match(wanted);
    });

  const typos: readonly (readonly [what: string, surface: string, text: string, line: number])[] = [
    ['a step', 'pipeline', pipeline('  - use: bosst'), 6],
    ['an option', 'pipeline', pipeline('  - use: boost\n    with: { multipy: 2 }'), 7],
    ['a value', 'pipeline', pipeline('  - use: filter\n    with: { keep: true, absent: dorp }'), 7],
    ['an entity type', 'pipeline', 'pipeline: editing\nrank: prodct\ncomponents: []\n', 2],
    ['a view', 'pipeline', 'pipeline: editing\nrank: product\nfeatures: [product_stat]\ncomponents: []\n', 3],
    ['a key', 'entity', 'entity: shop\natributes: { name: string }\n', 2],
    ['a sink', 'sink', 'sink: archive\nuse: kafak\n', 2],
    ['a setting', 'project', 'project: shop\nstroe: embedded\n', 2],
  ];
  for (const [what, surface, text, line] of typos)
    it(`underlines a misspelt name of ${what}`, async () => {
      const { problems } = await open(surface, `editing_${number++}.yaml`, text);
      expect(problems.map(({ range }) => range.start.line)).to.include(line);
    });
});

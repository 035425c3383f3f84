import { expect } from 'chai';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { millrace } from '../support/command-line.js';
import { MemoryStore } from '../support/memory-store.js';
import { writeProject } from '../support/project.js';
import { post, type Answer } from './harness.js';

const FILES = {
  'millrace.yaml': 'project: shop\ntime_zone: Europe/Berlin\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: string, price: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { found: float }, query: optional(query), category: optional(string) }
components:
  - { use: score, with: { value: product.found } }
  - { use: curation, with: { list: campaigns, reads: [product.brand] } }
`,
  'curation/campaigns.yaml': 'curation: campaigns\nrules: []\n',
};

const HEADER = 'campaign;from;until;category;action;target;value;text';

describe('a sheet of campaigns over HTTP', () => {
  let root = '';
  let url = '';
  let close: () => Promise<void>;

  before(async () => {
    root = await writeProject(FILES);
    const settings = loadSettings({ LOG_LEVEL: 'silent', MILLRACE_QUEUE_MS: '30000' }, { project: root });
    const app = await createApp(settings, { store: new MemoryStore(), logger: pino({ level: 'silent' }) });
    const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${server.port}`;
    close = async () => {
      await server.close(0);
      await app.close();
    };
  });
  after(async () => {
    await close();
    await rm(root, { recursive: true, force: true });
  });

  const ask = (path: string, body: object): Promise<Answer> =>
    post(`${url}/api/v1/curation/${path}`, { list: 'campaigns', ...body });
  const upload = (draft: string, lines: readonly string[]): Promise<Answer> =>
    ask('draft/upload', {
      draft,
      // As a German spreadsheet writes it: Windows-1252, of which 0x80 is the sign of the euro.
      file: Buffer.from(lines.join('\r\n').replaceAll('€', '\u0080'), 'latin1').toString('base64'),
    });
  const drafts = async (): Promise<readonly { draft: string; changes: readonly object[] }[]> =>
    (await ask('draft/get', {})).json?.drafts as { draft: string; changes: readonly object[] }[];

  it('is saved in a draft as a whole, and comes back as it was', async () => {
    const answer = await upload('friday', [
      HEADER,
      'friday;27.11.2026;30.11.2026;tv, hifi;pin;p42;1;',
      'friday;;;;boost;"product.brand == ""5 €""";1,5;',
      'friday;;;;sponsor;p7;3;Anzeige',
    ]);
    expect(answer.status, answer.text).to.equal(200);
    const friday = {
      from: '2026-11-27',
      until: '2026-11-30',
      on: { category: ['tv', 'hifi'] },
      pin: { 1: 'p42' },
      boost: { where: 'product.brand == "5 €"', multiply: 1.5 },
      sponsor: { places: [3], product: 'p7', label: 'Anzeige' },
    };
    expect(answer.json?.changes).to.deep.include({
      campaign: 'friday',
      before: null,
      after: friday,
      keys: Object.keys(friday),
    });
    for (const form of ['german', 'plain']) {
      const { json } = await ask('export', { draft: 'friday', form });
      const again = await ask('draft/upload', { draft: `again_${form}`, file: json?.file });
      expect(again.json?.changes).to.deep.equal(answer.json?.changes);
    }
    expect((await ask('export', {})).json).to.include({ list: 'campaigns', campaigns: 0 });
    expect((await ask('export', { draft: 'none' })).json?.code).to.equal('unknown_draft');
  });

  it('with two wrong rows is not saved, and each is named with its remedy', async () => {
    const before = await drafts();
    const { status, json } = await upload('wrong', [
      HEADER,
      'good;;;tv;pin;p1;1;',
      'friday;31.11.2026;;tv;pin;p42;1;',
      ';;;tv;bury;"product.brnad == ""x""";;',
    ]);
    expect([status, json?.code, json?.violation_count]).to.deep.equal([422, 'invalid_body', 2]);
    const [day, name] = json?.rows as Record<string, unknown>[];
    expect(day).to.deep.include({ line: 3, column: 'from', cell: 'B3', code: 'wrong_type' });
    expect(day?.['help']).to.contain('27.11.2026');
    expect(name).to.include({ line: 4, column: 'target', cell: 'F4', code: 'unknown_attribute' });
    expect(name?.['help']).to.contain('did you mean `product.brand`?');
    expect((json?.errors as { detail: string }[])[0]?.detail).to.match(
      /^line 3, column from \(B3\): .*; write a day/,
    );
    expect(await drafts()).to.deep.equal(before);
  });

  it('is refused if it is no sheet, or too long', async () => {
    const bad = await ask('draft/upload', { draft: 'a', file: 'no base64!' });
    expect([bad.status, (bad.json?.errors as { pointer: string }[])[0]?.pointer]).to.deep.equal([
      422,
      '/file',
    ]);
    const many = Array.from({ length: 101 }, (_, at) => `c${at};;;tv;hide;p1;;`);
    const { status, json } = await upload('many', [HEADER, ...many]);
    expect([status, json?.detail]).to.deep.equal([
      422,
      'the sheet, line 1: a draft changes at most 100 campaigns, found 101; divide the file, or give rows that belong together the name of one campaign',
    ]);
  });

  it('is uploaded and written by commands', async () => {
    const [file, out] = [join(root, 'in.csv'), join(root, 'out.csv')];
    await writeFile(file, `\uFEFF${HEADER}\r\nmay;1.5.2027;;tv;hide;p9;;\r\n`);
    const run = (...argv: readonly string[]): ReturnType<typeof millrace> =>
      millrace(['curation', ...argv, '--url', url]);
    const { code, stdout } = await run('upload', 'campaigns', file, '--draft', 'spring');
    expect([code, stdout]).to.deep.equal([0, 'the draft spring changes 1 campaigns: may\n']);
    const form = ['--form', 'german', '--out', out];
    const written = await run('export', 'campaigns', '--draft', 'spring', ...form);
    expect([written.code, written.stdout]).to.deep.equal([0, `1 campaigns written to ${out}\n`]);
    expect((await readFile(out, 'utf8')).split('\r\n')[1]).to.equal('may;01.05.2027;;tv;;;;hide;p9;;;;');
    await writeFile(file, `${HEADER}\nmay;1.5.;;tv;hide;p9;;\n;;;tv;pin;p1;eins;\n`);
    const refused = await run('upload', 'campaigns', file, '--draft', 'spring');
    expect(refused.code).to.not.equal(0);
    expect(refused.stderr).to.contain('line 2, column from (B2)').and.contain('line 3, column value (G3)');
    const missing = await run('upload', 'campaigns', join(root, 'none.csv'), '--draft', 'spring');
    expect(missing.stderr).to.contain('cannot be read (ENOENT)');
  });

  it('guards cells that would begin a formula', async () => {
    const evil = { note: '=HYPERLINK("http://x")', hide: ['@p1', '-p2', "'=p3"], on: { query: ['+49'] } };
    await ask('draft/put', { draft: 'evil', campaigns: { evil } });
    const { json } = await ask('export', { draft: 'evil', form: 'german' });
    const text = Buffer.from(String(json?.file), 'base64').toString();
    expect(text).to.contain(`"'=HYPERLINK(""http://x"")"`);
    for (const cell of text.split(/[;\r\n]+/)) expect(cell).not.to.match(/^"?[=+\-@]/);
    const again = await ask('draft/upload', { draft: 'evil_again', file: json?.file });
    expect(again.json?.changes).to.deep.include({
      campaign: 'evil',
      before: null,
      after: evil,
      keys: ['on', 'hide', 'note'],
    });
  });
});

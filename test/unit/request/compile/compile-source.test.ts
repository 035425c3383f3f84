import { expect } from 'chai';
import { compileProject } from '../../../../runtime/serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../../../runtime/project/config/diagnostics/render.js';
import { withFiles } from '../../../support/temporary-files.js';

const BASE = {
  'millrace.yaml': 'project: shop\nevents: { click: {}, order: { revenue: float } }\n',
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes:\n  title: string\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures:\n  orders: int\n',
  'pipelines/ranking.yaml':
    'pipeline: ranking\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
};
const WITH = 'with: { url: "redis://streams:6379", stream: web }\n';

/** The diagnostics of a project with one source. */
async function told(yaml: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const files = { ...BASE, 'sources/web.yaml': `source: web\n${yaml}`, ...more };
  return withFiles(files, async (root) => {
    const compiled = await compileProject(root);
    await compiled.close();
    return renderDiagnostics(compiled.diagnostics, { color: false, width: 200 }).replace(
      /\n\n\d+ errors?$/,
      '',
    );
  });
}

describe('the file of a source', () => {
  it('is compiled with its options and their defaults', async () => {
    const yaml = `use: redis_stream\ninto: feedback\nmap: { type: name, user: uid, product: item.id }\n${WITH}`;
    await withFiles({ ...BASE, 'sources/web.yaml': `source: web\n${yaml}` }, async (root) => {
      const compiled = await compileProject(root);
      expect(compiled.diagnostics).to.deep.equal([]);
      const [{ definition, source } = expect.fail('there is no source')] = compiled.sources;
      expect(definition).to.deep.include({
        name: 'web',
        into: { kind: 'feedback', name: undefined },
        map: { type: 'name', user: 'uid', product: 'item.id' },
        about: 'product',
      });
      expect(source.probe?.server).to.equal('redis://streams:6379');
      await compiled.close();
    });
  });

  it('may say that positions are from 0 beside a ready map, but not beside that of Metarank', async () => {
    const yaml = (map: string): string =>
      `use: redis_stream\ninto: feedback\nmap: ${map}\npositions_from: 0\n${WITH}`;
    for (const map of ['segment', 'ga4', 'snowplow']) expect(await told(yaml(map))).to.equal('');
    expect(await told(yaml('metarank'))).to.contain('`map: metarank` knows it already; remove the key');
  });

  const cases: readonly (readonly [what: string, yaml: string, expected: string])[] = [
    [
      'a plugin that does not exist',
      `use: kafak\ninto: feedback\n${WITH}`,
      `sources/web.yaml:2:6: error[unknown_plugin]: there is no source \`kafak\`
 2 | use: kafak
   |      ^^^^^
   help: did you mean \`kafka\`?`,
    ],
    [
      'a sink that is no source',
      `use: file\ninto: feedback\n${WITH}`,
      `sources/web.yaml:2:6: error[unknown_plugin]: \`file\` is a sink for records, not a source
 2 | use: file
   |      ^^^^
   help: the sources are kafka, redis_stream`,
    ],
    [
      'a ready map that does not exist',
      `use: redis_stream\ninto: feedback\nmap: segmnt\n${WITH}`,
      `sources/web.yaml:4:6: error[wrong_type]: \`map\`: there is no ready map \`segmnt\`
 4 | map: segmnt
   |      ^^^^^^
   help: did you mean \`segment\`?`,
    ],
    [
      'an entity type that does not exist',
      `use: redis_stream\ninto: { entities: prodct }\n${WITH}`,
      `sources/web.yaml:3:19: error[unknown_entity]: there is no entity type \`prodct\`
 3 | into: { entities: prodct }
   |                   ^^^^^^
   help: did you mean \`product\`?`,
    ],
    [
      'a view that does not exist',
      `use: redis_stream\ninto: { features: stat }\n${WITH}`,
      `sources/web.yaml:3:19: error[unknown_view]: there is no feature view \`stat\`
 3 | into: { features: stat }
   |                   ^^^^
   help: did you mean \`stats\`?`,
    ],
    [
      'a column that is neither one of feedback nor an entity type',
      `use: redis_stream\ninto: feedback\nmap: { type: name, usr: uid, product: item.id }\n${WITH}`,
      `sources/web.yaml:4:20: error[unknown_entity]: \`map\`: \`usr\` is no column of feedback, and there is no entity type of this name
 4 | map: { type: name, usr: uid, product: item.id }
   |                    ^^^
   help: did you mean \`user\`?`,
    ],
    [
      'a kind of feedback that does not exist',
      `use: redis_stream\ninto: feedback\nmap: { type: name, user: uid, product: id }\nevent: { bought: oder }\n${WITH}`,
      `sources/web.yaml:5:18: error[unknown_event]: there is no kind of feedback \`oder\`
 5 | event: { bought: oder }
   |                  ^^^^
   help: did you mean \`order\`?`,
    ],
    [
      'a value that no kind of feedback has',
      `use: redis_stream\ninto: feedback\nmap: { type: name, user: uid, product: id }\nvalues: { revenu: total }\n${WITH}`,
      `sources/web.yaml:5:11: error[unknown_name]: \`values\`: no kind of feedback has a value \`revenu\`
 5 | values: { revenu: total }
   |           ^^^^^^
   help: did you mean \`revenue\`?`,
    ],
    [
      'a map of feature rows',
      `use: redis_stream\ninto: { features: stats }\nmap: ga4\n${WITH}`,
      `sources/web.yaml:4:1: error[unknown_key]: \`map\` has no meaning with \`into: features\`
 4 | map: ga4
   | ^^^
   help: rows have the form of a push: the keys of the view, its features and event_time (docs/sources.md)`,
    ],
    [
      'a start that is no time',
      'use: redis_stream\ninto: feedback\nwith: { url: "redis://streams:6379", stream: web, start: newest }\n',
      `sources/web.yaml:4:58: error[invalid_option]: \`start\`: expected earliest, latest or a time, found \`newest\`
 4 | with: { url: "redis://streams:6379", stream: web, start: newest }
   |                                                          ^^^^^^
   help: a time is written e.g. 2026-11-01T00:00Z`,
    ],
    [
      'a password in the file',
      'use: redis_stream\ninto: feedback\nwith: { url: "redis://streams:6379", stream: web, password: hunter22 }\n',
      `sources/web.yaml:4:61: error[literal_secret]: \`password\`: a secret must come from an environment variable
 4 | with: { url: "redis://streams:6379", stream: web, password: **********
   |                                                             ^^^^^^^^
   help: write \`password: "\${WEB_PASSWORD}"\` and set that variable`,
    ],
  ];
  for (const [what, yaml, expected] of cases)
    it(`is reported at its place: ${what}`, async () => {
      expect(await told(yaml)).to.equal(expected);
    });

  it('is warned of a map that names nobody', async () => {
    const yaml = `use: redis_stream\ninto: feedback\nmap: { type: name, product: id }\n${WITH}`;
    expect(await told(yaml)).to
      .equal(`sources/web.yaml:4:1: warning[missing_key]: \`map\` names nobody that the events belong to, so they count for \`product\` in counters, and in no user's history
 4 | map: { type: name, product: id }
   | ^^^
   help: add the column of the user, for example \`user: user_id\`

1 warning`);
    expect(await told(yaml.replace('product: id', 'product: id, request: r'))).to.equal('');
  });

  it('needs to say what events are about if pipelines rank several types', async () => {
    const brands = 'pipeline: brands\nrank: brand\ncomponents:\n  - use: score\n    with: { value: 1 }\n';
    const files = { 'pipelines/brands.yaml': brands, 'schemas/entities/brand.yaml': 'entity: brand\n' };
    const yaml = `use: redis_stream\ninto: feedback\nmap: segment\n${WITH}`;
    expect(await told(yaml, files))
      .to.include('error[missing_key]')
      .and.include('add the key `about`');
    expect(await told(`${yaml}about: product\n`, files)).to.equal('');
  });

  describe('and counters', () => {
    const FEATURES =
      '{ clicks: { event: click, window: 7d }, ctr: { event: click, over: impression, window: 7d } }';
    const counter = {
      'schemas/counters/live.yaml': `counter: live\nof: [product]\nfeatures: ${FEATURES}\n`,
      'pipelines/ranking.yaml':
        'pipeline: ranking\nrank: product\nfeatures: [live]\ncomponents:\n  - use: score\n    with: { value: "live:clicks + live:ctr" }\n',
    };
    const undeclared = { ...counter, 'millrace.yaml': 'project: shop\n' };
    const columns = `use: redis_stream\ninto: feedback\nmap: { user: uid, product: id }\nevent: click\n${WITH}`;

    it('has a warning if no event can reach a feature', async () => {
      expect(await told(columns, undeclared)).to
        .equal(`schemas/counters/live.yaml:3:51: warning[unreached]: \`ctr\` counts \`impression\`, which no source posts (web) and millrace.yaml does not declare
 3 | features: ${FEATURES}
   |                                                   ^^^
   help: map a message of a source to \`impression\`; or, if clients post it, declare it, for example \`events: { impression: {}, click: {}, cart: {}, order: {} }\`

1 warning`);
    });

    it('has none if a source or a client can post the kind', async () => {
      const native = 'source: own\nuse: redis_stream\ninto: feedback\n' + WITH;
      expect(await told(columns, { ...undeclared, 'sources/own.yaml': native })).to.equal('');
      const declared = { ...undeclared, 'millrace.yaml': 'events: { click: {}, impression: {} }\n' };
      expect(await told(columns, declared)).to.equal('');
      expect(await told(`use: redis_stream\ninto: feedback\nmap: segment\n${WITH}`, undeclared)).to.equal('');
      const rows = `use: redis_stream\ninto: { entities: product }\n${WITH}`;
      expect(await told(rows, undeclared)).to.equal('');
    });

    it('has a warning if `where` lets no message of a type through', async () => {
      const event =
        'event: { shown: impression, tapped: click, other: null }\nwhere: { name: [shown, seen] }\n';
      const source = `use: redis_stream\ninto: feedback\nmap: { type: name, user: uid, product: id }\n${event}${WITH}`;
      const found = await told(source, undeclared);
      expect(found).to
        .include(`sources/web.yaml:5:29: warning[unreached]: no message is read as \`tapped\`: \`where\` only lets shown, seen through
 5 | event: { shown: impression, tapped: click, other: null }
   |                             ^^^^^^
   help: add \`tapped\` to the values under \`where\`, or remove it here`);
      expect(found).to.include('`clicks` and `ctr` count `click`, which no source posts');
    });
  });
});

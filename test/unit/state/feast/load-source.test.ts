import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { loadProject } from '../../../../runtime/project/config/project/load-project.js';
import type { FeatureView } from '../../../../runtime/project/config/model/views.js';
import { renderDiagnostics } from '../../../../runtime/project/config/diagnostics/render.js';
import { repositoryPath } from '../../../support/repository.js';
import { withFiles } from '../../../support/temporary-files.js';

const PIPELINE = { 'pipelines/p.yaml': 'pipeline: p\nrank: product\ncomponents: []\n' };
const ENV = { FEAST_REDIS_URL: 'redis://:secret-word@feast:6380/2' };

interface Loaded {
  readonly views: ReadonlyMap<string, FeatureView> | undefined;
  readonly told: string;
}

const load = (files: Readonly<Record<string, string>>): Promise<Loaded> =>
  withFiles({ ...PIPELINE, ...files }, async (root) => {
    const { config, diagnostics } = await loadProject(root, ENV);
    return { views: config?.views, told: renderDiagnostics(diagnostics, { color: false, width: 1000 }) };
  });

const stats = (
  source: string,
  features = '{ clicks: int }',
  of = '[user, brand]',
): Record<string, string> => ({
  'schemas/features/stats.yaml': `view: stats\nof: ${of}\nsource:\n  feast:\n${source}features: ${features}\n`,
});

describe('source: { feast: … } of a feature view', () => {
  it('loads as the docs show it', async () => {
    const page = readFileSync(repositoryPath('docs', 'feast.md'), 'utf8');
    const example = /```yaml\n# (\S+)\n([^]*?)```/.exec(page);
    const { views, told } = await load({
      [example?.[1] ?? '']: example?.[2] ?? '',
      'schemas/entities/driver.yaml': 'entity: driver\n',
    });
    expect(told).to.equal('');
    expect(views?.get('driver_stats')?.source).to.deep.equal({
      project: 'shop',
      url: ENV.FEAST_REDIS_URL,
      keyVersion: 3,
      view: 'driver_hourly_stats',
      joinKeys: [{ name: 'driver_id', type: 'int64' }],
      fields: new Map([['conv_rate', 'Conv-Rate']]),
    });
  });

  it('requires only the project; everything else has a default', async () => {
    const { views, told } = await load({
      ...stats('    project: shop\n'),
      'schemas/entities/user.yaml': 'entity: user\nkey: customer\n',
    });
    expect(told).to.equal('');
    expect(views?.get('stats')?.source).to.deep.equal({
      project: 'shop',
      url: undefined,
      keyVersion: 3,
      view: 'stats',
      joinKeys: [
        { name: 'customer', type: 'string' },
        { name: 'brand_id', type: 'string' },
      ],
      fields: new Map(),
    });
  });

  const mistakes: readonly (readonly [source: string, ...parts: string[]])[] = [
    ['    url: "redis://h"\n', '`feast`: the key `project` is missing'],
    ['    project: p\n    key_version: 1\n', '`key_version`: expected'],
    ['    project: p\n    url: http://h\n', ':6:10: error[wrong_type]: `url`: expected redis://host'],
    ['    project: p\n    joinkeys: {}\n', '`joinkeys` is not allowed here', 'did you mean `join_keys`?'],
    [
      '    project: p\n    join_keys: { u: user }\n',
      'error[binding_mismatch]: `join_keys`: `brand` has no join key',
    ],
    [
      '    project: p\n    join_keys: { u: user, b: brnd }\n',
      '`stats` has the entities (user, brand), not `brnd`',
      'did you mean `brand`?',
    ],
    ['    project: p\n    join_keys: { u: user, v: user, b: brand }\n', '`user` already has a join key'],
    ['    project: p\n    join_keys: { u: { entity: user, type: int }, b: brand }\n', '`type`: expected'],
    ['    project: p\n    fields: { click: c }\n', 'has no feature `click`', 'did you mean `clicks`?'],
  ];
  for (const [source, ...parts] of mistakes)
    it(`reports: ${parts[0] ?? ''}`, async () => {
      const { told } = await load(stats(source));
      for (const part of parts) expect(told).to.contain(part);
    });

  it('rejects a group, and never shows a password', async () => {
    const files = stats('    project: p\n    url: "${FEAST_REDIS_URL}/x"\n');
    const text = files['schemas/features/stats.yaml'] ?? '';
    const { told } = await load({ 'schemas/features/stats.yaml': `${text}group: slow\n` });
    expect(told).to.contain('`group` is not allowed for a view that Feast stores');
    expect(told).to.contain('`url`: expected redis://host').and.not.to.contain('secret-word');
  });

  it('reports two features that Feast stores in one field, in one view or in two', async () => {
    const one = stats(
      '    project: p\n    view: user_stats\n',
      '{ clicks_19588: int, clicks_39480: int }',
      '[user]',
    );
    expect((await load(one)).told).to.contain(
      'error[feature_collision]: Feast stores `stats:clicks_39480` and `stats:clicks_19588` in the same field',
    );
    const view = (name: string, feature: string, project: string): Record<string, string> => ({
      [`schemas/features/${name}.yaml`]: `view: ${name}\nof: [user]\nsource: { feast: { project: ${project}, view: user_stats, fields: { f: ${feature} } } }\nfeatures: { f: int }\n`,
    });
    const two = { ...view('a', 'clicks_19588', 'p'), ...view('b', 'clicks_39480', 'p') };
    expect((await load(two)).told).to.contain('Feast stores `b:f` and `a:f` in the same field');
    const apart = { ...view('a', 'clicks_19588', 'p'), ...view('b', 'clicks_39480', 'q') };
    expect((await load(apart)).told).to.equal('');
  });
});

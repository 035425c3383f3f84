import { expect } from 'chai';
import { pino, type Logger } from 'pino';
import { startProject, type TestProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';

const filesOf = (price: string, more = ''): Record<string, string> => ({
  'schemas/entities/product.yaml': `entity: product\nextends: ProductEntity\nattributes: { price: ${price}${more} }\n`,
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures: { clicks: int }\n',
  'pipelines/ranking.yaml':
    'pipeline: ranking\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
});

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly code?: string;
  readonly subject?: string;
}

describeWith('redis-server', 'the schemas of services that share a Redis', function () {
  this.timeout(30_000);
  let server: PrivateRedis;
  const projects: TestProject[] = [];
  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(async () => {
    for (const project of projects.splice(0)) await project.close();
    await server.remove();
  });

  const serve = async (
    files: Record<string, string>,
    env: Record<string, string> = {},
  ): Promise<{ project: TestProject; lines: Line[] }> => {
    const lines: Line[] = [];
    const logger: Logger = pino(
      { level: 'warn' },
      { write: (line: string) => void lines.push(JSON.parse(line) as Line) },
    );
    const project = await startProject(files, {
      env: { MILLRACE_STORE: 'redis', REDIS_URL: server.url, ...env },
      logger,
    });
    projects.push(project);
    return { project, lines };
  };
  const metrics = ({ app }: TestProject): Promise<string> => app.metrics.registry.metrics();

  it('are compared at start: a difference is a warning that names both and what differs', async () => {
    const first = await serve(filesOf('float', ', stock: int'));
    expect(first.lines).to.deep.equal([]);
    const second = await serve(filesOf('string'));
    const [line] = second.lines;
    expect([second.lines.length, line?.code]).to.deep.equal([1, 'schemas_differ']);
    expect(line?.msg).to.match(/\([0-9a-f]{8}; here [0-9a-f]{8}\)/);
    expect(line?.msg)
      .to.contain('product.price is string here and float there')
      .and.to.contain('product.stock is only there')
      .and.to.contain('MILLRACE_PREFIX')
      .and.to.contain('rolling deployment');
    expect(await metrics(second.project)).to.contain('millrace_store_warnings{code="schemas_differ"} 1');
  });

  it('may be the same, or under another prefix; a service that is gone is forgotten', async () => {
    const first = await serve(filesOf('float'));
    const same = await serve(filesOf('float'));
    const apart = await serve(filesOf('string'), { MILLRACE_PREFIX: 'apart' });
    expect([...same.lines, ...apart.lines]).to.deep.equal([]);
    for (const { project } of [first, same]) {
      projects.splice(projects.indexOf(project), 1);
      await project.close();
    }
    expect((await serve(filesOf('string'))).lines).to.deep.equal([]);
  });

  it('are compared with what is stored: values that do not fit are counted from a sample', async () => {
    const before = await serve(filesOf('float', ', stock: int'));
    const entities = Array.from({ length: 500 }, (_, i) => ({ product_id: `p${i}`, price: i, stock: i }));
    await before.project.upload('product', ...entities);
    await before.project.close();
    projects.length = 0;
    const after = await serve(filesOf('string', ', stock: float'));
    await until('the warning', () => after.lines.length > 0);
    const [line] = after.lines;
    expect([line?.code, line?.subject]).to.deep.equal(['values_misfit', 'product.price']);
    expect(line?.msg)
      .to.contain('product.price is string in the schema, and 300 of 300 sampled records')
      .and.to.contain('float');
    const text = await metrics(after.project);
    expect(text).to.contain('millrace_schema_sampled_records{entity_type="product"} 300');
    expect(text).to.contain('millrace_schema_misfit_values{entity_type="product",attribute="price"} 300');
    expect(text).not.to.contain('attribute="stock"');
  });
});

import { expect } from 'chai';
import { SPANS } from '../../runtime/project/tracing/spans.js';
import { feastValue, materialise } from '../support/feast-writer.js';
import { startCollector, type Collector } from '../support/otlp-collector.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { describeWith } from '../support/needs.js';
import { serveFiles } from '../support/served-project.js';

const files = (url: string): Record<string, string> => ({
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'schemas/features/stats.yaml': `view: stats
of: [product]
source: { feast: { project: shop, url: "${url}", view: product_stats } }
features: { ctr: float }
`,
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
features: [stats]
components:
  - use: score
    with: { value: 'coalesce(stats:ctr, 0)' }
limits: { time: 10s }
`,
});

describeWith('redis-server', 'traces of features in Feast', () => {
  let redis: PrivateRedis;
  let collector: Collector;

  before(async function () {
    this.timeout(20_000);
    redis = await startRedisServer();
    collector = await startCollector();
    const features = { ctr: feastValue('double_val', 0.5) };
    await materialise(redis.url, [
      { keys: [['product_id', 'string', 'canary-a']], view: 'product_stats', time: Date.now(), features },
    ]);
  });

  after(async () => {
    await (collector as Collector | undefined)?.close();
    await (redis as PrivateRedis | undefined)?.remove();
  });

  it('have a span for each read, below the stage of a ranking and below a request for features', async () => {
    const service = await serveFiles(files(redis.url), undefined, {
      MILLRACE_TRACES: 'on',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    });
    try {
      const candidates = [{ product_id: 'canary-a' }, { product_id: 'canary-b' }];
      expect((await service.post('/api/v1/ranking', { candidates })).status).to.equal(200);
      const body = { features: ['stats:ctr'], entities: { product_id: ['canary-a'] } };
      expect((await service.post('/feature/get-online-features', body)).status).to.equal(200);
    } finally {
      await service.close();
    }
    const names = new Map(collector.spans.map(({ spanId, name }) => [spanId, name]));
    const reads = collector.spans.filter(({ name }) => name === 'feast read');
    expect(
      reads.map(({ parentId, attributes }) => [names.get(parentId), attributes['millrace.keys']]),
    ).to.deep.equal([
      ['hydrate', 2],
      ['POST /feature/get-online-features', 1],
    ]);
    for (const { kind, attributes } of reads) {
      expect(kind).to.equal(SPANS.feast.kind);
      expect(SPANS.feast.attributes).to.include.members(Object.keys(attributes));
      expect(JSON.stringify(attributes)).not.to.include('canary');
    }
  });
});

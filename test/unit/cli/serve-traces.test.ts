import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { startCollector, type Collector } from '../../support/otlp-collector.js';
import { writeProject } from '../../support/project.js';
import { startRedisServer } from '../../support/redis-server.js';
import { repositoryPath } from '../../support/repository.js';
import { itWith } from '../../support/needs.js';
import { startProcess, type ServiceProcess } from '../../support/service-process.js';

/** What an operator preloads: an SDK of their own, which Millrace does not configure. */
const preload = (collector: string): string => `import { createRequire } from 'node:module';
const require = createRequire(${JSON.stringify(repositoryPath('package.json'))});
const { trace } = require('@opentelemetry/api');
const { BatchSpanProcessor, TracerProvider } = require('@opentelemetry/sdk-trace');
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-proto');
const { resourceFromAttributes } = require('@opentelemetry/resources');
const exporter = new OTLPTraceExporter({ url: '${collector}/v1/traces' });
const batches = new BatchSpanProcessor({ exporter, scheduledDelayMillis: 600_000 });
const resource = resourceFromAttributes({ 'service.name': 'preloaded' });
trace.setGlobalTracerProvider(new TracerProvider({ resource, spanProcessors: [batches] }));
`;

describe('millrace serve, traced', function () {
  this.timeout(120_000);
  let root = '';
  let collector: Collector;
  let service: ServiceProcess;

  beforeEach(async () => {
    collector = await startCollector();
    root = await writeProject({
      'pipelines/plain.yaml':
        'pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
    });
    await writeFile(join(root, 'preload.mjs'), preload(collector.url));
  });
  afterEach(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
    await collector.close();
    await rm(root, { recursive: true });
  });

  async function serve(args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
    const all = { MILLRACE_LAME_DUCK_MS: '0', OTEL_BSP_SCHEDULE_DELAY: '600000', ...env };
    service = await startProcess(['--project', root, '--port', '0', ...args], all);
  }

  /** Sends rankings on connections of their own, and stops the service. */
  async function rankAndStop(requests: number): Promise<void> {
    for (let i = 0; i < requests; i++) {
      const response = await fetch(`${service.url}/api/v1/plain`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ candidates: [{ product_id: 'p' }] }),
      });
      expect(response.status).to.equal(200);
      await response.text();
    }
    expect(collector.requests).to.equal(0);
    service.child.kill('SIGTERM');
    expect(await service.ended).to.equal(0);
  }

  const requests = (): number => collector.spans.filter(({ kind }) => kind === 'server').length;

  it('uses an SDK that was preloaded, and flushes it at shutdown', async () => {
    await serve(['--store', 'embedded'], { NODE_OPTIONS: `--import ${join(root, 'preload.mjs')}` });
    await rankAndStop(3);
    expect(requests()).to.equal(3);
    expect(collector.resource['service.name']).to.equal('preloaded');
    expect(collector.spans.map(({ name }) => name)).to.include('step score');
  });

  it('does not use it if traces are off', async () => {
    await serve(['--store', 'embedded'], {
      MILLRACE_TRACES: 'off',
      NODE_OPTIONS: `--import ${join(root, 'preload.mjs')}`,
    });
    await rankAndStop(1);
    expect(collector.requests).to.equal(0);
  });

  it('records nothing by default', async () => {
    await serve(['--store', 'embedded'], { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await rankAndStop(1);
    expect(collector.requests).to.equal(0);
  });

  it('takes the name and attributes of the service from the standard variables', async () => {
    await serve(['--store', 'embedded'], {
      MILLRACE_TRACES: 'on',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=test',
      OTEL_SERVICE_NAME: 'shop',
    });
    await rankAndStop(1);
    expect(requests()).to.equal(1);
    expect(collector.resource).to.include({ 'service.name': 'shop', 'deployment.environment.name': 'test' });
  });

  itWith('redis-server', 'sends the traces of all workers', async function () {
    const redis = await startRedisServer();
    try {
      await serve(['--workers', '2'], {
        MILLRACE_TRACES: 'on',
        REDIS_URL: redis.url,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      });
      await rankAndStop(8);
    } finally {
      await redis.remove();
    }
    expect(requests()).to.equal(8);
    expect(collector.services.size).to.equal(2);
  });
});

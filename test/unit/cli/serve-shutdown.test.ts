import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { newTally, postBytes, runClient } from '../../support/counting-client.js';
import { writeProject } from '../../support/project.js';
import { startProcess, type ServiceProcess } from '../../support/service-process.js';
import { until } from '../../support/until.js';

const RANK = '/api/v1/plain';
const BODY = { candidates: [{ product_id: 'p' }] };

describe('millrace serve, told to stop', () => {
  let root = '';
  let service: ServiceProcess;
  before(async () => {
    root = await writeProject({
      'pipelines/plain.yaml':
        'pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
    });
  });
  after(() => rm(root, { recursive: true }));
  afterEach(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });

  const serve = async (lameDuckMs: number): Promise<void> => {
    const env = { MILLRACE_LAME_DUCK_MS: String(lameDuckMs) };
    service = await startProcess(['--project', root, '--store', 'embedded', '--port', '0'], env);
  };
  /** Each on a connection of its own, which is not kept. */
  const get = (path: string): Promise<Response> =>
    fetch(service.url + path, { headers: { connection: 'close' } });
  const rank = (): Promise<Response> =>
    fetch(service.url + RANK, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(BODY),
    });
  const untilNotReady = async (): Promise<Response> => {
    for (;;) {
      const answer = await get('/readyz');
      if (answer.status !== 200) return answer;
      await pause(10);
    }
  };

  it('answers 503 to /readyz first, and everything else as before, on new connections too', async () => {
    await serve(700);
    service.child.kill('SIGTERM');
    const ready = await untilNotReady();
    expect(ready.status).to.equal(503);
    const { checks } = (await ready.json()) as { checks: Record<string, unknown> };
    expect(checks).to.deep.equal({
      store: { status: 'OK' },
      pipelines: { status: 'OK' },
      process: { status: 'FAILED', reason: 'shutting_down' },
    });
    expect((await get('/healthz')).status).to.equal(200);
    expect((await rank()).status).to.equal(200);
    expect(await service.ended).to.equal(0);
  });

  it('loses no request of open connections', async () => {
    await serve(200);
    const tally = newTally();
    const stop = new AbortController();
    const request = postBytes(RANK, BODY);
    const clients = [0, 0, 0, 1, 5, 20, 20, 100, 300].map((ms) =>
      runClient({ port: service.port, request, thinkMs: () => ms, stop: stop.signal }, tally),
    );
    await until('some answers', () => tally.answered > 200);
    service.child.kill('SIGTERM');
    expect(await service.ended).to.equal(0);
    stop.abort();
    await Promise.all(clients);
    expect(tally.lost, JSON.stringify([...tally.causes])).to.equal(0);
    expect(tally.closing).to.equal(clients.length);
  });

  it('skips the lame-duck time after SIGINT, because a person waits', async () => {
    await serve(60_000);
    const open = await fetch(`${service.url}/healthz`); // its connection stays open
    await open.text();
    service.child.kill('SIGINT');
    expect(await service.ended).to.equal(0);
  });

  it('exits at once after a second signal', async () => {
    await serve(60_000);
    service.child.kill('SIGTERM');
    await untilNotReady();
    service.child.kill('SIGTERM');
    expect(await service.ended).to.equal(1);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { millrace } from '../../../support/command-line.js';
import { writeProject } from '../../../support/project.js';
import { until } from '../../../support/served-project.js';
import { BIN } from '../../../support/repository.js';

const ROWS = 10_500;
const IDS = Array.from({ length: ROWS }, (_, i) => `p${i}`);
const FILES = {
  'pipelines/plain.yaml':
    'pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
  'schemas/features/stats.yaml': 'view: stats\nof: [product]\nfeatures:\n  orders: int\n',
};

/** Accepts pushes of features. After some bodies it reads them but never answers. */
class Service {
  readonly server: Server;
  /** The row ids of each answered body. */
  readonly answered: string[][] = [];
  unanswered = 0;

  constructor(answers: number) {
    this.server = createServer((req, res) => {
      void json(req).then((body) => {
        const { rows } = body as { rows: { product_id: string }[] };
        if (this.answered.length === answers) {
          this.unanswered++;
          return;
        }
        this.answered.push(rows.map(({ product_id: id }) => id));
        res.setHeader('content-type', 'application/json');
        res.end(JSON.stringify({ view: 'stats', stored: rows.length, older: 0 }));
      });
    });
  }

  async listen(port = 0): Promise<number> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

describe('a load that is interrupted', () => {
  let root = '';
  beforeEach(async () => {
    root = await writeProject(FILES);
    const lines = IDS.map((id, i) => JSON.stringify({ product_id: id, orders: i }));
    await writeFile(join(root, 'rows.jsonl'), `${lines.join('\n')}\n`);
    const columnData = [
      { name: 'product_id', data: IDS, type: 'STRING' as const },
      { name: 'orders', data: IDS.map((_, i) => i), type: 'INT32' as const },
      { name: 'event_time', data: IDS.map(() => 1n), type: 'INT64' as const },
    ];
    await writeFile(
      join(root, 'rows.parquet'),
      Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 4000 })),
    );
  });
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  const argv = (file: string, port: number, ...more: string[]): string[] => [
    ...['features', 'load', 'stats', join(root, file), '--project', root],
    ...['--url', `http://127.0.0.1:${port}`, ...more],
  ];

  /** Loads until some bodies are answered and the next ones are in flight, then kills the process. */
  async function killMidway(file: string, answers: number): Promise<{ ids: string[]; port: number }> {
    const service = new Service(answers);
    const port = await service.listen();
    const child = spawn(process.execPath, [BIN, ...argv(file, port)], { stdio: 'ignore' });
    await until(() => service.answered.length === answers && service.unanswered > 0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await service.close();
    return { ids: service.answered.flat(), port };
  }

  for (const file of ['rows.jsonl', 'rows.parquet']) {
    it(`continues where it was killed: ${file}`, async () => {
      const { ids: before, port } = await killMidway(file, 4);
      const service = new Service(Infinity);
      await service.listen(port);
      try {
        const resumed = await millrace(argv(file, port, '--resume'));
        expect(resumed.stderr).to.match(/^continuing after row \d,\d{3}\n$/);
        expect(resumed.code).to.equal(0);
        const after = service.answered.flat();
        expect(new Set([...before, ...after])).to.deep.equal(new Set(IDS));
        // At most one body is sent again: the one whose answer the killed process did not record.
        expect(after.length).to.be.at.most(ROWS - before.length + 1000);

        const again = await millrace(argv(file, port, '--resume'));
        expect(again.stderr).to.include('no interrupted load');
        expect(again.stdout).to.match(/^10,500 stats rows loaded/);
      } finally {
        await service.close();
      }
    });
  }

  it('is not resumed by a deletion with the same file', async () => {
    const { port } = await killMidway('rows.jsonl', 4);
    const service = new Service(Infinity);
    await service.listen(port);
    try {
      const [, , ...rest] = argv('rows.jsonl', port, '--resume');
      const deleted = await millrace(['features', 'delete', ...rest]);
      expect(deleted.stderr).to.include('no interrupted load');
      expect(deleted.stdout).to.match(/^10,500 stats rows deleted from /);
      expect(new Set(service.answered.flat())).to.deep.equal(new Set(IDS));
    } finally {
      await service.close();
    }
  });

  it('is not resumed if the file has changed since', async () => {
    const { port } = await killMidway('rows.jsonl', 2);
    await appendFile(join(root, 'rows.jsonl'), '{"product_id":"more","orders":1}\n');
    const resumed = await millrace(argv('rows.jsonl', port, '--resume'));
    expect(resumed.code).to.equal(1);
    expect(resumed.stderr).to.match(/has changed since its load was interrupted after row \d/);
    expect(resumed.stderr).to.include('without --resume');
  });

  it('is loaded even if its checkpoint cannot be written', async () => {
    const unwritable = ['--data-dir', join(root, 'rows.jsonl', 'data')];
    const service = new Service(Infinity);
    const port = await service.listen();
    try {
      for (const more of [unwritable, [...unwritable, '--resume']]) {
        const loaded = await millrace(argv('rows.jsonl', port, ...more));
        expect(loaded.stdout).to.match(/^10,500 stats rows loaded/);
        expect(loaded.code).to.equal(0);
      }
    } finally {
      await service.close();
    }
    const failed = await millrace(argv('rows.jsonl', 1, ...unwritable));
    expect(failed.code).to.equal(1);
    expect(failed.stderr).not.to.include('    at ');
  });

  it('cannot be resumed for standard input', async () => {
    const resumed = await millrace(
      argv('-', 1, '--resume').map((one) => (one.endsWith('/-') ? '-' : one)),
      {
        stdin: '',
      },
    );
    expect(resumed.code).to.equal(2);
    expect(resumed.stderr).to.include('standard input cannot be resumed');
  });
});

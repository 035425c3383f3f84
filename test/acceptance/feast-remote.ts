/**
 * Writes and reads features with Feast's own SDK through a running Millrace, as its remote online store, and compares
 * the answers with those of Feast's own feature server:
 *
 *   node dist/test/acceptance/feast-remote.js --python PATH
 *
 * PATH is a Python with `feast[redis]`. feast_remote.py defines the views and does the work; `millrace features
 * import-feast --stored` declares them here.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { millrace } from '../support/command-line.js';
import { startRedisServer } from '../support/redis-server.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

interface Summary {
  readonly compared: number;
  readonly differences: number;
  readonly types: number;
  readonly statuses: Readonly<Record<string, number>>;
}

async function main(python: string): Promise<boolean> {
  const redis = await startRedisServer();
  try {
    return await withFiles({}, async (root) => {
      const script = repositoryPath('test/acceptance/feast_remote.py');
      const child = spawn(python, [script, root], { stdio: ['pipe', 'pipe', 'inherit'] });
      const ended = once(child, 'exit') as Promise<[number | null]>;
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const next = async (): Promise<string> => ((await lines.next()) as { value?: string }).value ?? '';
      if ((await next()) !== 'ready') throw new Error('feast_remote.py did not start');
      const imported = await millrace(
        ['features', 'import-feast', join(root, 'registry.json'), '--stored', '--project', root],
        {},
      );
      if (imported.code !== 0) throw new Error(imported.stderr);
      const settings = loadSettings({ LOG_LEVEL: 'silent', REDIS_URL: redis.url }, { project: root });
      const app = await createApp(settings);
      const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
      try {
        child.stdin.end(`http://127.0.0.1:${server.port}\n`);
        let last = '';
        for (let line = await next(); line !== ''; line = await next()) last = line;
        const [code] = await ended;
        if (code !== 0) return false;
        const { compared, differences, types, statuses } = JSON.parse(last) as Summary;
        console.log(`Feast's remote online store: ${types} types, statuses ${JSON.stringify(statuses)}`);
        console.log(`${compared} answers compared, differences ${differences}`);
        return differences === 0 && compared > 100;
      } finally {
        await server.close(0);
        await app.close();
      }
    });
  } finally {
    await redis.remove();
  }
}

const { values: flags } = parseArgs({ options: { python: { type: 'string' } } });
if (flags.python === undefined) throw new Error('--python PATH is missing');
process.exitCode = (await main(flags.python)) ? 0 : 1;

/**
 * Writes the fixture of a version: `node dist/test/formats/write-fixture.js CHECKOUT`. CHECKOUT is a built checkout of
 * that version.
 */
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { writeProject } from '../support/project.js';
import { startRedisServer } from '../support/redis-server.js';
import { fixturePath, type Fixture } from './fixture.js';
import { startInstance } from './instance.js';
import { answersOf, send, SHOP_FILES, SHOP_WRITES } from './shop.js';

async function main([checkout]: readonly string[]): Promise<void> {
  if (checkout === undefined) throw new Error('usage: write-fixture.js CHECKOUT');
  const { version } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8')) as {
    version: string;
  };
  const root = await writeProject(SHOP_FILES);
  const dataDir = join(root, 'data');
  const redis = await startRedisServer();
  try {
    const now = Date.now();
    const answers = await writeShop(checkout, {
      MILLRACE_PROJECT: root,
      MILLRACE_STORE: 'embedded',
      MILLRACE_DATA_DIR: dataDir,
    });
    const others = await writeShop(checkout, { MILLRACE_PROJECT: root, REDIS_URL: redis.url });
    if (JSON.stringify(others) !== JSON.stringify(answers))
      throw new Error('the two stores answer differently');
    const fixture: Fixture = {
      version,
      now,
      folder: await filesIn(dataDir),
      redis: await keysOf(redis.url),
      answers,
    };
    const path = fixturePath(version);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, gzipSync(JSON.stringify(fixture), { level: 9 }));
    console.log(`${path}: ${(await stat(path)).size} bytes, ${fixture.redis.length} keys`);
  } finally {
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  }
}

async function writeShop(checkout: string, env: Readonly<Record<string, string>>): Promise<unknown[]> {
  const instance = await startInstance(checkout, env);
  try {
    for (const call of SHOP_WRITES) await send(instance.url, call);
    return await answersOf(instance.url);
  } finally {
    await instance.stop();
  }
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[path.slice(folder.length + 1)] = (await readFile(path)).toString('base64');
  }
  return files;
}

async function keysOf(url: string): Promise<[string, string][]> {
  const redis = new Redis(url);
  try {
    const keys = (await redis.keys('*')).sort();
    return await Promise.all(
      keys.map(async (key): Promise<[string, string]> => [
        key,
        (await redis.getBuffer(key))?.toString('base64') ?? '',
      ]),
    );
  } finally {
    redis.disconnect();
  }
}

await main(process.argv.slice(2));

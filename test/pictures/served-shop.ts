import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compares } from '../../runtime/cli/compare/compares.js';
import { readSettings } from '../../runtime/project/config/project/read-settings.js';
import { createKey, hashOfKey } from '../../runtime/serve/access/key-text.js';
import { keysText } from '../../runtime/serve/access/keys-file.js';
import { SCOPE_NAMES } from '../../runtime/serve/access/scopes.js';
import { startService, type RunningService } from '../../runtime/serve/app/serve.js';
import type { InstanceList } from '../../runtime/serve/metrics/live-meter.js';
import { InstanceBoard } from '../../runtime/state/instances/instance-board.js';
import { experimentLedger } from '../support/experiment-shop.js';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { call, post } from '../http/harness.js';
import { loggedRequests, PRODUCTS, SHOP } from './shop.js';

/** The shop, as two processes serve it: one ranks, and one is the workbench. */
export interface ServedShop {
  /** The address of the workbench. */
  readonly url: string;
  /** The same, of a store without any data or instance. */
  readonly emptyUrl: string;
  /** Cookies of a person who may do everything, at both. */
  readonly session: string;
  readonly emptySession: string;
  /** Calls a route of the workbench, as the session's person or as a colleague. @throws Error if it is refused */
  as(who: 'anna' | 'ben', path: string, body: object): Promise<Record<string, unknown>>;
  /** Invites somebody. @returns the text of the invitation */
  invite(name: string): Promise<string>;
  /** Ranks requests of users, and waits until the screen Live has them. */
  traffic(): Promise<void>;
  /** Puts instances beside the one that runs: one that fell silent, and some that run. */
  addInstances(count: number): Promise<void>;
  close(): Promise<void>;
}

const PREFIX = 'millrace';
/** Entities of an upload. */
const AT_ONCE = 600;

/** Starts redis-server and the shop on it, with 1,200 products, logged requests, and some traffic. */
export async function serveShop(): Promise<ServedShop> {
  const redis = await startRedisServer();
  try {
    return await serveOn(redis);
  } catch (error) {
    await redis.remove();
    throw error;
  }
}

async function serveOn(redis: PrivateRedis): Promise<ServedShop> {
  const { id, text: key } = createKey();
  const root = await writeProject(SHOP);
  const boss = { id, name: 'ben', hash: hashOfKey(key), scopes: SCOPE_NAMES, created: Date.now() };
  await writeFile(join(root, 'keys.json'), keysText([boss]), { mode: 0o600 });
  experimentLedger(1000).write(join(root, '.millrace', 'ledger'));
  const asked = loggedRequests().write(join(root, 'asked'));
  for (const name of await readdir(asked))
    await rename(join(asked, name), join(root, '.millrace', 'ledger', `asked-${name}`));
  const serve = async (env: Readonly<Record<string, string>>): Promise<RunningService> => {
    const all = {
      ...{ LOG_LEVEL: 'silent', PORT: '0', MILLRACE_WARM_UP_MS: '0', MILLRACE_QUEUE_MS: '30000' },
      ...{ MILLRACE_STORE: 'redis', REDIS_URL: redis.url, MILLRACE_KEYS: join(root, 'keys.json'), ...env },
    };
    const isWorkbench = env['MILLRACE_WORKBENCH'] === 'only';
    return startService(await readSettings(all, { project: root }), isWorkbench ? { compares } : {});
  };
  const ranking = await serve({ MILLRACE_WORKBENCH: 'off' });
  const workbench = await serve({ MILLRACE_WORKBENCH: 'only' });
  const empty = await serve({ MILLRACE_WORKBENCH: 'only', MILLRACE_PREFIX: 'empty' });
  const bearer = { authorization: `Bearer ${key}` };
  const ask = async (url: string, body: object, headers: Headers = bearer): Promise<Answer> => {
    const { status, json, text } = await post(url, body, headers);
    if (status !== 200) throw new Error(`${url} answers ${status}: ${text}`);
    return json as Answer;
  };
  const inviteAt = async (url: string, name: string): Promise<string> =>
    String((await ask(`${url}/api/v1/invitations/create`, { name, role: 'admin' }))['invitation']);
  const session = await signIn(workbench.url, await inviteAt(workbench.url, 'anna'));
  const emptySession = await signIn(empty.url, await inviteAt(empty.url, 'anna'));
  for (let at = 0; at < PRODUCTS.length; at += AT_ONCE)
    await ask(`${ranking.url}/api/v1/entities/upload`, {
      ...{ entity_type: 'product', entities: PRODUCTS.slice(at, at + AT_ONCE) },
    });
  const board = new InstanceBoard(ranking.app.store, PREFIX);
  const instances = async (): Promise<InstanceList['instances']> =>
    ((await call(`${workbench.url}/api/v1/instances`, { headers: bearer })).json as unknown as InstanceList)
      .instances;
  const traffic = async (): Promise<void> => {
    await rankRequests((body) => ask(`${ranking.url}/api/v1/shop`, body));
    await until('the figures of the service', async () =>
      (await instances()).some(({ pipelines }) => pipelines.some(({ requests }) => requests > 0)),
    );
  };
  await traffic();
  return {
    traffic,
    url: workbench.url,
    emptyUrl: empty.url,
    session: session.cookie,
    emptySession: emptySession.cookie,
    as: (who, path, body) =>
      ask(
        `${workbench.url}/api/v1/${path}`,
        body,
        who === 'anna' ? { cookie: session.cookie, 'x-millrace-csrf': session.csrf } : bearer,
      ),
    invite: (name) => inviteAt(workbench.url, name),
    addInstances: async (count) => {
      const known = (await instances())[0] as object;
      for (let at = 0; at < count; at++) {
        const seen = Date.now() - (at === 0 ? 60_000 : 0);
        const instance = `shop-${String(at + 1).padStart(2, '0')}.example:4711:a${at}`;
        await board.tell(instance, { ...known, instance, seen }, seen);
      }
    },
    close: async () => {
      for (const one of [workbench, empty, ranking]) await one.close();
      await redis.remove();
      await rm(root, { recursive: true, force: true });
    },
  };
}

type Answer = Record<string, unknown>;
type Headers = Readonly<Record<string, string>>;

async function signIn(url: string, invitation: string): Promise<{ cookie: string; csrf: string }> {
  const opened = await post(`${url}/api/v1/session/open`, { invitation });
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const { json } = await call(`${url}/api/v1/session`, { headers: { cookie } });
  return { cookie, csrf: String(json?.['csrf']) };
}

/** Requests of users, so that the screen Live has something to show, and one that the screen Rank opens. */
async function rankRequests(rank: (body: object) => Promise<Answer>): Promise<void> {
  for (let at = 0; at < 60; at++)
    await rank({ category: at % 2 === 0 ? 'tv' : 'audio', user: { user_id: `u${at}` } });
  await rank({ query: { query: 'rucksack' }, user: { user_id: 'u1' }, request_id: 'asked-by-u1' });
}

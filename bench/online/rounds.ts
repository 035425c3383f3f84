import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Client } from 'undici';
import type { Usage } from '../service/serve.js';
import { BESIDE, casesOf, type Case } from './cases.js';
import { post } from './post.js';

export interface Round {
  readonly cpuMs: number;
  readonly stallMs: number;
  /** Milliseconds of the requests themselves, and of the small concurrent ranking. */
  readonly took: readonly number[];
  readonly beside: readonly number[];
}

/** Sends requests one after another. */
export async function run(
  child: ChildProcess,
  url: string,
  { path, body }: { readonly path: string; readonly body: Buffer },
  requests: number,
): Promise<Round> {
  const client = new Client(url);
  await post(client, path, body);
  const before = await usage(child);
  const took: number[] = [];
  for (let i = 0; i < requests; i++) took.push(await post(client, path, body));
  const after = await usage(child);
  await client.close();
  return { cpuMs: (after.cpuMs - before.cpuMs) / requests, stallMs: after.stallMs, took, beside: [] };
}

/** Sends the same requests while small rankings run one after another on a separate connection. */
export async function runBeside(
  child: ChildProcess,
  url: string,
  one: Case,
  requests: number,
): Promise<Round> {
  const [small] = casesOf(BESIDE);
  if (small === undefined) throw new Error('expected at least one case');
  const client = new Client(url);
  const beside: number[] = [];
  const isOver = { now: false };
  await post(client, small.ranking.path, small.ranking.body);
  const others = (async () => {
    while (!isOver.now) beside.push(await post(client, small.ranking.path, small.ranking.body));
  })();
  const round = await run(child, url, one, requests);
  isOver.now = true;
  await others;
  await client.close();
  return { ...round, beside: beside.sort((a, b) => a - b) };
}

async function usage(child: ChildProcess): Promise<Usage> {
  child.send('usage');
  const [answer] = (await once(child, 'message')) as [Usage];
  return answer;
}

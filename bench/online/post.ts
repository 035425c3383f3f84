import { strict as assert } from 'node:assert';
import type { Client } from 'undici';

/** @returns milliseconds until the answer arrived */
export async function post(client: Client, path: string, body: Buffer): Promise<number> {
  const asked = performance.now();
  const response = await client.request({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (response.statusCode === 200) await response.body.dump({ limit: Infinity });
  else assert.fail(await response.body.text());
  return performance.now() - asked;
}

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { repositoryPath } from '../../support/repository.js';

/** A request body to send. */
export interface Sent {
  readonly path: string;
  readonly bytes: Buffer;
  readonly encoding?: string;
}

export interface Answer {
  /** 0 if the connection broke. */
  readonly status: number;
  readonly body: string;
}

/** What the service used while it worked. */
export interface Measurement {
  readonly longest: number;
  readonly cpu: number;
  readonly rss: number;
}

/** A process that serves the shipped project and measures the turns of its event loop. */
export interface MeasuredService {
  readonly url: string;
  readonly pid: number;
  /**
   * Runs the work. Returns the longest turn of the main thread meanwhile and all its turns (CPU time in milliseconds), and
   * the resident memory afterwards (bytes).
   */
  during(work: () => Promise<unknown>): Promise<Measurement>;
  /** Sends a body and reads the answer. @returns the status; 0 if the connection broke */
  send(sent: Sent): Promise<number>;
  /** The same, with what was answered. */
  ask(sent: Sent): Promise<Answer>;
  close(): Promise<void>;
}

/** @param files more files of the project */
export async function startMeasured(
  env: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<MeasuredService> {
  const root = await mkdtemp(join(tmpdir(), 'millrace-prove-'));
  for (const folder of ['pipelines', 'schemas'])
    await cp(repositoryPath(folder), join(root, folder), { recursive: true, dereference: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const child = fork(fileURLToPath(new URL('./turn-service.js', import.meta.url)), [], {
    env: {
      ...process.env,
      LOG_LEVEL: 'silent',
      MILLRACE_STORE: 'embedded',
      MILLRACE_PROJECT: root,
      PORT: '0',
      ...env,
    },
    execArgv: [],
  });
  const { url } = await answerOf<{ url: string }>(child);
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  return {
    url,
    pid: child.pid ?? 0,
    async during(work) {
      child.send('begin');
      await work();
      const answer = answerOf<Measurement>(child);
      child.send('end');
      return answer;
    },
    send: async (sent) => (await ask(url, agent, sent)).status,
    ask: (sent) => ask(url, agent, sent),
    async close() {
      agent.destroy();
      child.disconnect();
      await once(child, 'exit');
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const settled = new AbortController();
  const { signal } = settled;
  try {
    const [answer] = (await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`the service ended with ${String(code)}`);
      }),
    ])) as [T];
    return answer;
  } finally {
    settled.abort();
  }
}

function ask(url: string, agent: Agent, { path, bytes, encoding }: Sent): Promise<Answer> {
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': bytes.length,
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    };
    const req = request(url + path, { method: 'POST', agent, headers }, (res) => {
      let body = '';
      res.setEncoding('utf8').on('data', (part: string) => (body += part));
      res.once('close', () => resolve({ status: res.complete ? (res.statusCode ?? 0) : 0, body }));
    });
    req.once('error', () => resolve({ status: 0, body: '' }));
    req.end(bytes);
  });
}

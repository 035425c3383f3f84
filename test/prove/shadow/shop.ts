import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { pluginFiles } from '../../support/project.js';

export const EXPERIMENT = 'faults';
export const CANDIDATES = 50;
/** The most requests a second. */
export const RATE = 100;
const REQUEST = 'request: { candidates: {}, user: optional(user) }';

/** An arm of a plugin of the project: a rule that runs this code. */
const arm = (name: string, code: string): Record<string, string> => ({
  [`pipelines/${name}.yaml`]: `pipeline: ${name}
rank: product
${REQUEST}
limits: { time: 60s }
components:
  - use: ${name}
`,
  ...pluginFiles(
    name,
    'rule',
    `return { scoring: 'sets', apply(input, ranking) { ${code} return { applied: 0, skipped: 0 }; } };`,
  ),
});

/** A pipeline with a log, and an experiment whose arms hang, throw, eat memory and return NaN. */
export const SHOP: Readonly<Record<string, string>> = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, popularity: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
${REQUEST}
limits: { time: 60s }
components:
  - { use: score, with: { value: product.popularity - 0.1 * product.price } }
log: { candidates: all }
`,
  'experiments/faults.yaml': `experiment: ${EXPERIMENT}
pipeline: search
mode: shadow
unit: user
arms:
  control: {}
  hangs: { pipeline: hangs }
  throws: { pipeline: throws }
  eats: { pipeline: eats }
  nans: { pipeline: nans }
`,
  ...arm('hangs', 'for (;;);'),
  ...arm('throws', "throw new Error('no');"),
  ...arm('eats', 'const all = []; for (;;) all.push(new Array(100_000).fill(Math.random()));'),
  ...arm('nans', 'ranking.scores.fill(NaN);'),
};

export const products = (): object[] =>
  Array.from({ length: CANDIDATES }, (_, at) => ({
    product_id: `p${at}`,
    price: (at * 37) % 100,
    popularity: (at * 61) % 17,
  }));

/** The id of a request, from 0. */
export const requestId = (at: number): string => `r${at}`;

/**
 * Sends the requests 0 to `count` one after the other, so that a busy machine makes them slower, and the service sheds none.
 * @returns each answer by its id: headers without the date, and body
 * @throws Error for an answer other than 200
 */
export async function rankAll(port: number, count: number): Promise<ReadonlyMap<string, string>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answers = new Map<string, string>();
  const began = performance.now();
  for (let at = 0; at < count; at++) {
    const wait = began + (at * 1000) / RATE - performance.now();
    if (wait > 0) await pause(wait);
    answers.set(requestId(at), await rank(port, agent, at));
  }
  agent.destroy();
  return answers;
}

function rank(port: number, agent: Agent, at: number): Promise<string> {
  const candidates = Array.from({ length: CANDIDATES }, (_, i) => ({
    product_id: `p${(i + at) % CANDIDATES}`,
  }));
  const body = JSON.stringify({ request_id: requestId(at), user: { user_id: `u${at}` }, candidates });
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        agent,
        method: 'POST',
        path: '/api/v1/search',
        headers: { 'content-type': 'application/json' },
      },
      (answer) => void answerText(answer).then(resolve, reject),
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

async function answerText(answer: IncomingMessage): Promise<string> {
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`the service answered ${answer.statusCode}: ${body}`);
  const headers = { ...answer.headers, date: undefined };
  return `${JSON.stringify(headers)}\n${body}`;
}

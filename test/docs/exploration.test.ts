import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { startService } from '../../runtime/serve/app/serve.js';
import { readSettings } from '../../runtime/project/config/project/read-settings.js';
import { Random } from '../../runtime/ground/core/random.js';
import { millrace } from '../support/command-line.js';
import { writeProject } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';

const PATH = repositoryPath('docs', 'experiments/exploration.md');
const page = readFileSync(PATH, 'utf8');

const REQUESTS = 1000;
const AT_ONCE = 4;
/** The probability of a click on a product that the user looks at. */
const LIKED: Readonly<Record<string, number>> = { p1: 0.3, p2: 0.8, p3: 0.4, p4: 0.2, p5: 0.1 };
/** The probability that the user looks at a place. */
const SEEN = [1, 0.5, 0.3];
const CANDIDATES = Object.keys(LIKED).map((product_id, at) => ({
  product_id,
  relevance: 5 - at,
}));
const POPULARITY = [4, 5, 3, 2, 1];
/** `popular` shows p2, p1, p3. */
const TRUTH = 0.8 + 0.5 * 0.3 + 0.3 * 0.4;

interface Answer {
  readonly ranked_candidates: readonly { readonly candidate_id: string }[];
}

describe('docs/experiments/exploration.md', () => {
  let root = '';
  let store: string[] = [];
  let ledger = '';
  /** The first page and the second, with the id of the first answer, of a request that has no id. */
  const pages: string[][] = [];
  let clicks = 0;

  before(async function () {
    this.timeout(120_000);
    const blocks = [...page.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm)];
    const files = Object.fromEntries(blocks.map(([, path = '', text = '']) => [path, text]));
    // The same pipeline without a log, for requests whose ids are random.
    const visits = files['pipelines/shop.yaml']
      ?.replace('pipeline: shop', 'pipeline: visits')
      .replace(/^log:.*$/m, '');
    for (const path of ['pipelines/shop.yaml', 'pipelines/popular.yaml'])
      files[path] = `${files[path] ?? ''}limits: { time: 60s }\n`;
    root = await writeProject({ ...files, 'pipelines/visits.yaml': visits ?? '' });
    const dataDir = join(root, 'data');
    ledger = join(dataDir, 'ledger');
    store = ['--project', root, '--store', 'embedded', '--data-dir', dataDir];
    const env = { MILLRACE_EXPLORE_SALT: 'the secret of this page', MILLRACE_QUEUE_MS: '30000' };
    const settings = await readSettings(env, { project: root, store: 'embedded', dataDir, port: '0' });
    const service = await startService(settings, { logger: pino({ level: 'silent' }) });
    const post = async (path: string, body: object): Promise<Response> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(answer.status).to.equal(200);
      return answer;
    };
    const idsIn = async (answer: Response): Promise<string[]> =>
      ((await answer.json()) as Answer).ranked_candidates.map(({ candidate_id: id }) => id);
    const entities = CANDIDATES.map(({ product_id }, at) => ({ product_id, popularity: POPULARITY[at] }));
    await post('/api/v1/entities/upload', { entity_type: 'product', entities });
    const random = new Random(17);
    for (let first = 0; first < REQUESTS; first += AT_ONCE) {
      const sent = Array.from({ length: AT_ONCE }, (_, at) => ({
        request_id: `r${first + at}`,
        user: { user_id: `u${first + at}` },
      }));
      const answers = sent.map((visit) => post('/api/v1/shop', { ...visit, candidates: CANDIDATES }));
      const shown = await Promise.all((await Promise.all(answers)).map(idsIn));
      const feedback = sent.flatMap((visit, at) => {
        const clicked = (shown[at] ?? []).filter((id, place) =>
          random.chance((SEEN[place] ?? 0) * (LIKED[id] ?? 0)),
        );
        clicks += clicked.length;
        const events = clicked.map((product_id) => ({ type: 'click', product: { product_id } }));
        return events.length === 0 ? [] : [post('/api/v1/feedback', { ...visit, events })];
      });
      await Promise.all((await Promise.all(feedback)).map((answer) => answer.arrayBuffer()));
    }
    for (let visit = 0; visit < 10; visit++) {
      const first = await post('/api/v1/visits', { candidates: CANDIDATES });
      const request_id = first.headers.get('x-request-id');
      const second = await post('/api/v1/visits', { request_id, candidates: CANDIDATES, user_page: 1 });
      pages.push([...(await idsIn(first)), ...(await idsIn(second))]);
    }
    await service.close();
  });
  after(() => rm(root, { recursive: true, force: true }));

  it('shows commands with what they print, on the log of the service', async () => {
    const commands = [...page.matchAll(/^```console\n(\$ millrace (.*)\n([\s\S]*?))^```$/gm)];
    expect(commands).to.have.length(2);
    let written = page;
    for (const [, block = '', line = '', output = ''] of commands) {
      const [verb = '', ...words] = line.split(' ');
      const argv = words.map((word, at) =>
        word.endsWith('.json') ? join(root, word) : words[at - 1] === '--ledger' ? ledger : word,
      );
      const { code, stdout, stderr } = await millrace([
        verb,
        ...argv,
        ...(verb === 'evaluate' ? store : store.slice(0, 2)),
      ]);
      expect(code, stderr).to.equal(0);
      const printed = `${(stdout + stderr).replaceAll(`${root}/`, '').trimEnd()}\n`;
      if (process.env['UPDATE_GOLDEN'] === '1')
        written = written.replace(block, () => `$ millrace ${line}\n${printed}`);
      else expect(printed, line).to.equal(output);
    }
    if (written !== page) writeFileSync(PATH, written);
  });

  it('finds the value of a pipeline that never ran', async () => {
    for (const estimator of ['ips', 'snips']) {
      const flags = ['--ledger', ledger, '--estimator', estimator, '--json', ...store];
      const { code, stdout, stderr } = await millrace(['evaluate', 'popular', ...flags]);
      expect(code, stderr).to.equal(0);
      const { value, lower, upper } = JSON.parse(stdout) as Record<'value' | 'lower' | 'upper', number>;
      expect(Math.abs(value - TRUTH), estimator).to.be.below(upper - lower);
      expect(clicks / REQUESTS, estimator).to.be.below(lower);
    }
  });

  it('gives the pages of one ranking to a client that sends the id of the first answer', () => {
    for (const ids of pages) expect([...ids].sort()).to.deep.equal(Object.keys(LIKED));
    expect(new Set(pages.map((ids) => ids.join(' '))).size).to.be.above(1);
  });
});

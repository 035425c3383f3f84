import { expect } from 'chai';
import { pino } from 'pino';
import { pluginFiles } from '../support/project.js';
import { withFiles } from '../support/temporary-files.js';
import { post } from './harness.js';
import { serveProject } from './serve-project.js';

/** Answers that are worse than their pipeline promises say so: `Millrace-Degraded`, as docs/http.md has its grammar. */

const GRAMMAR = /^[a-z][a-z0-9_]*=[\w./:-]+(?:[ \t]*,[ \t]*[a-z][a-z0-9_]*=[\w./:-]+)*$/;

const FILES = {
  'package.json': '{ "type": "module" }',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, is_hidden: bool }\n',
  // The service's clock stands at 2026-01-31T12:00.
  'schemas/features/recent.yaml': 'view: recent\nof: [product]\nttl: 1d\nfeatures: { orders: float }\n',
  'schemas/features/strict.yaml':
    'view: strict\nof: [product]\nttl: 1d\nexpired: fail\nfeatures: { clicks: { type: float, default: 0 } }\n',
  ...pluginFiles(
    'breaks',
    'feature',
    `return { outputs: { value: 'number' }, compute() { throw new Error('no model today'); } };`,
  ),
  ...pluginFiles(
    'writes_nan',
    'rule',
    `return { scoring: 'sets', apply(input, { scores }) {
       for (const row of input.rows) scores[row] = row === 0 ? NaN : row;
       return { applied: input.rows.length, skipped: 0 };
     } };`,
  ),
  ...pluginFiles(
    'adds_nan',
    'rule',
    `return { apply(input, { scores }) {
       for (const row of input.rows) scores[row] += row === 22 ? NaN : row === 23 ? Infinity : 0;
       return { applied: input.rows.length, skipped: 0 };
     } };`,
  ),
};

const score = (value: string, more = ''): string => `  - use: score${more}\n    with: { value: "${value}" }`;

const CANDIDATES = Array.from({ length: 24 }, (_, i) => ({ product_id: `p${i}`, price: i }));
const body = { candidates: CANDIDATES };

describe('an answer that is worse than its pipeline promises', () => {
  interface Served {
    readonly url: string;
    /** The header of a ranking, and that the explanation and the metrics say the same. */
    readonly log: readonly { readonly msg: string; readonly step?: string }[];
    readonly degraded: (sent?: object) => Promise<string | null>;
  }

  const serve = (
    components: string,
    use: (served: Served) => Promise<void>,
    head = 'rank: product',
  ): Promise<void> =>
    withFiles(
      {
        ...FILES,
        'pipelines/ranking.yaml': `pipeline: ranking
${head}
features: [recent, strict]
components:
${components}
`,
      },
      async (root) => {
        const log: { msg: string; step?: string }[] = [];
        const logger = pino({}, { write: (line) => void log.push(JSON.parse(line) as { msg: string }) });
        const run = (url: string): Promise<void> =>
          use({
            url,
            log,
            degraded: async (sent = body) => {
              const answer = await post(`${url}/api/v1/ranking`, sent);
              expect(answer.status, answer.text).to.equal(200);
              const header = answer.headers.get('millrace-degraded');
              if (header !== null) expect(header).to.match(GRAMMAR);
              const { json } = await post(`${url}/api/v1/ranking/explain`, sent);
              const told = json?.['degraded'] as readonly { cause: string; value: string }[];
              expect(told.map(({ cause, value }) => `${cause}=${value}`).join(', ')).to.equal(header ?? '');
              return header;
            },
          });
        await serveProject(root, run, logger);
      },
    );

  const push = (url: string, view: string, rows: readonly object[]) =>
    post(`${url}/api/v1/features/push`, { view, rows });
  const rows = (time: string, count = 24) =>
    CANDIDATES.slice(0, count).map(({ product_id }) => ({ product_id, orders: 1, event_time: time }));

  it('says how many candidates have no score, where an operand is expired for all of them', () =>
    serve(score('product.price + recent:orders'), async ({ url, degraded }) => {
      await push(url, 'recent', rows('2026-01-01T00:00:00Z'));
      expect(await degraded()).to.equal('unscored=24/24');
      await push(url, 'recent', rows('2026-01-31T09:00:00Z', 20));
      expect(await degraded()).to.equal('unscored=4/24');
      await push(url, 'recent', rows('2026-01-31T09:00:00Z'));
      expect(await degraded()).to.equal(null);
      const text = await (await fetch(`${url}/metrics`)).text();
      expect(text).to.contain('millrace_pipeline_degraded_total{pipeline="ranking",cause="unscored"} 2');
      expect(text).to.contain('millrace_pipeline_unscored_candidates_total{pipeline="ranking"} 28');
      expect(text).not.to.contain('cause="skipped"');
    }));

  it('counts only candidates that no other step scored, and that no filter removed', () =>
    serve(
      [
        score('product.price'),
        score('recent:orders', '\n    top: 5'),
        '  - use: filter\n    with: { keep: product.price < 20 }',
      ].join('\n'),
      async ({ degraded }) => {
        expect(await degraded()).to.equal(null);
        const unpriced = CANDIDATES.map(({ product_id }, i) =>
          i < 10 ? { product_id } : { product_id, price: i },
        );
        // Ten have no price, and 19 of the 24 were not among the best five.
        expect(await degraded({ candidates: unpriced })).to.equal('unscored=10/20');
      },
    ));

  it('is silent where a later step scores what an earlier one left, and where when: leaves a step out', () =>
    serve(
      [score('recent:orders'), score('product.price'), score('recent:orders', '\n    when: false')].join(
        '\n',
      ),
      async ({ degraded }) => {
        expect(await degraded()).to.equal(null);
      },
    ));

  it('names steps that were skipped, in the older header too', () =>
    serve(
      `  - use: breaks\n    as: deep\n    on_error: skip\n${score('coalesce(deep:value, product.price)')}`,
      async ({ url, degraded }) => {
        expect(await degraded()).to.equal('skipped=deep');
        const { headers } = await post(`${url}/api/v1/ranking`, body);
        expect(headers.get('x-millrace-skipped-steps')).to.equal('deep');
      },
    ));

  it('names views of which a value could not be read, after the other causes', () =>
    serve(
      `  - use: breaks\n    on_error: skip\n${score('breaks:value + strict:clicks')}`,
      async ({ url, degraded }) => {
        await push(url, 'strict', [{ product_id: 'p1', clicks: 2, event_time: '2026-01-01T00:00:00Z' }]);
        expect(await degraded()).to.equal('unscored=24/24, skipped=breaks, failed=strict');
      },
    ));

  it('counts a score that is not finite', () =>
    serve('  - use: writes_nan', async ({ degraded }) => {
      expect(await degraded()).to.equal('unscored=1/24, not_finite=writes_nan');
    }));

  it('names a rule that writes scores that are not finite, whatever it declares', () =>
    serve(`${score('product.price')}\n  - use: adds_nan\n    as: adds`, async ({ url, degraded, log }) => {
      expect(await degraded()).to.equal('not_finite=adds');
      const { json } = await post(`${url}/api/v1/ranking`, body);
      const places = json?.['ranked_candidates'] as readonly { candidate_id: string; ranked_score: number }[];
      expect(places[0]).to.deep.include({ candidate_id: 'p23', ranked_score: 23 });
      const explained = (await post(`${url}/api/v1/ranking/explain`, body)).json;
      const { steps } = explained as { steps: readonly object[] };
      expect(JSON.stringify(steps)).to.contain('"applied":22,"skipped":2,"not_finite":2');
      const text = await (await fetch(`${url}/metrics`)).text();
      expect(text).to.contain('millrace_pipeline_degraded_total{pipeline="ranking",cause="not_finite"} 2');
      expect(log.filter(({ step }) => step === 'adds').map(({ msg }) => msg)).to.deep.equal([
        'a rule writes scores that are not finite; the candidates keep their scores; further cases are only counted',
      ]);
    }));

  it('says it of one entity that is scored, too', () =>
    serve(
      score('product.price + recent:orders'),
      async ({ degraded }) => {
        expect(await degraded({ product: { product_id: 'p', price: 1 } })).to.equal('unscored=1/1');
      },
      'score: product',
    ));
});

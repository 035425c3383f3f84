import { expect } from 'chai';
import { assert, asyncProperty, constantFrom, record, string } from 'fast-check';
import {
  ANSWER_BYTES,
  ENGINE_BEHAVIOURS,
  idsOfBehaviour,
  startEngine,
  type EngineQuestion,
  type TestEngine,
} from '../support/search-engine.js';
import { serveFiles, type ServedProject } from '../support/served-project.js';

/** What the engines are asked. */
interface Question extends EngineQuestion {
  /** The path that it was sent to, with its query. */
  readonly path: string | undefined;
  readonly text: string | null;
  readonly nested: readonly unknown[];
}

/** The size of a page. */
const PAGE = 24;
/** Of the pipeline, in milliseconds. The retrievers have less. */
const LIMIT = 10_000;

const filesFor = (port: number): Record<string, string> => ({
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'queries/text.json': '{ "engine": "b", "does": { "expr": "request.two" }, "size": 10, "nested": [] }',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, query: optional(query), one: optional(string), two: optional(string) }
limits: { time: ${LIMIT}ms }
retrieve:
  - use: http_search
    as: a
    timeout: 250ms
    with:
      url: http://127.0.0.1:${port}/search
      body: { engine: a, does: { expr: request.one }, text: { expr: query.query }, nested: [1, { deep: { expr: query.query } }, true, null] }
      hits: hits.hits
      id: _id
      outputs: { score: _score }
      partial: [timed_out]
      max_bytes: ${ANSWER_BYTES}
  - use: http_search
    as: b
    timeout: 250ms
    with: { url: "http://127.0.0.1:${port}/search?x=1?2", body_file: queries/text.json, hits: hits.hits, id: _id, partial: [timed_out], max_bytes: ${ANSWER_BYTES} }
merge: { fuse: first }
components:
  - { use: score, with: { value: 'coalesce(a:score, 0)' } }
log: { candidates: all, features: all }
`,
});

describe('retrieve, with engines over HTTP', () => {
  const sent: Question[] = [];
  let engine: TestEngine;
  let project: ServedProject | undefined;
  before(async () => {
    engine = await startEngine((question, path) => sent.push({ ...(question as Question), path }));
    const { port } = engine;
    project = await serveFiles(filesFor(port), undefined, { MILLRACE_MODEL_HOSTS: `127.0.0.1:${port}` });
  });
  after(async () => {
    await project?.close();
    await engine.close();
  });

  async function ask(body: object, path = ''): Promise<{ status: number; headers: Headers; body: never }> {
    const answer = await fetch(`${project?.url ?? ''}/api/v1/search${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as never };
  }
  const idsOf = ({
    ranked_candidates: ranked,
  }: {
    ranked_candidates: { candidate_id: string }[];
  }): string[] => ranked.map((one) => one.candidate_id);

  it('sends any text of a query as one JSON text', async () => {
    await assert(
      asyncProperty(string({ unit: 'binary', maxLength: 40 }), async (query) => {
        sent.length = 0;
        const { status } = await ask({ query: { query }, one: 'finds', two: 'finds' });
        expect(status).to.equal(200);
        const question = sent.find((one) => one.engine === 'a');
        expect(question).to.deep.equal({
          path: '/search',
          engine: 'a',
          does: 'finds',
          text: query,
          nested: [1, { deep: query }, true, null],
        });
      }),
      { numRuns: 30, examples: [['"}], "size": 9999, "x": [{"y":"']] },
    );
    sent.length = 0;
    await ask({ one: 'finds', two: 'finds' });
    expect(sent.find((one) => one.engine === 'a')?.text).to.equal(null);
    expect(sent.find((one) => one.engine === 'b')?.path).to.equal('/search?x=1?2');
  });

  it('answers whatever two engines do: in time, never with a 500, and it says what is missing', async () => {
    const behaviour = constantFrom(...Object.keys(ENGINE_BEHAVIOURS));
    const idsOfEngine = (does: string, engine: string): string[] => {
      const all = ENGINE_BEHAVIOURS[does];
      return all === undefined ? [] : idsOfBehaviour(all, engine);
    };
    await assert(
      asyncProperty(record({ one: behaviour, two: behaviour }), async ({ one, two }) => {
        const began = performance.now();
        const { status, headers, body } = await ask({ one, two });
        expect(performance.now() - began).to.be.below(LIMIT);
        const outcomes = [one, two].map((does) => ENGINE_BEHAVIOURS[does]?.counts);
        if (outcomes.every((outcome) => outcome === undefined)) {
          expect(status).to.equal(503);
          expect(body).to.include({ code: 'retrieval_failed' });
          expect(headers.get('retry-after')).to.not.equal(null);
          return;
        }
        expect(status).to.equal(200);
        const degraded = ['a', 'b'].filter((_, at) => outcomes[at] !== 'found').map((as) => `retrieve=${as}`);
        expect(headers.get('millrace-degraded') ?? '').to.equal(degraded.join(', '));
        const ids = [...new Set([...idsOfEngine(one, 'a'), ...idsOfEngine(two, 'b')])];
        expect(ids).to.include.members(idsOf(body));
        expect(idsOf(body)).to.have.length(Math.min(ids.length, PAGE));
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  it('ranks with a server that is not there', async () => {
    const files = filesFor(engine.port);
    const text =
      files['pipelines/search.yaml']?.replace(/127\.0\.0\.1:\d+\/search\?x=1/, '127.0.0.1:1/search') ?? '';
    const other = await serveFiles({ ...files, 'pipelines/search.yaml': text }, undefined, {
      MILLRACE_MODEL_HOSTS: '127.0.0.1',
    });
    try {
      const answer = await fetch(`${other.url}/api/v1/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"one":"finds","two":"finds"}',
      });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('millrace-degraded')).to.equal('retrieve=b');
    } finally {
      await other.close();
    }
  });

  it('explains what each retriever found, and counts it', async () => {
    const { body } = await ask({ one: 'finds', two: 'times_out_inside' }, '/explain');
    const { candidates, page, degraded } = body as {
      candidates: { sent: number; retrieval: { retrievers: { ms: number }[]; found: number; cut: object } };
      page: { candidate_id: string; values: Record<string, object> }[];
      degraded: object[];
    };
    expect(candidates.sent).to.equal(3);
    expect(candidates.retrieval.found).to.equal(3);
    expect(candidates.retrieval.retrievers.map((one) => ({ ...one, ms: 0 }))).to.deep.equal([
      { as: 'a', outcome: 'found', found: 3, ms: 0 },
      { as: 'b', outcome: 'partial', found: 1, ms: 0, reason: 'the answer is not whole: `timed_out` is set' },
    ]);
    expect(degraded).to.deep.equal([{ cause: 'retrieve', value: 'b' }]);
    expect(page[0]?.values).to.deep.include({
      'a:score': { value: 3, status: 'present' },
      'b:place': { value: null, status: 'absent' },
    });
    expect(page[1]?.values['b:place']).to.deep.equal({ value: 1, status: 'present' });
    const why = await ask({ one: 'finds', two: 'fails' }, '/explain?why=a9');
    expect(why.body).to.deep.include({
      why: { candidate_id: 'a9', fate: 'not_found', found: { places: {} } },
    });
    expect(await ask({ one: 'finds' }, '/explain?why=')).to.deep.include({ status: 422 });
    const metrics = await (await fetch(`${project?.url ?? ''}/metrics`)).text();
    for (const part of [
      'millrace_retrievals_total{pipeline="search",retriever="a",outcome="found"}',
      'millrace_retrievals_total{pipeline="search",retriever="b",outcome="failed"}',
      'millrace_retrieved_candidates_total{pipeline="search",retriever="a"}',
      'millrace_retrieval_duration_seconds_count{pipeline="search",retriever="b"}',
      'millrace_pipeline_degraded_total{pipeline="search",cause="retrieve"}',
    ])
      expect(metrics).to.contain(part);
  });

  it('says in OpenAPI that the candidates may be absent', async () => {
    const document = (await (await fetch(`${project?.url ?? ''}/openapi.json`)).json()) as {
      components: { schemas: Record<string, { required?: string[]; properties?: Record<string, object> }> };
    };
    const schema = document.components.schemas['request_search'];
    expect(schema?.required ?? []).to.not.include('candidates');
    expect(schema?.properties?.['candidates']).to.deep.include({ type: ['array', 'null'] });
  });
});

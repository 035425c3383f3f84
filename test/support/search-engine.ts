import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One way in which a search engine can answer. */
export interface EngineBehaviour {
  /** Whether its candidates count: in full, in part, or not at all. */
  readonly counts: 'found' | 'partial' | undefined;
  /** A body with status 200, in which `own` stands for the name of the engine; a status; or what it does instead. */
  readonly answer: string | number | { readonly does: 'hang' | 'break off' | 'answer late' };
}

const hits = (list: string, more = ''): string => `{${more}"hits":{"hits":[${list}]}}`;

/** More than `max_bytes` of the retrievers that are asked. */
export const ANSWER_BYTES = 65_536;
const MANY = Array.from({ length: 1_500 }, (_, at) => `{"_id":"own${at + 1}"}`).join(',');

/** All ways of answering that tests and proofs walk. */
export const ENGINE_BEHAVIOURS: Readonly<Record<string, EngineBehaviour>> = {
  finds: {
    counts: 'found',
    answer: hits('{"_id":"own1","_score":3},{"_id":"both","_score":2},{"_id":7}'),
  },
  finds_nothing: { counts: 'found', answer: hits('') },
  repeats: { counts: 'found', answer: hits('{"_id":"own1"},{"_id":"own1","_score":1}') },
  finds_too_many: { counts: 'found', answer: hits(MANY) },
  has_wrong_scores: {
    counts: 'found',
    answer: hits(
      '{"_id":"own1","_score":"high"},{"_id":"own2","_score":{"a":[]}},{"_id":"own3","_score":1e999}',
    ),
  },
  times_out_inside: { counts: 'partial', answer: hits('{"_id":"both"}', '"timed_out":true,') },
  lacks_an_id: { counts: 'partial', answer: hits('{"_id":"own1"},{"_source":{}},{"_id":null},{"_id":""}') },
  has_an_endless_id: { counts: 'partial', answer: hits(`{"_id":"own1"},{"_id":"${'x'.repeat(2_000)}"}`) },
  has_ids_of_wrong_types: {
    counts: 'partial',
    answer: hits('{"_id":"own1"},{"_id":{"a":1}},{"_id":[2]},{"_id":true},{"_id":1.5},null,3,"four",[5]'),
  },
  lacks_all_ids: { counts: undefined, answer: hits('{"id":"own1"}') },
  has_another_shape: { counts: undefined, answer: '{"hits":[{"_id":"own1"}]}' },
  has_a_mapping_of_hits: { counts: undefined, answer: '{"hits":{"hits":{"0":{"_id":"own1"}}}}' },
  is_null: { counts: undefined, answer: 'null' },
  is_empty: { counts: undefined, answer: '' },
  is_a_prototype: { counts: undefined, answer: '{"__proto__":{"hits":{"hits":[{"_id":"own1"}]}}}' },
  is_cut: { counts: undefined, answer: '{"hits":{"hits":[{"_id":"own1"' },
  is_no_json: { counts: undefined, answer: '<html>busy</html>' },
  is_too_long: {
    counts: undefined,
    answer: `{"hits":{"hits":[]},"more":"${'x'.repeat(ANSWER_BYTES)}"}`,
  },
  fails: { counts: undefined, answer: 500 },
  is_busy: { counts: undefined, answer: 503 },
  redirects: { counts: undefined, answer: 302 },
  refuses: { counts: undefined, answer: 403 },
  hangs: { counts: undefined, answer: { does: 'hang' } },
  breaks_off: { counts: undefined, answer: { does: 'break off' } },
  is_late: { counts: undefined, answer: { does: 'answer late' } },
};

/** The different ids of an answer that count. */
export function idsOfBehaviour({ counts, answer }: EngineBehaviour, engine: string): string[] {
  if (counts === undefined || typeof answer !== 'string') return [];
  const list = (JSON.parse(answer) as { hits: { hits: ({ _id?: unknown } | null)[] } }).hits.hits;
  const ids = list.flatMap((hit) => {
    const id = typeof hit === 'object' ? hit?._id : undefined;
    if (typeof id === 'string') return id === '' || id.length > 1_024 ? [] : id.replace(/^own/, engine);
    return Number.isInteger(id) ? String(id) : [];
  });
  return [...new Set(ids)];
}

/** What an engine is asked: who it is, and how it answers. */
export interface EngineQuestion {
  readonly engine: string;
  readonly does: string | null;
}

export interface TestEngine {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Starts a server that plays any number of search engines: each request says how it is answered.
 * @param onQuestion called with each body, and the path that it was sent to
 * @param lateMs how long `is_late` waits
 */
export async function startEngine(
  onQuestion: (question: EngineQuestion, path: string | undefined) => void = () => undefined,
  lateMs = 1_000,
): Promise<TestEngine> {
  const late = new Set<NodeJS.Timeout>();
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const question = JSON.parse(Buffer.concat(parts).toString()) as EngineQuestion;
      onQuestion(question, request.url);
      respond(question, response);
    });
  });
  const respond = ({ engine, does }: EngineQuestion, response: ServerResponse): void => {
    const answer = ENGINE_BEHAVIOURS[does ?? '']?.answer ?? 400;
    const what = typeof answer === 'object' ? answer.does : undefined;
    if (what === 'hang') return;
    if (what === 'answer late') {
      late.add(setTimeout(() => respond({ engine, does: 'finds' }, response), lateMs));
      return;
    }
    if (typeof answer === 'object') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
      response.write('{"hits":');
      setImmediate(() => response.destroy());
    } else if (typeof answer === 'number') {
      response.writeHead(answer, answer === 302 ? { location: '/elsewhere' } : {});
      response.end('{"error": "no"}');
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(answer.replaceAll('"own', `"${engine}`));
    }
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const timer of late) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

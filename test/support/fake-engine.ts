import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the engine got it. */
export interface EngineRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface FakeEngine {
  readonly url: string;
  readonly host: string;
  readonly requests: EngineRequest[];
  /** Answers instead of the engine; undefined to let it answer. */
  answer: ((request: EngineRequest, response: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

/** The hits as OpenSearch writes them, with numbers that a parser would write in another way. */
export function hitText(at: number): string {
  return (
    `{"_index":"products","_id":"p${at}","_score":${(1000 - at).toFixed(1)}, "_source" : {"title":"Schuh \\u00fc ${at}",` +
    `"price":${at}.50,"big":12345678901234567890,"nested":[{"a":"]}\\"{["},[]],"e":1E+3}}`
  );
}

/** An engine with `count` hits for whatever is asked. It takes `from` and `size` as OpenSearch does. */
export async function startEngine(count: number, most = 10_000): Promise<FakeEngine> {
  const hits = Array.from({ length: count }, (_, at) => hitText(at));
  const requests: EngineRequest[] = [];
  const answerTo = (url: string, body: string, status: string): string => {
    const params = new URL(url, 'http://engine').searchParams;
    const asked = (body === '' ? {} : JSON.parse(body)) as { from?: number; size?: number };
    const from = Number(params.get('from') ?? asked.from ?? 0);
    const size = Number(params.get('size') ?? asked.size ?? 10);
    return from < 0 || size < 0 || from + size > most
      ? '{"error":{"type":"illegal_argument_exception"},"status":400}'
      : `{"took":${Math.floor(Math.random() * 100)},"timed_out":false,"hits":{"total":{"value":${count},"relation":"eq"},` +
          `"max_score":1000.0,"hits":[${hits.slice(from, from + size).join(',')}]},"aggregations":{"n":{"value":1.0}}${status}}`;
  };
  const answerSearch = ({ url, body }: EngineRequest, response: ServerResponse): void => {
    const isMany = url.includes('/_msearch');
    const bodies = body.split('\n').filter((_, at) => at % 2 === 1);
    const text = isMany
      ? `{"took":${Math.floor(Math.random() * 100)},"responses":[${bodies.map((one) => answerTo('/', one, ',"status":200')).join(',')}]}`
      : answerTo(url, body, '');
    response.writeHead(text.startsWith('{"error"') ? 400 : 200, {
      'content-type': 'application/json; charset=UTF-8',
      'x-elastic-product': 'Elasticsearch',
    });
    response.end(`${text}\n`);
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const got = { method, url, headers, body: Buffer.concat(parts).toString() };
      requests.push(got);
      if (engine.answer?.(got, response) === true) return;
      if (method === 'POST') answerSearch(got, response);
      else
        response
          .writeHead(200, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
          .end(`{"path":${JSON.stringify(url)},"version":{"number":"2.19.1"}}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const engine: FakeEngine = {
    url: `http://${host}`,
    host,
    requests,
    answer: undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return engine;
}

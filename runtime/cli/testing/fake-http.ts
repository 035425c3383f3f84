import type {
  OutboundAnswer,
  OutboundHttp,
  OutboundOptions,
  OutboundRequest,
} from '../../ground/api/http-client.js';

/** A request that a plugin sent, with the address and the headers of its client. */
export interface SentRequest extends OutboundRequest {
  readonly base: string;
  readonly headers: OutboundOptions['headers'];
}

/** The status and the body of an answer; an object is sent as JSON. */
export interface FakeAnswer {
  readonly status?: number;
  readonly body?: string | object;
}

/** Another server, for tests. It answers each request with what `reply` returns, or fails with what it throws. */
export class FakeHttp implements OutboundHttp {
  readonly sent: SentRequest[] = [];

  constructor(private readonly reply: (request: SentRequest) => FakeAnswer | Promise<FakeAnswer>) {}

  readonly open: OutboundHttp['open'] = (base, { headers }) => {
    new URL(base); // as the real one, it refuses what is no address
    return {
      request: async (request): Promise<OutboundAnswer> => {
        request.signal.throwIfAborted();
        const sent = { ...request, base, headers };
        this.sent.push(sent);
        const { status = 200, body = '' } = await this.reply(sent);
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        const contentType = typeof body === 'string' ? 'text/plain' : 'application/json';
        return { status, contentType, body: Buffer.from(text) };
      },
      close: () => Promise.resolve(),
    };
  };

  readonly guard: OutboundHttp['guard'] = () => ({ run: ({ signal }, work) => work(signal) });
}

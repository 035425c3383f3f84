import {
  type OutboundAnswer,
  type OutboundClient,
  OutboundError,
  sendTwice,
  type TraceContext,
} from 'millrace/api';
import { errorText, modelMetadata, type ModelMetadata } from './protocol.js';

export interface ServerLimits {
  /** The time limit of one call, including its retry, in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum size of an answer, in bytes. */
  readonly maxBytes: number;
}

/** The time limit of a request for metadata, in milliseconds. */
const CHECK_MS = 2_000;

/** A server that cannot be reached at the moment, for any reason. */
export class ServerNotReady extends Error {
  override readonly name = 'ServerNotReady';
}

/** A model on a server that uses the Open Inference Protocol over HTTP. */
export class ModelServer {
  readonly #client: OutboundClient;
  readonly #path: string;
  readonly #limits: ServerLimits;

  constructor(
    client: OutboundClient,
    /** For messages. */
    readonly address: string,
    readonly model: string,
    version: string | undefined,
    limits: ServerLimits,
  ) {
    this.#client = client;
    this.#path = `/v2/models/${encodeURIComponent(model)}`;
    if (version !== undefined) this.#path += `/versions/${encodeURIComponent(version)}`;
    this.#limits = limits;
  }

  /**
   * Requests an inference. It changes nothing on the server. After a lost or refused connection, or a 503, it is
   * therefore sent once more within the time limit. It is not sent again after a timeout.
   * @throws Error for any answer that is not a JSON body with status 200, or the reason of the signal
   */
  async infer(body: Buffer, signal: AbortSignal, trace?: TraceContext): Promise<Buffer> {
    const { timeoutMs, maxBytes } = this.#limits;
    const path = `${this.#path}/infer`;
    const answer = await sendTwice(this.#client, {
      method: 'POST',
      path,
      body,
      signal,
      timeoutMs,
      maxBytes,
      trace,
    });
    if (answer.status !== 200) throw new Error(describe(answer));
    if (!/^application\/(.+\+)?json\b/.test(answer.contentType))
      throw new Error(`the model server answered with ${answer.contentType || 'no content type'}, not JSON`);
    return answer.body;
  }

  /**
   * The metadata of the model.
   * @throws ServerNotReady if the server cannot be reached now; Error if it does not have the model
   */
  async metadata(): Promise<ModelMetadata> {
    const ready = await this.#get('/v2/health/ready');
    if (ready.status !== 200) throw new ServerNotReady(describe(ready));
    const answer = await this.#get(this.#path);
    if (answer.status >= 500) throw new ServerNotReady(describe(answer));
    if (answer.status !== 200) {
      throw new Error(
        `the server returned no metadata of the model: ${describe(answer)}; if it never does, write check: off`,
      );
    }
    return modelMetadata(answer.body);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #get(path: string): Promise<OutboundAnswer> {
    const { signal } = new AbortController();
    const { maxBytes } = this.#limits;
    try {
      return await this.#client.request({ method: 'GET', path, signal, timeoutMs: CHECK_MS, maxBytes });
    } catch (error) {
      if (error instanceof OutboundError) throw new ServerNotReady(error.message, { cause: error });
      throw error;
    }
  }
}

function describe({ status, body }: OutboundAnswer): string {
  const redirect = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
  const text = errorText(body);
  return `the model server answered ${status}${redirect}${text === '' ? '' : `: ${text}`}`;
}

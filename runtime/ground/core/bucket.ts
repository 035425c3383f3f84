import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type * as Aws4Fetch from 'aws4fetch';
import type { Agent, Dispatcher } from 'undici';
import { packageFinder } from './find-package.js';
import { credentialSource, type CredentialSource } from './object-credentials.js';
import { ObjectError } from './object-error.js';

/** The npm package that signs requests: an optional peer. */
const SIGNER = 'aws4fetch';
const NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const TIMEOUT_MS = 10_000;
/** How often a read is tried, and the first pause; the pause doubles with each failure. */
const TRIES = 5;
const PAUSE_MS = 200;
/** The largest error document that is read. */
const MOST_ERROR_BYTES = 16 * 1024;

export interface BucketOptions {
  /** The address of a server that is not AWS. By default AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. */
  readonly endpoint?: string | undefined;
  /** By default AWS_REGION or AWS_DEFAULT_REGION, otherwise us-east-1. */
  readonly region?: string | undefined;
  /** How long the server may take to connect, to answer, and between two pieces of a body; milliseconds. */
  readonly timeoutMs?: number;
  /** By default the package is looked for in the working folder and beside Millrace. */
  readonly findPackage?: (name: string) => string | undefined;
  readonly env?: NodeJS.ProcessEnv;
}

export interface ObjectFacts {
  readonly key: string;
  readonly bytes: number;
  /** Epoch milliseconds. */
  readonly writtenAt: number;
}

interface Asked {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly signal?: AbortSignal;
}

/** A bucket of S3, or of a server with the same API. It is addressed by its path, and connects at the first request. */
export class Bucket {
  readonly name: string;
  readonly endpoint: string;
  readonly #region: string;
  readonly #credentials: CredentialSource;
  readonly #timeoutMs: number;
  readonly #signerPath: string;
  readonly #cache = new Map<string, ArrayBuffer>();
  #client: Promise<{ readonly agent: Agent; readonly signer: typeof Aws4Fetch }> | undefined;

  /** @throws ObjectError if the name or the address is wrong, or credentials or the package are missing */
  constructor(name: string, options: BucketOptions = {}) {
    const { env = process.env, findPackage = packageFinder(process.cwd()) } = options;
    this.name = name;
    if (!NAME.test(name)) throw new ObjectError(`${JSON.stringify(name)} is not the name of a bucket`);
    this.#region = options.region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1');
    this.endpoint = endpointOf(
      options.endpoint ??
        (env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || `https://s3.${this.#region}.amazonaws.com`),
    );
    this.#credentials = credentialSource(env, findPackage);
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    const path = findPackage(SIGNER);
    if (path === undefined)
      throw new ObjectError(`object storage needs the npm package ${SIGNER}, which is not installed`, {
        help: `run \`npm install ${SIGNER}@1\` in the project, or beside Millrace`,
      });
    this.#signerPath = path;
  }

  /** The objects whose keys begin with a text, in the order of their keys. */
  async *list(prefix: string, most?: number): AsyncGenerator<ObjectFacts, void> {
    let token: string | undefined;
    do {
      const text = await this.#retried(async () => {
        const answer = await this.#ask({
          method: 'GET',
          query: {
            'list-type': '2',
            'encoding-type': 'url',
            prefix,
            ...(most === undefined ? {} : { 'max-keys': String(most) }),
            ...(token === undefined ? {} : { 'continuation-token': token }),
          },
        });
        return answer.body.text();
      });
      const isEncoded = elementOf(text, 'EncodingType') === 'url';
      for (const [, one = ''] of text.matchAll(/<Contents>([^]*?)<\/Contents>/g)) {
        const key = elementOf(one, 'Key') ?? '';
        yield {
          key: isEncoded ? decodeURIComponent(key.replaceAll('+', ' ')) : key,
          bytes: Number(elementOf(one, 'Size')),
          writtenAt: Date.parse(elementOf(one, 'LastModified') ?? ''),
        };
      }
      token =
        elementOf(text, 'IsTruncated') === 'true' ? elementOf(text, 'NextContinuationToken') : undefined;
    } while (token !== undefined && most === undefined);
  }

  /** @throws ObjectError, with the code ENOENT if there is no such object */
  async facts(key: string): Promise<ObjectFacts> {
    const { headers, body } = await this.#retried(() => this.#ask({ method: 'HEAD', key }));
    await body.dump();
    const [bytes, time] = ['content-length', 'last-modified'].map((name) => String(headers[name]));
    return { key, bytes: Number(bytes), writtenAt: Date.parse(time ?? '') };
  }

  /**
   * The bytes of an object, in pieces. After a broken connection it goes on where it was, in the same object.
   * @param from the first byte
   * @param to the byte after the last; by default to the end
   */
  async *read(key: string, from = 0, to = Infinity): AsyncGenerator<Buffer, void> {
    let at = from;
    let etag: string | undefined;
    for (let failures = 0; ;) {
      try {
        const answer = await this.#ask({
          method: 'GET',
          key,
          headers: {
            ...(at === 0 && to === Infinity
              ? {}
              : { range: `bytes=${at}-${to === Infinity ? '' : String(to - 1)}` }),
            ...(etag === undefined ? {} : { 'if-match': etag }),
          },
        });
        etag ??= textOf(answer.headers.etag);
        for await (const piece of answer.body as AsyncIterable<Buffer>) {
          at += piece.length;
          failures = 0;
          yield piece;
        }
        return;
      } catch (error) {
        const failure = failureOf(error, this.#pathOf(key));
        // From its end on an object has no bytes.
        if (failure.status === 416 && at > 0) return;
        if (!failure.isPassing || ++failures === TRIES) throw failure;
        await pause(PAUSE_MS * 2 ** failures);
      }
    }
  }

  /** @param most a larger object is refused */
  async readWhole(key: string, most: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of this.read(key)) {
      bytes += piece.length;
      if (bytes > most) throw new ObjectError(`${this.#pathOf(key)} has more than ${most} bytes`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  /** Stores an object, whole or not at all. */
  write(key: string, body: Buffer): Promise<void> {
    return this.#retried(() => this.writeOnce(key, body));
  }

  /** As `write`, and tried once. */
  async writeOnce(
    key: string,
    body: Buffer,
    signal?: AbortSignal,
    type = 'application/octet-stream',
  ): Promise<void> {
    const answer = await this.#ask({
      method: 'PUT',
      key,
      body,
      headers: { 'content-type': type },
      ...(signal === undefined ? {} : { signal }),
    });
    await answer.body.dump();
  }

  /** Removes an object, whether or not it is there. */
  async remove(key: string): Promise<void> {
    const answer = await this.#retried(() => this.#ask({ method: 'DELETE', key }));
    await answer.body.dump();
  }

  #pathOf(key = ''): string {
    return `s3://${this.name}/${key}`;
  }

  async #retried<T>(work: () => Promise<T>): Promise<T> {
    for (let failures = 0; ;)
      try {
        return await work();
      } catch (error) {
        const failure = failureOf(error, this.#pathOf());
        if (!failure.isPassing || ++failures === TRIES) throw failure;
        await pause(PAUSE_MS * 2 ** failures);
      }
  }

  /** @throws ObjectError for every answer but 2xx */
  async #ask({ method, key, query = {}, headers, body, signal }: Asked): Promise<Dispatcher.ResponseData> {
    const { agent, signer } = await (this.#client ??= this.#open());
    const path = [this.name, ...(key === undefined ? [] : key.split('/'))].map(encodeURIComponent).join('/');
    const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const url = `${this.endpoint}/${path}${search.length === 0 ? '' : `?${search.join('&')}`}`;
    const signed = await new signer.AwsV4Signer({
      ...(await this.#credentials()),
      ...{ method, url, service: 's3', region: this.#region, cache: this.#cache },
      headers: { ...headers, 'x-amz-content-sha256': sha256(body ?? Buffer.alloc(0)) },
    }).sign();
    try {
      const answer = await agent.request({
        ...{ method, origin: signed.url.origin, path: signed.url.pathname + signed.url.search },
        headers: Object.fromEntries(signed.headers),
        body: body ?? null,
        signal: signal ?? null,
      });
      if (answer.statusCode < 300) return answer;
      throw await refusalOf(answer, this.#pathOf(key));
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw failureOf(error, this.#pathOf(key));
    }
  }

  async #open(): Promise<{ readonly agent: Agent; readonly signer: typeof Aws4Fetch }> {
    // The bundle has the names of undici in `default` alone.
    const [{ default: undici }, module] = await Promise.all([
      import('undici'),
      import(pathToFileURL(this.#signerPath).href) as Promise<{ readonly default: typeof Aws4Fetch }>,
    ]);
    const timeout = this.#timeoutMs;
    const agent = new undici.Agent({ connect: { timeout }, headersTimeout: timeout, bodyTimeout: timeout });
    return { agent, signer: module.default };
  }
}

function endpointOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isRight = url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.search === '';
  if (!isRight)
    throw new ObjectError('the address of the object storage is not a URL such as https://s3.example.com');
  return url.href.replace(/\/+$/, '');
}

/** What an answer says, which is an XML document of a few lines; that to HEAD has none. */
async function refusalOf(answer: Dispatcher.ResponseData, path: string): Promise<ObjectError> {
  let text = '';
  for await (const piece of answer.body as AsyncIterable<Buffer>) {
    text += piece.toString('utf8');
    if (text.length > MOST_ERROR_BYTES) break;
  }
  const { statusCode: status, headers } = answer;
  const code = elementOf(text, 'Code');
  const isMissing = status === 404 && code !== 'NoSuchBucket';
  const said = [code, elementOf(text, 'Message')].filter(Boolean).join(': ') || `the answer ${status}`;
  const seconds = Number(textOf(headers['retry-after']));
  return new ObjectError(isMissing ? `there is no ${path}` : `${path}: ${said.slice(0, 500)}`, {
    ...(isMissing ? { code: 'ENOENT' } : {}),
    status,
    help:
      status === 403
        ? 'check the AWS_… variables, the region, and what the key may do in this bucket'
        : undefined,
    retryAfterMs: seconds > 0 ? seconds * 1000 : undefined,
  });
}

/** An error of the connection, with its place. */
function failureOf(error: unknown, path: string): ObjectError {
  if (error instanceof ObjectError) return error;
  const { message, code } = error as NodeJS.ErrnoException;
  return new ObjectError(`${path} cannot be reached: ${message || String(code)}`, {
    code: 'UNREACHABLE',
    cause: error,
  });
}

/** The text of an element of XML that stands once. */
function elementOf(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return text?.replace(/&(lt|gt|quot|apos|amp|#\d{1,7}|#x[0-9a-fA-F]{1,6});/g, (_, entity: string) => {
    if (!entity.startsWith('#')) return ENTITIES[entity] ?? '';
    const code = entity[1] === 'x' ? parseInt(entity.slice(2), 16) : Number(entity.slice(1));
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

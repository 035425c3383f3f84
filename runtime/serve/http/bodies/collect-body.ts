import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { MillraceError } from '../../../ground/api/errors.js';
import type { BodyShare } from './body-memory.js';

/** The maximum ratio of a body's inflated size to its compressed size. JSON seldom exceeds 30. */
export const MOST_RATIO = 100;
/** The usual ratio of JSON: the memory that a compressed body reserves before it is inflated. */
const USUAL_RATIO = 6;
/** The ratio is not checked up to this many bytes: a short repetitive text is no attack. */
const FREE_BYTES = 256 * 1024;
/** The number of bytes that are inflated in one step. */
const CHUNK = 64 * 1024;

type Inflater = Transform & { readonly bytesWritten: number };

const INFLATERS: Readonly<Record<string, () => Inflater>> = {
  gzip: () => createGunzip({ chunkSize: CHUNK }),
  deflate: () => createInflate({ chunkSize: CHUNK }),
  br: () => createBrotliDecompress({ chunkSize: CHUNK }),
};

/** A received body, inflated. */
export interface CollectedBody {
  readonly chunks: Buffer[];
  readonly length: number;
}

/**
 * Reads a body and inflates it as it arrives. It stops at the first limit that the body exceeds, and discards the rest.
 * @param limit in bytes, inflated
 * @throws MillraceError body_too_large, overloaded, unsupported_media_type, malformed_json
 */
export async function collectBody(
  req: IncomingMessage,
  limit: number,
  share: BodyShare,
): Promise<CollectedBody> {
  const inflater = inflaterOf(req);
  const sent = Number(req.headers['content-length'] ?? 0);
  if (inflater === undefined && sent > limit) {
    req.resume();
    throw tooLarge(limit);
  }
  // The memory for the whole body is reserved at once. Otherwise bodies that wait for each other's memory would all be
  // refused, after work was spent on each.
  const reserved = Math.min(limit, inflater === undefined ? sent : USUAL_RATIO * sent);
  share.hold(reserved);
  const chunks: Buffer[] = [];
  let length = 0;
  const take = (chunk: Buffer): void => {
    length += chunk.length;
    if (length > limit) throw tooLarge(limit);
    if (inflater !== undefined && length > FREE_BYTES && length > MOST_RATIO * inflater.bytesWritten) {
      const detail = `the body is more than ${MOST_RATIO} times as large as it was sent; send it less compressed`;
      throw new MillraceError('body_too_large', detail);
    }
    share.hold(Math.max(length, reserved));
    chunks.push(chunk);
  };
  await readAll(req, inflater, take);
  return { chunks, length };
}

function inflaterOf({ headers }: IncomingMessage): Inflater | undefined {
  const encoding = (headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return undefined;
  const create = Object.hasOwn(INFLATERS, encoding) ? INFLATERS[encoding] : undefined;
  if (create !== undefined) return create();
  throw new MillraceError(
    'unsupported_media_type',
    'this Content-Encoding is not known; expected gzip, deflate, br or none',
  );
}

/** @param inflater undefined for an uncompressed body */
function readAll(
  req: IncomingMessage,
  inflater: Inflater | undefined,
  take: (chunk: Buffer) => void,
): Promise<void> {
  const source: Readable = inflater ?? req;
  return new Promise((resolve, reject) => {
    const end = (error?: Error): void => {
      source.off('data', data);
      if (inflater !== undefined) {
        req.unpipe();
        inflater.destroy();
      }
      req.resume();
      if (error === undefined) resolve();
      else reject(error);
    };
    const data = (chunk: Buffer): void => {
      try {
        take(chunk);
      } catch (error) {
        end(error as Error);
      }
    };
    const aborted = (): void => end(new MillraceError('malformed_json', 'the body was cut off'));
    const failed = (error: Error): void =>
      end(isZlibError(error) ? new MillraceError('malformed_json', WRONG_ENCODING) : error);
    source.on('data', data).once('end', () => end());
    req.once('aborted', aborted);
    // The error listeners stay. An error after the end of the body is ignored, but without a listener it would be
    // thrown.
    req.on('error', failed);
    if (inflater === undefined) return;
    inflater.on('error', failed);
    req.pipe(inflater);
  });
}

const WRONG_ENCODING = 'the body is not what its Content-Encoding says';

function isZlibError(error: Error): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^(?:Z_|ERR_BROTLI|ERR_ZLIB|ERR__ERROR_FORMAT|ERR_PADDING)/.test(code);
}

function tooLarge(limit: number): MillraceError {
  return new MillraceError(
    'body_too_large',
    `the body is larger than ${limit} bytes, the limit of this route; what is compressed counts inflated`,
  );
}

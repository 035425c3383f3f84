import type { Redis } from 'ioredis';
import type { RecordBatch } from '../codec/record-batch.js';
import { RedisConnection, type ConnectionTarget } from './connection.js';
import { PendingReply, type ReplyForm, type ReplyPlaces } from './pending-reply.js';
import { encodeGets, encodeMget, PING } from './read-commands.js';
import { ReplyReader } from './reply-reader.js';

/**
 * A connection for reads only. ioredis connects and reconnects: it handles address, Sentinels, TLS, password and database.
 * After the handshake this class parses the replies itself, so send no command through `redis`. ioredis's parser creates
 * an object for every value, which was about a third of the CPU time of a large read.
 */
export class ReadConnection extends RedisConnection {
  #reader: ReplyReader | undefined;

  constructor(target: ConnectionTarget) {
    super(target);
    this.redis.on('ready', () => this.#takeOver(this.redis.stream));
  }

  override get ready(): boolean {
    return this.#reader !== undefined && !this.redis.stream.destroyed && super.ready;
  }

  /**
   * Reads keys with one MGET into a batch, starting at number `first`.
   * @throws whatever `run` throws; ReplyError
   */
  async mget(
    keys: readonly string[],
    batch: RecordBatch,
    first: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const places = { batch, first, count: keys.length };
    await this.retryOnce(() => this.#send('list', keys.length, places, () => encodeMget(keys)), signal);
  }

  /**
   * Reads the keys at some positions with one GET for each key, into a batch at the numbers `first` + position.
   * @param asking true for slots that are migrating to this node
   * @param errors receives the error of a key, by position
   * @throws whatever `run` throws
   */
  async gets(
    keys: readonly string[],
    positions: readonly number[],
    asking: boolean,
    batch: RecordBatch,
    first: number,
    errors: unknown[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const places = { batch, first, count: positions.length, positions, errors };
    await this.retryOnce(() => {
      for (const position of positions) errors[position] = undefined;
      return this.#send(asking ? 'asked' : 'values', positions.length, places, () =>
        encodeGets(keys, positions, asking),
      );
    }, signal);
  }

  override async ping(): Promise<void> {
    await this.#send('line', 1, undefined, () => PING);
  }

  #send(
    form: ReplyForm,
    count: number,
    places: ReplyPlaces | undefined,
    encode: () => Buffer,
  ): Promise<void> {
    return this.run(count, 0, ({ stream }) => {
      const reader = this.#reader;
      if (reader === undefined || !stream.writable) throw lost();
      stream.write(encode());
      return reader.expect(new PendingReply(form, places));
    });
  }

  /** Replaces ioredis's parser. All replies of the handshake have been read, and no command has been sent since. */
  #takeOver(stream: Redis['stream']): void {
    const reader = new ReplyReader();
    this.#reader = reader;
    const read = (piece: Buffer): void => {
      try {
        reader.read(piece);
      } catch (error) {
        stream.off('data', read);
        reader.fail(error as Error);
        stream.destroy(error as Error);
      }
    };
    const [theirs] = stream.listeners('data'); // the first listener is the parser of ioredis
    stream.off('data', theirs as () => void);
    stream.prependListener('data', read);
    // A socket takes some time to close. Pending reads fail as soon as no more data can arrive.
    const lose = (): void => {
      if (this.#reader === reader) {
        this.#reader = undefined;
        this.broke();
      }
      reader.fail(lost());
    };
    stream.once('end', () => {
      lose();
      stream.destroy();
    });
    stream.once('error', lose);
    stream.once('close', lose);
  }
}

function lost(): Error {
  return new Error('Connection is closed');
}

import { Command } from 'ioredis';

/**
 * HMGET commands that read the same fields of many hashes. The constant part is encoded in the Redis protocol (RESP)
 * once: ioredis encodes every field of every command again, which took longer than the server's reply.
 */
export class Hmget {
  readonly fields: number;
  readonly #head: Buffer;
  readonly #tail: Buffer;

  constructor(fields: readonly Buffer[]) {
    this.fields = fields.length;
    this.#head = Buffer.from(`*${fields.length + 2}\r\n$5\r\nHMGET\r\n$`);
    this.#tail = Buffer.concat([
      Buffer.from('\r\n'),
      ...fields.flatMap((field) => [Buffer.from(`$${field.length}\r\n`), field, Buffer.from('\r\n')]),
    ]);
  }

  /** The command for one hash; it resolves to `(Buffer | null)[]`. */
  command(key: Buffer): Command {
    const length = `${key.length}\r\n`;
    const bytes = Buffer.allocUnsafe(this.#head.length + length.length + key.length + this.#tail.length);
    let at = this.#head.copy(bytes, 0);
    at += bytes.write(length, at, 'latin1');
    at += key.copy(bytes, at);
    this.#tail.copy(bytes, at);
    return new SpeltCommand(bytes);
  }
}

class SpeltCommand extends Command {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    super('hmget', [], { replyEncoding: null });
    this.#bytes = bytes;
  }

  override toWritable(): Buffer {
    return this.#bytes;
  }
}

import { TextDecoder } from 'node:util';

/** Passes bytes on unchanged, and records whether they were valid UTF-8. */
export class Utf8Watch {
  #decoder: TextDecoder | undefined = new TextDecoder('utf-8', { fatal: true });

  get isSound(): boolean {
    return this.#decoder !== undefined;
  }

  async *watch(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      this.#look(chunk, true);
      yield chunk;
    }
    this.#look(Buffer.alloc(0), false);
  }

  #look(chunk: Buffer, stream: boolean): void {
    try {
      this.#decoder?.decode(chunk, { stream });
    } catch {
      this.#decoder = undefined;
    }
  }
}

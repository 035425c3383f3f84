import type { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { inflate, openBytes } from './open-input.js';
import { InputError, NOT_UTF8 } from './rows.js';

/** A line of a text file. Its number is 1-based. */
export interface TextLine {
  readonly line: number;
  readonly text: string;
}

/**
 * Yields the lines of a text file that are not blank, or of standard input for `-`. A file with `.gz` is decompressed.
 * @throws InputError if it cannot be read, or is not encoded in UTF-8
 */
export async function* readTextLines(path: string, stdin: Readable): AsyncGenerator<TextLine> {
  const { stream } = await openBytes(path, stdin);
  const source = asBuffers(stream);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 0;
  let held = '';
  try {
    for await (const chunk of path.endsWith('.gz') ? inflate(source) : source) {
      const parts = (held + decode(decoder, chunk, line)).split('\n');
      held = parts.pop() ?? '';
      for (const text of parts) {
        line += 1;
        if (text.trim() !== '') yield { line, text };
      }
    }
    held += decode(decoder, undefined, line);
    if (held.trim() !== '') yield { line: line + 1, text: held };
  } finally {
    stream.destroy();
  }
}

async function* asBuffers(stream: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of stream as AsyncIterable<Buffer | string>)
    yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

function decode(decoder: TextDecoder, chunk: Buffer | undefined, line: number): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (error) {
    throw new InputError(`after line ${line}: ${NOT_UTF8}`, { cause: error });
  }
}

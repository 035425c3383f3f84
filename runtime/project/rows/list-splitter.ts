import { InputError } from './rows.js';

const [TAB, NEWLINE, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const BOM = [0xef, 0xbb, 0xbf];

/** Receives the bytes of an item, or undefined for an item that is too large to keep. */
export type TakeItem = (bytes: Buffer | undefined) => void;

/**
 * Splits a JSON list into its items as its bytes arrive. It parses only brackets, quotes and commas; the reader of
 * an item checks its JSON. It holds at most one item.
 */
export class ListSplitter {
  readonly #mostBytes: number;
  readonly #take: TakeItem;
  #place: 'before' | 'in' | 'after' = 'before';
  /** The number of bytes before the list that were examined, for the byte order mark. */
  #seen = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** True if anything other than white space came since the last comma. */
  #hasContent = false;
  #items = 0;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(mostBytes: number, take: TakeItem) {
    this.#mostBytes = mostBytes;
    this.#take = take;
  }

  /** @throws InputError if the bytes cannot be part of a list */
  push(chunk: Buffer): void {
    let at = this.#place === 'before' ? this.#open(chunk) : 0;
    let from = at;
    for (; at < chunk.length && this.#place === 'in'; at++) {
      const byte = chunk[at] ?? 0;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inText = false;
      } else if (byte === QUOTE) {
        this.#inText = true;
        this.#hasContent = true;
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        this.#depth++;
        this.#hasContent = true;
      } else if (this.#depth === 0 && (byte === COMMA || byte === CLOSE_LIST)) {
        this.#finish(chunk.subarray(from, at), byte === CLOSE_LIST);
        from = at + 1;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#depth--;
      else if (!isSpace(byte)) this.#hasContent = true;
    }
    if (this.#place === 'in') this.#keep(chunk.subarray(from));
    else if (this.#place === 'after') checkRest(chunk, at);
  }

  /** @throws InputError if the list has not ended */
  end(): void {
    if (this.#place === 'before') throw noList();
    if (this.#place === 'in')
      throw new InputError(
        `the list is incomplete: the file ends after ${this.#items} whole item${this.#items === 1 ? '' : 's'}`,
      );
  }

  /** Returns where the first item may start, or the chunk's end if the list has not started yet. */
  #open(chunk: Buffer): number {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === OPEN_LIST) {
        this.#place = 'in';
        return at + 1;
      }
      if (!isSpace(byte) && byte !== BOM[this.#seen]) throw noList();
      this.#seen++;
    }
    return chunk.length;
  }

  #finish(last: Buffer, isEnd: boolean): void {
    if (isEnd) this.#place = 'after';
    if (isEnd && this.#items === 0 && !this.#hasContent) return;
    this.#keep(last);
    const tooLarge = this.#bytes > this.#mostBytes;
    this.#items++;
    const bytes = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#hasContent = false;
    this.#take(tooLarge ? undefined : bytes);
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#mostBytes) this.#parts = [];
    else this.#parts.push(part);
  }
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === NEWLINE || byte === RETURN || byte === TAB;
}

function checkRest(chunk: Buffer, from: number): void {
  for (let at = from; at < chunk.length; at++)
    if (!isSpace(chunk[at] ?? 0)) throw new InputError('there is more content after the end of the list');
}

function noList(): InputError {
  return new InputError('expected a JSON list of objects (for one object per line, use .jsonl)');
}

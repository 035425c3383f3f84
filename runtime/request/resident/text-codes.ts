import type { TextDictionary } from '../../ground/api/columns.js';
import { sizeOfText } from './sizes.js';

/** Estimated bytes of a text besides itself: its entries in the map and the lists. */
const ENTRY_BYTES = 80;
/** Garbage is dropped when it exceeds this, and a quarter of what is in use. */
const LEAST_GARBAGE = 1 << 16;

/** What may be kept beside the texts of all dictionaries, in bytes. */
export interface Room {
  left: number;
}

/** The texts of the cells of one part of a table, each once. Equal texts have equal codes. */
export class TextCodes implements TextDictionary {
  readonly texts: string[] = [];
  /** Bytes of the texts that cells have. */
  live = 0;
  /** Bytes that were taken beside them. */
  taken = 0;
  /** Whether it has so much garbage that another one should replace it. */
  isWasteful = false;
  #room: Room;
  readonly #codes = new Map<string, number>();
  /** By code: the number of its cells. */
  readonly #cells: number[] = [];
  #garbage = 0;

  constructor(room: Room) {
    this.#room = room;
  }

  find(text: string): number {
    return this.#codes.get(text) ?? -1;
  }

  /** The code of a text that one more cell has. */
  retain(text: string): number {
    let code = this.#codes.get(text);
    if (code === undefined) {
      code = this.texts.length;
      this.#codes.set(text, code);
      this.texts.push(text);
      this.#cells.push(0);
      this.#garbage += bytesOf(text);
    }
    const cells = this.#cells[code] as number;
    this.#cells[code] = cells + 1;
    if (cells === 0) this.#use(text, 1);
    return code;
  }

  /** Call it when a cell no longer has the text. */
  release(code: number): void {
    const cells = (this.#cells[code] as number) - 1;
    this.#cells[code] = cells;
    if (cells === 0) this.#use(this.texts[code] as string, -1);
  }

  #use(text: string, sign: 1 | -1): void {
    const bytes = sign * bytesOf(text);
    this.live += bytes;
    this.#garbage -= bytes;
    this.isWasteful = this.#garbage > LEAST_GARBAGE + this.live / 4;
  }

  take(bytes: number): boolean {
    if (bytes > this.#room.left) return false;
    this.#room.left -= bytes;
    this.taken += bytes;
    return true;
  }

  /** Returns its memory to the room. Requests in flight may still use it, but keep nothing new. */
  leave(): void {
    this.#room.left += this.taken;
    this.taken = 0;
    this.#room = { left: 0 };
  }
}

function bytesOf(text: string): number {
  return ENTRY_BYTES + sizeOfText(text);
}

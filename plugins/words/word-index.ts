import { portions, type Analyzer, type Pieces } from 'millrace/api';
import { NumberLists } from './number-lists.js';
import { Vocabulary } from './vocabulary.js';

/** An occurrence list holds a document, a field and a count in 32 bits. */
export const DOCUMENT_BITS = 18;
const FIELD_BITS = 4;
export const DOCUMENT_MASK = 2 ** DOCUMENT_BITS - 1;
export const FIELD_MASK = 2 ** FIELD_BITS - 1;
export const COUNT_SHIFT = DOCUMENT_BITS + FIELD_BITS;
const MOST_COUNTED = 2 ** (32 - COUNT_SHIFT) - 1;
/** The words of a field that count, and the characters in which they stand; the rest is ignored. */
const LONGEST_FIELD = 8192;
const LONGEST_TEXT = 65_536;

/** The most entities. The rest of the numbers is for documents that are replaced and not swept yet. */
export const MOST_ENTITIES = 200_000;
/** A sweep begins when so many documents, and a share of all, are replaced. */
const FEWEST_SWEPT = 1000;
const SWEPT_SHARE = 8;
/** A sweep is over when this share of the documents that begin one is replaced meanwhile. */
const DURING_SWEEP = 1 / 2;

const FREE = 0;
/** The state of a document that has an entity as it is now. */
export const LIVE = 1;
const REPLACED = 2;
/** Replaced before the sweep that runs. */
const SWEPT = 3;

/** A text, or several, of a field; undefined if it is not known. */
export type FieldText = string | readonly string[] | undefined;

/**
 * The words of entities: for each word, the entities and fields that have it. An entity that changes becomes a new document.
 * Sweeps remove the old ones from the lists. Each change does a small part of a sweep, so no change waits for one.
 */
export class WordIndex {
  readonly vocabulary: Vocabulary;
  readonly occurrences = new NumberLists();
  /** By document. */
  readonly ids: string[] = [];
  /** By document: whether it is free, live or replaced. */
  states = new Uint8Array(1024);
  /** By document and field: the words of the field. */
  lengths: Uint16Array<ArrayBuffer>;
  readonly fieldCount: number;
  /** By field: the words of all entities, and the entities that have any. */
  readonly #words: number[];
  readonly #having: number[];
  readonly #analyzer: Analyzer;
  readonly #documents = new Map<string, number>();
  readonly #free: number[] = [];
  /** By document: two hashes of its texts. */
  #hashes = new Uint32Array(2048);
  /** Documents that are replaced and not free yet. */
  #replaced = 0;
  /** The number of sweeps that are over. Each gives numbers of documents to others. */
  sweeps = 0;
  /** Of the sweep that runs: the next word, and the one after the last; undefined while none runs. */
  #sweep: { next: number; readonly end: number } | undefined;
  readonly #fewestSwept: number;
  /** By word: how often the field that is read has it, and the words of the field. */
  #counts = new Uint16Array(1024);

  /** @param fewestSwept a sweep of fewer replaced documents is not worth it */
  constructor(analyzer: Analyzer, fieldCount: number, seeksEnds: boolean, fewestSwept = FEWEST_SWEPT) {
    this.#fewestSwept = fewestSwept;
    this.#analyzer = analyzer;
    this.fieldCount = fieldCount;
    this.vocabulary = new Vocabulary(seeksEnds);
    this.lengths = new Uint16Array(1024 * fieldCount);
    this.#words = new Array<number>(fieldCount).fill(0);
    this.#having = new Array<number>(fieldCount).fill(0);
  }

  /** The number of entities. */
  get size(): number {
    return this.#documents.size;
  }

  /** The memory of numbers; texts of words and ids are not counted. */
  get bytes(): number {
    const { states, lengths, occurrences } = this;
    return states.byteLength + lengths.byteLength + this.#hashes.byteLength + occurrences.bytes;
  }

  has(id: string): boolean {
    return this.#documents.has(id);
  }

  entityIds(): Iterable<string> {
    return this.#documents.keys();
  }

  /** The mean number of words of the entities that have the field. */
  meanLength(field: number): number {
    const having = this.#having[field] ?? 0;
    return having === 0 ? 1 : (this.#words[field] ?? 0) / having;
  }

  /**
   * Replaces the texts of an entity. Texts that have not changed cost little. Searches may run between its pieces, and find the
   * old texts until the end; other changes may not.
   * @param texts by field
   */
  *put(id: string, texts: readonly FieldText[]): Pieces<void> {
    const [first, second] = yield* hashesOf(texts);
    const old = this.#documents.get(id);
    if (old !== undefined && this.#hashes[2 * old] === first && this.#hashes[2 * old + 1] === second) return;
    const document = this.#free.pop() ?? this.ids.length;
    if (document > DOCUMENT_MASK) throw new RangeError('the index of words is full');
    if (document >= this.states.length) this.#grow(document);
    this.ids[document] = id;
    this.#hashes[2 * document] = first;
    this.#hashes[2 * document + 1] = second;
    for (let field = 0; field < this.fieldCount; field++)
      this.lengths[document * this.fieldCount + field] = yield* this.#add(document, field, texts[field]);
    this.#documents.set(id, document);
    this.#become(document, LIVE, 1);
    if (old !== undefined) this.#replace(old);
  }

  /** An id that the index does not have is ignored. */
  remove(id: string): void {
    const document = this.#documents.get(id);
    if (document === undefined) return;
    this.#documents.delete(id);
    this.#replace(document);
  }

  /** Whether a live document has the word. */
  isUsed(word: number): boolean {
    const { cells, starts, lengths } = this.occurrences;
    const start = starts[word] ?? 0;
    const end = start + (lengths[word] ?? 0);
    for (let at = start; at < end; at++)
      if (this.states[(cells[at] as number) & DOCUMENT_MASK] === LIVE) return true;
    return false;
  }

  #replace(document: number): void {
    this.#become(document, REPLACED, -1);
    this.#replaced++;
    this.#sweepSome();
  }

  /** Does a part of a sweep: the more there is to read, the larger. */
  #sweepSome(): void {
    const { vocabulary, occurrences } = this;
    const enough = this.#fewestSwept + this.size / SWEPT_SHARE;
    if (this.#sweep === undefined) {
      if (this.#replaced <= enough) return;
      for (let document = 0; document < this.ids.length; document++)
        if (this.states[document] === REPLACED) this.states[document] = SWEPT;
      // A word that is new during the sweep has none of these documents.
      this.#sweep = { next: 0, end: vocabulary.words.length };
    }
    const sweep = this.#sweep;
    const isLive = (cell: number): boolean => this.states[cell & DOCUMENT_MASK] === LIVE;
    let rest = (occurrences.end + sweep.end) / (DURING_SWEEP * enough);
    for (; rest > 0 && sweep.next < sweep.end; sweep.next++) {
      rest -= 1 + (occurrences.lengths[sweep.next] ?? 0);
      if (occurrences.keep(sweep.next, isLive) === 0) vocabulary.drop(sweep.next);
    }
    if (sweep.next === sweep.end) this.#endSweep();
  }

  #endSweep(): void {
    this.#sweep = undefined;
    for (let document = 0; document < this.ids.length; document++) {
      if (this.states[document] !== SWEPT) continue;
      this.states[document] = FREE;
      this.ids[document] = '';
      this.#free.push(document);
      this.#replaced--;
    }
    this.sweeps++;
  }

  #become(document: number, state: typeof LIVE | typeof REPLACED, sign: 1 | -1): void {
    this.states[document] = state;
    for (let field = 0; field < this.fieldCount; field++) {
      const length = this.lengths[document * this.fieldCount + field] as number;
      if (length === 0) continue;
      this.#words[field] = (this.#words[field] as number) + sign * length;
      this.#having[field] = (this.#having[field] as number) + sign;
    }
  }

  /** Adds the words of a field. @returns how many it has */
  *#add(document: number, field: number, text: FieldText): Pieces<number> {
    const used: number[] = [];
    let length = 0;
    for (const one of textsOf(text))
      for (const portion of portions(one.slice(0, LONGEST_TEXT))) {
        for (const token of length < LONGEST_FIELD ? this.#analyzer.tokens(portion) : []) {
          length++;
          const word = this.vocabulary.add(token);
          if (word >= this.#counts.length) this.#counts = wider(this.#counts, 2 * word);
          const count = this.#counts[word] as number;
          if (count === 0) used.push(word);
          if (count < MOST_COUNTED) this.#counts[word] = count + 1;
        }
        yield;
      }
    const place = document | (field << DOCUMENT_BITS);
    for (const word of used) {
      this.occurrences.add(word, (place | ((this.#counts[word] as number) << COUNT_SHIFT)) >>> 0);
      this.#counts[word] = 0;
    }
    return length;
  }

  #grow(document: number): void {
    const size = Math.min(DOCUMENT_MASK + 1, Math.ceil(1.5 * document));
    const states = new Uint8Array(size);
    states.set(this.states);
    this.states = states;
    this.lengths = wider(this.lengths, size * this.fieldCount);
    const hashes = new Uint32Array(2 * size);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
  }
}

function wider(array: Uint16Array<ArrayBuffer>, length: number): Uint16Array<ArrayBuffer> {
  const larger = new Uint16Array(length);
  larger.set(array);
  return larger;
}

function textsOf(text: FieldText): readonly string[] {
  return typeof text === 'string' ? [text] : (text ?? []);
}

/** Two hashes of 32 bits (FNV-1a, with two offsets), which differ for different texts in practice. */
function* hashesOf(texts: readonly FieldText[]): Pieces<[number, number]> {
  let [first, second] = [0x811c9dc5, 0x9747b28c];
  const add = (unit: number): void => {
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit, 0x5bd1e995) ^ (second >>> 15);
  };
  for (const text of texts) {
    for (const one of textsOf(text)) {
      const length = Math.min(one.length, LONGEST_TEXT);
      for (let i = 0; i < length; i++) add(one.charCodeAt(i));
      add(0x1_0000);
      yield;
    }
    add(0x2_0000);
  }
  return [first >>> 0, second >>> 0];
}

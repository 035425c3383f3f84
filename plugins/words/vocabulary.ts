type Compare = (a: string, b: string) => number;

/** A block of an order that has more words is split. */
const LARGEST_BLOCK = 512;

/** The words of the catalogue by number, in the order of their letters, forwards and backwards. */
export class Vocabulary {
  readonly words: (string | undefined)[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #free: number[] = [];
  readonly #forwards = new Ordered(this.words, compareStarts);
  /** Undefined unless words are sought by their ends. */
  readonly #backwards: Ordered | undefined;

  constructor(seeksEnds: boolean) {
    this.#backwards = seeksEnds ? new Ordered(this.words, compareEnds) : undefined;
  }

  /** The number of a word; -1 if there is no such word. */
  numberOf(word: string): number {
    return this.#numbers.get(word) ?? -1;
  }

  /** The number of a word, which is new if there is no such word. */
  add(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.words.length;
    this.words[number] = word;
    this.#numbers.set(word, number);
    this.#forwards.add(number, word);
    this.#backwards?.add(number, word);
    return number;
  }

  /** Forgets a word. Its number is used again. */
  drop(number: number): void {
    const word = this.words[number];
    if (word === undefined) return;
    this.#forwards.remove(word);
    this.#backwards?.remove(word);
    this.#numbers.delete(word);
    this.words[number] = undefined;
    this.#free.push(number);
  }

  /** The numbers of the words that begin with a text, in order. */
  startingWith(text: string): Iterable<number> {
    return this.#forwards.from(text, (word) => word.startsWith(text));
  }

  /** The numbers of the words that end with a text, in order. */
  endingWith(text: string): Iterable<number> {
    return this.#backwards?.from(text, (word) => word.endsWith(text)) ?? [];
  }
}

/** Numbers of words in an order. They are in blocks, so a new word moves few others. */
export class Ordered {
  readonly #blocks: number[][] = [[]];

  constructor(
    private readonly words: readonly (string | undefined)[],
    private readonly compare: Compare,
  ) {}

  add(number: number, word: string): void {
    const { at, block, place } = this.#find(word);
    block.splice(place, 0, number);
    if (block.length > LARGEST_BLOCK) this.#blocks.splice(at + 1, 0, block.splice(LARGEST_BLOCK / 2));
  }

  /** @param word one of the words */
  remove(word: string): void {
    const { at, block, place } = this.#find(word);
    block.splice(place, 1);
    if (block.length === 0 && this.#blocks.length > 1) this.#blocks.splice(at, 1);
  }

  /** The words from a text on, as long as they fit. */
  *from(text: string, fits: (word: string) => boolean): Iterable<number> {
    const found = this.#find(text);
    let { place } = found;
    for (let { at } = found; at < this.#blocks.length; at++, place = 0) {
      const block = this.#blocks[at] ?? [];
      for (; place < block.length; place++) {
        if (!fits(this.#word(block[place]))) return;
        yield block[place] as number;
      }
    }
  }

  /** The place of the first word that is not before a text; behind the last one, if all are before it. */
  #find(text: string): { readonly at: number; readonly block: number[]; readonly place: number } {
    const isBefore = (number: number | undefined): boolean => this.compare(this.#word(number), text) < 0;
    const blocks = this.#blocks;
    const at = countBefore(blocks.length - 1, (index) => isBefore(blocks[index]?.at(-1)));
    const block = blocks[at] as number[];
    return { at, block, place: countBefore(block.length, (index) => isBefore(block[index])) };
  }

  #word(number: number | undefined): string {
    return this.words[number ?? -1] ?? '';
  }
}

/** How many indexes are before, if they come first. */
function countBefore(count: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compareStarts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareEnds(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 1; i <= shorter; i++) {
    const difference = a.charCodeAt(a.length - i) - b.charCodeAt(b.length - i);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

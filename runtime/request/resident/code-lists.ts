/** Numbers of a page, at most; the first pages are shorter. A longer list has a page of its own. */
const PAGE = 1 << 16;
const FIRST_PAGE = 1 << 8;
/** Before each list stand its cell and its length. */
const HEAD = 2;
/** In place of the start of an empty list. */
const EMPTY = -1;

/** Lists as they were taken. They stay the same when their cells are replaced. */
export interface TakenLists {
  /** By row: the place of its list: 65,536 times its page, and where it starts there. */
  readonly places: Int32Array;
  /** By row: the length of its list. */
  readonly lengths: Int32Array;
  readonly pages: readonly Int32Array[];
}

/** The numbers of a list that was taken, between `start` and `end` of its page. */
export interface ListSpan {
  readonly page: Int32Array;
  readonly start: number;
  readonly end: number;
}

const NOTHING: ListSpan = { page: new Int32Array(0), start: 0, end: 0 };

/**
 * Lists of whole numbers, by cell. They stand one after the other in pages, so that the lists of a row are read from one or two
 * cache lines; an array for each would be three places in memory. What was written to a page never changes: a reader needs no
 * copy. `tidy` moves what is left of a page with much garbage, as a log-structured file system does (Rosenblum and Ousterhout 1992).
 */
export class CodeLists {
  /** Replaced as a whole. */
  #pages: readonly Int32Array[] = [];
  /** By page: how many of its numbers are in use. */
  #live: number[] = [];
  /** By cell: the place of its list, and the length. */
  #cells = new Int32Array(0);
  /** The page that grows, and where its free part starts. */
  #last = -1;
  #top = 0;
  #allLive = 0;
  #all = 0;
  #freePages: number[] = [];

  /** Bytes of the lists, with as much garbage as `tidy` leaves. */
  get bytes(): number {
    return 8 * this.#allLive;
  }

  /** Grows to so many cells; existing ones are kept, and new ones have empty lists. */
  grow(cells: number): void {
    const grown = new Int32Array(2 * cells);
    grown.set(this.#cells);
    for (let i = this.#cells.length; i < grown.length; i += 2) grown[i] = EMPTY;
    this.#cells = grown;
  }

  /** Frees all memory. */
  reset(): void {
    this.#pages = [];
    this.#live = [];
    this.#freePages = [];
    this.#cells = new Int32Array(0);
    this.#last = -1;
    this.#top = this.#all = this.#allLive = 0;
  }

  /** Replaces the list of a cell. */
  put(cell: number, list: ArrayLike<number>): void {
    this.#drop(cell);
    const { length } = list;
    this.#cells[2 * cell + 1] = length;
    if (length === 0) return;
    const size = HEAD + length;
    if (this.#last < 0 || this.#top + size > (this.#pages[this.#last] as Int32Array).length)
      this.#addPage(size);
    const page = this.#pages[this.#last] as Int32Array;
    const start = this.#top + HEAD;
    page[start - HEAD] = cell;
    page[start - HEAD + 1] = length;
    for (let i = 0; i < length; i++) page[start + i] = list[i] as number;
    this.#cells[2 * cell] = (this.#last << 16) | start;
    this.#top += size;
    this.#count(this.#last, size);
  }

  /** The list of a cell. */
  at(cell: number): ListSpan {
    const place = this.#cells[2 * cell] as number;
    if (place === EMPTY) return NOTHING;
    const start = place & (PAGE - 1);
    return {
      page: this.#pages[place >>> 16] as Int32Array,
      start,
      end: start + (this.#cells[2 * cell + 1] as number),
    };
  }

  /** Takes the list of the cell `first + row · width` for each row; that of a negative row is empty. */
  take(rows: Int32Array, first: number, width: number): TakenLists {
    const places = new Int32Array(rows.length);
    const lengths = new Int32Array(rows.length);
    const cells = this.#cells;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      if (row < 0) continue;
      const at = 2 * (first + row * width);
      places[i] = cells[at] as number;
      lengths[i] = cells[at + 1] as number;
    }
    return { places, lengths, pages: this.#pages };
  }

  /**
   * While most of the memory is garbage, moves the lists of the page that has the least. All of that takes about as long as it
   * took to write what is garbage now.
   */
  tidy(): void {
    while (this.#all >= 2 * this.#allLive + 2 * PAGE) if (!this.#emptyPage()) return;
  }

  #emptyPage(): boolean {
    let least = -1;
    for (let page = 0; page < this.#live.length; page++)
      if (
        page !== this.#last &&
        this.#pages[page]?.length !== 0 &&
        (this.#live[page] as number) < (this.#live[least] ?? Infinity)
      )
        least = page;
    const page = this.#pages[least];
    if (page === undefined) return false;
    for (let at = 0; at < page.length && page[at + 1] !== 0;) {
      const [cell, length] = [page[at] as number, page[at + 1] as number];
      const start = at + HEAD;
      if (this.#cells[2 * cell] === ((least << 16) | start))
        this.put(cell, page.subarray(start, start + length));
      at = start + length;
    }
    this.#all -= page.length;
    this.#pages = this.#pages.with(least, NOTHING.page);
    this.#freePages.push(least);
    return true;
  }

  #addPage(size: number): void {
    const length = Math.max(size, Math.min(PAGE, Math.max(FIRST_PAGE, this.#all)));
    this.#last = this.#freePages.pop() ?? this.#pages.length;
    const page = new Int32Array(length);
    this.#pages =
      this.#last === this.#pages.length ? [...this.#pages, page] : this.#pages.with(this.#last, page);
    this.#live[this.#last] = 0;
    this.#top = 0;
    this.#all += length;
  }

  #drop(cell: number): void {
    const place = this.#cells[2 * cell] as number;
    if (place === EMPTY) return;
    this.#count(place >>> 16, -HEAD - (this.#cells[2 * cell + 1] as number));
    this.#cells[2 * cell] = EMPTY;
  }

  #count(page: number, by: number): void {
    this.#live[page] = (this.#live[page] as number) + by;
    this.#allLive += by;
  }
}

/** A list that `take` gave. */
export function spanOf({ places, lengths, pages }: TakenLists, row: number): ListSpan {
  const length = lengths[row] as number;
  if (length === 0) return NOTHING;
  const place = places[row] as number;
  const start = place & (PAGE - 1);
  return { page: pages[place >>> 16] as Int32Array, start, end: start + length };
}

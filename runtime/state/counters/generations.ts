/** The generation of a counter that is being rebuilt: events that arrive from a time on count for it, too. */
export interface Building {
  readonly generation: number;
  /** Epoch milliseconds; `NEVER` if the rebuild failed. */
  readonly from: number;
  /** When the process that fills it was last alive, epoch milliseconds; absent if it has not begun to read. */
  readonly alive?: number;
}

/** No event arrives so late. A generation keeps its number after a failure, because records can have a part of its counts. */
export const NEVER = Number.MAX_SAFE_INTEGER;

export interface GenerationsOf {
  readonly serving: number;
  readonly building?: Building;
}

const FIRST: GenerationsOf = { serving: 0 };

/**
 * The generation of each counter that rankings read, and the one that a rebuild fills beside it. It follows the record
 * in the store.
 */
export class Generations {
  /** Changes with every change. */
  version = 0;
  #text = '';
  #known: ReadonlyMap<string, GenerationsOf> = new Map();

  of(counter: string): GenerationsOf {
    return this.#known.get(counter) ?? FIRST;
  }

  servingOf(counter: string): number {
    return this.of(counter).serving;
  }

  /** @param text the record as JSON; '' if there is none */
  read(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#known = parseGenerations(text);
    this.version++;
  }
}

/** No counter was ever rebuilt. */
export const FIRST_GENERATIONS = new Generations();

export function parseGenerations(text: string): Map<string, GenerationsOf> {
  if (text === '') return new Map();
  const all = JSON.parse(text) as Readonly<Record<string, GenerationsOf>>;
  return new Map(Object.entries(all));
}

export function generationsText(all: ReadonlyMap<string, GenerationsOf>): string {
  return JSON.stringify(Object.fromEntries(all));
}

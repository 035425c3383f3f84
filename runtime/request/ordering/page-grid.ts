/** Where the pages of an answer begin: at the ranks `first`, `first + size` …, from 0. */
export interface PageGrid {
  readonly size: number;
  readonly first: number;
}

/** The first rank of the page of a rank. It is negative if the first page begins before the first place. */
export function pageStart({ size, first }: PageGrid, rank: number): number {
  return first + size * Math.floor((rank - first) / size);
}

/**
 * A feature that Metarank has too: the expression of Millrace that gives it, and Metarank's definition, computed on the same
 * events. docs/features.md lists the same rows; a test compares the two.
 */
export interface FeatureRow {
  /** As in the first column of docs/features.md. */
  readonly name: string;
  /** Steps of the pipeline before the score, as YAML. */
  readonly steps?: string;
  /** The expression whose value is compared. */
  readonly value: string;
  /** Metarank's definition for an item. Undefined: it has no value. */
  readonly metarank: (item: Item, shop: Shop) => number | undefined;
  /** Where Millrace's value differs on purpose: the value that it has instead. The row of the page states why. */
  readonly differs?: (metarank: number | undefined, item: Item, shop: Shop) => number | undefined;
}

/** The newest `item` event of an item: its fields. */
export interface Item {
  readonly id: string;
  readonly price?: number;
  readonly sale?: boolean;
  readonly colour?: string;
  readonly title?: string;
  readonly tags?: readonly string[];
  /** Lists of numbers, of any length. */
  readonly scores?: readonly number[];
  readonly embedding?: readonly number[];
  /** Epoch milliseconds. */
  readonly created?: number;
}

/** An interaction of the user, before the ranking. */
export interface Interaction {
  readonly type: 'click' | 'cart';
  readonly item: string;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

/** The events of a shop up to one ranking. */
export interface Shop {
  readonly items: readonly Item[];
  readonly interactions: readonly Interaction[];
  readonly ranking: Ranking;
}

/** A `ranking` event. */
export interface Ranking {
  /** Epoch milliseconds. */
  readonly timestamp: number;
  /** The items that are ranked, with what the search engine says of each. */
  readonly items: readonly { readonly id: string; readonly relevancy: number }[];
  /** The time of the visitor, in ISO 8601 with its offset, and the zone that the offset is of. */
  readonly localTime: string;
  readonly zone: string;
  readonly userAgent: string;
  readonly referrer: string;
  /** Absent: a category page. */
  readonly query?: string;
}

/** The item events by id. */
export function itemOf(shop: Shop, id: string): Item | undefined {
  return shop.items.find((item) => item.id === id);
}

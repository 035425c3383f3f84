import { words } from '../../ground/core/words.js';
import { plainName } from './name-fit.js';
import type { ColumnProfile } from './profile.js';

/** Values of a type column, by what the event is. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  impression: words(`
    impression impressions show shown display displayed exposure exposed view_item_list served
    item_impression product_impression list_view search_result product_list_viewed viewable_impression imp
    render rendered seen`),
  click: words(`
    click clicked item_click product_click select_item select product_clicked click_item open clickout clk
    tap`),
  cart: words(`
    cart add_to_cart addtocart added_to_cart product_added basket add_to_basket atc cart_add add`),
  order: words(`
    order purchase purchased transaction buy bought checkout order_completed conversion sale ordered
    product_purchased booking book pay`),
};

/** A type of event that is a click if a log has no clicks: the page of the item was opened. */
const VIEWS: readonly string[] = words(`
  view viewed item_view product_view view_item detail product_viewed page_view pageview`);

/** By value of a type column: the kind of the event, or null. */
export function kindsOf({ distinct }: ColumnProfile): Record<string, string | null> {
  const kinds: Record<string, string | null> = {};
  for (const value of distinct) {
    const plain = plainName(value);
    kinds[value] = Object.keys(TYPES).find((kind) => TYPES[kind]?.includes(plain)) ?? null;
  }
  if (!Object.values(kinds).includes('click'))
    for (const value of distinct) if (VIEWS.includes(plainName(value))) kinds[value] = 'click';
  return kinds;
}

/** What the name of the file says that its rows are. */
export function kindOfFile(file: string): string | undefined {
  const words = plainName(file.slice(file.lastIndexOf('/') + 1)).split('_');
  const says = (...parts: readonly string[]): boolean =>
    words.some((word) => parts.some((part) => word.startsWith(part)));
  if (says('impression', 'shown', 'expos', 'display', 'serp', 'rank', 'view')) return 'impression';
  if (says('click', 'tap')) return 'click';
  if (says('cart', 'basket')) return 'cart';
  if (says('order', 'purchase', 'buy', 'transaction', 'sale', 'conversion', 'booking')) return 'order';
  if (says('item', 'product', 'catalog', 'article', 'movie', 'content')) return 'items';
  return undefined;
}

import { words } from '../../ground/core/words.js';

/** Names of columns, as shops write them. `englishName` has made them English, in lower case, with `_` between the words. */

/** The columns that hold the id of a product, the most certain first. */
export const KEYS = words(`
  product_id sku item_id article_id id asin doc_id docid movie_id listing_id offer_id document_id content_id
  object_id item_no item_nr item_number item_code article_no article_number product_no product_number product_code
  part_number item article product code handle gtin ean isbn url`);

export const TITLES = words(`
  title name product_name product_title item_name item_title headline label subject`);

/** Other texts that queries match. */
export const TEXTS =
  /^(short_|long_|full_|product_|item_)?(title|name|description|desc|summary|subtitle|details|features|bullet_points?|keywords|tags|categor(y|ies)(_names?)?|genres?|ingredients|abstract|body|text)$/;

/** Texts that nobody searches for: how a product is kept and sold. */
export const NO_WORDS =
  /(^|_)(status|state|visibility|currency|locale|language|lang|tax|unit|url|link|slug|path|image|img|hash|uuid|id|code|sku|mpn)(_|$)/;

/** Texts with few values that become an entity type of their own. */
export const REFERENCES =
  /^(brand|manufacturer|maker|vendor|supplier|seller|merchant|store|shop|category|department|publisher|artist|author|designer|director|studio|genre|collection|series|franchise|team|lieferant)$/;

/** What a name of a number may have around the word that says what it counts: `num_`, `_30d`, `_rate`. */
const BEFORE =
  '^(?:(?:num|number|count|nr|n|no|total|avg|average|mean|product|item|user|customer)_)?(?:of_)?';
const AFTER =
  '(?:_(?:count|counts|rate|total|avg|average|mean|value|score|\\d+[a-z]*|last_\\w+|per_\\w+|daily|weekly|monthly))*$';

/** Numbers that a job computes from what users did. */
export const STATISTICS = new RegExp(
  `${BEFORE}(?:ctr|cvr|clicks?|views?|pageviews?|impressions?|orders?|sales|sold|units_sold|purchases?|conversions?|carts?|add_to_carts?|revenue|wishlists?|downloads?|plays?)${AFTER}`,
);

/** Numbers of a catalogue that say how good or known a product is. */
export const QUALITY = new RegExp(
  `${BEFORE}(?:popularity|ratings?|stars|reviews?|votes?|likes|favou?rites|followers|subscribers|bought|installs)${AFTER}`,
);

/** Ranks of sales: the best product has the least. */
export const SALES_RANK = /^(?:sales_?|best_?sellers?_|popularity_)rank(?:ing)?$/;

/** Texts that name who makes a product. */
export const BRANDS = /^(brand|manufacturer|maker|vendor|supplier|publisher|artist|author)(_name)?$/;
/** The address of a picture of the product. */
export const IMAGES =
  /(^|_)(image|img|picture|pic|photo|foto|bild|abbildung|thumb|thumbnail|poster|cover)(_|$)/;
export const PICTURE = /\.(jpe?g|png|webp|gif|avif|svg)$/i;

/** Numbers that may matter, in a direction that their names do not tell. */
export const UNSURE = new RegExp(`${BEFORE}(?:score|rank|margin|discount|quality)${AFTER}`);

export const PRICE = /(^|_)(price|list_price|sale_price|cost)(_|$)/;
export const STOCK =
  /^(in_stock|is_in_stock|number_in_stock|stock|stock_(level|quantity|count)|inventory|availab(le|ility)|is_available|qty_in_stock|on_hand)$/;
export const RELEASED =
  /(^|_)(released?|release_date|date_released|published|created|added|launched|launch_date|first_available)(_|$)/;

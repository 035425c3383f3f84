/** What a column can mean, with the names that logs give such columns, the most certain first. */
export const ROLES = {
  request: [
    'request_id', 'req_id', 'search_id', 'srch_id', 'query_id', 'serp_id', 'ranking_id', 'ranking', 'list_id',
    'page_view_id', 'pageview_id', 'display_id', 'slate_id', 'recommendation_id', 'reco_id', 'response_id',
    'impression_id', 'request', 'qid', 'session_query_id', 'correlation_id', 'trace_id',
  ],
  session: ['session_id', 'session', 'visit_id', 'visit', 'sid', 'user_session', 'ga_session_id'],
  time: [
    'timestamp', 'time', 'ts', 'event_time', 'event_timestamp', 'datetime', 'date_time', 'occurred_at', 'created_at',
    'shown_at', 'served_at', 'logged_at', 'server_time', 'event_ts', 'at', 'when', 'date', 'unix_time', 'epoch',
  ],
  user: [
    'user_id', 'user', 'uid', 'visitor_id', 'visitor', 'customer_id', 'customer', 'client_id', 'member_id', 'member',
    'account_id', 'shopper_id', 'anonymous_id', 'user_pseudo_id', 'profile_id', 'person_id', 'cookie_id', 'cookie',
    'device_id', 'viewer_id',
  ],
  item: [
    'item_id', 'product_id', 'item', 'product', 'sku', 'article_id', 'doc_id', 'document_id', 'content_id', 'movie_id',
    'asin', 'prop_id', 'listing_id', 'hotel_id', 'video_id', 'track_id', 'book_id', 'news_id', 'ad_id', 'offer_id',
    'candidate_id', 'result_id', 'object_id', 'entity_id', 'article', 'candidate', 'doc', 'document', 'content', 'iid', 'pid',
  ],
  position: [
    'position', 'pos', 'rank', 'slot', 'place', 'display_position', 'item_position', 'result_position',
    'item_list_index', 'index', 'shown_position', 'ranking_position', 'order_index', 'idx',
  ],
  type: ['event_type', 'event', 'type', 'action', 'event_name', 'action_type', 'interaction_type', 'interaction', 'kind', 'name'],
  query: ['query', 'search_query', 'search_term', 'search_text', 'query_text', 'keywords', 'keyword', 'term', 'q', 'text'],
  items: [
    'items', 'results', 'products', 'candidates', 'impressions', 'shown', 'displayed', 'shown_items', 'item_ids',
    'product_ids', 'documents', 'docs', 'hits', 'ranked', 'ranking', 'slate', 'list', 'impression', 'ids',
  ],
  quantity: ['quantity', 'qty', 'count', 'amount_of_items'],
  revenue: ['revenue', 'amount', 'total', 'price_paid', 'value', 'gmv', 'sales'],
  score: ['score', 'relevance', 'relevancy', 'ranking_score', 'model_score'],
} as const;
export type Role = keyof typeof ROLES;

/** Names of columns that say that something happened, by the kind of feedback. */
export const FLAGS: Readonly<Record<string, readonly string[]>> = {
  click: [
    'click', 'clicked', 'is_click', 'is_clicked', 'clicks', 'click_bool', 'was_clicked', 'clicked_at', 'click_time',
    'click_timestamp', 'clicked_items', 'clicked_ids', 'clicked_item', 'has_click', 'label', 'target', 'clk',
  ],
  cart: [
    'cart', 'carted', 'add_to_cart', 'added_to_cart', 'atc', 'is_cart', 'in_cart', 'basket', 'added_to_basket',
    'cart_items', 'cart_bool',
  ],
  order: [
    'order', 'ordered', 'purchase', 'purchased', 'is_purchase', 'is_purchased', 'bought', 'buy', 'conversion',
    'converted', 'is_conversion', 'booking_bool', 'booked', 'transaction', 'sale', 'sold', 'order_bool', 'purchases',
    'purchased_items', 'ordered_items', 'purchased_at', 'ordered_at',
  ],
};

/** Values of a type column, by what the event is. */
export const TYPES: Readonly<Record<string, readonly string[]>> = {
  impression: [
    'impression', 'impressions', 'show', 'shown', 'display', 'displayed', 'exposure', 'exposed', 'view_item_list', 'served',
    'item_impression', 'product_impression', 'list_view', 'search_result', 'product_list_viewed', 'viewable_impression',
    'imp', 'render', 'rendered', 'seen',
  ],
  click: [
    'click', 'clicked', 'item_click', 'product_click', 'select_item', 'select', 'product_clicked', 'click_item', 'open',
    'clickout', 'clk', 'tap',
  ],
  cart: [
    'cart', 'add_to_cart', 'addtocart', 'added_to_cart', 'product_added', 'basket', 'add_to_basket', 'atc', 'cart_add',
    'add',
  ],
  order: [
    'order', 'purchase', 'purchased', 'transaction', 'buy', 'bought', 'checkout', 'order_completed', 'conversion', 'sale',
    'ordered', 'product_purchased', 'booking', 'book', 'pay',
  ],
};

/** A type of event that is a click if a log has no clicks: the page of the item was opened. */
export const VIEWS: readonly string[] = ['view', 'viewed', 'item_view', 'product_view', 'view_item', 'detail', 'product_viewed', 'page_view', 'pageview'];

/** Names of columns that no ranking can use: they are not known when it is served. */
export const NOT_KNOWN_IN_ADVANCE =
  /propensit|pscore|reward|label|target|revenue|amount|dwell|purchase|order|click|cart|convert|conversion|booking|gross/;

/** `userId`, `User-ID` and `user id` become `user_id`. */
export function plainName(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '_')
    .replace(/^_+|_+$/g, '');
}

/** How well a path fits names: the place of its name in the list; Infinity if it does not fit. */
export function fit(path: string, names: readonly string[]): number {
  const whole = names.indexOf(plainName(path));
  if (whole >= 0) return whole;
  const last = names.indexOf(plainName(path.slice(path.lastIndexOf('.') + 1)));
  return last >= 0 ? last + 0.5 : Infinity;
}

/** The path that fits names best. */
export function bestFit(paths: Iterable<string>, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Infinity;
  for (const path of paths) {
    const found = fit(path, names);
    if (found < least) [best, least] = [path, found];
  }
  return best;
}

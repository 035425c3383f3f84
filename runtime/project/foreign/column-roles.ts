import { words } from '../../ground/core/words.js';

/** What a column can mean, with the names that logs give such columns, the most certain first. */
export const ROLES = {
  request: words(`
    request_id req_id search_id srch_id query_id serp_id ranking_id ranking list_id page_view_id pageview_id
    display_id slate_id recommendation_id reco_id response_id impression_id request qid session_query_id
    correlation_id trace_id`),
  session: ['session_id', 'session', 'visit_id', 'visit', 'sid', 'user_session', 'ga_session_id'],
  time: words(`
    timestamp time ts event_time event_timestamp datetime date_time occurred_at created_at shown_at served_at
    logged_at server_time event_ts at when date unix_time epoch`),
  user: words(`
    user_id user uid visitor_id visitor customer_id customer client_id member_id member account_id shopper_id
    anonymous_id user_pseudo_id profile_id person_id cookie_id cookie device_id viewer_id`),
  item: words(`
    item_id product_id item product sku article_id doc_id document_id content_id movie_id asin prop_id
    listing_id hotel_id video_id track_id book_id news_id ad_id offer_id candidate_id result_id object_id
    entity_id article candidate doc document content iid pid`),
  position: words(`
    position pos rank slot place display_position item_position result_position item_list_index index
    shown_position ranking_position order_index idx`),
  type: words('event_type event type action event_name action_type interaction_type interaction kind name'),
  query: words('query search_query search_term search_text query_text keywords keyword term q text'),
  items: words(`
    places items results products candidates impressions shown displayed shown_items item_ids product_ids
    documents docs hits ranked ranking slate list impression ids`),
  quantity: ['quantity', 'qty', 'count', 'amount_of_items'],
  revenue: ['revenue', 'amount', 'total', 'price_paid', 'value', 'gmv', 'sales'],
  score: ['score', 'relevance', 'relevancy', 'ranking_score', 'model_score'],
} as const;
export type Role = keyof typeof ROLES;

/** Names of columns that say that something happened, by the kind of feedback. */
export const FLAGS: Readonly<Record<string, readonly string[]>> = {
  click: words(`
    click clicked is_click is_clicked clicks click_bool was_clicked clicked_at click_time click_timestamp
    clicked_items clicked_ids clicked_item has_click label target clk`),
  cart: words(`
    cart carted add_to_cart added_to_cart atc is_cart in_cart basket added_to_basket cart_items cart_bool`),
  order: words(`
    order ordered purchase purchased is_purchase is_purchased bought buy conversion converted is_conversion
    booking_bool booked transaction sale sold order_bool purchases purchased_items ordered_items purchased_at
    ordered_at`),
};

/** Names of columns that no ranking can use: they are not known when it is served. */
export const NOT_KNOWN_IN_ADVANCE =
  /propensit|pscore|reward|label|target|revenue|amount|dwell|purchase|order|click|cart|convert|conversion|booking|gross/;

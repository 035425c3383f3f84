/** Words that people write for one thing: the keys of options and the kinds of events of other systems, and of other languages. */
const GROUPS: readonly (readonly string[])[] = [
  ['most', 'max', 'maximum', 'limit', 'at_most', 'max_count', 'max_items'],
  ['least', 'min', 'minimum', 'at_least'],
  ['by', 'group_by', 'attribute', 'key', 'per', 'on'],
  ['within', 'window', 'among', 'in_first', 'range'],
  ['where', 'if', 'condition', 'filter', 'match', 'only'],
  ['keep', 'where', 'if', 'condition', 'filter', 'include'],
  ['fields', 'field', 'attributes', 'columns', 'search_fields'],
  ['positions', 'position', 'places', 'place', 'slots', 'ranks', 'at'],
  ['weights', 'weight', 'coefficients', 'features', 'boosts'],
  ['value', 'score', 'expression', 'expr', 'formula', 'set'],
  ['multiply', 'factor', 'multiplier', 'times', 'boost', 'mul'],
  ['add', 'plus', 'offset', 'amount', 'bonus'],
  ['model', 'model_file', 'path', 'filename'],
  ['query', 'q', 'search', 'search_query', 'keywords', 'search_term'],
  ['candidates', 'items', 'products', 'documents', 'docs', 'hits', 'results'],
  ['user', 'customer', 'shopper', 'visitor', 'profile'],
  ['user_page', 'page', 'page_number'],
  ['user_page_size', 'page_size', 'size', 'per_page', 'hits_per_page'],
  ['use', 'plugin', 'component', 'kind'],
  ['with', 'options', 'config', 'settings', 'params', 'args'],
  ['as', 'name', 'id', 'alias'],
  ['time', 'timeout', 'deadline', 'time_limit'],
  [
    'order',
    'purchase',
    'buy',
    'checkout',
    'conversion',
    'transaction',
    'sale',
    'order_completed',
    'kauf',
    'achat',
  ],
  ['click', 'select', 'select_item', 'product_clicked', 'open', 'tap', 'klick', 'clic'],
  ['impression', 'view', 'show', 'shown', 'display', 'view_item_list', 'exposure', 'pageview'],
  ['cart', 'add_to_cart', 'addtocart', 'basket', 'add_to_basket', 'warenkorb', 'panier'],
  ['string', 'text', 'str', 'keyword', 'varchar'],
  ['int', 'integer', 'long', 'bigint', 'int64'],
  ['float', 'double', 'decimal', 'number', 'float64', 'numeric'],
  ['timestamp', 'date', 'datetime'],
];

const WORDS = new Set(GROUPS.flat());

/** The only candidate that means the same as a name, spelt alike, but the name itself. @param asked the name as it was written */
export function sameMeaning(name: string, candidates: readonly string[], asked: string): string | undefined {
  if (!WORDS.has(name)) return undefined;
  const found = new Set(
    GROUPS.filter((words) => words.includes(name)).flatMap(([first = '', ...rest]) => {
      const known = [first, ...rest].filter(
        (word) => word !== name && word !== asked && candidates.includes(word),
      );
      // The first word of a group is that of Millrace.
      return known.includes(first) ? [first] : known;
    }),
  );
  const [only, ...more] = found;
  return more.length === 0 ? only : undefined;
}

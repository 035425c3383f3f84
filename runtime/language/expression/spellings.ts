/** Spellings of other languages, and how to write the same here. */
export const FOREIGN_SYMBOLS: readonly (readonly [symbol: string, help: string])[] = [
  ['===', 'write `==`'],
  ['!==', 'write `!=`'],
  ['&&', 'write `and`'],
  ['||', 'write `or`'],
  ['**', 'write `pow(x, y)`'],
  ['//', 'write `floor(x / y)`'],
  ['<>', 'write `!=`'],
  ['=<', 'write `<=`'],
  ['=>', 'write `>=`'],
  ['??', 'write `coalesce(x, y)`'],
  ['?', 'write `if(condition, then, else)`'],
  ['=', 'write `==` to compare'],
  ['!', 'write `not`'],
  ['&', 'write `and`'],
  ['|', 'write `or`'],
  ['^', 'write `pow(x, y)`'],
  ['{', 'group with parentheses'],
  [':', 'write a feature without spaces: `view:feature`'],
  ['.', 'write a path without spaces: `product.price`'],
  ['≤', 'write `<=`'],
  ['≥', 'write `>=`'],
  ['≠', 'write `!=`'],
  ['−', 'write `-`'],
  ['×', 'write `*`'],
  ['÷', 'write `/`'],
  ['“', 'write texts in straight quotes'],
  ['”', 'write texts in straight quotes'],
  ['‘', 'write texts in straight quotes'],
  ['’', 'write texts in straight quotes'],
  ['`', 'write texts in single or double quotes'],
];

/** Words that users write as operators. */
const FOREIGN_OPERATORS = new Map([
  ['and', 'write `and` in lower case'],
  ['or', 'write `or` in lower case'],
  ['in', 'write `in` in lower case'],
  ['not', 'write `not in`, or `and not`'],
  ['is', 'write `==` to compare, or `known(x)` to ask whether there is a value'],
  ['like', 'write `contains(text, part)`'],
  ['contains', 'write `contains(text, part)`, or `x in list`'],
  ['between', 'write `low <= x and x <= high`'],
  ['mod', 'write `%`'],
]);

export function helpForOperator(word: string): string | undefined {
  return FOREIGN_OPERATORS.get(word.toLowerCase());
}

/** Words that are values in other languages. */
const FOREIGN_VALUES = new Map([
  ['true', 'write `true` in lower case'],
  ['false', 'write `false` in lower case'],
  ['yes', 'write `true`'],
  ['on', 'write `true`'],
  ['no', 'write `false`'],
  ['off', 'write `false`'],
  ...['null', 'none', 'nil', 'nan', 'undefined', 'missing', 'absent'].map(
    (word) => [word, 'write `known(x)` to check whether there is a value'] as const,
  ),
]);

export function helpForValue(word: string): string | undefined {
  return FOREIGN_VALUES.get(word.toLowerCase());
}

/** Functions that have another name in other languages. */
const FOREIGN_FUNCTIONS = new Map([
  ['avg', 'mean'],
  ['average', 'mean'],
  ['ln', 'log'],
  ['power', 'pow'],
  ['ceiling', 'ceil'],
  ['iff', 'if'],
  ['ifelse', 'if'],
  ['case', 'if'],
  ['where', 'if'],
  ['ifnull', 'coalesce'],
  ['nvl', 'coalesce'],
  ['default', 'coalesce'],
  ['exists', 'known'],
  ['isnull', 'known'],
  ['is_null', 'known'],
  ['isnan', 'known'],
  ['is_known', 'known'],
  ['len', 'length'],
  ['size', 'count'],
  ['lowercase', 'lower'],
  ['to_lower', 'lower'],
  ['uppercase', 'upper'],
  ['to_upper', 'upper'],
  ['includes', 'contains'],
  ['startswith', 'starts_with'],
  ['endswith', 'ends_with'],
  ['days_since', 'age_days'],
  ['hours_since', 'age_hours'],
  ['dayofweek', 'weekday'],
  ['day_of_week', 'weekday'],
  ['day', 'day_of_month'],
  ['dayofmonth', 'day_of_month'],
  ['l2', 'norm'],
  ['magnitude', 'norm'],
  ['haversine', 'geo_distance'],
  ['murmur3', 'hash'],
  ['useragent', 'platform'],
  ['referer_medium', 'referrer_medium'],
  ['timestamp', 'time'],
  ['date', 'time'],
  ['word_count', 'words'],
  ['euclidean_distance', 'norm'],
  ['levenshtein', 'edit_distance'],
  ['interpolate', 'piecewise'],
  ['month_of_year', 'month'],
]);

/** What a step computes, because it needs all candidates or two vectors. */
const STEPS = new Map(
  Object.entries({
    rank_within: ['median', 'quantile', 'percentile', 'rank', 'zscore', 'z_score', 'min_max', 'diversity'],
    share_within: ['share'],
    similarity: ['cosine', 'cosine_similarity', 'dot', 'dot_product', 'euclidean'],
    text_match: ['bm25', 'match', 'phrase', 'coverage', 'proximity'],
    one_hot: ['onehot', 'one_hot'],
    interaction: ['interacted_with'],
  }).flatMap(([step, names]) => names.map((name) => [name, step] as const)),
);

/** The help for a function that is a step here; undefined for any other name. */
export function helpForStep(name: string): string | undefined {
  const step = STEPS.get(name.toLowerCase());
  return step && `a step computes it: \`use: ${step}\``;
}

export function ownFunctionName(name: string): string | undefined {
  return FOREIGN_FUNCTIONS.get(name.toLowerCase());
}

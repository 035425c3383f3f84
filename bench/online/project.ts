export const VIEWS = 5;
export const FEATURES_OF_A_VIEW = 10;
/** The number of stored rows. */
export const MOST = 1000;

export const views = (kind: string): string[] => Array.from({ length: VIEWS }, (_, v) => `${kind}_${v}`);
export const FEATURES = Array.from({ length: FEATURES_OF_A_VIEW }, (_, f) => `f${f}`);
export const idOf = (row: number): string => `product-${row}`;
export const valueOf = (row: number, v: number, f: number): number => row + v / 10 + f / 128;

/** Creates 50 attributes: numbers, strings, lists of strings, and some that the type does not declare. */
export function entityOf(row: number): Record<string, unknown> {
  return {
    product_id: idOf(row),
    ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`n${i}`, valueOf(row, i, 1)])),
    ...Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`t${i}`, `text ${i} of product ${row}, ü`])),
    ...Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`l${i}`, ['red', 'blue', `of ${row}`]])),
    ...Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`u${i}`, { at: i, of: [row, null, true] }])),
  };
}

/** Creates one pipeline per layout, and one for attributes. Each uses all values, so all are read. */
export function projectFiles(url: string): Record<string, string> {
  const view = (name: string, source: string): [string, string] => [
    `schemas/features/${name}.yaml`,
    `view: ${name}\nof: [product]\n${source}features: { ${FEATURES.map((feature) => `${feature}: float`).join(', ')} }\n`,
  ];
  const pipeline = (name: string, required: readonly string[], values: readonly string[]): string =>
    `pipeline: ${name}
rank: product
${required.length === 0 ? '' : `features: [${required.join(', ')}]\n`}limits: { time: 30s, candidates: 1000 }
components:
  - use: linear
    with:
      missing: 0
      weights: { ${values.map((value) => `"${value}": 1`).join(', ')} }
  - use: score
    with: { value: linear:score }
page: { size: 10, max_size: 1000 }
`;
  const features = (kind: string): string[] =>
    views(kind).flatMap((name) => FEATURES.map((feature) => `${name}:${feature}`));
  const numbers = Array.from({ length: 30 }, (_, i) => `n${i}`);
  const texts = Array.from({ length: 10 }, (_, i) => `t${i}`);
  const lists = Array.from({ length: 5 }, (_, i) => `l${i}`);
  return {
    'schemas/entities/product.yaml': [
      'entity: product',
      'extends: ProductEntity',
      'attributes:',
      ...numbers.map((name) => `  ${name}: float`),
      ...texts.map((name) => `  ${name}: string`),
      ...lists.map((name) => `  ${name}: list(string)`),
      '',
    ].join('\n'),
    ...Object.fromEntries(views('own').map((name) => view(name, ''))),
    ...Object.fromEntries(
      views('feast').map((name) =>
        view(name, `source: { feast: { project: shop, url: "${url}", key_version: 3 } }\n`),
      ),
    ),
    'pipelines/own.yaml': pipeline('own', views('own'), features('own')),
    'pipelines/feast.yaml': pipeline('feast', views('feast'), features('feast')),
    'pipelines/attributes.yaml': pipeline(
      'attributes',
      [],
      [...numbers.map((name) => `product.${name}`), ...lists.map((name) => `count(product.${name})`)],
    ),
  };
}

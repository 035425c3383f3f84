import { readFileSync } from 'node:fs';
import type { Random } from '../../runtime/ground/core/random.js';
import { repositoryPath } from './repository.js';

/** The files of a project whose pipelines score in random ways. */
export const RANDOM_PROJECT = {
  'package.json': '{ "type": "module" }',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { title: string, price: float, rating: float, age: float, tags: list(string) }\n',
  'models/trees.txt': readFileSync(repositoryPath('plugins/lightgbm/models/example.txt'), 'utf8'),
  'models/trees.json': readFileSync(repositoryPath('plugins/xgboost/models/example.json'), 'utf8'),
};

/** Numbers that every place may read. */
const NUMBERS = [
  'product.price',
  'product.rating',
  'product.age',
  'request.boost',
  'w',
  'count(product.tags)',
];

/** Files of random pipelines. */
export function randomPipelines(names: readonly string[], random: Random): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [`pipelines/${name}.yaml`, randomPipeline(name, random)] as const),
  );
}

/** A pipeline with models, and steps that set and change the score, all of random expressions. */
function randomPipeline(name: string, random: Random): string {
  const pick = <T>(list: readonly T[]): T => list[random.between(0, list.length - 1)] as T;
  const known = [...NUMBERS];
  const expression = (depth: number, names: readonly string[]): string => {
    if (depth === 0 || random.between(0, 4) === 0)
      return random.between(0, 4) === 0 ? String(random.between(0, 8) - 2) : pick(names);
    const one = (): string => expression(depth - 1, names);
    return pick([
      () => `(${one()} + ${one()})`,
      () => `(${one()} - ${one()})`,
      () => `${1 + random.between(0, 4)} * ${one()}`,
      () => `(${one()}) * (${one()})`,
      () => `(${one()}) / ${1 + random.between(0, 6)}`,
      () => `(${one()}) / (1 + request.boost)`,
      () => `-(${one()})`,
      () => `coalesce(${one()}, ${one()})`,
      () => `if(${one()} > ${one()}, ${one()}, ${one()})`,
      () => `min(${one()}, ${one()})`,
      () => `log1p(abs(${one()}))`,
    ])();
  };
  const quoted = (depth: number, names: readonly string[]): string =>
    JSON.stringify(expression(depth, names));
  const define = Array.from({ length: random.between(0, 3) }, (_, i) => {
    const line = `  d${i}: ${quoted(2, known)}`;
    known.push(`d${i}`);
    return line;
  });
  const trees = (as: string): string => {
    const plugin = pick(['lightgbm', 'xgboost']);
    const file = plugin === 'xgboost' ? 'trees.json' : 'trees.txt';
    const inputs = `{ product__price: ${quoted(1, known)}, product__rating: ${quoted(1, known)} }`;
    const predict = plugin === 'xgboost' ? '' : pick(['', ', predict: raw']);
    return `  - { use: ${plugin}, as: ${as}, with: { model: models/${file}, inputs: ${inputs}${predict} } }`;
  };
  const linear = (as: string): string => {
    const weights = Array.from(
      new Set(Array.from({ length: 1 + random.between(0, 2) }, () => expression(1, known))),
      (text) => `${JSON.stringify(text)}: ${random.between(0, 8) - 4}`,
    );
    const missing = pick(['', ', missing: 1']);
    return `  - { use: linear, as: ${as}, with: { weights: { ${weights.join(', ')} }, bias: ${random.between(0, 2)}${missing} } }`;
  };
  const models = Array.from({ length: random.between(0, 3) }, (_, i) => {
    const line = pick([trees, linear])(`m${i}`);
    known.push(`m${i}:score`);
    return line;
  });
  const rules = Array.from({ length: random.between(0, 4) }, (_, i) =>
    pick([
      () => `  - { use: score, as: s${i}, with: { value: ${quoted(3, [...known, 'score'])} } }`,
      () => `  - { use: score, as: t${i}, top: 3, with: { value: ${quoted(2, [...known, 'score'])} } }`,
      () => `  - { use: boost, as: b${i}, with: { where: "product.rating > 2", add: ${quoted(2, known)} } }`,
      () => `  - { use: boost, as: c${i}, with: { multiply: 1.5 } }`,
      () =>
        `  - { use: filter, as: f${i}, with: { keep: "coalesce(product.price, 1) > ${random.between(0, 2)}" } }`,
      () => `  - { use: bury, as: y${i}, with: { where: "product.age > 5" } }`,
    ])(),
  );
  return `pipeline: ${name}
rank: product
request: { boost: optional(float) }
params: { w: { value: ${random.between(0, 4)}, min: 0, max: 9 } }
define:${define.length === 0 ? ' {}' : `\n${define.join('\n')}`}
components:
${[...models, `  - { use: score, as: first, with: { value: ${quoted(4, known)} } }`, ...rules].join('\n')}
page: { size: 20 }
`;
}

export interface RandomRequest {
  readonly candidates: [{ readonly product_id: string }, ...{ readonly product_id: string }[]];
  readonly boost?: number;
}

/** A request whose values are known or not, at random. */
export function randomRequest(random: Random): RandomRequest {
  const number = (): object => (random.between(0, 3) === 0 ? {} : { value: random.between(0, 39) / 4 - 2 });
  const maybe = (name: string): object => {
    const one = number() as { value?: number };
    return one.value === undefined ? {} : { [name]: one.value };
  };
  const candidate = (i: number): { readonly product_id: string } => ({
    product_id: `p${i}`,
    ...maybe('price'),
    ...maybe('rating'),
    ...maybe('age'),
    ...(random.between(0, 1) === 0 ? {} : { tags: ['a', 'b'].slice(random.between(0, 1)) }),
  });
  const more = Array.from({ length: random.between(0, 8) }, (_, i) => candidate(i + 1));
  return { candidates: [candidate(0), ...more], ...maybe('boost') };
}

import { parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer';
import { Random } from '../../../runtime/ground/core/random.js';

/** A catalogue in a file of an odd shape, with judgments of its products. */
export interface OddCatalogue {
  readonly name: string;
  /** By name of the file. */
  readonly files: ReadonlyMap<string, string | Buffer>;
  readonly products: string;
  readonly judgments: string;
  /** What `millrace init` must say that it guessed. */
  readonly guesses: readonly RegExp[];
}

interface Product {
  readonly id: string;
  readonly title: string;
  readonly noun: string;
  readonly brand: string;
  readonly price: number;
  readonly stock: number;
  readonly sales: number;
  readonly released: number;
}

const NOUNS = [
  'shoe',
  'jacket',
  'tent',
  'lamp',
  'kettle',
  'backpack',
  'watch',
  'blanket',
  'mug',
  'bottle',
] as const;
const KINDS = [
  'trail',
  'running',
  'winter',
  'folding',
  'steel',
  'camping',
  'light',
  'wool',
  'travel',
  'city',
] as const;
const BRANDS = [
  'Lumen',
  'Halcyon',
  'Nørdic & Søn',
  'Ostwind',
  'Arco; Iris',
  'Petra "P"',
  '木村',
  'Vela',
] as const;
const PRODUCTS = 600;
const QUERIES = 70;
/** Judged candidates of a query that match it, and others. */
const MATCHING = 10;
const OTHERS = 4;
const RELEASED = Date.UTC(2024, 0, 1);
const DAY = 86_400_000;

function makeProducts(random: Random, digits: number): Product[] {
  return Array.from({ length: PRODUCTS }, (_, at) => {
    const noun = random.pick(NOUNS);
    return {
      id: String(at * 7 + 17).padStart(digits, '0'),
      title: `${random.pick(KINDS)} ${noun} ${random.between(2, 9)}00`,
      noun,
      brand: random.pick(BRANDS),
      price: Math.round(100 * (5 + 1500 * random.next() ** 3)) / 100,
      stock: random.between(1, 80),
      sales: Math.round(4000 * random.next() ** 4),
      released: RELEASED + random.between(0, 600) * DAY,
    };
  });
}

function pickOf(random: Random, all: readonly Product[]): Product {
  const one = all[random.between(0, all.length - 1)];
  if (one === undefined) throw new Error('there is no product to pick');
  return one;
}

/**
 * Grades candidates of queries such as `shoe`: of the products that match, people like one half, by `worth`. So there is
 * something for `tune` to find that words do not tell.
 */
function judge(
  random: Random,
  products: readonly Product[],
  worth: (product: Product) => number,
): string[][] {
  return Array.from({ length: QUERIES }, (_, at) => {
    const noun = NOUNS[at % NOUNS.length] ?? '';
    const kind = KINDS[Math.floor(at / NOUNS.length)] ?? '';
    const query = at < NOUNS.length ? noun : `${kind} ${noun}`;
    const matching = products.filter((one) => one.noun === noun);
    const some = Array.from({ length: MATCHING }, () => pickOf(random, matching));
    const middle = [...some].sort((a, b) => worth(a) - worth(b))[MATCHING / 2];
    const rows = new Map<string, number>();
    for (const one of some) rows.set(one.id, worth(one) >= worth(middle ?? one) ? 3 : 1);
    for (let other = 0; other < OTHERS; other++) {
      const one = pickOf(random, products);
      if (one.noun !== noun) rows.set(one.id, 0);
    }
    return Array.from(rows, ([id, grade]) => [query, id, String(grade)]);
  }).flat();
}

/** Semicolons, decimal commas, quotes, a byte order mark, ids with leading zeros, names that are not English. */
function semicolons(): OddCatalogue {
  const random = new Random(1);
  const products = makeProducts(random, 6);
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const rows = products.map(({ id, title, brand, price, stock, released }) =>
    [
      id,
      quoted(`${title}\n"neu"`),
      quoted(brand),
      String(price).replace('.', ','),
      stock,
      new Date(released).toISOString().slice(0, 10),
      random.chance(0.3) ? '' : 'ja',
    ].join(';'),
  );
  const header = 'Artikelnummer;Bezeichnung;Marke;Preis;Lagerbestand;Erschienen;Größe verfügbar';
  const judged = judge(random, products, ({ price }) => -price);
  return {
    name: 'CSV with semicolons',
    products: 'artikel.csv',
    judgments: 'urteile.csv',
    files: new Map([
      ['artikel.csv', `\uFEFF${[header, ...rows].join('\r\n')}\r\n`],
      ['urteile.csv', `query;id;grade\n${judged.map((row) => row.join(';')).join('\n')}\n`],
    ]),
    guesses: [
      /key Artikelnummer \(text: leading zeros\)/,
      /Marke\s+→\s+marke\s+→\s+ref\s+\(8\)/,
      /float \(decimal\s+comma\)/,
    ],
  };
}

/** Objects and lists of objects in each line, missing and null members, an emoji in a name. */
function nested(): OddCatalogue {
  const random = new Random(2);
  const products = makeProducts(random, 1);
  const lines = products.map(({ id, title, brand, price, stock, sales, released }) =>
    JSON.stringify({
      product: undefined,
      id: Number(id),
      info: { name: `${title} ✨`, brand, released: new Date(released).toISOString() },
      price: { amount: price, currency: 'EUR' },
      variants: [{ sku: `${id}-a`, stock }],
      stats: random.chance(0.1) ? null : { sales_30d: sales },
      in_stock: stock > 5,
      'weird key!': random.chance(0.5) ? 1 : 'one',
    }),
  );
  const judged = judge(random, products, ({ price }) => -price);
  return {
    name: 'nested JSON lines',
    products: 'items.jsonl',
    judgments: 'grades.jsonl',
    files: new Map([
      ['items.jsonl', `${lines.join('\n')}\n`],
      [
        'grades.jsonl',
        judged
          .map(([query, id, grade]) => `${JSON.stringify({ query, docid: id, rating: Number(grade) })}\n`)
          .join(''),
      ],
    ]),
    guesses: [/key id/, /price record/, /variants records/, /weird key! → weird_key/],
  };
}

/** Lists of texts and of numbers, whole numbers as ids, times, and a statistic. */
function parquet(): OddCatalogue {
  const random = new Random(3);
  const products = makeProducts(random, 1);
  const list = (name: string, element: Pick<SchemaElement, 'type' | 'converted_type'>): SchemaElement[] => [
    { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', ...element },
  ];
  const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
  const schema: SchemaElement[] = [
    { name: 'root', num_children: 7 },
    { name: 'product_id', repetition_type: 'REQUIRED', type: 'INT64' },
    { name: 'title', repetition_type: 'OPTIONAL', ...text },
    ...list('tags', text),
    ...list('embedding', { type: 'DOUBLE' }),
    { name: 'orders_30d', repetition_type: 'OPTIONAL', type: 'INT64' },
    { name: 'price', repetition_type: 'OPTIONAL', type: 'DOUBLE' },
    { name: 'released_at', repetition_type: 'OPTIONAL', type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  ];
  const columnData = [
    { name: 'product_id', data: products.map(({ id }) => BigInt(id)) },
    { name: 'title', data: products.map(({ title }) => title) },
    { name: 'tags', data: products.map(({ brand, noun }) => (random.chance(0.2) ? [] : [brand, noun])) },
    { name: 'embedding', data: products.map(() => Array.from({ length: 8 }, () => random.around(-1, 1))) },
    { name: 'orders_30d', data: products.map(({ sales }) => BigInt(sales)) },
    { name: 'price', data: products.map(({ price }) => price) },
    { name: 'released_at', data: products.map(({ released }) => new Date(released)) },
  ];
  const judged = judge(random, products, ({ sales, price }) => Math.log1p(sales) - Math.log1p(price));
  return {
    name: 'Parquet with lists',
    products: 'products.parquet',
    judgments: 'judgments.csv',
    files: new Map<string, string | Buffer>([
      ['products.parquet', Buffer.from(parquetWriteBuffer({ schema, columnData }))],
      ['judgments.csv', `query,product_id,grade\n${judged.map((row) => row.join(',')).join('\n')}\n`],
    ]),
    guesses: [/key product_id/, /tags list\(string\)/, /embedding\s+vector\(8\)/, /orders_30d\s+→\s+view/],
  };
}

export function oddCatalogues(): readonly OddCatalogue[] {
  return [semicolons(), nested(), parquet()];
}

import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { random } from './catalogue.js';

const WORDS =
  'light strong warm small large soft dry quick quiet steel cotton leather glass wooden folding travel garden kitchen ' +
  'winter summer summit river stone cloud lamp chair table shoe jacket bottle kettle speaker cable battery sensor';

/**
 * Returns one product of the default project as a line of JSON, about 700 bytes: declared attributes and a few
 * others.
 */
export function productLine(index: number, next: () => number, version: number): string {
  const words = WORDS.split(' ');
  const text = (count: number): string =>
    Array.from({ length: count }, () => words[Math.floor(next() * words.length)] ?? '').join(' ');
  return JSON.stringify({
    product_id: `p${index}`,
    title: text(8),
    description: text(50),
    brand: `b${Math.floor(next() * 500)}`,
    category: `c${Math.floor(next() * 80)}`,
    categories: [text(1), text(2)],
    price: Math.round(next() * 100_000) / 100,
    number_in_stock: Math.floor(next() * 100),
    rating: Math.round(next() * 50) / 10,
    colour: text(1),
    image: `https://images.example/${index}/${Math.floor(next() * 1e9).toString(36)}.jpg`,
    dimensions: { width: Math.floor(next() * 900), height: Math.floor(next() * 900), unit: 'mm' },
    version,
  });
}

/** Writes a file of `count` products, one per line, from a seed. */
export async function writeProducts(path: string, count: number, version = 1): Promise<void> {
  const next = random(version);
  function* chunks(): Generator<string> {
    for (let from = 0; from < count; from += 1000) {
      let chunk = '';
      for (let i = from; i < Math.min(count, from + 1000); i++) chunk += `${productLine(i, next, version)}\n`;
      yield chunk;
    }
  }
  await pipeline(Readable.from(chunks()), createWriteStream(path));
}

import { Random } from '../../runtime/ground/core/random.js';

const ITEMS = 60;
const LISTS = 600;
const LENGTH = 6;
const START = 1_700_000_000;
const BRANDS = ['lumen', 'orbit', 'kite', 'fjord'];

/**
 * Logs of a shop that never heard of Millrace: its items, the lists that it showed, and the clicks, which favour good
 * ratings and the first positions. By name of the file.
 */
export function foreignShop(): Readonly<Record<string, string>> {
  const random = new Random(11);
  const items = Array.from({ length: ITEMS }, (_, at) => ({
    id: `i${String(at).padStart(3, '0')}`,
    brand: BRANDS[Math.floor(random.next() * BRANDS.length)] ?? '',
    price: (5 + 195 * random.next()).toFixed(2),
    rating: 1 + Math.round(40 * random.next()) / 10,
  }));
  const shown = ['request_id,timestamp,user_id,item_id,position,device'];
  const clicks = ['request_id,timestamp,user_id,item_id'];
  let time = START;
  for (let list = 0; list < LISTS; list++) {
    time += 60 + Math.floor(1000 * random.next());
    const user = `u${Math.floor(80 * random.next())}`;
    const device = random.next() < 0.5 ? 'phone' : 'desktop';
    const left = [...items];
    for (let place = 1; place <= LENGTH; place++) {
      const [item] = left.splice(Math.floor(left.length * random.next()), 1);
      if (item === undefined) continue;
      shown.push(`r${list},${time},${user},${item.id},${place},${device}`);
      const examined = 1 / (1 + 0.3 * (place - 1));
      if (random.next() < examined / (1 + Math.exp(2.5 - item.rating)))
        clicks.push(`r${list},${time + 5 + Math.floor(90 * random.next())},${user},${item.id}`);
    }
  }
  const lines = (rows: readonly string[]): string => `${rows.join('\n')}\n`;
  return {
    'items.csv': lines([
      'item_id,title,brand,price,rating',
      ...items.map(
        ({ id, brand, price, rating }) => `${id},Item ${id} of ${brand},${brand},${price},${rating}`,
      ),
    ]),
    'impressions.csv': lines(shown),
    'clicks.csv': lines(clicks),
  };
}

import { AllowedHosts } from '../settings/allowed-hosts.js';
import type { GuessedDisplay, Leaf } from './product-guess.js';
import { BRANDS, IMAGES, PICTURE, PRICE, STOCK } from './column-words.js';

/** More hosts are probably not of pictures alone. */
const MOST_HOSTS = 10;

/** Guesses what a card of a product shows. It shows attributes of the product, not fields of its records. */
export function guessDisplay(leaves: readonly Leaf[], title: Leaf | undefined): GuessedDisplay {
  const attributes = leaves.filter(({ path, name }) => path === `product.${name}`);
  const isNumber = ({ type }: Leaf): boolean => type.kind === 'int' || type.kind === 'float';
  const pictures = attributes.filter((one) => hostsOf(one).length > 0);
  const image = pictures.find(({ word }) => IMAGES.test(word)) ?? pictures.find(isPicture);
  const brand = attributes.find(
    ({ word, type }) => BRANDS.test(word) && (type.kind === 'ref' || type.kind === 'string'),
  );
  const price = attributes.find((one) => PRICE.test(one.word) && isNumber(one));
  const stock = attributes.find((one) => STOCK.test(one.word) && (isNumber(one) || one.type.kind === 'bool'));
  return {
    ...(title !== undefined && attributes.includes(title) && { title: title.name }),
    ...(image !== undefined && { image: image.name }),
    ...(brand !== undefined && brand !== title && { subtitle: brand.name }),
    badges: [price, stock].flatMap((one) => (one === undefined ? [] : [one.name])),
    imageHosts: image === undefined ? [] : hostsOf(image).slice(0, MOST_HOSTS),
  };
}

function addressesOf({ type, column }: Leaf): readonly URL[] {
  if (type.kind !== 'string' && type.kind !== 'texts') return [];
  const values = [...(column.profile?.distinct ?? [])];
  return values
    .filter((value) => /^https?:\/\//i.test(value) && URL.canParse(value))
    .map((value) => new URL(value));
}

const isPicture = (leaf: Leaf): boolean => addressesOf(leaf).some(({ pathname }) => PICTURE.test(pathname));

/** The hosts of the addresses, the most frequent first. */
function hostsOf(leaf: Leaf): readonly string[] {
  const times = new Map<string, number>();
  for (const { host } of addressesOf(leaf)) times.set(host, (times.get(host) ?? 0) + 1);
  return [...times.entries()]
    .sort(([, a], [, b]) => b - a)
    .map(([host]) => host)
    .filter((host) => AllowedHosts.parse(host) !== undefined);
}

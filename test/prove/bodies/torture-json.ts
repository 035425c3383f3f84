/** Functions that build JSON text of about `bytes` bytes that is slow to parse or traverse, or needs much memory. */
export const TORTURE: Readonly<Record<string, (bytes: number) => string>> = {
  numbers: (bytes) => list('0.123456', bytes),
  'small numbers': (bytes) => list('1', bytes),
  'numbers beyond the range': (bytes) => list('1e400', bytes),
  'subnormal numbers': (bytes) => list('2.2250738585072011e-308', bytes),
  'long numbers': (bytes) => list(`${'1'.repeat(800)}.5`, bytes),
  'one long number': (bytes) => '9'.repeat(Math.max(1, bytes)),
  'empty lists': (bytes) => list('[]', bytes),
  'empty objects': (bytes) => list('{}', bytes),
  'empty texts': (bytes) => list('""', bytes),
  'nested lists': (bytes) => nested('[', '', ']', bytes),
  'nested objects': (bytes) => nested('{"a":', '1', '}', bytes),
  'lists 90 deep': (bytes) => list('['.repeat(90) + ']'.repeat(90), bytes),
  names: (bytes) => object((i) => `"k${i}":1`, bytes),
  'names of numbers': (bytes) => object((i) => `"${(i * 7919) % 4294967}":1`, bytes),
  'long names': (bytes) => object((i) => `"${'n'.repeat(200)}${i}":1`, bytes),
  'accented names': (bytes) => object((i) => `"é${i}":1`, bytes),
  'one name': (bytes) => object(() => '"a":1', bytes),
  'names of prototypes': (bytes) => object((i) => (i % 2 ? '"__proto__":{}' : '"constructor":{}'), bytes),
  'objects of one name each': (bytes) => list((i) => `{"k${i}":1}`, bytes),
  records: (bytes) => list((i) => `{"sku":"s${i}","seller_id":"x","price":1}`, bytes),
  'one long text': (bytes) => `"${'x'.repeat(Math.max(0, bytes - 2))}"`,
  'accented text': (bytes) => `"${'é'.repeat(Math.max(0, (bytes - 2) >> 1))}"`,
  'escaped text': (bytes) => `"${'\\u00e9'.repeat(Math.max(0, Math.floor((bytes - 2) / 6)))}"`,
  'lone surrogates': (bytes) => `"${'\\ud800'.repeat(Math.max(0, Math.floor((bytes - 2) / 6)))}"`,
  'texts with lone surrogates': (bytes) => list('"\\udc00x"', bytes),
  'words of a text': (bytes) => `"${'ab c '.repeat(Math.max(0, Math.floor((bytes - 2) / 5)))}"`,
};

function list(element: string | ((i: number) => string), bytes: number): string {
  if (typeof element === 'string')
    return `[${`${element},`.repeat(Math.max(0, Math.floor((bytes - 2) / (element.length + 1)) - 1))}${element}]`;
  return `[${upTo(element, bytes)}]`;
}

function object(field: (i: number) => string, bytes: number): string {
  return `{${upTo(field, bytes)}}`;
}

function upTo(part: (i: number) => string, bytes: number): string {
  const parts: string[] = [];
  for (let i = 0, size = 2; size < bytes || i === 0; i++) {
    const one = part(i);
    size += one.length + 1;
    parts.push(one);
  }
  return parts.join(',');
}

function nested(open: string, middle: string, close: string, bytes: number): string {
  const depth = Math.max(1, Math.floor(bytes / (open.length + close.length)));
  return open.repeat(depth) + middle + close.repeat(depth);
}

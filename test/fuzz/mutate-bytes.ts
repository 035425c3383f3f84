import fc from 'fast-check';
import { editsOf, type Edit } from './edits.js';

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

/** Numbers that replace lengths and offsets of formats. */
const LENGTHS = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];

const edit: fc.Arbitrary<Edit<Buffer>> = fc
  .record({
    kind: fc.constantFrom(
      'flip',
      'flip',
      'set',
      'length',
      'cut',
      'cut start',
      'remove',
      'double',
      'insert',
      'append',
    ),
    at: share,
    bit: fc.nat({ max: 7 }),
    byte: fc.nat({ max: 255 }),
    length: fc.constantFrom(...LENGTHS),
    width: fc.constantFrom(1, 2, 4),
    little: fc.boolean(),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 9 }),
    count: fc.integer({ min: 1, max: 16 }),
  })
  .map(({ kind, at, bit, byte, length, width, little, bytes, count }) => ({
    what: `${kind} at ${at.toFixed(4)}: bit ${bit}, byte ${byte}, length ${length} in ${width} ${little ? 'little' : 'big'}, ${Buffer.from(bytes).toString('hex')}, ${count}`,
    apply(from) {
      const place = Math.floor(at * from.length);
      const to = Buffer.from(from);
      const head = from.subarray(0, place);
      switch (kind) {
        case 'flip':
          if (place < to.length) to[place] = (to[place] ?? 0) ^ (1 << bit);
          return to;
        case 'set':
          if (place < to.length) to[place] = byte;
          return to;
        case 'length': {
          if (place + width > to.length) return to;
          const value = length % 2 ** (8 * width);
          if (little) to.writeUIntLE(value, place, width);
          else to.writeUIntBE(value, place, width);
          return to;
        }
        case 'cut':
          return Buffer.from(head);
        case 'cut start':
          return Buffer.from(from.subarray(place));
        case 'remove':
          return Buffer.concat([head, from.subarray(place + count)]);
        case 'double':
          return Buffer.concat([head, from.subarray(place, place + count), from.subarray(place)]);
        case 'insert':
          return Buffer.concat([head, bytes, from.subarray(place)]);
        default:
          return Buffer.concat([from, bytes]);
      }
    },
  }));

/** Changes bytes without knowledge of their meaning. */
export const byteEdits: fc.Arbitrary<Edit<Buffer>> = editsOf(edit);

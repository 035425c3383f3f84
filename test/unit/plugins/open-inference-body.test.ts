import { expect } from 'chai';
import fc from 'fast-check';
import { inferenceRequest } from '../../../plugins/open_inference/protocol.js';
import { atOnce } from '../../../runtime/ground/core/pieces.js';

describe('the body of an inference request', () => {
  /** Units that JSON escapes, and halves of pairs, which are escaped alone but not together. */
  const unit = fc.constantFrom('a', '"', '\n', '\ud83d', '\udc4d', '\ud83d\udc4d', 'é');
  const length = fc.constantFrom(0, 3, 65_535, 65_536, 65_537, 131_073);
  const text = fc
    .tuple(fc.array(unit), fc.array(unit, { minLength: 1, maxLength: 5 }), length)
    .map(([start, rest, most]) => start.join('') + rest.join('').repeat(most).slice(0, most));

  it('is what JSON.stringify writes, for texts that are written in pieces too', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), fc.array(fc.nat()), (texts, numbers) => {
        const tensors = new Map([
          ['t', { type: 'string' as const, shape: [texts.length], data: texts }],
          ['n', { type: 'float64' as const, shape: [numbers.length], data: Float64Array.from(numbers) }],
        ]);
        const body = (outputs?: string[]): string => {
          const inputs = [
            { name: 't', shape: [texts.length], datatype: 'BYTES', data: texts },
            { name: 'n', shape: [numbers.length], datatype: 'FP64', data: numbers },
          ];
          return JSON.stringify(
            outputs ? { inputs, outputs: outputs.map((name) => ({ name })) } : { inputs },
          );
        };
        const batch = { tensors, rows: Int32Array.of(), size: texts.length };
        expect(atOnce(inferenceRequest(batch, undefined)).equals(Buffer.from(body()))).to.equal(true);
        expect(atOnce(inferenceRequest(batch, ['s'])).equals(Buffer.from(body(['s'])))).to.equal(true);
      }),
      { numRuns: 15 },
    );
  });

  it('is what JSON.stringify writes, for rows that repeat too', () => {
    const row = fc.constantFrom([0, 1], [-0, 1], [0.5, NaN], [0.25, 3]);
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const data = Float32Array.from(rows.flat());
        const tensors = new Map([['v', { type: 'float32' as const, shape: [rows.length, 2], data }]]);
        const body = atOnce(
          inferenceRequest({ tensors, rows: Int32Array.of(), size: rows.length }, undefined),
        );
        const input = { name: 'v', shape: [rows.length, 2], datatype: 'FP32', data: rows.flat() };
        expect(body.toString()).to.equal(JSON.stringify({ inputs: [input] }));
      }),
    );
  });
});

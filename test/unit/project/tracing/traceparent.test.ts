import { ROOT_CONTEXT, trace, type SpanContext } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { expect } from 'chai';
import fc from 'fast-check';
import { readTraceparent, writeTraceparent } from '../../../../runtime/project/tracing/traceparent.js';

/** The implementation of the OpenTelemetry SDK. */
const propagator = new W3CTraceContextPropagator();

function expected(header: string): Omit<SpanContext, 'traceState'> | undefined {
  const getter = { get: (): string => header, keys: (): string[] => ['traceparent'] };
  const context = propagator.extract(ROOT_CONTEXT, { traceparent: header }, getter);
  const found = trace.getSpanContext(context);
  if (found === undefined) return undefined;
  const { traceId, spanId, traceFlags } = found;
  return { traceId, spanId, traceFlags: traceFlags & 1, isRemote: true };
}

const hex = (length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...Array.from('0123456789abcdef')), { minLength: length, maxLength: length })
    .map((digits) => digits.join(''));

const valid = fc
  .tuple(
    fc.constantFrom('00', '01', 'cc', 'ff'),
    hex(32),
    hex(16),
    hex(2),
    fc.constantFrom('', '-', '-x', 'x'),
  )
  .map(([version, traceId, spanId, flags, more]) => `${version}-${traceId}-${spanId}-${flags}${more}`);

/** A valid header with one character changed. */
const nearlyValid = fc
  .tuple(valid, fc.nat(60), fc.constantFrom('', '0', 'g', 'A', '-', ' ', '\t', ','))
  .map(([header, at, character]) => header.slice(0, at) + character + header.slice(at + 1));

describe('traceparent', () => {
  it('is read as by the OpenTelemetry SDK', () => {
    fc.assert(
      fc.property(fc.oneof(valid, nearlyValid, fc.string()), (header) => {
        expect(readTraceparent(header)).to.deep.equal(expected(header));
      }),
      { numRuns: 2000 },
    );
  });

  it('is written so that it can be read', () => {
    fc.assert(
      fc.property(hex(32), hex(16), fc.constantFrom(0, 1), (traceId, spanId, traceFlags) => {
        const header = writeTraceparent({ traceId, spanId, traceFlags });
        const context = { traceId, spanId, traceFlags, isRemote: true };
        expect(readTraceparent(header)).to.deep.equal(
          /^0+$/.test(traceId) || /^0+$/.test(spanId) ? undefined : context,
        );
      }),
    );
  });
});

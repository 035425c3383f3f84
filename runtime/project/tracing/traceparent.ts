import type { SpanContext } from '@opentelemetry/api';

/** Bit 0 of the flags: the caller records this trace. */
export const SAMPLED = 1;

/** Version, trace id, parent id, flags; a later version may append more. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/**
 * Reads the header `traceparent` of W3C Trace Context, level 1. Returns undefined for an invalid header, which is
 * ignored.
 */
export function readTraceparent(header: string): SpanContext | undefined {
  const parts = TRACEPARENT.exec(header.trim());
  if (parts === null) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = parts;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags, 16) & SAMPLED, isRemote: true };
}

/** Writes the header `traceparent` of calls below a span. */
export function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & SAMPLED}`;
}

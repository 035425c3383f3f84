import type { Attributes, Context, Span, SpanStatus, Tracer } from '@opentelemetry/api';
import { MillraceError } from '../../ground/api/errors.js';
import type { TraceContext } from '../../ground/api/trace-context.js';
import { SPANS, type SpanType } from './spans.js';
import { writeTraceparent } from './traceparent.js';

/** `SpanKind` of the OpenTelemetry API, which this file does not load. */
const KINDS: Readonly<Record<(typeof SPANS)[SpanType]['kind'], number>> = {
  internal: 0,
  server: 1,
  client: 2,
};

/** What all spans of one request share. */
export interface TraceParts {
  readonly tracer: Tracer;
  /** Returns the context in which a span is the parent. */
  readonly contextOf: (span: Span) => Context;
  /** The status of a span whose work failed. */
  readonly failed: SpanStatus;
  /** The attributes of the store. */
  readonly store: Attributes;
  /** Epoch milliseconds at time 0 of `performance.now()`. All spans of a request use the same clock. */
  readonly epoch: number;
}

/** The identity of a span in log lines, with the names of the OpenTelemetry log format. */
export interface TraceIds {
  readonly trace_id: string;
  readonly span_id: string;
  readonly trace_flags: string;
}

/** Something with a current span, under which work in progress starts its spans. */
export interface SpanHolder {
  readonly span: TraceSpan | undefined;
}

/**
 * A span of a request. If the request is not sampled, all its spans are the same object, which records nothing and only
 * carries the ids of the trace.
 *
 * Spans are passed explicitly from the request to its parts. A request without a trace has no span at all.
 */
export class TraceSpan implements TraceContext {
  readonly #span: Span;
  readonly #parts: TraceParts;
  /** True if the span is recorded. Attributes of other spans need not be computed. */
  readonly isRecorded: boolean;
  #context: Context | undefined;
  #isEnded = false;

  constructor(span: Span, parts: TraceParts) {
    this.#span = span;
    this.#parts = parts;
    this.isRecorded = span.isRecording();
  }

  get traceparent(): string {
    return writeTraceparent(this.#span.spanContext());
  }

  get tracestate(): string | undefined {
    const state = this.#span.spanContext().traceState?.serialize();
    return state === '' ? undefined : state;
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  /** For log lines. */
  get ids(): TraceIds {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return { trace_id: traceId, span_id: spanId, trace_flags: `0${traceFlags & 1}` };
  }

  /**
   * Starts a span below this one. Each span needs one `end`.
   * @param at by `performance.now()`
   */
  start(type: SpanType, name: string, attributes?: Attributes, at = performance.now()): TraceSpan {
    if (!this.isRecorded) return this;
    const options = {
      kind: KINDS[SPANS[type].kind],
      startTime: this.#parts.epoch + at,
      ...(attributes === undefined ? {} : { attributes }),
    };
    this.#context ??= this.#parts.contextOf(this.#span);
    return new TraceSpan(this.#parts.tracer.startSpan(name, options, this.#context), this.#parts);
  }

  /** Starts the span of a round trip to the store. @param keys undefined if the operation has no keys */
  startStore(operation: string, keys: number | undefined): TraceSpan {
    if (!this.isRecorded) return this;
    return this.start('store', `store ${operation}`, {
      ...this.#parts.store,
      'db.operation.name': operation,
      ...(keys === undefined ? {} : { 'millrace.keys': keys }),
    });
  }

  /** Starts the span of a read from Feast's Redis. */
  startFeast(keys: number): TraceSpan {
    if (!this.isRecorded) return this;
    return this.start('feast', 'feast read', {
      'db.system.name': 'redis',
      'db.operation.name': 'read',
      'millrace.keys': keys,
    });
  }

  /** Starts the span of the read of a view by a reader. */
  startReader(view: string, keys: number): TraceSpan {
    if (!this.isRecorded) return this;
    return this.start('reader', `read ${view}`, { 'millrace.view': view, 'millrace.keys': keys });
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  /**
   * Records why the work failed, by a stable code. The message is left out, because it may hold values of the request.
   * @param isServersFault false if the client caused the error, which is not an error of a server span
   */
  fail(code: string, isServersFault = true): void {
    this.#span.setAttribute('error.type', code);
    if (isServersFault) this.#span.setStatus(this.#parts.failed);
  }

  /** Only the first call counts. A span that is not recorded never ends, because several parts of a request share it. */
  end(at = performance.now()): void {
    if (!this.isRecorded || this.#isEnded) return;
    this.#isEnded = true;
    this.#span.end(this.#parts.epoch + at);
  }
}

/** The stable code of an error; the name of its class if it has none. */
export function errorCodeOf(error: unknown): string {
  if (error instanceof MillraceError) return error.code;
  if (!(error instanceof Error)) return 'internal';
  // Errors of the store and of calls to other servers have a code of their own.
  const { code, fault } = error as { readonly code?: unknown; readonly fault?: unknown };
  if (typeof fault === 'string') return fault;
  return typeof code === 'string' ? code : error.name;
}

/** Runs work within a span, which ends when the work ends and has its error. */
export async function within<T>(span: TraceSpan, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.fail(errorCodeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

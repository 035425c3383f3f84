import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Tracer,
} from '@opentelemetry/api';
import type { IncomingHttpHeaders } from 'node:http';
import { readTraceparent } from './traceparent.js';
import { TraceSpan } from './trace-span.js';

const FAILED = { code: SpanStatusCode.ERROR };

/** The number of finished spans by what became of them, since the start. */
export interface SpanCounts {
  readonly exported: number;
  /** The collector did not accept them. */
  readonly failed: number;
  /** The queue was full. */
  readonly dropped: number;
}

/** The OpenTelemetry SDK that records the spans. */
export interface TraceSdk {
  readonly tracer: Tracer;
  /** Returns the context in which a request begins. */
  base(): Context;
  /** Undefined if the SDK was preloaded, and sends its spans itself. */
  readonly counts: SpanCounts | undefined;
  /** Sends the finished spans. */
  close(): Promise<void>;
}

/** Traces the requests of the process. */
export class Tracing {
  readonly #sdk: TraceSdk;
  readonly #store: Attributes;

  /** @param store the attributes of the store, for the spans of its round trips */
  constructor(sdk: TraceSdk, store: Attributes) {
    this.#sdk = sdk;
    this.#store = store;
  }

  get counts(): SpanCounts | undefined {
    return this.#sdk.counts;
  }

  /**
   * Starts the span of a request, below the span of its client if the headers name one.
   * @param arrived by `performance.now()`
   */
  begin(method: string, headers: IncomingHttpHeaders, arrived: number): TraceSpan {
    const { tracer } = this.#sdk;
    const epoch = Date.now() - performance.now();
    const options = { kind: SpanKind.SERVER, startTime: epoch + arrived };
    const span = tracer.startSpan(method, options, this.#parentOf(headers));
    return new TraceSpan(span, {
      tracer,
      contextOf: (parent) => trace.setSpan(ROOT_CONTEXT, parent),
      failed: FAILED,
      store: this.#store,
      epoch,
    });
  }

  #parentOf({ traceparent, tracestate }: IncomingHttpHeaders): Context {
    const base = this.#sdk.base();
    // A preloaded instrumentation of node:http has already read the headers.
    if (typeof traceparent !== 'string' || trace.getSpan(base) !== undefined) return base;
    const client = readTraceparent(traceparent);
    if (client === undefined) return base;
    const state = [tracestate].flat().join();
    return trace.setSpanContext(
      base,
      state === '' ? client : { ...client, traceState: createTraceState(state) },
    );
  }

  /** Sends the finished spans, for at most `limitMs`. Never rejects. */
  async close(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
    await Promise.race([this.#sdk.close().catch(() => undefined), late]);
    clearTimeout(timer);
  }
}

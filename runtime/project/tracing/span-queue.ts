import type { ReadableSpan, Span, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Context } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { SAMPLED } from './traceparent.js';
import type { SpanCounts } from './tracing.js';

type ExportResult = Parameters<Parameters<SpanExporter['export']>[1]>[0];

/** `ExportResultCode.SUCCESS` of the SDK. */
const SUCCESS = 0;
/** At most one failed export is logged within this time, in milliseconds. */
const EVERY = 60_000;

/**
 * Counts the spans between the service and the collector, and logs when the collector does not accept them. The SDK
 * itself drops spans and loses batches without a message.
 */
export class SpanQueue implements SpanProcessor {
  readonly #batches: SpanProcessor;
  readonly #limit: number;
  readonly #logger: Logger;
  readonly #counts = { exported: 0, failed: 0, dropped: 0 };
  #waiting = 0;
  #loggedAt = -Infinity;

  /**
   * @param makeBatches makes the SDK's processor, which collects spans and passes them to the given exporter
   * @param limit the maximum number of spans that wait
   */
  constructor(
    exporter: SpanExporter,
    makeBatches: (exporter: SpanExporter) => SpanProcessor,
    limit: number,
    logger: Logger,
  ) {
    this.#batches = makeBatches({
      export: (spans, done) => this.#export(exporter, spans, done),
      shutdown: () => exporter.shutdown(),
    });
    this.#limit = limit;
    this.#logger = logger;
  }

  get counts(): SpanCounts {
    return this.#counts;
  }

  onStart(span: Span, parent: Context): void {
    this.#batches.onStart(span, parent);
  }

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & SAMPLED) === 0) return;
    if (this.#waiting >= this.#limit) this.#counts.dropped++;
    else {
      this.#waiting++;
      this.#batches.onEnd(span);
    }
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #export(exporter: SpanExporter, spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#waiting -= spans.length;
    exporter.export(spans, (result) => {
      const code: number = result.code;
      if (code === SUCCESS) this.#counts.exported += spans.length;
      else this.#lost(spans.length, result.error);
      done(result);
    });
  }

  #lost(spans: number, error: Error | undefined): void {
    this.#counts.failed += spans;
    const now = performance.now();
    if (now - this.#loggedAt < EVERY) return;
    this.#loggedAt = now;
    this.#logger.warn(
      { error: error?.message ?? 'unknown', spans, failed: this.#counts.failed },
      'the collector did not accept the traces',
    );
  }
}

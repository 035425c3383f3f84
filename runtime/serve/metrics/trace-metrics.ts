import { Counter, type Registry } from 'prom-client';
import type { SpanCounts } from '../../project/tracing/tracing.js';

/** Counts the spans that the process sends to the collector. @param counts undefined if they are not known */
export function countSpans(registry: Registry, counts: SpanCounts | undefined): void {
  new Counter({
    name: 'millrace_trace_spans_total',
    help:
      'Finished spans of traces, by outcome: exported, failed (the collector did not accept them), dropped (the queue was full, see ' +
      'OTEL_BSP_MAX_QUEUE_SIZE). Zero if MILLRACE_TRACES is not on, or the SDK was preloaded.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const outcome of ['exported', 'failed', 'dropped'] as const)
        this.inc({ outcome }, counts?.[outcome] ?? 0);
    },
  });
}

import { context, trace } from '@opentelemetry/api';
import { version } from '../settings/version.js';
import type { TraceSdk } from './tracing.js';

/** Uses the SDK that is registered globally. Its owner has configured it. */
export function preloadedSdk(): TraceSdk {
  const registered = trace.getTracerProvider();
  // The API wraps the provider that the SDK registered.
  const { getDelegate } = registered as { readonly getDelegate?: () => object };
  const provider = getDelegate?.call(registered) ?? registered;
  return {
    tracer: registered.getTracer('millrace', version),
    // An instrumentation of node:http may have started a span for the request.
    base: () => context.active(),
    counts: undefined,
    async close() {
      await (provider as { forceFlush?: () => Promise<void> }).forceFlush?.();
    },
  };
}

/** The position of a step in the trace of its request, as the headers of W3C Trace Context. */
export interface TraceContext {
  /** The header `traceparent`. Send it with calls that do not use `BuildContext.http`. */
  readonly traceparent: string;
  /** The header `tracestate`; undefined if there is none. */
  readonly tracestate: string | undefined;
}

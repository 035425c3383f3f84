import type { IncomingMessage } from 'node:http';
import type { MillraceError } from '../../ground/api/errors.js';
import { degradationText } from '../../request/pipeline/page/degraded.js';
import type { RunReport } from '../../request/pipeline/types.js';
import type { TraceSpan } from '../../project/tracing/trace-span.js';

/** The methods that the semantic conventions know. The name of a span must not be a text of the client. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
]);

export function methodOf({ method = '' }: IncomingMessage): string {
  return METHODS.has(method) ? method : '_OTHER';
}

/** Records the result of a request and ends its span. @param status undefined if the client disconnected before the answer */
export function endRequestSpan(
  span: TraceSpan,
  req: IncomingMessage,
  { id, route }: { readonly id: string; readonly route: string | undefined },
  status: number | undefined,
): void {
  if (!span.isRecorded) return;
  const method = methodOf(req);
  // An unknown path may hold anything, also ids.
  if (route !== undefined) {
    span.rename(`${method} ${route}`);
    span.set({ 'http.route': route, 'url.path': route });
  }
  span.set({
    'http.request.method': method,
    'network.protocol.version': req.httpVersion,
    'url.scheme': 'encrypted' in req.socket ? 'https' : 'http',
    'millrace.request_id': id,
  });
  if (status === undefined) span.fail('client_closed_request', false);
  else span.set({ 'http.response.status_code': status });
  span.end();
}

/** Records the code of an error that is answered. Only errors of the server are errors of its span. */
export function failRequestSpan(span: TraceSpan, { code, status }: MillraceError): void {
  span.fail(code, status >= 500);
}

/** Records the size of a ranking, and the reasons why it is degraded. */
export function traceReport(span: TraceSpan, { candidates, degraded }: RunReport): void {
  span.set({ 'millrace.candidates': candidates });
  if (degraded.length > 0) span.set({ 'millrace.degraded': degraded.map(degradationText) });
}

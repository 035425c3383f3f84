import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';

/** The parts of opentelemetry-proto 1.x that traces use (opentelemetry/proto/trace/v1/trace.proto). */
const PROTO = `syntax = "proto3";
message Request { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message Scope { string name = 1; string version = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
  int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  Status status = 15;
}
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5; }
}
message ArrayValue { repeated AnyValue values = 1; }
`;
const REQUEST = protobuf.parse(PROTO).root.lookupType('Request');

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  /** '' for a root. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  readonly service: string;
}

/** An OpenTelemetry collector on this machine: it receives OTLP over HTTP in protobuf. */
export interface Collector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** The number of requests. */
  requests: number;
  /** The status of its answers; 0: it does not answer. */
  status: number;
  /** The instances of services that sent spans. */
  readonly services: Set<unknown>;
  /** The attributes of the last resource. */
  resource: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const server = createServer((request, answer) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      collector.requests++;
      if (collector.status === 200) {
        if (request.url !== '/v1/traces') throw new Error(`unexpected path ${request.url ?? ''}`);
        const message = REQUEST.toObject(REQUEST.decode(Buffer.concat(chunks)), { longs: String });
        collect(message, collector);
      }
      if (collector.status > 0) answer.writeHead(collector.status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    requests: 0,
    status: 200,
    services: new Set(),
    resource: {},
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return collector;
}

/** The attributes have snake_case names in protobuf and camelCase names in protobufjs. */
interface WireRequest {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly WireAttribute[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly WireSpan[] }[];
  }[];
}
interface WireSpan {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly traceState?: string;
  readonly parentSpanId?: Uint8Array;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly WireAttribute[];
  readonly status?: { readonly code?: number };
}
interface WireAttribute {
  readonly key: string;
  readonly value: WireValue;
}
interface WireValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values?: readonly WireValue[] };
}

function collect({ resourceSpans = [] }: WireRequest, into: Collector): void {
  for (const { resource, scopeSpans = [] } of resourceSpans) {
    into.resource = attributesOf(resource?.attributes);
    into.services.add(into.resource['service.instance.id']);
    for (const span of scopeSpans.flatMap(({ spans = [] }) => spans))
      into.spans.push({
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        traceState: span.traceState ?? '',
        parentId: hex(span.parentSpanId),
        name: span.name,
        kind: (['internal', 'internal', 'server', 'client'] as const)[span.kind] ?? 'internal',
        start: BigInt(span.startTimeUnixNano),
        end: BigInt(span.endTimeUnixNano),
        attributes: attributesOf(span.attributes),
        isError: span.status?.code === 2,
        service: String(into.resource['service.name']),
      });
  }
}

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');

function attributesOf(list: readonly WireAttribute[] = []): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf(value: WireValue): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(valueOf);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue;
}

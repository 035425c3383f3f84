import { oneOf, row, wholeNumber } from './setting-row.js';

/** The samplers of the OpenTelemetry specification that need no other server. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/**
 * OpenTelemetry traces (runtime/project/tracing). The names that start with OTEL_ and their defaults are those of the OpenTelemetry
 * specification. The exporter reads the other OTEL_EXPORTER_OTLP_* variables itself.
 */
export const TRACE_SETTINGS = {
  traces: row({
    env: 'MILLRACE_TRACES',
    value: 'WHEN',
    default: 'auto',
    description:
      'Whether requests are traced (docs/tracing.md): `off`; `on` (with the OpenTelemetry SDK, which must be installed); or `auto` (only if an SDK was preloaded with `node --import`).',
    expected: 'off, auto or on',
    parse: oneOf('off', 'auto', 'on'),
  }),
  traceServiceName: row({
    env: 'OTEL_SERVICE_NAME',
    value: 'NAME',
    default: '',
    description:
      'Name of the service in traces. By default the `service.name` of OTEL_RESOURCE_ATTRIBUTES, or `millrace`.',
    expected: 'a name',
    parse: (text) => text,
  }),
  traceEndpoint: row({
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    value: 'URL',
    default: '',
    description:
      'Collector that receives the traces, over OTLP with HTTP and protobuf. By default `http://localhost:4318`.',
    expected: 'the URL of a collector, e.g. http://localhost:4318',
    parse: (text) => (text === '' || /^https?:$/.test(protocolOf(text)) ? text : undefined),
  }),
  traceSampler: row({
    env: 'OTEL_TRACES_SAMPLER',
    value: 'SAMPLER',
    default: 'parentbased_always_on',
    description: `Which requests are recorded: ${SAMPLERS.map((name) => `\`${name}\``).join(', ')}. The samplers that start with \`parentbased_\` follow the decision of the client's \`traceparent\`.`,
    expected: `one of ${SAMPLERS.join(', ')}`,
    parse: oneOf(...SAMPLERS),
  }),
  traceSamplerArg: row({
    env: 'OTEL_TRACES_SAMPLER_ARG',
    value: 'RATIO',
    default: '1',
    description: 'Part of the requests that a sampler with `traceidratio` records, 0 to 1.',
    expected: 'a number, 0 to 1',
    parse: (text) => {
      const ratio = /^\d*\.?\d+$/.test(text) ? Number(text) : NaN;
      return ratio >= 0 && ratio <= 1 ? ratio : undefined;
    },
  }),
  traceQueueSize: row({
    env: 'OTEL_BSP_MAX_QUEUE_SIZE',
    value: 'SPANS',
    default: '2048',
    description:
      'Maximum number of finished spans that wait for the collector. Further spans are dropped and counted.',
    expected: 'a number of spans, 1 to 1000000',
    parse: wholeNumber(1, 1_000_000),
  }),
  traceBatchSize: row({
    env: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    value: 'SPANS',
    default: '512',
    description: 'Maximum number of spans in one request to the collector.',
    expected: 'a number of spans, 1 to 1000000',
    parse: wholeNumber(1, 1_000_000),
  }),
  traceDelayMs: row({
    env: 'OTEL_BSP_SCHEDULE_DELAY',
    value: 'MS',
    default: '5000',
    description: 'The longest time that a finished span waits for a full batch, in milliseconds.',
    expected: 'a number of milliseconds, 0 to 600000',
    parse: wholeNumber(0, 600_000),
  }),
} as const;

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : '';
}

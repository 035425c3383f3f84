import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type * as Resources from '@opentelemetry/resources';
import type * as Sdk from '@opentelemetry/sdk-trace';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Logger } from 'pino';
import { MillraceError } from '../../ground/api/errors.js';
import type { Settings } from '../settings/settings.js';
import { version } from '../settings/version.js';
import { SpanQueue } from './span-queue.js';
import type { TraceSdk } from './tracing.js';

const SDK = '@opentelemetry/sdk-trace';
const EXPORTER = '@opentelemetry/exporter-trace-otlp-proto';

/** How to find the packages of the SDK, and where to report lost traces. */
export interface SdkParts {
  /** As `BuildContext.findPackage`. */
  readonly findPackage: (name: string) => string | undefined;
  readonly logger: Logger;
}

type TraceSettings = Pick<
  Settings,
  | 'traceServiceName'
  | 'traceEndpoint'
  | 'traceSampler'
  | 'traceSamplerArg'
  | 'traceQueueSize'
  | 'traceBatchSize'
  | 'traceDelayMs'
>;

/**
 * Loads the OpenTelemetry SDK, which is an optional dependency, and starts it. It is not registered globally.
 * @throws MillraceError invalid_setting if the SDK is not installed
 */
export async function startSdk(
  settings: TraceSettings,
  { findPackage, logger }: SdkParts,
): Promise<TraceSdk> {
  const sdkPath = pathOf(SDK, findPackage);
  const sdk = await load<typeof Sdk>(sdkPath);
  // A dependency of the SDK: its own copy fits.
  const resources = await load<typeof Resources>(createRequire(sdkPath).resolve('@opentelemetry/resources'));
  const { OTLPTraceExporter: Exporter } = await load<{ OTLPTraceExporter: typeof OTLPTraceExporter }>(
    pathOf(EXPORTER, findPackage),
  );
  const queue = new SpanQueue(
    new Exporter(endpointOf(settings)),
    (exporter) =>
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: settings.traceQueueSize,
        maxExportBatchSize: Math.min(settings.traceBatchSize, settings.traceQueueSize),
        scheduledDelayMillis: settings.traceDelayMs,
      }),
    settings.traceQueueSize,
    logger,
  );
  const provider = new sdk.TracerProvider({
    resource: resourceOf(resources, settings.traceServiceName),
    sampler: samplerOf(sdk, settings),
    spanProcessors: [queue],
  });
  return {
    tracer: provider.getTracer('millrace', version),
    base: () => ROOT_CONTEXT,
    counts: queue.counts,
    close: () => provider.shutdown(),
  };
}

function pathOf(name: string, findPackage: SdkParts['findPackage']): string {
  const path = findPackage(name);
  if (path !== undefined) return path;
  throw new MillraceError(
    'invalid_setting',
    `MILLRACE_TRACES is on, and the package ${name} is not installed; install it beside the project or Millrace: npm install ${SDK} ${EXPORTER} (with Node 20: ${SDK}@2 ${EXPORTER}@0.223)`,
  );
}

async function load<T>(path: string): Promise<T> {
  return (await import(pathToFileURL(path).href)) as T;
}

/** The exporter reads OTEL_EXPORTER_OTLP_TRACES_ENDPOINT itself, and that variable is more specific. */
function endpointOf({ traceEndpoint }: TraceSettings): { readonly url?: string } {
  if (traceEndpoint === '' || process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return {};
  return { url: `${traceEndpoint.replace(/\/+$/, '')}/v1/traces` };
}

function resourceOf(resources: typeof Resources, serviceName: string): Resources.Resource {
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'millrace', 'service.version': version }))
    .merge(detectResources({ detectors: [resources.serviceInstanceIdDetector, envDetector] }))
    .merge(resourceFromAttributes(serviceName === '' ? {} : { 'service.name': serviceName }));
}

function samplerOf(sdk: typeof Sdk, { traceSampler, traceSamplerArg }: TraceSettings): Sdk.Sampler {
  const rootOf = (name: string): Sdk.Sampler => {
    if (name === 'always_on') return new sdk.AlwaysOnSampler();
    if (name === 'always_off') return new sdk.AlwaysOffSampler();
    return new sdk.TraceIdRatioBasedSampler(traceSamplerArg);
  };
  const [, root] = /^parentbased_(.*)$/.exec(traceSampler) ?? [];
  return root === undefined ? rootOf(traceSampler) : new sdk.ParentBasedSampler({ root: rootOf(root) });
}

import type { Registry } from 'prom-client';
import { AdmissionMetrics } from '../runtime/serve/metrics/admission-metrics.js';
import { ConnectionMetrics } from '../runtime/serve/metrics/connection-metrics.js';
import { EdgeMetrics } from '../runtime/serve/metrics/edge-metrics.js';
import { countCuration } from '../runtime/serve/metrics/curation-metrics.js';
import { countEventLoopDelay } from '../runtime/serve/metrics/event-loop-metrics.js';
import { HttpMetrics } from '../runtime/serve/metrics/http-metrics.js';
import { countKeys } from '../runtime/serve/metrics/key-metrics.js';
import { LedgerMetrics } from '../runtime/serve/metrics/ledger-metrics.js';
import { OutboundMetrics } from '../runtime/serve/metrics/outbound-metrics.js';
import { countProcess } from '../runtime/serve/metrics/process-metrics.js';
import { countAgreement, countReloads, countRollbacks } from '../runtime/serve/metrics/reload-metrics.js';
import { countResident } from '../runtime/serve/metrics/resident-metrics.js';
import { countSources } from '../runtime/serve/metrics/source-metrics.js';
import { countStore } from '../runtime/serve/metrics/store-metrics.js';
import { StrayMetrics } from '../runtime/serve/metrics/stray-metrics.js';
import { countSpans } from '../runtime/serve/metrics/trace-metrics.js';
import { countWorkers } from '../runtime/serve/metrics/worker-metrics.js';
import { StoreCheck } from '../runtime/state/store/store-check.js';
import { StoreMonitor } from '../runtime/state/store/store-monitor.js';

export interface RegisteredMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

/**
 * Every metric that a service can have. The table in docs/deploy.md lists the ones of Millrace, and the dashboard and the
 * alert rules may use no other.
 */
export function registeredMetrics(): readonly RegisteredMetric[] {
  const { registry } = new HttpMetrics();
  register(registry);
  return registry.getMetricsAsArray() as unknown as readonly RegisteredMetric[];
}

function register(registry: Registry): void {
  new OutboundMetrics().register(registry);
  new StrayMetrics().register(registry);
  new AdmissionMetrics(registry).watch({ classes: [], waiting: 0, inFlight: () => 0 });
  const connections = new ConnectionMetrics(registry);
  connections.watch(() => 0);
  connections.watchCertificate({ notAfter: 0 });
  new EdgeMetrics(registry);
  countKeys(registry, { keys: [], isDamaged: false });
  countSpans(registry, undefined);
  countEventLoopDelay(registry)();
  countProcess(registry, () => '');
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  new LedgerMetrics(log).register(registry, () => []);
  countStore(registry, new StoreMonitor(log), new StoreCheck({ ping: () => Promise.resolve() }));
  countResident(registry, { states: () => [], isCurrent: () => false });
  countReloads(registry, {
    counts: { succeeded: 0, failed: 0, held: 0, refused: 0 },
    lastFailed: false,
    current: { version: '', loadedAt: 0, models: [] },
  });
  countAgreement(registry, { counts: { compared: 0, failed: 0, busy: 0 }, values: () => [] });
  countRollbacks(registry, { heldBy: undefined, isPending: false });
  countCuration(registry, () => ({ states: () => [], isStale: false }));
  countSources(registry, () => []);
  countWorkers(registry, { states: () => [], restarts: () => 0 });
}

import { Counter, Histogram } from 'prom-client';
import type { ServedKeys } from '../access/served-keys.js';
import { countCuration } from '../metrics/curation-metrics.js';
import { countKeys } from '../metrics/key-metrics.js';
import { OutboundMetrics } from '../metrics/outbound-metrics.js';
import { PluginMetricsRegistry } from '../metrics/plugin-metrics.js';
import { countProcess } from '../metrics/process-metrics.js';
import { countAgreement, countReloads, countRollbacks } from '../metrics/reload-metrics.js';
import { countResident } from '../metrics/resident-metrics.js';
import { countStore } from '../metrics/store-metrics.js';
import { countSpans } from '../metrics/trace-metrics.js';
import { StoreCheck } from '../../state/store/store-check.js';
import type { Tracing } from '../../project/tracing/tracing.js';
import { TOKENS, type Container } from './container/tokens.js';
import type { Recording } from './project/recording.js';
import type { ProjectGuards } from './project/project-guards.js';
import type { Reloader } from './project/reloader.js';

/** The parts of a service that have metrics and are no services of the container. */
interface CountedParts {
  readonly reloader: Reloader;
  readonly recording: Recording | undefined;
  readonly tracing: Tracing | undefined;
  readonly keys: ServedKeys | undefined;
  readonly guards: ProjectGuards | undefined;
}

/** The metrics of a service. Those of calls and of plugins count from the first compilation, before there is a registry. */
export class AppMetrics {
  readonly outbound = new OutboundMetrics();
  readonly plugins = new PluginMetricsRegistry({ Counter, Histogram });

  /** Registers the metrics of all parts. */
  register(services: Container, { reloader, recording, tracing, keys, guards }: CountedParts): void {
    const { registry } = services.resolve(TOKENS.metrics);
    countResident(registry, {
      states: () => reloader.current.resident.states(),
      isCurrent: () => reloader.current.resident.isCurrent(),
    });
    countStore(
      registry,
      services.resolve(TOKENS.storeMonitor),
      new StoreCheck(services.resolve(TOKENS.store)),
    );
    countProcess(registry, () => reloader.current.version);
    this.outbound.register(registry);
    this.plugins.register(registry);
    recording?.metrics.register(registry, () => recording.sinks.ledger.sinks());
    if (keys !== undefined) countKeys(registry, keys);
    countReloads(registry, reloader);
    if (guards !== undefined) countRollbacks(registry, guards.releases);
    if (guards !== undefined) countAgreement(registry, guards.agreement);
    countCuration(registry, () => reloader.current.curation);
    countSpans(registry, tracing?.counts);
  }
}

import { Counter, Gauge, type Registry } from 'prom-client';

/** The state of the workers, as the primary process knows it. */
export interface WorkerSource {
  states(): readonly {
    readonly number: number;
    readonly isReady: boolean;
    readonly connections: number;
    /** Counted since this worker started. */
    readonly requests: number;
  }[];
  restarts(): number;
}

/** Adds the state of the workers to a registry. The values are collected when the registry is read. */
export function countWorkers(registry: Registry, source: WorkerSource): void {
  const registers = [registry];
  new Gauge({
    name: 'millrace_workers_ready',
    help: 'Workers that take connections; only with several workers.',
    registers,
    collect() {
      this.set(source.states().filter(({ isReady }) => isReady).length);
    },
  });
  new Counter({
    name: 'millrace_worker_restarts_total',
    help: 'Workers that were started because another one ended; only with several workers.',
    registers,
    collect() {
      this.reset();
      this.inc(source.restarts());
    },
  });
  new Gauge({
    name: 'millrace_worker_connections',
    help: 'Open connections of each worker; only with several workers.',
    labelNames: ['worker'],
    registers,
    collect() {
      this.reset();
      for (const { number, connections } of source.states()) this.set({ worker: number }, connections);
    },
  });
  new Counter({
    name: 'millrace_worker_requests_total',
    help: 'Requests that each worker answered since it started; only with several workers.',
    labelNames: ['worker'],
    registers,
    collect() {
      this.reset();
      for (const { number, requests } of source.states()) this.inc({ worker: number }, requests);
    },
  });
}

/**
 * Adds the resource use of the primary process, under the names of prom-client's default metrics. The values of the
 * workers are added to it. The default metrics themselves measure the event loop all the time, which the idle primary
 * does not need.
 */
export function countPrimary(registry: Registry): void {
  const registers = [registry];
  for (const [kind, micros] of CPU)
    new Counter({
      name: `process_cpu_${kind}seconds_total`,
      help: 'CPU time of the primary process and the workers.',
      registers,
      collect() {
        this.reset();
        this.inc(micros(process.cpuUsage()) / 1e6);
      },
    });
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the primary process and the workers.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When the primary process started, in seconds since the epoch.',
    registers,
  }).set(Math.round(Date.now() / 1000 - process.uptime()));
}

const CPU: readonly (readonly [string, (usage: NodeJS.CpuUsage) => number])[] = [
  ['user_', ({ user }) => user],
  ['system_', ({ system }) => system],
  ['', ({ user, system }) => user + system],
];

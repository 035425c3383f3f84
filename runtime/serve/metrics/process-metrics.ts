import { getHeapStatistics } from 'node:v8';
import { Gauge, type Registry } from 'prom-client';
import { version } from '../../project/settings/version.js';

/** Adds what the process is made of, and how full its heap is. */
export function countProcess(registry: Registry, project: () => string): void {
  const registers = [registry];
  new Gauge({
    name: 'millrace_build_info',
    help: 'Always 1; the labels are the version of Millrace, the version of Node, and the hash of millrace_project_info.',
    aggregator: 'max',
    labelNames: ['version', 'node', 'project'],
    registers,
    collect() {
      this.reset();
      this.set({ version, node: process.versions.node, project: project() }, 1);
    },
  });
  new Gauge({
    name: 'millrace_heap_used_ratio',
    help: 'Share of the heap limit of Node that is used, 0 to 1; of several workers, that of the fullest.',
    aggregator: 'max',
    registers,
    collect() {
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      this.set(used / limit);
    },
  });
}

import { expect } from 'chai';
import { Registry } from 'prom-client';
import { countResident } from '../../runtime/serve/metrics/resident-metrics.js';

describe('metrics of what is kept in process', () => {
  it('are those of the tables when they are asked for', async () => {
    const state = {
      type: 'item',
      rows: 5,
      bytes: 700,
      hits: 10,
      misses: 2,
      bypasses: 1,
      evictions: 3,
      invalidations: 4,
      flushes: 6,
    };
    let isCurrent = true;
    const registry = new Registry();
    countResident(registry, { states: () => [state], isCurrent: () => isCurrent });
    const line = async (start: string): Promise<string | undefined> =>
      (await registry.metrics()).split('\n').find((text) => text.startsWith(start));

    expect(await line('millrace_resident_hits_total{')).to.equal(
      'millrace_resident_hits_total{entity_type="item"} 10',
    );
    state.hits = 12;
    expect(await line('millrace_resident_hits_total{')).to.contain('} 12');
    for (const [name, value] of [
      ['misses_total', 2],
      ['bypasses_total', 1],
      ['evictions_total', 3],
      ['invalidations_total', 4],
      ['flushes_total', 6],
      ['rows', 5],
      ['bytes', 700],
    ] as const) {
      expect(await line(`millrace_resident_${name}{`)).to.equal(
        `millrace_resident_${name}{entity_type="item"} ${value}`,
      );
    }
    expect(await line('millrace_resident_current')).to.equal('millrace_resident_current 1');
    isCurrent = false;
    expect(await line('millrace_resident_current')).to.equal('millrace_resident_current 0');
  });
});

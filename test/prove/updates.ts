import type { Proof } from './proof.js';
import { CLIENTS, CROWD, PLACES, writeConcurrently, type Figures } from './updates/run.js';

export const updates: Proof = {
  name: 'updates',
  summary: 'concurrent updates, uploads and deletions of entities on three instances, compared with a model',
  async run({ short }) {
    const all: Figures[] = [];
    for (const place of PLACES) {
      const figures = await writeConcurrently(place, short ? 4_000 : 100_000, short ? 2 : 10);
      console.log(JSON.stringify(figures));
      all.push(figures);
    }
    return {
      markdown: [
        `${CLIENTS} clients write, and each instance ranks. Then ${CROWD} clients update one entity.`,
        '',
        '| store | instances | updates | uploads | deletions | unknown, created | differences | stale scores | crowd: updates, lost |',
        '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
        ...all.map((one) => {
          const counts = [one.updates, one.uploads, one.deletions].map((count) => count.toLocaleString('en'));
          return (
            `| ${one.place} | ${one.services} | ${counts.join(' | ')} | ${one.unknown}, ${one.created} | ` +
            `${one.differences} | ${one.stale} | ${one.crowd.toLocaleString('en')}, ${one.lost} |`
          );
        }),
      ].join('\n'),
      missed: all.flatMap(({ place, differences, reasons, stale, lost }) => [
        ...(differences > 0
          ? [`${place}: differences: 0, found ${differences} (${reasons.join('; ')})`]
          : []),
        ...(stale > 0 ? [`${place}: scores of old prices: 0, found ${stale}`] : []),
        ...(lost > 0
          ? [`${place}: acknowledged updates of one entity that are missing: 0, found ${lost}`]
          : []),
      ]),
    };
  },
};

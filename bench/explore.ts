import { memoryLedger } from '../test/support/memory-ledger.js';
import { startProject } from '../test/support/project.js';
import { measure, median, table, type Contestant } from './support/measure.js';

const COUNT = 1000;
const TOP = 24;
/** How much slower a ranking of 1,000 candidates may be that draws its page. */
const MOST_RATIO = 1.5;

const STEPS: Readonly<Record<string, string>> = {
  plain: '',
  swap: '{ method: swap, probability: 0.2',
  plackett_luce: '{ method: plackett_luce, temperature: 0.5',
  epsilon_greedy: '{ method: epsilon_greedy, epsilon: 0.1',
};

const pipeline = (name: string, options: string, log: string): string => `pipeline: ${name}
rank: product
request: { candidates: { worth: float } }
components:
  - { use: score, with: { value: product.worth } }
${options === '' ? '' : `  - { use: explore, with: ${options}, top: ${TOP} } }`}
page: { size: ${TOP} }
${log}`;

/** Measures what it costs to draw the page of a ranking, without a log and with one. */
export async function exploreBench(short: boolean): Promise<void> {
  const rows: string[][] = [];
  for (const log of ['', 'log: { candidates: all }\n']) {
    const { ledger, records } = memoryLedger();
    const project = await startProject(
      {
        'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
        ...Object.fromEntries(
          Object.entries(STEPS).map(([name, options]) => [
            `pipelines/${name}.yaml`,
            pipeline(name, options, log),
          ]),
        ),
      },
      { ledger, experiments: true, env: { MILLRACE_EXPLORE_SALT: 'the secret of this bench' } },
    );
    try {
      const candidates = Array.from({ length: COUNT }, (_, at) => ({
        product_id: `p${at}`,
        worth: ((at * 7919) % COUNT) / 100,
      }));
      let n = 0;
      const contestants = Object.keys(STEPS).map((name): Contestant => {
        const served = project.app.pipelines.find((one) => one.name === name);
        return {
          name,
          async run() {
            await served?.run({ candidates }, { requestId: `r${n++}` });
            // The record is written after the answer, and counts.
            await new Promise(setImmediate);
          },
        };
      });
      const measured = await measure(contestants, short ? 100 : 1000);
      if (log !== '' && (await records()).length < n) throw new Error('requests were not logged');
      const plain = median(measured[0]?.ms ?? []);
      for (const { name, ms } of measured) {
        const ratio = median(ms) / plain;
        rows.push([log === '' ? 'no log' : 'log', name, median(ms).toFixed(3), ratio.toFixed(3)]);
        if (ratio > MOST_RATIO) {
          console.error(`${name}: ${ratio.toFixed(2)} times as long as without explore`);
          process.exitCode = 1;
        }
      }
    } finally {
      await project.close();
    }
  }
  console.log(table([`${COUNT} candidates, top ${TOP}`, 'explore', 'ms, median', 'ratio'], rows));
}

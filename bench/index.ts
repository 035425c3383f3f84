import { parseArgs } from 'node:util';
import { serviceAgainst } from './against.js';
import { clicksBench } from './clicks.js';
import { compositeBench } from './composite.js';
import { contributionsBench } from './contributions.js';
import { countersBench } from './counters.js';
import { curationBench } from './curation.js';
import { dataSetBench } from './dataset.js';
import { experimentsBench } from './experiments.js';
import { exploreBench } from './explore.js';
import { expressionsBench } from './expressions.js';
import { featuresBench } from './features.js';
import { keysBench } from './keys.js';
import { ledgerBench } from './ledger.js';
import { librariesBench } from './libraries.js';
import { loadBench } from './load.js';
import { modelsBench } from './models.js';
import { modelShapesBench } from './model-shapes.js';
import { onlineBench } from './online.js';
import { refusalsBench } from './refusals.js';
import { requestBench } from './request.js';
import { rulesBench } from './rules.js';
import { serviceBench } from './service.js';
import { shopBench } from './shop.js';
import { sizingBench } from './sizing.js';
import { slidersBench } from './sliders.js';
import { storeBench } from './store.js';
import { textBench } from './text.js';
import { tracesBench } from './traces.js';
import { tuneBench } from './tune.js';
import { updatesBench } from './updates.js';
import { vectorsBench } from './vectors.js';
import { whereBench } from './where.js';
import { wordsBench } from './words.js';
import { workbenchesBench } from './workbenches.js';

/**
 * `npm run bench [-- NAME] [--short]` runs every bench, or the named one. `npm run bench -- service --against DIR` compares
 * the service with that of another checkout; `--after DIR` names a checkout other than this one, and `--pairs N` the number
 * of pairs, `--clients N` that of clients at a time (4).
 * `npm run bench -- service --only floors` compares the service with the floors alone; `--only heap` measures the heap that a
 * request uses, with `--against DIR` also that of another checkout; `--only pace` measures latencies at 70 % of the capacity;
 * `--candidates N` leaves other sizes out.
 * `npm run bench -- shop --against DIR` compares whole shops; `--only init`, `--only 'log page'`, `--only 'log all'`,
 * `--only films`, `--only mix` or `--only phases` compares one of them.
 * `npm run bench -- text --against DIR` compares the step text_match alone, `npm run bench -- refusals --against DIR` what a
 * refusal costs, and `npm run bench -- words --against DIR` the index of words with the libraries that are installed in DIR.
 * `npm run bench -- words --only fresh` measures how soon a search finds what is written, and nothing else; `--candidates N`
 * sets the number of entities.
 * `npm run bench -- dataset --rankings N` measures ledgers of N, N/10 and N/100 rankings, `--only NAME` the commands with
 * this in their names; `npm run bench -- ledger --candidates N` sets the size of requests.
 * `npm run bench -- counters --only PART` measures one part of live counters: `events`, `cached`, `warm`, `cold` or `hot`.
 * `npm run bench -- experiments --only "last step" --candidates 100` measures only the cases with that in their names, with
 * so many candidates. `npm run bench -- sizing --write` puts its figures into docs/sizing.md,
 * `service --write`, `shop --write` and `contributions --write` into docs/performance.md, `clicks --write` into docs/learn/training.md, and
 * `dataset --write` into docs/large-ledgers.md.
 */
const BENCHES: Readonly<Record<string, (short: boolean, write: boolean) => Promise<void>>> = {
  online: onlineBench,
  request: requestBench,
  rules: rulesBench,
  clicks: clicksBench,
  composite: compositeBench,
  contributions: contributionsBench,
  counters: (short) => countersBench(short, only),
  curation: curationBench,
  dataset: (short, write) =>
    dataSetBench(short, write, rankings === undefined ? undefined : Number(rankings), only),
  experiments: (short) => experimentsBench(short, only, count),
  explore: exploreBench,
  expressions: expressionsBench,
  features: featuresBench,
  keys: keysBench,
  ledger: (short) => ledgerBench(short, count),
  libraries: librariesBench,
  load: loadBench,
  models: modelsBench,
  refusals: (short) => refusalsBench(short, against, only),
  shapes: modelShapesBench,
  service: (short, write) =>
    against === undefined || only === 'heap'
      ? serviceBench(short, write, only, against, count)
      : serviceAgainst(
          {
            before: against,
            after,
            pairs: Number(pairs),
            candidates: count,
            clients: Number(values.clients),
          },
          short,
        ),
  shop: (short, write) =>
    shopBench(short, { against, after, pairs: Number(pairs), only, candidates: count, write }),
  sizing: sizingBench,
  sliders: slidersBench,
  store: storeBench,
  text: (short) => textBench(short, against, Number(pairs)),
  traces: tracesBench,
  tune: tuneBench,
  updates: updatesBench,
  vectors: vectorsBench,
  where: whereBench,
  words: (short) => wordsBench(short, against, only, count),
  workbenches: workbenchesBench,
};

const { values, positionals: names } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    against: { type: 'string' },
    after: { type: 'string' },
    pairs: { type: 'string', default: '24' },
    candidates: { type: 'string' },
    clients: { type: 'string', default: '4' },
    rankings: { type: 'string' },
    only: { type: 'string' },
  },
  allowPositionals: true,
});
const { short, write, against, after, pairs, rankings, only } = values;
const count = values.candidates === undefined ? undefined : Number(values.candidates);
for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  const bench = BENCHES[name];
  if (bench === undefined) {
    console.error(`there is no bench ${name}; the benches are ${Object.keys(BENCHES).join(', ')}`);
    process.exitCode = 2;
    break;
  }
  await bench(short, write);
}

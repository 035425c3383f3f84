import { parseArgs } from 'node:util';
import { serviceAgainst } from './against.js';
import { compositeBench } from './composite.js';
import { countersBench } from './counters.js';
import { curationBench } from './curation.js';
import { dataSetBench } from './dataset.js';
import { experimentsBench } from './experiments.js';
import { exploreBench } from './explore.js';
import { expressionsBench } from './expressions.js';
import { featuresBench } from './features.js';
import { keysBench } from './keys.js';
import { ledgerBench } from './ledger.js';
import { loadBench } from './load.js';
import { modelsBench } from './models.js';
import { modelShapesBench } from './model-shapes.js';
import { onlineBench } from './online.js';
import { requestBench } from './request.js';
import { rulesBench } from './rules.js';
import { serviceBench } from './service.js';
import { sizingBench } from './sizing.js';
import { storeBench } from './store.js';
import { textBench } from './text.js';
import { tracesBench } from './traces.js';
import { updatesBench } from './updates.js';

/**
 * `npm run bench [-- NAME] [--short]` runs every bench, or the named one. `npm run bench -- service --against DIR` compares
 * the service with that of another checkout; `--after DIR` names a checkout other than this one, and `--pairs N` the number
 * of pairs. `npm run bench -- text --against DIR` compares the step text_match alone. `npm run bench -- dataset --rankings N`
 * sets the size of the ledger, `npm run bench -- ledger --candidates N` that of the requests.
 * `npm run bench -- counters --only PART` measures one part of live counters: `events`, `cached`, `warm`, `cold` or `hot`.
 * `npm run bench -- experiments --only "last step" --candidates 100` measures only the cases with that in their names, with
 * so many candidates. `npm run bench -- sizing --write` puts its figures into docs/sizing.md.
 */
const BENCHES: Readonly<Record<string, (short: boolean, write: boolean) => Promise<void>>> = {
  online: onlineBench,
  request: requestBench,
  rules: rulesBench,
  composite: compositeBench,
  counters: (short) => countersBench(short, only),
  curation: curationBench,
  dataset: (short) => dataSetBench(short, rankings === undefined ? undefined : Number(rankings)),
  experiments: (short) =>
    experimentsBench(short, only, candidates === undefined ? undefined : Number(candidates)),
  explore: exploreBench,
  expressions: expressionsBench,
  features: featuresBench,
  keys: keysBench,
  ledger: (short) => ledgerBench(short, candidates === undefined ? undefined : Number(candidates)),
  load: loadBench,
  models: modelsBench,
  shapes: modelShapesBench,
  service: serviceBench,
  sizing: sizingBench,
  store: storeBench,
  text: (short) => textBench(short, against, Number(pairs)),
  traces: tracesBench,
  updates: updatesBench,
};

const { values, positionals: names } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    against: { type: 'string' },
    after: { type: 'string' },
    pairs: { type: 'string', default: '24' },
    candidates: { type: 'string' },
    rankings: { type: 'string' },
    only: { type: 'string' },
  },
  allowPositionals: true,
});
const { short, write, against, after, pairs, candidates, rankings, only } = values;
for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  const bench = BENCHES[name];
  if (bench === undefined) {
    console.error(`there is no bench ${name}; the benches are ${Object.keys(BENCHES).join(', ')}`);
    process.exitCode = 2;
    break;
  }
  if (against !== undefined && bench === serviceBench)
    await serviceAgainst({ before: against, after, pairs: Number(pairs) }, short);
  else await bench(short, write);
}

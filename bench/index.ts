import { compositeBench } from './composite.js';
import { featuresBench } from './features.js';
import { loadBench } from './load.js';
import { modelsBench } from './models.js';
import { modelShapesBench } from './model-shapes.js';
import { onlineBench } from './online.js';
import { requestBench } from './request.js';
import { serviceBench } from './service.js';
import { storeBench } from './store.js';

/** `npm run bench [-- NAME] [--short]` runs every bench, or the named one. */
const BENCHES: Readonly<Record<string, (short: boolean) => Promise<void>>> = {
  online: onlineBench,
  request: requestBench,
  composite: compositeBench,
  features: featuresBench,
  load: loadBench,
  models: modelsBench,
  shapes: modelShapesBench,
  service: serviceBench,
  store: storeBench,
};

const args = process.argv.slice(2);
const short = args.includes('--short');
const names = args.filter((arg) => !arg.startsWith('--'));
for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  const bench = BENCHES[name];
  if (bench === undefined) {
    console.error(`there is no bench ${name}; the benches are ${Object.keys(BENCHES).join(', ')}`);
    process.exitCode = 2;
    break;
  }
  await bench(short);
}

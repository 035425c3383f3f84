import { fuzz } from './fuzz-target.js';
import { TARGETS } from './targets.js';

/** The quick forms. Their seed is fixed, so that every run is the same; test/torture/fuzz.ts uses other seeds. */
describe('randomly damaged input', () => {
  for (const target of TARGETS) it(target.name, () => fuzz(target, 1, target.quick, () => undefined));
});

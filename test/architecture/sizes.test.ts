import { expect } from 'chai';
import { houseSizes, MOST_PARAMETERS, TOO_LONG } from '../../scripts/house-sizes.js';

/** Files and folders whose functions may have more parameters, because an object for each call would cost too much. */
const KERNELS: Readonly<Record<string, string>> = {
  'plugins/interaction/interaction.ts': 'a loop over rows',
  'runtime/ground/sdk/tensor-part.ts': 'a constructor of the plugin API',
  'runtime/language/expression/functions/time.ts': 'a loop over columns',
  'runtime/language/expression/kernels/': 'loops over columns',
  'runtime/language/trees/columns/column-scorer.ts': 'copies columns into the memory of a program',
  'runtime/learn/dataset/feature-writer.ts': 'a loop over cells',
  'runtime/request/pipeline/components/step-view.ts': 'made for each step of a request',
  'runtime/request/pipeline/hydrate/': 'made for each level of a request, and loops over rows',
  'runtime/request/pipeline/log/ranking-log.ts': 'writes cells of a record',
  'runtime/request/resident/': 'reads and gathers each row of a table',
  'runtime/state/ledger/cells.ts': 'reads cells of a record',
  'runtime/state/ledger/record-writer.ts': 'writes cells of a record',
  'runtime/state/store/codec/': 'reads and writes each value of a record',
  'runtime/state/store/redis/read-connection.ts': 'sends the keys of a read',
};

describe('sizes', () => {
  const { folders, large } = houseSizes();
  const wide = large.filter(({ parameters }) => parameters > MOST_PARAMETERS).map(({ place }) => place);
  const inOne = (places: Readonly<Record<string, unknown>>) => (place: string) =>
    Object.keys(places).some((start) => place.startsWith(start));

  it('are measured in every wing, and in the plugins', () => {
    expect(folders.map(({ folder }) => folder)).to.include.members(['runtime/request', 'plugins']);
    for (const { folder, functions } of folders) expect(functions, folder).to.be.greaterThan(100);
  });

  it(`are at most ${TOO_LONG} lines a function`, () => {
    expect(large.filter(({ lines }) => lines > TOO_LONG).map(({ place }) => place)).to.deep.equal([]);
  });

  it(`are at most ${MOST_PARAMETERS} parameters a function, but for kernels`, () => {
    const isAllowed = inOne(KERNELS);
    expect(wide.filter((place) => !isAllowed(place))).to.deep.equal([]);
  });

  it('have no exception that nothing needs', () => {
    expect(Object.keys(KERNELS).filter((start) => !wide.some((place) => place.startsWith(start)))).to.be
      .empty;
  });
});

import { expect } from 'chai';
import { FORMS, importedCells } from '../../prove/imports.js';

describe('an imported log', function () {
  this.timeout(60_000);

  for (const form of FORMS)
    it(`of ${form.map} has the counters, interactions and attributes of the time of each request`, async () => {
      const options = { seed: 7, days: 9, listsADay: 12, products: 15, users: 8 };
      const { cells, wrong, lists } = await importedCells(form, options);
      expect(wrong.slice(0, 3)).to.deep.equal([]);
      expect(lists).to.be.above(100);
      expect(cells).to.equal(lists * 12 * 14);
    });
});

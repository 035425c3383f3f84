import { expect } from 'chai';
import { changedLines, editNumbers } from '../../../../runtime/project/config/yaml/edit-numbers.js';

const TEXT = `# the search
pipeline:   search
params:
  plain: 0.30   # a comment
  range: {value: 1,  min: 0, max: 3} # another

  block:
    # why
    value: 1e3
    min: 0
    max: 2000
components: []
`;

const edits = [
  { path: ['params', 'plain'], value: 0.5 },
  { path: ['params', 'range', 'value'], value: 2.4 },
  { path: ['params', 'block', 'value'], value: -7 },
];

describe('editNumbers', () => {
  it('changes only the numbers', () => {
    const expected = TEXT.replace('0.30', '0.5').replace('value: 1,', 'value: 2.4,').replace('1e3', '-7');
    expect(editNumbers(TEXT, edits)).to.equal(expected);
    expect(editNumbers(TEXT, [])).to.equal(TEXT);
  });

  it('keeps the line ends of Windows', () => {
    const windows = TEXT.replaceAll('\n', '\r\n');
    expect(editNumbers(windows, edits)).to.equal(editNumbers(TEXT, edits).replaceAll('\n', '\r\n'));
  });

  it('refuses a place without a number', () => {
    expect(() => editNumbers(TEXT, [{ path: ['params', 'other'], value: 1 }])).to.throw(
      'the file has no number at params.other',
    );
    expect(() => editNumbers(TEXT, [{ path: ['pipeline'], value: 1 }])).to.throw('no number at pipeline');
  });

  it('lists the changed lines', () => {
    expect(changedLines(TEXT, editNumbers(TEXT, edits.slice(0, 2)))).to.deep.equal([
      '-  plain: 0.30   # a comment',
      '+  plain: 0.5   # a comment',
      '-  range: {value: 1,  min: 0, max: 3} # another',
      '+  range: {value: 2.4,  min: 0, max: 3} # another',
    ]);
  });
});

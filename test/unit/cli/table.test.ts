import { expect } from 'chai';
import { renderTable, shorten } from '../../../runtime/cli/report/table.js';
import { wrap } from '../../../runtime/ground/core/wrap.js';

describe('tables', () => {
  it('are aligned, also with wide or combining characters', () => {
    const text = renderTable(
      [{ title: 'name' }, { title: 'n', align: 'right' }],
      [
        ['日本', '1'],
        ['e\u0301tui', '20'],
      ],
    );
    expect(text).to.equal('name   n\n────  ──\n日本   1\ne\u0301tui  20\n');
  });

  it('have no blanks at the end of a line, also with a column without a title', () => {
    const columns = { name: 'left', n: 'right', '': 'left' } as const;
    expect(renderTable(columns, [['a', 1, '']])).to.equal('name  n\n────  ─\na     1\n');
  });

  it('cut long cells, and no other cells', () => {
    expect(shorten('abcdef', 6)).to.equal('abcdef');
    expect(shorten('abcdefg', 6)).to.equal('abcde…');
    expect(shorten('日本語', 5)).to.equal('日本…');
  });

  it('contain no characters that control a terminal', () => {
    expect(shorten('a\u001b[31mb\nc')).to.equal('a\ufffd[31mb c');
    expect(wrap('request a\u001b[31mb\nc\u202ed', 2, 10)).to.equal('  request\n  a\ufffd[31mb\n  c\ufffdd\n');
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import type { Diagnostic } from '../../../../runtime/project/config/diagnostics/diagnostics.js';
import { cellsOf } from '../../../../runtime/ground/core/display-width.js';
import { excerptOf } from '../../../../runtime/project/config/diagnostics/excerpt.js';
import { diagnosticsJson, renderDiagnostics } from '../../../../runtime/project/config/diagnostics/render.js';
import { SourceFile } from '../../../../runtime/project/config/yaml/source.js';

function wrongAt(text: string, part: string, more: Partial<Diagnostic> = {}): Diagnostic {
  const file = new SourceFile('pipelines/p.yaml', text);
  const start = text.indexOf(part);
  return {
    severity: 'error',
    code: 'unknown_name',
    at: { file, start, end: start + part.length },
    message: 'm',
    ...more,
  };
}

function render(...diagnostics: Diagnostic[]): string {
  return renderDiagnostics(diagnostics, { color: false, width: 80 });
}

const widthOf = (text: string): number => cellsOf(text).reduce((sum, cell) => sum + cell.width, 0);

describe('renderDiagnostics', () => {
  it('renders nothing for no diagnostics', () => {
    expect(render()).to.equal('');
  });

  it('shows place, code, message, excerpt, underline, help and counts', () => {
    const told = render(
      wrongAt('a: 1\nb: pricee > 0\n', 'pricee', { help: 'did you mean `price`?' }),
      wrongAt('a: 1', 'a', { severity: 'warning', code: 'unused_feature' }),
    );
    expect(told).to.equal(
      [
        'pipelines/p.yaml:2:4: error[unknown_name]: m',
        ' 2 | b: pricee > 0',
        '   |    ^^^^^^',
        '   help: did you mean `price`?',
        '',
        'pipelines/p.yaml:1:1: warning[unused_feature]: m',
        ' 1 | a: 1',
        '   | ^',
        '',
        '1 error, 1 warning',
      ].join('\n'),
    );
  });

  it('places the caret correctly after tabs, wide characters, emoji and combining marks', () => {
    for (const before of ['\t', '品牌', '👩‍👩‍👧 ', 'e\u0301', 'ｆｕｌｌ']) {
      const [, excerpt = '', underline = ''] = render(wrongAt(`${before}x: 1`, 'x')).split('\n');
      expect(underline.indexOf('^'), before).to.equal(widthOf(excerpt.slice(0, excerpt.indexOf('x:'))));
    }
  });

  it('cuts long lines around the place, to the width', () => {
    const long = `key: ${'a '.repeat(200)}WRONG ${'b '.repeat(200)}`;
    const [, excerpt = '', underline = ''] = render(wrongAt(long, 'WRONG')).split('\n');
    expect(excerpt).to.have.length.at.most(80);
    expect(excerpt).to.include('…').and.include('WRONG');
    expect(underline.indexOf('^^^^^')).to.equal(excerpt.indexOf('WRONG'));
    expect(underline).to.not.include('^^^^^^');
  });

  it('breaks long messages and helps between words, to the width', () => {
    const message = `expected ${'a name or a number, '.repeat(6)}found \`pricee\``;
    const help = 'write one of the names that the entity type declares, '.repeat(3).trim();
    const lines = render(wrongAt('a: pricee', 'pricee', { message, help })).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(80);
    expect(lines.slice(0, 3)).to.deep.equal([
      'pipelines/p.yaml:1:4: error[unknown_name]: expected a name or a number, a name',
      '    or a number, a name or a number, a name or a number, a name or a number, a',
      '    name or a number, found `pricee`',
    ]);
    expect(lines.slice(5, 7)).to.deep.equal([
      '   help: write one of the names that the entity type declares, write one of the',
      '         names that the entity type declares, write one of the names that the',
    ]);
    const wide = render(wrongAt('a: 1', 'a', { message: '品牌 '.repeat(20).trim() })).split('\n');
    expect(Math.max(...wide.map(widthOf))).to.be.at.most(80);
  });

  it('shows a place once if consecutive diagnostics share it', () => {
    const one = wrongAt('a: 1', '1', { message: 'first' });
    expect(render(one, { ...one, message: 'second', help: 'h' })).to.equal(
      [
        'pipelines/p.yaml:1:4: error[unknown_name]: first',
        ' 1 | a: 1',
        '   |    ^',
        '',
        'pipelines/p.yaml:1:4: error[unknown_name]: second',
        '   help: h',
        '',
        '2 errors',
      ].join('\n'),
    );
  });

  it('underlines only the first line of a longer place, and one column of an empty place', () => {
    const text = 'a: |\n  x\n  y\nb: 1';
    expect(render(wrongAt(text, '|\n  x\n  y')).split('\n')[2]).to.equal('   |    ^');
    expect(render(wrongAt(text, '')).split('\n')[2]).to.equal('   | ^');
  });

  it('handles CRLF and the end of the file', () => {
    expect(render(wrongAt('a: 1\r\nbcd: 2\r\n', 'bcd')).split('\n')[1]).to.equal(' 2 | bcd: 2');
    const file = new SourceFile('p.yaml', 'a: 1\n');
    const at = { file, start: 5, end: 5 };
    expect(render({ severity: 'error', code: 'yaml_syntax', at, message: 'm' })).to.include('p.yaml:2:1');
  });

  it('prints no characters of a file that control a terminal', () => {
    const told = render(wrongAt('a: \u001b[2Jx\u202ey', 'x', { message: 'a\u001b[1mb', help: 'c\u0007\nd' }));
    expect(told).to.not.match(/[^\P{Cc}\n]|\u202e/u);
    expect(told).to.include('c��d');
  });

  it('uses colours only on request', () => {
    const one = wrongAt('a: 1', 'a');
    expect(render(one)).to.not.include('\u001b');
    const coloured = renderDiagnostics([one], { color: true, width: 80 });
    expect(coloured).to.include('\u001b[31m');
    expect(coloured.replace(/\p{Cc}\[\d+m/gu, '')).to.equal(render(one));
  });

  it('never exceeds the width, wherever the place is', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 200 });
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), fc.integer({ min: 20, max: 120 }), (line, a, b, width) => {
        const file = new SourceFile('p.yaml', line);
        const start = a % (line.length + 1);
        const end = start + (b % (line.length - start + 1));
        const excerpt = excerptOf({ file, start, end }, width);
        if (excerpt === undefined) return;
        expect(widthOf(excerpt.text)).to.be.at.most(width);
        expect(excerpt.underline).to.match(/^ *\^+$/);
        expect(excerpt.underline.length).to.be.at.most(Math.max(width, 1));
      }),
    );
  });
});

describe('diagnosticsJson', () => {
  it('returns one record per diagnostic, with 1-based lines and columns', () => {
    expect(diagnosticsJson([wrongAt('a: 1\nb: cd', 'cd', { help: 'h' })])).to.deep.equal([
      {
        severity: 'error',
        code: 'unknown_name',
        file: 'pipelines/p.yaml',
        line: 2,
        column: 4,
        end_line: 2,
        end_column: 6,
        message: 'm',
        help: 'h',
      },
    ]);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { renderDiagnostics } from '../../../../runtime/project/config/diagnostics/render.js';
import { passes } from '../../../../runtime/project/config/conditions/condition.js';
import { parseGate, type Gate } from '../../../../runtime/learn/evaluation/gate.js';

function gate(text: string): Gate {
  const parsed = parseGate(text);
  if (!('operator' in parsed)) throw new Error(parsed.message);
  return parsed;
}

/** The lines of a diagnostic after its place and code. */
function shown(text: string, width = 1000): string {
  const parsed = parseGate(text);
  if ('operator' in parsed) return '';
  return renderDiagnostics([parsed], { color: false, width }).split('\n\n')[0] ?? '';
}

describe('a condition of --require', () => {
  it('reads a metric, a difference, their bounds and p values, and counts', () => {
    const readings = (text: string): unknown => {
      const { value, operator, bound } = gate(text);
      if (value.kind === 'count') return [value.count, operator, bound];
      return [value.metric.name, value.isDelta, value.part, operator, bound];
    };
    expect(readings('ndcg@10 >= 0.85')).to.deep.equal(['ndcg@10', false, 'mean', '>=', 0.85]);
    expect(readings('lower(delta.ndcg@10) > -0.002')).to.deep.equal(['ndcg@10', true, 'lower', '>', -0.002]);
    expect(readings('upper(map)<.5')).to.deep.equal(['map', false, 'upper', '<', 0.5]);
    expect(readings(' p( delta.mrr )<= 5e-2 ')).to.deep.equal(['mrr', true, 'p', '<=', 0.05]);
    expect(readings('queries >= 50')).to.deep.equal(['queries', '>=', 50]);
  });

  it('shows the place of a mistake', () => {
    expect(shown('lower(ndgc@10) > 0', 80)).to.equal(
      [
        '--require:1:7: error[expression_syntax]: there is no metric `ndgc@10`',
        ' 1 | lower(ndgc@10) > 0',
        '   |       ^^^^^^^',
        '   help: did you mean `ndcg@10`? metrics are ndcg@10, map, mrr, err,',
        '         precision@10, recall@10, judged@10, with any number after the @',
      ].join('\n'),
    );
    expect(shown('p(map) < 0.05')).to.contain('did you mean `delta.map`?');
    expect(shown('lower(queries) > 3')).to.contain('`queries` is a count and has no interval');
    expect(shown('unjuged <= 3')).to.contain('did you mean `unjudged`?');
    expect(shown('ndcg@10 = 1')).to.contain('a condition cannot contain `=`');
    expect(shown('ndcg@10 > 0.5 and map > 1')).to.contain('give each condition its own --require');
    expect(shown('ndcg@10 >')).to.contain('expected a number, but the condition ends here');
    expect(shown('map > 1e999')).to.contain('expected a number');
  });

  it('is either read or diagnosed inside its text, whatever it is', () => {
    const word = fc.constantFrom(
      'lower',
      '(',
      ')',
      'delta.',
      'ndcg@10',
      '>',
      '>=',
      ' ',
      '0.5',
      'queries',
      '🙂',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(word).map((words) => words.join('')),
        ),
        (text) => {
          const parsed = parseGate(text);
          if ('operator' in parsed) expect(passes(parsed, NaN)).to.equal(false);
          else {
            expect(parsed.at.start).to.be.within(0, text.length);
            renderDiagnostics([parsed], { color: false, width: 80 });
          }
        },
      ),
    );
  });

  it('compares the value with the bound', () => {
    expect(passes(gate('map >= 0.5'), 0.5)).to.equal(true);
    expect(passes(gate('map > 0.5'), 0.5)).to.equal(false);
    expect(passes(gate('map <= 0.5'), 0.5)).to.equal(true);
    expect(passes(gate('map < 0.5'), 0.5)).to.equal(false);
  });
});

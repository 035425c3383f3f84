import { expect } from 'chai';
import { passes } from '../../../../../runtime/project/config/conditions/condition.js';
import {
  parseReloadGates,
  reloadGatesOf,
} from '../../../../../runtime/project/config/conditions/reload-gate.js';
import { loadSettings } from '../../../../../runtime/project/settings/settings.js';

const problem = (text: string): string => {
  const parsed = parseReloadGates(text);
  return 'message' in parsed ? `${parsed.at.start}: ${parsed.message}; ${parsed.help ?? ''}` : 'none';
};

describe('the condition of a reload', () => {
  it('joins conditions with `and`', () => {
    const parsed = parseReloadGates('overlap@10 >= 0.5 and failed == 0 and same > 1e1');
    expect(parsed).to.deep.equal([
      { text: 'overlap@10 >= 0.5', value: { kind: 'overlap', k: 10 }, operator: '>=', bound: 0.5 },
      { text: 'failed == 0', value: { kind: 'count', count: 'failed' }, operator: '==', bound: 0 },
      { text: 'same > 1e1', value: { kind: 'count', count: 'same' }, operator: '>', bound: 10 },
    ]);
    const [, failed] = 'message' in parsed ? [] : parsed;
    expect([0, 1, NaN].map((value) => failed && passes(failed, value))).to.deep.equal([true, false, false]);
  });

  it('says what is wrong, where, and what to write', () => {
    expect(problem('overlap >= 0.5')).to.include('0: `overlap` needs a depth');
    expect(problem('overlap@0 >= 0.5')).to.include('needs a depth');
    expect(problem('failed == 0 and overlpa@10 > 1')).to.match(
      /^16: .*`overlpa@10`; did you mean `overlap@10`/,
    );
    expect(problem('falied == 0')).to.include('did you mean `failed`');
    expect(problem('ndcg@10 > 0.5')).to.include('values are overlap@10, requests, same, failed, degraded');
    expect(problem('failed = 0')).to.include('cannot contain `=`');
    expect(problem('failed == 0 or same > 1')).to.include('expected `and` or the end, found `or`');
    expect(problem('failed ==')).to.include('the condition ends here');
    expect(problem('failed == 0 and')).to.include('the condition ends here');
    expect(problem('')).to.include('the condition ends here');
  });

  it('is a setting, and messages about its mistakes name it', () => {
    expect(reloadGatesOf(loadSettings({}))).to.deep.equal([]);
    expect(() => reloadGatesOf(loadSettings({ MILLRACE_RELOAD_REQUIRE: 'failed = 0' }))).to.throw(
      /MILLRACE_RELOAD_REQUIRE, character 8: .*`=`/,
    );
  });
});

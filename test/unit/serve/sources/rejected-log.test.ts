import { expect } from 'chai';
import { RejectedLog } from '../../../../runtime/serve/sources/rejected-log.js';

describe('the log of rejected messages', () => {
  const lines: { readonly fields: object; readonly message: string }[] = [];
  let now = 0;
  const log = {
    info: () => undefined,
    warn: (fields: object, message: string) => lines.push({ fields, message }),
  };
  const rejected = new RejectedLog(log, () => now);

  it('has 20 lines a minute, and says that the next ones are only counted', () => {
    for (let id = 0; id < 1000; id++) rejected.tell({ id });
    expect(lines).to.have.length(20);
    expect(lines[0]).to.deep.equal({ fields: { id: 0 }, message: 'a message was rejected' });
    expect(lines[19]?.message).to.equal(
      'a message was rejected; the next ones of this minute are only counted',
    );
  });

  it('says in the next minute how many were left out', () => {
    now = 60_000;
    rejected.tell({ id: 1000 });
    rejected.tell({ id: 1001 });
    expect(lines.slice(20).map(({ fields }) => fields)).to.deep.equal([
      { id: 1000, left_out_before: 980 },
      { id: 1001 },
    ]);
  });
});

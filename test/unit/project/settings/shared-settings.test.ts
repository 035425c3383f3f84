import { expect } from 'chai';
import { loadSettings, SETTINGS } from '../../../../runtime/project/settings/settings.js';
import type { SettingRow } from '../../../../runtime/project/settings/setting-row.js';
import { sharedSettings } from '../../../../runtime/project/settings/shared-settings.js';

const of = (env: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  sharedSettings(loadSettings({ MILLRACE_STORE: 'redis', ...env }));

describe('settings that all instances share', () => {
  const rows: readonly SettingRow<unknown>[] = Object.values(SETTINGS);

  it('have a digest each, by variable', () => {
    const shared = rows.filter((row) => row.shared === true).map(({ env }) => env);
    expect(shared).to.include.members(['MILLRACE_ID_SALT', 'MILLRACE_EXPLORE_SALT']);
    expect(Object.keys(of({}))).to.have.members(shared);
    for (const digest of Object.values(of({}))) expect(digest).to.match(/^[0-9a-f]{8}$/);
  });

  it('are compared by value: another text of the same value has the same digest', () => {
    expect(of({ MILLRACE_COUNTER_HORIZON: '60m' })).to.deep.equal(of({ MILLRACE_COUNTER_HORIZON: '1h' }));
    const ids = { MILLRACE_ID_SALT: 'a'.repeat(16) };
    expect(of({ ...ids, MILLRACE_HASH_IDS: 'user,query' })).to.deep.equal(
      of({ ...ids, MILLRACE_HASH_IDS: 'query,user' }),
    );
    expect(of(ids)['MILLRACE_ID_SALT']).to.not.equal(of({})['MILLRACE_ID_SALT']);
  });

  it('have another digest under another prefix', () => {
    const salt = { MILLRACE_ID_SALT: 'a'.repeat(16) };
    expect(of({ ...salt, MILLRACE_PREFIX: 'other' })['MILLRACE_ID_SALT']).to.not.equal(
      of(salt)['MILLRACE_ID_SALT'],
    );
  });
});

import { expect } from 'chai';
import {
  releaseBefore,
  type Release,
  type ReleaseIndex,
} from '../../../../runtime/state/releases/release-index.js';

const release = (version: string): Release => ({
  ...{ version, time: 1, files: 1, bytes: 1, packed: 1, sha256: '', parts: 1, code: [] },
});
const index = (rollback?: string): ReleaseIndex => ({
  releases: ['newest', 'middle', 'oldest'].map(release),
  ...(rollback === undefined ? {} : { rollback: { version: rollback, since: 1 } }),
});

describe('the release before', () => {
  const cases: readonly (readonly [
    title: string,
    index: ReleaseIndex,
    current: string,
    wanted: string | undefined,
  ])[] = [
    ['is the second of the list', index(), 'newest', 'middle'],
    ['is the first if the project that serves is not kept yet', index(), 'unkept', 'newest'],
    ['is never the newest, if this instance does not serve it yet', index(), 'middle', 'middle'],
    ['is never the newest, if a rollback has ended and the files are wrong', index(), 'oldest', 'middle'],
    ['goes further back during a rollback', index('middle'), 'middle', 'oldest'],
    ['is none before the oldest', index('oldest'), 'oldest', undefined],
    ['is none if only one was served', { releases: [release('newest')] }, 'newest', undefined],
  ];
  for (const [title, list, current, wanted] of cases)
    it(title, () => expect(releaseBefore(list, current)?.version).to.equal(wanted));
});

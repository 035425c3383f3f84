import { expect } from 'chai';
import { faultsOf, productionPackages, readLockFile, type LockFile } from '../../scripts/lock-file.js';
import { repositoryPath } from '../support/repository.js';

const lock = readLockFile(repositoryPath('package-lock.json'));
const good = { version: '1.0.0', integrity: 'sha512-x', license: 'MIT' };
const withEntry = (entry: LockFile['packages'][string]): LockFile => ({
  lockfileVersion: 3,
  packages: { '': {}, 'node_modules/a': good, 'node_modules/b': entry },
});

describe('the lock file', () => {
  it('has a hash for each package, one registry, and only allowed licences in production', () => {
    expect(faultsOf(lock)).to.deep.equal([]);
    expect(productionPackages(lock).length).to.be.greaterThan(50);
  });

  it('is refused with a package without a hash, from git, from another host, or with another licence', () => {
    expect(faultsOf(withEntry(good))).to.deep.equal([]);
    expect(faultsOf(withEntry({ version: '1.0.0', license: 'MIT' }))).to.deep.equal([
      'b has no SHA-512 of its content',
    ]);
    expect(faultsOf(withEntry({ ...good, resolved: 'git+ssh://git@example.com/b.git' }))).to.have.length(1);
    const mixed = withEntry({ ...good, resolved: 'https://one.example/b.tgz' });
    const packages = {
      ...mixed.packages,
      'node_modules/c': { ...good, resolved: 'https://two.example/c.tgz' },
    };
    expect(faultsOf({ ...mixed, packages })).to.deep.equal(['packages come from 2 hosts']);
    expect(faultsOf(withEntry({ ...good, license: 'AGPL-3.0' }))).to.deep.equal([
      'b has the licence AGPL-3.0',
    ]);
    expect(faultsOf(withEntry({ ...good, license: 'AGPL-3.0', dev: true }))).to.deep.equal([]);
  });
});

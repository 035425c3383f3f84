import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { repositoryPath } from '../support/repository.js';

describe('docs/index.md', () => {
  it('lists every page of docs once, by its title', () => {
    const listed = [
      ...readFileSync(repositoryPath('docs', 'index.md'), 'utf8').matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm),
    ];
    const pages = readdirSync(repositoryPath('docs')).filter(
      (name) => name.endsWith('.md') && name !== 'index.md',
    );
    const paths = listed.map(([, , path]) => path);
    expect(paths.filter((path) => path !== 'decisions/README.md').sort()).to.deep.equal(pages.sort());
    for (const [, title = '', path = ''] of listed) {
      const [, heading] = /^# (.+)$/m.exec(readFileSync(repositoryPath('docs', path), 'utf8')) ?? [];
      expect(heading, path).to.equal(title);
    }
  });
});

import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { repositoryPath } from '../../../../support/repository.js';

const MODULE = pathToFileURL(
  repositoryPath('dist', 'runtime', 'serve', 'app', 'process', 'open-log.js'),
).href;

/** What a process prints that logs one line. @param isTerminal whether its stdout says that it is a terminal */
function logged(logFormat: string, isTerminal: boolean, env: Readonly<Record<string, string>> = {}): string {
  const code = `process.stdout.isTTY = ${String(isTerminal)};
    const { openLog } = await import('${MODULE}');
    const log = openLog({ logLevel: 'warn', logFormat: '${logFormat}' });
    log.info('unseen');
    log.warn({ pipeline: 'search' }, 'slow');`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...env },
  }).stdout;
}

describe('the log', () => {
  it('is JSON where stdout is no terminal', () => {
    expect(JSON.parse(logged('auto', false))).to.include({ level: 40, pipeline: 'search', msg: 'slow' });
  });

  it('is text for people at a terminal, with colours unless NO_COLOR is set', () => {
    const text = /^\[\d\d:\d\d:\d\d\] WARN: slow \{"pipeline":"search"\}\n$/;
    expect(logged('auto', true, { NO_COLOR: '1' })).to.match(text);
    expect(logged('auto', true)).to.contain('\u001B[');
  });

  it('is what the setting says', () => {
    expect(JSON.parse(logged('json', true))).to.include({ msg: 'slow' });
    expect(logged('text', false)).to.match(/^\[\d\d:\d\d:\d\d\] WARN: slow/);
  });
});

import { nearest } from '../../../ground/core/nearest.js';
import { keyOf, type SettingRow } from '../../settings/setting-row.js';
import { FILE_SETTINGS } from '../../settings/settings.js';
import type { SourceFile } from '../yaml/source.js';
import { valueEnd } from '../yaml/value-extent.js';

const SECRETS = new Map([...FILE_SETTINGS].filter(([, { secret }]) => secret === true));
const SECRET_WORDS = ['password', 'secret', 'token', 'credentials'];
const VARIABLE = /\$\{[A-Za-z_]\w*(?:\}|:-)/g;

/**
 * Keeps the secrets of millrace.yaml, or of a sink, out of messages and excerpts: passwords in addresses, and the values of keys that
 * look like those of secrets. It reads the text alone, because messages about broken YAML have excerpts too.
 */
export function hideSecrets(file: SourceFile): void {
  const { text } = file;
  for (const match of text.matchAll(/(?<key>[A-Za-z_][\w.-]*)["']?[ \t]*:[ \t]*(?=[^\s])/g)) {
    const row = secretOf(match.groups?.['key'] ?? '');
    if (row === undefined) continue;
    const start = match.index + match[0].length;
    const newline = text.indexOf('\n', start);
    const line = text.slice(start, newline === -1 ? text.length : newline).trimEnd();
    const value = line.slice(0, valueEnd(line, 0, false));
    const password = row === 'all' ? value : (row.passwordIn?.(value) ?? value);
    hideLiteral(file, start + value.lastIndexOf(password), password);
    // The rest is a comment, or a part of the secret that YAML reads as a comment.
    if (row === 'all') hideLiteral(file, start + value.length, line.slice(value.length));
  }
  for (const { index, 0: whole, 1: password = '' } of text.matchAll(/:\/\/[^\s:@]*:(\S+)@/g))
    hideLiteral(file, index + whole.length - 1 - password.length, password);
}

/** Returns the setting whose secret a key holds, or `all` if its whole value is secret. */
function secretOf(key: string): SettingRow<unknown> | 'all' | undefined {
  const written = keyOf({ env: key.replaceAll('-', '_').toUpperCase() });
  const row = SECRETS.get(written) ?? SECRETS.get(nearest(written, FILE_SETTINGS.keys()) ?? '');
  if (row?.passwordIn !== undefined) return row;
  const isSecret = row !== undefined || /pass|secret|token|credential/.test(written);
  return isSecret || nearest(written, SECRET_WORDS) !== undefined ? 'all' : undefined;
}

/** Hides a text except the names of variables in it. */
function hideLiteral(file: SourceFile, start: number, text: string): void {
  let from = 0;
  for (const { index, 0: variable } of [...text.matchAll(VARIABLE), { index: text.length, 0: '' }]) {
    hideTrimmed(file, start + from, text.slice(from, index));
    from = index + variable.length;
  }
}

function hideTrimmed(file: SourceFile, start: number, text: string): void {
  const from = text.length - text.replace(/^[\s"']+/, '').length;
  const end = text.replace(/[\s"']+$/, '').length;
  file.hide(start + from, start + end);
  // A message about a value such as `!abc` quotes what follows the first character.
  if (/^[^\w\s]/.test(text.slice(from, end))) file.hide(start + from + 1, start + end);
}

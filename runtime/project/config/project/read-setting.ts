import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { spelledAmount } from '../../../ground/core/spelled-amount.js';
import { nearest } from '../../../ground/core/nearest.js';
import type { FileSetting } from '../../settings/setting-origin.js';
import { unitOf, type SettingRow } from '../../settings/setting-row.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { interpolate } from '../yaml/interpolate.js';
import type { SourceFile, Span } from '../yaml/source.js';
import { itemsOf, spanOf, textOf, type Entry } from '../yaml/tree.js';
import { templateOf } from '../yaml/yaml-document.js';
import { foundWords } from './shape-words.js';

/** What a mistake in a value is reported with. */
interface Place {
  readonly file: SourceFile;
  readonly folder: string;
  readonly diagnostics: Diagnostics;
}

/** Reads the value of a setting in millrace.yaml. Returns undefined if it is not valid; the error is reported. */
export function readSetting(
  { key, keyAt, value: node }: Entry,
  row: SettingRow<unknown>,
  place: Place,
): FileSetting | undefined {
  const { file, diagnostics } = place;
  if (node !== undefined && row.secret === true && hasLiteralSecret(node, row)) {
    const at = spanOf(file, node);
    hideSecret(at, row);
    diagnostics.error('literal_secret', at, ...literalSecret(key, row));
    return undefined;
  }
  const text = node === undefined ? undefined : textIn(node, row);
  if (text !== undefined && isValid(text, row, place)) {
    return { text, line: file.position(keyAt.start).line };
  }
  const wrong = (node === undefined ? undefined : wrongItem(node, row, place)) ?? node;
  const which = wrong === node ? '' : `item ${String(itemsOf(node).indexOf(wrong as Node) + 1)} of `;
  diagnostics.error(
    'wrong_type',
    wrong === undefined ? keyAt : spanOf(file, wrong),
    `${which}\`${key}\`: expected ${expectedOf(row)}, found ${isSeq(wrong) && wrong.items.length === 0 ? 'an empty list' : foundWords(file, wrong)}`,
    helpFor(wrong, row),
  );
  return undefined;
}

/** Returns the value as an environment variable would have it; undefined if the node has the wrong kind. */
function textIn(node: Node, row: SettingRow<unknown>): string | undefined {
  if (!isSeq(node)) return scalarText(node, row);
  const items = itemsOf(node).map((item) => scalarText(item, row));
  if (row.list !== true || items.some((item) => item === undefined || item === '' || item.includes(',')))
    return undefined;
  return items.join(',');
}

function scalarText(node: Node, row: SettingRow<unknown>): string | undefined {
  if (!isScalar(node) || node.value === null) return undefined;
  // `True` is a boolean of YAML too.
  const text = typeof node.value === 'boolean' ? String(node.value) : textOf(node);
  const number = text === undefined ? undefined : unitOf(row)?.parse(text);
  return number === undefined ? text : String(number);
}

function isValid(text: string, row: SettingRow<unknown>, { folder }: Pick<Place, 'folder'>): boolean {
  return (text !== '' || row.default === '') && row.parse(text, folder) !== undefined;
}

/** Returns the first item of a list that is not valid by itself. */
function wrongItem(node: Node, row: SettingRow<unknown>, place: Place): Node | undefined {
  if (row.list !== true) return undefined;
  return itemsOf(node).find((item) => {
    const text = isSeq(item) || isMap(item) ? undefined : scalarText(item, row);
    return text === undefined || text === '' || text.includes(',') || !isValid(text, row, place);
  });
}

function expectedOf(row: SettingRow<unknown>): string {
  const unit = unitOf(row);
  return unit === undefined ? row.expected : `${row.expected}, or ${unit.expected}`;
}

function helpFor(node: Node | undefined, row: SettingRow<unknown>): string | undefined {
  const {
    parse: { accepts },
    default: otherwise,
  } = row;
  if (node === undefined || (isScalar(node) && node.value === null))
    return otherwise === '' ? 'remove the line' : `remove the line to use the default, ${otherwise}`;
  const text = textOf(node) ?? '';
  const template = templateOf(node);
  if (text === '' && template !== undefined)
    return `the variable is set but empty; set it, or give a default: ${template.replace(/\}$/, ':-default}')}`;
  const guess = accepts?.kind === 'one_of' ? nearest(text, accepts.values) : undefined;
  if (guess !== undefined) return `did you mean \`${guess}\`?`;
  const right = spelledAmount(text, (one) => unitOf(row)?.parse(one) !== undefined);
  return right && `write \`${right}\``;
}

/** True if a value has a secret that does not come from an environment variable. */
function hasLiteralSecret(node: Node, { passwordIn = (text) => text }: SettingRow<unknown>): boolean {
  const template = templateOf(node) ?? textOf(node);
  if (template === undefined) return false;
  // Without any variable set, the defaults of variables remain.
  const literal = interpolate(template, {}, ignore, ignore).replace(/\$\{\w+\}/g, '');
  return passwordIn(literal) !== '';
}

/** Hides a secret that `hideSecrets` did not find, e.g. between escapes. */
function hideSecret({ file, start, end }: Span, { passwordIn = (text) => text }: SettingRow<unknown>): void {
  const shown = file.shown.slice(start, end).replace(/^["']|["']$/g, '');
  if (!/^\*+$/.test(passwordIn(shown))) file.hide(start, end);
}

function literalSecret(
  key: string,
  { env, passwordIn }: SettingRow<unknown>,
): [message: string, help: string] {
  const help = `write \`${key}: \${${env}}\` and set that variable`;
  return passwordIn === undefined
    ? [`\`${key}\`: a secret must come from an environment variable`, help]
    : [
        `\`${key}\`: the password must come from an environment variable`,
        `${help}, or write a variable such as \`\${PASSWORD}\` in place of the password`,
      ];
}

function ignore(): void {
  // Unset variables were reported before.
}

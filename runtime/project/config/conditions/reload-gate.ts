import { MillraceError } from '../../../ground/api/errors.js';
import { nearest } from '../../../ground/core/nearest.js';
import type { Diagnostic } from '../diagnostics/diagnostics.js';
import { nameOf, type Settings } from '../../settings/settings.js';
import { ConditionParser, parsedOr, type Condition } from './condition.js';

/** Numbers of requests that a condition of a reload can read. */
export const RELOAD_COUNTS = ['requests', 'same', 'failed', 'degraded'] as const;
export type ReloadCount = (typeof RELOAD_COUNTS)[number];

/** A value of the comparison of two projects: the mean overlap of the first k candidates, or a number of requests. */
export type ReloadValue =
  { readonly kind: 'overlap'; readonly k: number } | { readonly kind: 'count'; readonly count: ReloadCount };

/** A condition that a new project must meet, before it serves. */
export type ReloadGate = Condition<ReloadValue>;

const HELP = "write for example 'overlap@10 >= 0.5 and failed == 0'";
const LARGEST_DEPTH = 1000;

/** Parses conditions with `and` between them. @returns the conditions, or what is wrong and where */
export function parseReloadGates(text: string): readonly ReloadGate[] | Diagnostic {
  const words = { source: 'reload.require', help: HELP, afterEnd: HELP };
  return parsedOr(() => new ReloadGateParser(text, words).parseAll());
}

/** Reads the conditions of the settings; none if there are none. @throws MillraceError invalid_setting */
export function reloadGatesOf(settings: Pick<Settings, 'reloadRequire' | 'sources'>): readonly ReloadGate[] {
  const text = settings.reloadRequire;
  if (text === '') return [];
  const parsed = parseReloadGates(text);
  if (!('message' in parsed)) return parsed;
  const { message, help, at } = parsed;
  const where = `${nameOf('reloadRequire', settings)}, character ${at.start + 1}: ${message}`;
  throw new MillraceError('invalid_setting', help === undefined ? where : `${where}; ${help}`);
}

class ReloadGateParser extends ConditionParser<ReloadValue> {
  protected value(): ReloadValue {
    const token = this.next('expected overlap@10 or a count');
    const count = RELOAD_COUNTS.find((one) => one === token.text);
    if (count !== undefined) return { kind: 'count', count };
    const [, word = '', depth] = /^([a-z_]+)(?:@(\d+))?$/.exec(token.text) ?? [];
    const k = Number(depth);
    if (word === 'overlap' && k >= 1 && k <= LARGEST_DEPTH) return { kind: 'overlap', k };
    if (word === 'overlap')
      throw this.problem(token, `\`overlap\` needs a depth from 1 to ${LARGEST_DEPTH}`, 'write `overlap@10`');
    const names = ['overlap@10', ...RELOAD_COUNTS];
    const near = nearest(word, ['overlap', ...RELOAD_COUNTS]);
    const meant = near === undefined ? '' : `did you mean \`${near === 'overlap' ? 'overlap@10' : near}\`? `;
    throw this.problem(
      token,
      `a reload has no value \`${token.text}\``,
      `${meant}values are ${names.join(', ')}`,
    );
  }
}

import { excerptOf } from '../../project/config/diagnostics/excerpt.js';
import { printable } from '../../ground/core/display-width.js';
import { wrapAfter } from '../../ground/core/wrap.js';
import type { Failure } from '../ranking-tests/check/failure.js';
import { editText, numberText } from '../ranking-tests/check/words.js';
import { movesOf } from '../ranking-tests/check/check-outcome.js';
import { rankedOf } from '../ranking-tests/properties/properties.js';
import type { Outcome } from '../ranking-tests/run/outcome.js';
import type { CaseResult, TestRun } from '../ranking-tests/run-tests.js';
import { renderTable, shorten } from './table.js';

interface Style {
  readonly color: boolean;
  readonly width: number;
}

/** The most candidates of a table, beside those that the test names. */
const MOST_ROWS = 20;
/** The widest column of ids. */
const WIDEST_ID = 16;
/** The widths of the table apart from the last column: place, score and the gaps. */
const NARROW_COLUMNS = 5 + 9 + 4 * 2;

/** The failed cases, each with its places, the two orders and what moved which candidate, and then the count. */
export function resultsText(run: TestRun, style: Style): string {
  const failed = run.results.filter(({ failures }) => failures.length > 0);
  return [...failed.map((result) => failedText(result, style)), countText(run, style)].join('\n');
}

function failedText({ test, failures, outcome, expected }: CaseResult, style: Style): string {
  const { line, column } = test.at.file.position(test.at.start);
  const red = (text: string): string => (style.color ? `\u001b[31m${text}\u001b[0m` : text);
  const place = `${test.at.file.path}:${line}:${column}`;
  const lines = [`${red('FAIL')} ${printable(test.name)}  ${place}`];
  for (const failure of failures) lines.push(...failureLines(failure, style));
  const order = (expected.order ?? expected.first)?.items.map(({ value }) => value);
  const isOfCase = failures.some(({ details }) => details === undefined);
  const table =
    outcome === undefined || !isOfCase || outcome.candidates.size === 0
      ? []
      : ['', tableText(outcome, order, style.width).trimEnd()];
  return `${[...lines, ...table].join('\n')}\n`;
}

function failureLines({ at, what, message, details = [] }: Failure, { width }: Style): string[] {
  const { line } = at.file.position(at.start);
  const gutter = ' '.repeat(String(line).length + 1);
  const excerpt = excerptOf(at, Math.max(20, width - gutter.length - 3));
  const text = message.startsWith(what) ? message : `${what}: ${message}`;
  return [
    ...(excerpt === undefined ? [] : [` ${line} | ${excerpt.text}`, `${gutter} | ${excerpt.underline}`]),
    ...wrapAfter(gutter, text, gutter.length + 4, width),
    ...details.flatMap((detail) => wrapAfter(gutter, detail, gutter.length + 4, width)),
  ];
}

/** Both orders side by side, with the score of each found candidate and the rules that moved it. */
function tableText(outcome: Outcome, order: readonly string[] | undefined, width: number): string {
  const ranked = rankedOf(outcome);
  const removed = outcome.steps.flatMap(({ step, removed: ids }) => ids.map((id) => ({ id, step })));
  const named = order?.length ?? 0;
  const shown = ranked.slice(0, Math.max(named, MOST_ROWS));
  const rows = Array.from({ length: Math.max(shown.length, named) }, (_, i) => {
    const found = shown[i];
    const rules = found === undefined ? [] : found.edits.filter(({ step }) => movesOf(found).includes(step));
    return [
      String(i + 1),
      ...(order === undefined ? [] : [order[i] ?? '']),
      found?.id ?? '',
      found === undefined ? '' : numberText(found.score),
      rules.map(editText).join(', '),
    ];
  });
  const idColumns = order === undefined ? 1 : 2;
  const rest = Math.max(20, width - NARROW_COLUMNS - idColumns * (WIDEST_ID + 2));
  const table = renderTable(
    [
      { title: 'place', align: 'right' },
      ...(order === undefined ? [] : [{ title: 'expected', max: WIDEST_ID }]),
      { title: 'found', max: WIDEST_ID },
      { title: 'score', align: 'right', max: 11 },
      { title: 'moved by', max: rest },
    ],
    rows,
  );
  const more = ranked.length > shown.length ? `and ${ranked.length - shown.length} more\n` : '';
  const gone = removed.map(({ id, step }) => `${id} by ${step.as}#${step.number}`).join(', ');
  return `${table}${more}${gone === '' ? '' : `${shorten(`removed: ${gone}`, width)}\n`}`;
}

function countText({ results, skipped, files, snapshots }: TestRun, style: Style): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const paint = (code: number, text: string): string =>
    style.color ? `\u001b[${code}m${text}\u001b[0m` : text;
  const parts = [
    ...(failed > 0 ? [paint(31, `${failed} failed`)] : []),
    paint(32, `${results.length - failed} passed`),
    ...(skipped > 0 ? [`${skipped} not chosen`] : []),
  ];
  const lines = [
    `${parts.join(', ')} (${counted(results.length + skipped, 'case')} in ${counted(files, 'file')})`,
  ];
  if (snapshots.written > 0) lines.push(`${counted(snapshots.written, 'snapshot')} written`);
  if (snapshots.obsolete.length > 0)
    lines.push(
      ...wrapAfter(
        '',
        `no case uses ${snapshots.obsolete.length === 1 ? 'the snapshot' : 'the snapshots'} ${snapshots.obsolete.join(', ')}; \`millrace test --update\` removes it`,
        4,
        style.width,
      ),
    );
  return `${lines.join('\n')}\n`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

import type { Diagnostic } from './diagnostics.js';
import { printable } from '../../../ground/core/display-width.js';
import { excerptOf } from './excerpt.js';
import type { Span } from '../yaml/source.js';
import { wrapAfter } from '../../../ground/core/wrap.js';

/** One record per diagnostic, for `--json`. Lines and columns are 1-based; the end is exclusive. */
export interface DiagnosticRecord {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly end_line: number;
  readonly end_column: number;
  readonly message: string;
  readonly help?: string;
}

export function diagnosticsJson(diagnostics: readonly Diagnostic[]): readonly DiagnosticRecord[] {
  return diagnostics.map((d) => {
    const from = d.at.file.position(d.at.start);
    const to = d.at.file.position(d.at.end);
    return {
      severity: d.severity,
      code: d.code,
      file: d.at.file.path,
      line: from.line,
      column: from.column,
      end_line: to.line,
      end_column: to.column,
      message: d.message,
      ...(d.help === undefined ? {} : { help: d.help }),
    };
  });
}

type Style = 'bold' | 'error' | 'warning' | 'help' | 'gutter';
const SGR: Readonly<Record<Style, number>> = { bold: 1, error: 31, warning: 33, help: 36, gutter: 34 };
type Paint = (style: Style, text: string) => string;

/** Indentation of the continuation lines of a message, in columns. */
const HANG = 4;

/** Minimum width of an excerpt, however narrow the terminal is. */
const LEAST_EXCERPT = 20;

/**
 * Renders diagnostics like a compiler, in the given order: place, code and message, the line with the place
 * underlined, and the remedy. A count follows at the end. Texts break at spaces. The result has no final newline; it
 * is '' for no diagnostics.
 */
export function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  options: { readonly color: boolean; readonly width: number },
): string {
  if (diagnostics.length === 0) return '';
  const paint: Paint = (style, text) => (options.color ? `\u001b[${SGR[style]}m${text}\u001b[0m` : text);
  const parts = diagnostics.map((diagnostic, i) => {
    // If several diagnostics have the same place, its line is shown once.
    const before = diagnostics[i - 1];
    return renderOne(
      diagnostic,
      before !== undefined && isSamePlace(before.at, diagnostic.at),
      options.width,
      paint,
    );
  });
  return [...parts, countOf(diagnostics)].join('\n\n');
}

function renderOne(diagnostic: Diagnostic, isShown: boolean, width: number, paint: Paint): string {
  const { at, severity, code } = diagnostic;
  const { line, column } = at.file.position(at.start);
  const gutter = ' '.repeat(String(line).length + 1);
  // A folder, or a file that cannot be read, has no lines.
  const lineAndColumn = at.file.text === '' ? '' : `${line}:${column}:`;
  const place = `${printable(at.file.path)}:${lineAndColumn}`;
  const kind = `${severity}[${code}]:`;
  const lines = wrapAfter(
    `${place} ${kind}`,
    diagnostic.message,
    HANG,
    width,
    `${paint('bold', place)} ${paint(severity, kind)}`,
  );
  const excerpt = isShown ? undefined : excerptOf(at, Math.max(LEAST_EXCERPT, width - gutter.length - 3));
  if (excerpt !== undefined) {
    lines.push(`${paint('gutter', ` ${line} |`)} ${excerpt.text}`);
    lines.push(`${paint('gutter', `${gutter} |`)} ${paint(severity, excerpt.underline)}`);
  }
  if (diagnostic.help !== undefined) {
    const start = `${gutter} help:`;
    const painted = `${gutter} ${paint('help', 'help:')}`;
    lines.push(...wrapAfter(start, diagnostic.help, start.length + 1, width, painted));
  }
  return lines.join('\n');
}

function isSamePlace(a: Span, b: Span): boolean {
  return a.file.path === b.file.path && a.start === b.start && a.end === b.end;
}

function countOf(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter((d) => d.severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const some = (count: number, what: string): string[] =>
    count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'}`];
  return [...some(errors, 'error'), ...some(warnings, 'warning')].join(', ');
}

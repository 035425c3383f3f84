import type { DiagnosticCode } from './diagnostic-codes.js';
import type { Span } from '../yaml/source.js';

/** Something wrong (or, as a warning, doubtful) in a project file. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  readonly at: Span;
  /** What was found and what was expected, one line, no full stop at the end. */
  readonly message: string;
  /** The remedy: the nearest right name, the line to move, the character to quote. */
  readonly help?: string;
}

/** Collects what is wrong with a project, so that all of it is told at once. */
export class Diagnostics {
  readonly #all: Diagnostic[] = [];

  error(code: DiagnosticCode, at: Span, message: string, help?: string): void {
    this.#add('error', code, at, message, help);
  }

  warning(code: DiagnosticCode, at: Span, message: string, help?: string): void {
    this.#add('warning', code, at, message, help);
  }

  #add(
    severity: Diagnostic['severity'],
    code: DiagnosticCode,
    at: Span,
    message: string,
    help?: string,
  ): void {
    const redact = (text: string): string => at.file.redact(text);
    const told = redact(message);
    // A step that is compiled a second time, after one that it needs, is wrong in the same way.
    if (this.#all.some((one) => one.message === told && isSame(one.at, at))) return;
    this.#all.push({
      severity,
      code,
      at,
      message: told,
      ...(help === undefined ? {} : { help: redact(help) }),
    });
  }

  addAll(diagnostics: Iterable<Diagnostic>): void {
    this.#all.push(...diagnostics);
  }

  get hasErrors(): boolean {
    return this.#all.some((d) => d.severity === 'error');
  }

  /** By file, then place. */
  get all(): readonly Diagnostic[] {
    return [...this.#all].sort(
      (a, b) =>
        a.at.file.path.localeCompare(b.at.file.path) || a.at.start - b.at.start || a.at.end - b.at.end,
    );
  }
}

function isSame(a: Span, b: Span): boolean {
  return a.file === b.file && a.start === b.start && a.end === b.end;
}

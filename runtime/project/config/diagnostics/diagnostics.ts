import type { DiagnosticCode } from './diagnostic-codes.js';
import type { SourceFile, Span } from '../yaml/source.js';

/** An error, or a warning, about a project file. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  readonly code: DiagnosticCode;
  readonly at: Span;
  /** What was found and what was expected: one line, without a full stop. */
  readonly message: string;
  /** The remedy, for example the nearest valid name, the line to move, or the character to quote. */
  readonly help?: string;
}

/** So many errors are enough: those who sent rules correct these first. An error costs up to 60 µs, and an answer lists 50. */
export const ENOUGH = 200;

/** Collects the diagnostics of a project, so that all of them are reported together. */
export class Diagnostics {
  readonly #all: Diagnostic[] = [];
  /** The places and messages of all, by file. */
  readonly #told = new Map<SourceFile, Set<string>>();

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
    const redacted = redact(message);
    // A step that is compiled again after its dependencies reports the same errors again.
    this.#keep({
      severity,
      code,
      at,
      message: redacted,
      ...(help === undefined ? {} : { help: redact(help) }),
    });
  }

  #keep(one: Diagnostic): void {
    const { file, start, end } = one.at;
    let told = this.#told.get(file);
    if (told === undefined) this.#told.set(file, (told = new Set()));
    if (told.size < told.add(`${start} ${end} ${one.message}`).size) this.#all.push(one);
  }

  addAll(diagnostics: Iterable<Diagnostic>): void {
    for (const one of diagnostics) this.#keep(one);
  }

  get count(): number {
    return this.#all.length;
  }

  /** Whether what reads rules may stop. */
  get areEnough(): boolean {
    return this.count >= ENOUGH;
  }

  get hasErrors(): boolean {
    return this.#all.some((d) => d.severity === 'error');
  }

  /** Sorted by file, then by place. */
  get all(): readonly Diagnostic[] {
    return [...this.#all].sort(
      (a, b) =>
        (a.at.file.path === b.at.file.path ? 0 : a.at.file.path.localeCompare(b.at.file.path)) ||
        a.at.start - b.at.start ||
        a.at.end - b.at.end,
    );
  }
}

/** The diagnostics, each once, also if a file was read several times. */
export function distinct(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const told = new Set<string>();
  return diagnostics.filter(({ code, at, message }) => {
    const key = JSON.stringify([code, at.file.path, at.start, at.end, message]);
    return told.size < told.add(key).size;
  });
}

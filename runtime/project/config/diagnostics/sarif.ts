/** Diagnostics in SARIF 2.1.0 (OASIS, 2020), which code hosts and editors show at the lines of a change. */
import type { Log, ReportingDescriptor, Result } from 'sarif';
import { DIAGNOSTIC_CODES, type DiagnosticCode } from './diagnostic-codes.js';
import type { Diagnostic } from './diagnostics.js';

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

export interface SarifOptions {
  /** The version of Millrace. */
  readonly version: string;
  /** The URI of a file of the project, by its path in the project. */
  readonly uriOf: (path: string) => string;
}

/** The log of one run, with a rule for each code that occurs. */
export function sarifLog(diagnostics: readonly Diagnostic[], { version, uriOf }: SarifOptions): Log {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'millrace', semanticVersion: version, rules: codes.map(ruleOf) } },
        columnKind: 'utf16CodeUnits',
        invocations: [{ executionSuccessful: true }],
        results: diagnostics.map((diagnostic) => resultOf(diagnostic, codes.indexOf(diagnostic.code), uriOf)),
      },
    ],
  };
}

function ruleOf(code: DiagnosticCode): ReportingDescriptor {
  return { id: code, shortDescription: { text: DIAGNOSTIC_CODES[code] } };
}

function resultOf(
  { severity, code, at, message, help }: Diagnostic,
  ruleIndex: number,
  uriOf: SarifOptions['uriOf'],
): Result {
  const from = at.file.position(at.start);
  const to = at.file.position(Math.max(at.end, at.start + 1));
  // A folder, or a file that cannot be read, has no lines.
  const region =
    at.file.text === ''
      ? {}
      : {
          region: { startLine: from.line, startColumn: from.column, endLine: to.line, endColumn: to.column },
        };
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: { text: help === undefined ? `${message}.` : `${message}. Help: ${help}.` },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(at.file.path) }, ...region } }],
  };
}

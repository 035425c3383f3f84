import type { Diagnostic } from '../../config/diagnostics/diagnostics.js';
import { parseGate, passes, type Gate, type Count } from '../../evaluation/gate.js';
import type { EvaluationReport } from '../../evaluation/report.js';
import { DiagnosedUsageError, UsageError } from '../failure.js';

/** A gate with the value that it was checked on. */
export interface CheckedGate {
  readonly text: string;
  /** NaN if the value is not known. */
  readonly value: number;
  readonly passed: boolean;
}

/**
 * Parses the gates of a command line.
 * @param hasBaseline whether there is a baseline to compare with
 * @throws DiagnosedUsageError with the places of all mistakes; UsageError
 */
export function parseGates(texts: readonly string[], hasBaseline: boolean): readonly Gate[] {
  const gates: Gate[] = [];
  const problems: Diagnostic[] = [];
  for (const text of texts) {
    const parsed = parseGate(text);
    if ('operator' in parsed) gates.push(parsed);
    else problems.push(parsed);
  }
  if (problems.length > 0) throw new DiagnosedUsageError(problems);
  const compared = gates.find(({ value }) => value.kind === 'metric' && value.isDelta);
  if (compared !== undefined && !hasBaseline)
    throw new UsageError(`--require '${compared.text}' reads a difference; say to what with --against`);
  return gates;
}

export function checkGate(
  gate: Gate,
  { metrics }: EvaluationReport,
  counts: Readonly<Record<Count, number>>,
): CheckedGate {
  const value = valueOf(gate, metrics, counts);
  return { text: gate.text, value, passed: passes(gate, value) };
}

function valueOf(
  { value }: Gate,
  metrics: EvaluationReport['metrics'],
  counts: Readonly<Record<Count, number>>,
): number {
  if (value.kind === 'count') return counts[value.count];
  const report = metrics.find(({ metric }) => metric === value.metric.name);
  const read = value.isDelta ? report?.delta : report;
  if (read === undefined) return NaN;
  if (value.part === 'mean') return read.mean;
  if (value.part === 'p') return report?.delta?.p ?? NaN;
  return read.interval[value.part];
}

import type { Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import { passes } from '../../project/config/conditions/condition.js';
import { parseGate, type Count, type Gate, type GateValue } from '../evaluation/gate.js';
import type { EvaluationReport, MetricReport } from '../evaluation/report.js';
import { DiagnosedUsageError, UsageError } from '../../project/config/diagnostics/failure.js';

/** A gate with the value that it was checked on. */
export interface CheckedGate {
  readonly text: string;
  /** NaN if the value is not known. */
  readonly value: number;
  readonly passed: boolean;
  /** Why it does not pass, whatever its value. */
  readonly problem?: string;
}

/** Of fewer queries, the bounds of an interval pass by chance more often than in 5 of 100 cases. */
export const FEWEST_QUERIES = 10;

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

/**
 * Checks a gate. A bound or a p value of few queries never passes: a few queries can all change in the same direction by
 * chance.
 */
export function checkGate(
  gate: Gate,
  { metrics }: EvaluationReport,
  counts: Readonly<Record<Count, number>>,
): CheckedGate {
  const { text, value: read } = gate;
  if (read.kind === 'count') {
    const value = counts[read.count];
    return { text, value, passed: passes(gate, value) };
  }
  const report = metrics.find(({ metric }) => metric === read.metric.name);
  const value = valueOf(read, report);
  const queries = report?.queries ?? 0;
  if (read.part === 'mean' || queries >= FEWEST_QUERIES) return { text, value, passed: passes(gate, value) };
  const problem = `${queries} ${queries === 1 ? 'query' : 'queries'}, needs at least ${FEWEST_QUERIES}`;
  return { text, value, passed: false, problem };
}

function valueOf(
  { isDelta, part }: GateValue & { readonly kind: 'metric' },
  report: MetricReport | undefined,
): number {
  const read = isDelta ? report?.delta : report;
  if (read === undefined) return NaN;
  if (part === 'mean') return read.mean;
  if (part === 'p') return report?.delta?.p ?? NaN;
  return read.interval[part];
}

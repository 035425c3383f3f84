import { STATUS_SUMMARIES } from '../../runtime/ground/api/status.js';
import { RULE_SCORINGS } from '../../runtime/request/compile/check-component.js';
import { ERROR_CODES } from '../../runtime/ground/api/error-codes.js';
import { DIAGNOSTIC_CODES } from '../../runtime/project/config/diagnostics/diagnostic-codes.js';
import { REJECT_REASONS } from '../../runtime/project/foreign/foreign-event.js';
import { PROPERTIES } from '../../runtime/cli/ranking-tests/properties/properties.js';
import { markdownTable } from './markdown-table.js';

export function statusTable(): string {
  return markdownTable(
    ['status', 'what happened', 'known'],
    Object.entries(STATUS_SUMMARIES).map(([name, { summary, isKnown }]) => [
      `\`${name}\``,
      summary,
      isKnown ? 'yes' : 'no',
    ]),
  );
}

export function errorTable(): string {
  return markdownTable(
    ['code', 'status', 'title', 'remedy'],
    Object.entries(ERROR_CODES).map(([code, { status, title, remedy }]) => [
      `\`${code}\``,
      String(status),
      title,
      remedy,
    ]),
  );
}

export function diagnosticTable(): string {
  return markdownTable(
    ['code', 'meaning'],
    Object.entries(DIAGNOSTIC_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
  );
}

export function rejectReasonTable(): string {
  return markdownTable(
    ['reason', 'meaning'],
    Object.entries(REJECT_REASONS).map(([reason, meaning]) => [`\`${reason}\``, meaning]),
  );
}

/** What a rule may declare about scores. */
export function scoringTable(): string {
  return markdownTable(
    ['`scoring`', 'the rule'],
    Object.entries(RULE_SCORINGS).map(([name, summary]) => [`\`'${name}'\``, summary]),
  );
}

export function propertyTable(): string {
  return markdownTable(
    ['property', 'what holds'],
    Array.from(PROPERTIES, ([name, { summary }]) => [`\`${name}\``, summary]),
  );
}

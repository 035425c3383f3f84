import { wrap, wrapAfter } from '../../ground/core/wrap.js';
import { gateText } from '../../learn/report/evaluation-tree.js';
import type { Part, Report } from '../../learn/report/tree.js';
import { renderTable } from './table.js';

/** An evaluation as text: its title, its parts, and last its conditions. At most `width` columns wide. */
export function evaluationText({ title, parts, gates = [] }: Report, width: number): string {
  const lines = gates.flatMap((gate) =>
    wrapAfter(gate.passed ? 'PASS ' : 'FAIL ', gateText(gate), 6, width).map((line) => `${line}\n`),
  );
  const light = lines.length === 0 ? [] : ['\n', ...lines];
  return [wrap(title, 0, width), reportText(parts, width), ...light].join('');
}

/** The parts as text, at most `width` columns wide. */
export function reportText(parts: readonly Part[], width: number): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return wrap(part, 0, width);
      if ('note' in part)
        return wrapAfter(part.label, part.note, part.indent, width)
          .map((line) => `${line}\n`)
          .join('');
      if ('rows' in part) return renderTable(part.columns, part.rows, width);
      if ('section' in part) return `\n${wrap(part.section, 0, width)}${reportText(part.parts, width)}`;
      return '';
    })
    .join('');
}

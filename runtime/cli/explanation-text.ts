import type {
  ExplainedCandidate,
  ExplainedChange,
  ExplainedDraw,
  ExplainedStep,
  ExplainedValue,
  Explanation,
} from '../request/pipeline/explain/explanation.js';
import { degradationText } from '../request/pipeline/page/degraded.js';
import { renderTable, shorten } from './table.js';
import { wrap } from '../ground/core/wrap.js';

/** Renders an explanation as text, at most `width` columns wide. */
export function explanationText(explanation: Explanation, width: number): string {
  const { candidates, page, request, store, outside } = explanation;
  const reads = `Round trips to the store: ${store.round_trips}; keys: ${store.keys_read}`;
  const others =
    outside.round_trips === 0
      ? ''
      : `; reads from other stores: ${outside.round_trips}; keys: ${outside.keys_read}`;
  const title = `${explanation.pipeline}: ${candidates.sent} candidate${candidates.sent === 1 ? '' : 's'} sent, ${candidates.left} left, ${page.length} on this page`;
  return [
    wrap(title, 0, width),
    wrap(`request ${explanation.request_id}, run ${explanation.run_id}`, 0, width),
    ...(explanation.degraded.length === 0
      ? []
      : [wrap(`degraded: ${explanation.degraded.map(degradationText).join(', ')}`, 0, width)]),
    '\n',
    pageTable(page),
    ...page.map((candidate) => `\n${candidateText(candidate, width)}`),
    ...section(
      'Values that the answer contains in addition to the score',
      valueTable(explanation.answered ?? {}, width),
    ),
    ...section('Params', paramText(explanation, width)),
    ...section('The request', valueTable(request, width)),
    ...section(
      'Steps, in the order they ran',
      explanation.steps.map((step) => stepText(step, width)).join(''),
    ),
    ...section('Values of feature views', featureTable(explanation)),
    '\n',
    wrap(
      `Stages: ${explanation.stages.map(({ stage, ms }) => `${stage} ${ms.toFixed(2)} ms`).join(', ')}`,
      0,
      width,
    ),
    wrap(reads + others, 0, width),
    ...indexText(candidates.index, width),
    ...duplicatesText(candidates.duplicates, width),
    ...(explanation.unknown_fields.length === 0
      ? []
      : [
          wrap(
            `Fields that nothing declares: ${explanation.unknown_fields.map(({ field, times }) => `${shorten(field, 40)} (${times})`).join(', ')}`,
            0,
            width,
          ),
        ]),
  ].join('');
}

function indexText(index: Explanation['candidates']['index'], width: number): string[] {
  if (index === undefined) return [];
  const { where, scanned, matched, taken } = index;
  const text = `Candidates from the index: ${scanned} looked at, ${matched} meet ${where}, the first ${taken} by id are ranked`;
  return [wrap(text, 0, width)];
}

function duplicatesText({ count, ids }: Explanation['candidates']['duplicates'], width: number): string[] {
  if (count === 0) return [];
  const list = ids.map((id) => shorten(id, 40)).join(', ');
  return [wrap(`Candidates left out because their id appeared earlier: ${count} (${list})`, 0, width)];
}

function paramText({ params }: Explanation, width: number): string {
  const values = Object.entries(params).map(([name, value]) => `${name} ${value}`);
  return values.length === 0 ? '' : wrap(values.join(', '), 0, width);
}

function section(title: string, body: string): string[] {
  return body === '' ? [] : [`\n${title}\n`, body];
}

function pageTable(page: readonly ExplainedCandidate[]): string {
  return renderTable(
    [
      { title: 'place', align: 'right' },
      { title: 'candidate_id', max: 40 },
      { title: 'ranked_score', align: 'right' },
      { title: 'score', align: 'right' },
    ],
    page.map((one) => [
      String(one.place),
      one.candidate_id,
      scoreText(one.ranked_score),
      scoreText(one.score),
    ]),
  );
}

function candidateText(
  { candidate_id: id, changes, drawn, values }: ExplainedCandidate,
  width: number,
): string {
  const lines = [...changes.map(changeText), ...(drawn === undefined ? [] : [drawnText(drawn)])];
  return `${shorten(id, width)}\n${lines.map((line) => wrap(line, 2, width)).join('')}${valueTable(values, width)}`;
}

function drawnText({ place_before: before, propensity, marginal }: ExplainedDraw): string {
  return `its place was drawn: ${before} without the draw; probability ${propensity.toPrecision(3)} given those above it, ${marginal.toPrecision(3)} in all`;
}

function changeText(change: ExplainedChange): string {
  const by = change.rules === undefined ? '' : ` (${change.rules.join(', ')})`;
  const who = `step ${change.step}, ${change.as}${by},`;
  if ('pinned_to' in change) {
    const from = change.moved_from === undefined ? '' : `, from ${change.moved_from}`;
    return `${who} pinned it to position ${change.pinned_to}${from}`;
  }
  if ('pin_lost' in change) return `${who} pinned it to position ${change.pin_lost}, but another pin wins`;
  if ('put_below' in change) {
    const places =
      change.moved_to === undefined ? '' : `, from place ${change.moved_from} to ${change.moved_to}`;
    return `${who} moved it below other candidates${places}`;
  }
  if ('moved_to' in change)
    return change.moved_from === undefined
      ? `${who} moved it to place ${change.moved_to}; a weaker rule would remove it`
      : `${who} moved it from place ${change.moved_from} to ${change.moved_to}`;
  return `${who} changed its score from ${changedText(change.before)} to ${changedText(change.after)}`;
}

function valueTable(values: Readonly<Record<string, ExplainedValue>>, width: number): string {
  const rows = Object.entries(values).map(([name, value]) => [
    shorten(name, 32),
    statusText(value),
    valueText(value),
  ]);
  if (rows.length === 0) return '';
  const used = [0, 1].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)) + 2);
  const room = Math.max(12, width - 2 - (used[0] ?? 0) - (used[1] ?? 0));
  return rows
    .map(
      ([name = '', status = '', value = '']) =>
        `  ${name.padEnd(used[0] ?? 0)}${status.padEnd(used[1] ?? 0)}${shorten(value, room)}`.trimEnd() +
        '\n',
    )
    .join('');
}

function statusText({ status, cause }: ExplainedValue): string {
  return cause === undefined ? status : `${status} (${cause})`;
}

function valueText({ value, length }: ExplainedValue): string {
  if (value === null) return '';
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'string') return JSON.stringify(value);
  const shown = value.map((one) => (typeof one === 'number' ? numberText(one) : JSON.stringify(one)));
  return length === undefined ? `[${shown.join(', ')}]` : `${length} of them: [${shown.join(', ')}, …]`;
}

function numberText(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(7)));
}

function scoreText(score: number | null): string {
  return score === null ? 'none' : score.toFixed(6);
}

function changedText(score: number | null): string {
  return score === null ? 'none' : numberText(score);
}

function stepText(step: ExplainedStep, width: number): string {
  const name = step.as === step.use ? step.use : `${step.use} as ${step.as}`;
  const outcome = step.outcome === 'not_asked_for' ? 'skipped: not requested' : step.outcome;
  const facts = [
    step.version === undefined ? '' : `version ${step.version}`,
    ...(step.notes ?? []),
    step.when === undefined ? '' : `when: ${step.when}`,
    step.top === undefined ? '' : `top: ${step.top}`,
    step.reason === undefined ? '' : `because: ${step.reason}`,
    removedText(step),
    step.undecided === undefined || step.undecided === 0
      ? ''
      : `kept ${step.undecided} whose condition is unknown${notKnownText(step)}`,
    step.applied === undefined ? '' : ruleText(step),
    ...Object.entries(step.outputs ?? {}).map(
      ([output, counts]) =>
        `${step.as}:${output}: ${Object.entries(counts)
          .map(([status, count]) => `${count} ${status}`)
          .join(', ')}`,
    ),
  ];
  return `${String(step.step).padStart(3)}. ${name} (${step.kind}): ${outcome}\n${facts
    .filter((fact) => fact !== '')
    .map((fact) => wrap(fact, 5, width))
    .join('')}`;
}

/**
 * Describes the candidates that a rule did not change, apart from those that `where:`, `top:` or its list of
 * candidates excluded.
 */
function ruleText(step: ExplainedStep): string {
  const { applied = 0, skipped = 0, not_finite: notFinite = 0 } = step;
  if (skipped === 0) return `set ${applied}`;
  const wrote = notFinite === 0 ? '' : `; it gave ${notFinite} of them a score that is not finite`;
  return `set ${applied}, left ${skipped} unchanged because a value is unknown or not finite${notKnownText(step)}${wrote}`;
}

function notKnownText({ not_known: unknown = {} }: ExplainedStep): string {
  const parts = Object.entries(unknown).map(
    ([name, counts]) =>
      `${name}: ${Object.entries(counts)
        .map(([status, count]) => `${count} ${status}`)
        .join(', ')}`,
  );
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`;
}

function removedText({ removed }: ExplainedStep): string {
  if (removed === undefined) return '';
  const { count, ids } = removed;
  if (count === 0) return 'removed none';
  const more = count > ids.length ? ` and ${count - ids.length} more` : '';
  return `removed ${count}: ${ids.map((id) => shorten(id, 40)).join(', ')}${more}`;
}

function featureTable({ features }: Explanation): string {
  if (features.length === 0) return '';
  return renderTable(
    [{ title: 'view', max: 40 }, { title: 'status' }, { title: 'values', align: 'right' }],
    features.map(({ view, status, cause, values }) => [
      view,
      cause === undefined ? status : `${status} (${cause})`,
      String(values),
    ]),
  );
}

import type {
  ExplainedCandidate,
  ExplainedChange,
  ExplainedStep,
  ExplainedValue,
  Explanation,
} from '../runtime/request/pipeline/explain/explanation.js';
import { element, fold, table } from './dom.js';

/** The place of each candidate in the answer before, by id. */
export type Places = ReadonlyMap<string, number>;

export function placesOf({ page }: Explanation): Places {
  return new Map(page.map(({ candidate_id, place }) => [candidate_id, place]));
}

/**
 * Shows an explanation.
 * @param before the answer before, for the moves; undefined if it was to another request
 */
export function answerView(explanation: Explanation, before: Places | undefined): HTMLElement {
  const { candidates, page, stages, store, degraded, steps } = explanation;
  const total = stages.reduce((sum, { ms }) => sum + ms, 0);
  return element(
    'div',
    element(
      'p',
      `${candidates.sent} candidates sent, ${candidates.left} left, ${page.length} on this page. `,
      `${total.toFixed(1)} ms; ${store.round_trips} round trips to the store, ${store.keys_read} keys.`,
    ),
    ...(degraded.length === 0 ? [] : [element('p.failed', `Degraded: ${degraded.map(plain).join(', ')}`)]),
    stageBar(explanation, total),
    pageTable(page, before),
    element('h2', 'Steps, in the order they ran'),
    stepTable(steps),
    ...valueSection('The request', explanation.request),
    ...valueSection('Values that the answer contains in addition to the score', explanation.answered ?? {}),
    ...paramSection(explanation),
    ...featureSection(explanation),
    ...(explanation.unknown_fields.length === 0
      ? []
      : [
          element('h2', 'Fields that nothing declares'),
          element(
            'p',
            explanation.unknown_fields.map(({ field, times }) => `${field} (${times})`).join(', '),
          ),
        ]),
    fold('The whole explanation as JSON', element('pre', JSON.stringify(explanation, null, 2))),
  );
}

function stageBar({ stages }: Explanation, total: number): HTMLElement {
  const bar = element('div.stages');
  for (const { stage, ms } of stages) {
    const piece = element('span');
    piece.style.flexGrow = String(total === 0 ? 1 : ms / total);
    piece.title = `${stage} ${ms.toFixed(2)} ms`;
    bar.append(piece);
  }
  const legend = stages.map(({ stage, ms }) => `${stage} ${ms.toFixed(2)} ms`).join(', ');
  return element('div', bar, element('p.hint', legend));
}

function pageTable(page: readonly ExplainedCandidate[], before: Places | undefined): HTMLElement {
  if (page.length === 0) return element('p', 'The page is empty.');
  const rows = page.map((candidate) => [
    String(candidate.place),
    moved(candidate, before),
    element('span.id', candidate.candidate_id),
    scoreText(candidate.ranked_score),
    element(
      'div',
      candidate.changes.length === 0
        ? element('span.dim', 'no step changed it')
        : changeList(candidate.changes),
      fold(`${Object.keys(candidate.values).length} values`, valueTable(candidate.values)),
    ),
  ]);
  return table(['Place', 'Moved', 'Candidate', 'Score', 'What the steps did'], rows, [0, 1, 3]);
}

function moved({ candidate_id, place }: ExplainedCandidate, before: Places | undefined): HTMLElement {
  if (before === undefined) return element('span');
  const was = before.get(candidate_id);
  if (was === undefined) return element('span.up', 'new');
  if (was === place) return element('span.dim', '=');
  return was > place ? element('span.up', `▲ ${was - place}`) : element('span.down', `▼ ${place - was}`);
}

function changeList(changes: readonly ExplainedChange[]): HTMLElement {
  return element('div', ...changes.map((change) => element('div', `${change.as}: ${changeText(change)}`)));
}

function changeText(change: ExplainedChange): string {
  if ('pinned_to' in change) return `pinned to place ${change.pinned_to}`;
  if ('pin_lost' in change) return `pinned to place ${change.pin_lost}, but another pin wins`;
  if ('before' in change) return `${scoreText(change.before)} → ${scoreText(change.after)}`;
  return Object.entries(change)
    .filter(([name]) => name !== 'step' && name !== 'as')
    .map(([name, value]) => (value === true ? words(name) : `${words(name)} ${plain(value)}`))
    .join(', ');
}

const words = (name: string): string => name.replaceAll('_', ' ');

function stepTable(steps: readonly ExplainedStep[]): HTMLElement {
  return table(
    ['Step', 'Name', 'Plugin', 'Outcome', 'What it did'],
    steps.map((step) => [
      String(step.step),
      step.as,
      step.use,
      element(step.outcome === 'failed' ? 'span.failed' : 'span', words(step.outcome)),
      stepText(step),
    ]),
    [0],
  );
}

function stepText({
  reason,
  removed,
  undecided,
  applied,
  skipped,
  outputs,
  not_known: unknown,
}: ExplainedStep): string {
  const parts = [
    ...(reason === undefined ? [] : [reason]),
    ...(removed === undefined
      ? []
      : [`removed ${removed.count}${removed.count === 0 ? '' : `: ${removed.ids.join(', ')}`}`]),
    ...(undecided === undefined || undecided === 0 ? [] : [`kept ${undecided} undecided`]),
    ...(applied === undefined ? [] : [`changed ${applied}`]),
    ...(skipped === undefined || skipped === 0 ? [] : [`left ${skipped} unchanged`]),
    ...statusParts(outputs),
    ...statusParts(unknown),
  ];
  return parts.join('; ');
}

function statusParts(counts: ExplainedStep['outputs']): string[] {
  return Object.entries(counts ?? {}).map(
    ([name, statuses]) =>
      `${name}: ${Object.entries(statuses)
        .map(([status, count]) => `${count} ${words(status)}`)
        .join(', ')}`,
  );
}

function valueSection(title: string, values: Readonly<Record<string, ExplainedValue>>): HTMLElement[] {
  return Object.keys(values).length === 0 ? [] : [element('h2', title), valueTable(values)];
}

function paramSection({ params }: Explanation): HTMLElement[] {
  const entries = Object.entries(params);
  if (entries.length === 0) return [];
  return [
    element('h2', 'Params'),
    table(
      ['Name', 'Value'],
      entries.map(([name, value]) => [name, plain(value)]),
      [1],
    ),
  ];
}

function featureSection({ features }: Explanation): HTMLElement[] {
  if (features.length === 0) return [];
  const rows = features.map(({ view, status, cause, values }) => [
    view,
    cause === undefined ? words(status) : `${words(status)} (${words(cause)})`,
    String(values),
  ]);
  return [element('h2', 'Values of feature views'), table(['View', 'Status', 'Values'], rows, [2])];
}

function valueTable(values: Readonly<Record<string, ExplainedValue>>): HTMLElement {
  return table(
    ['Name', 'Value', 'Status'],
    Object.entries(values).map(([name, { value, status, cause, length }]) => [
      name,
      plain(value) + (length === undefined ? '' : ` … (${length} in all)`),
      element(
        status === 'present' ? 'span.dim' : 'span',
        cause === undefined ? words(status) : `${words(status)} (${words(cause)})`,
      ),
    ]),
    [],
  );
}

function scoreText(score: number | null): string {
  return score === null ? '–' : String(Number(score.toPrecision(6)));
}

function plain(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(Number(value.toPrecision(9)));
  return JSON.stringify(value);
}

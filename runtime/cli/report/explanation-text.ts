import type {
  ExplainedAccount,
  ExplainedCandidate,
  ExplainedChange,
  ExplainedDraw,
  ExplainedStep,
  ExplainedTerm,
  ExplainedValue,
  Explanation,
} from '../../request/pipeline/explain/explanation.js';
import { CANDIDATE_FATES } from '../../request/pipeline/explain/explanation.js';
import { degradationText } from '../../request/pipeline/page/degraded.js';
import { CARD_COLUMN, cardCell, rightColumn } from '../../learn/report/tree.js';
import { ID_COLUMN } from './card-text.js';
import { renderTable, shorten } from './table.js';
import { missOf } from '../../ground/core/miss-of.js';
import { count, counted } from '../../ground/core/count.js';
import { wrap } from '../../ground/core/wrap.js';

/** Renders an explanation as text, at most `width` columns wide. */
export function explanationText(explanation: Explanation, width: number): string {
  const { candidates, page, request, store, outside } = explanation;
  const reads = `Round trips to the store: ${store.round_trips}; keys: ${store.keys_read}`;
  const others =
    outside.round_trips === 0
      ? ''
      : `; reads from other stores: ${outside.round_trips}; keys: ${outside.keys_read}`;
  const title = `${explanation.pipeline}: ${counted(candidates.sent, 'candidate')} sent, ${count(candidates.left)} left, ${page.length} on this page`;
  return [
    wrap(title, 0, width),
    wrap(`request ${explanation.request_id}, run ${explanation.run_id}`, 0, width),
    ...(explanation.degraded.length === 0
      ? []
      : [wrap(`degraded: ${explanation.degraded.map(degradationText).join(', ')}`, 0, width)]),
    ...fateText(explanation.why, width),
    '\n',
    pageTable(page, width),
    ...page.map((candidate) => `\n${candidateText(candidate, width)}`),
    ...pairText(explanation.compared, width),
    ...liftText(explanation.lifts, width),
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
    ...readsText(outside.reads, width),
    ...indexText(candidates.index, width),
    ...broughtText(candidates.brought, width),
    ...retrievalText(candidates.retrieval, width),
    ...duplicatesText(candidates.duplicates, width),
    ...fieldsText('Fields that nothing declares', explanation.unknown_fields, width),
    ...fieldsText('Fields that were converted', explanation.coerced_fields ?? [], width),
  ].join('');
}

function fieldsText(title: string, fields: Explanation['unknown_fields'], width: number): string[] {
  const list = fields.map(({ field, times }) => `${shorten(field, 40)} (${times})`).join(', ');
  return list === '' ? [] : [wrap(`${title}: ${list}`, 0, width)];
}

function fateText(why: Explanation['why'], width: number): string[] {
  if (why === undefined) return [];
  const { candidate_id: id, fate, place, step, as, rules = [], reason, found } = why;
  const places = Object.entries(found?.places ?? {}).map(([name, at]) => `${name} at place ${at}`);
  const more = [
    ...(place === undefined ? [] : [`place ${place}`]),
    ...(step === undefined ? [] : [`step ${step}, ${as ?? ''}`]),
    ...(reason === undefined ? [] : [reason]),
    ...(rules.length === 0 ? [] : [`rules ${rules.join(', ')}`]),
    ...(places.length === 0 ? [] : [`found by ${places.join(', ')}`]),
    ...(found?.merged === undefined ? [] : [`merged at place ${found.merged}`]),
  ];
  const text = `Why ${shorten(id, 40)}: ${CANDIDATE_FATES[fate]}${more.length === 0 ? '' : ` (${more.join('; ')})`}`;
  return [wrap(text, 0, width)];
}

function indexText(index: Explanation['candidates']['index'], width: number): string[] {
  if (index === undefined) return [];
  const { where, scanned, matched, taken } = index;
  const text = `Candidates from the index: ${scanned} looked at, ${matched} meet ${where}, the first ${taken} by id are ranked`;
  return [wrap(text, 0, width)];
}

function broughtText(brought: Explanation['candidates']['brought'], width: number): string[] {
  if (brought === undefined) return [];
  const { ids, left_out: leftOut } = brought;
  const more = leftOut === 0 ? '' : `; ${leftOut} more had no room`;
  return [wrap(`Brought by pins: ${shorten(ids.join(', '), 200)}${more}`, 0, width)];
}

function readsText(reads: Explanation['outside']['reads'], width: number): string[] {
  return (reads ?? []).map(({ view, outcome, keys, asked, stale, ms, reason }) =>
    wrap(
      `Read of ${view}: ${outcome}, ${asked} of ${keys} rows asked for, ${stale} stale, ${ms.toFixed(2)} ms${reason === undefined ? '' : `: ${reason}`}`,
      0,
      width,
    ),
  );
}

function retrievalText(retrieval: Explanation['candidates']['retrieval'], width: number): string[] {
  if (retrieval === undefined) return [];
  const { retrievers, found, cut } = retrieval;
  const each = retrievers.map(
    ({ as, outcome, found: own, ms, reason }) =>
      `${as} ${outcome} ${own} in ${ms.toFixed(1)} ms${reason === undefined ? '' : ` (${reason})`}`,
  );
  const beyond =
    cut.count === 0 ? '' : `; ${cut.count} are beyond \`most\`: ${shorten(cut.ids.join(', '), 200)}`;
  return [wrap(`Retrieved: ${each.join(', ')}; ${found} different candidates${beyond}`, 0, width)];
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

function pageTable(page: readonly ExplainedCandidate[], width: number): string {
  const hasCards = page.some(({ card }) => card !== undefined);
  return renderTable(
    [
      rightColumn('place'),
      ...(hasCards ? [ID_COLUMN, CARD_COLUMN] : [{ title: 'candidate_id', max: 40 }]),
      rightColumn('ranked_score'),
      rightColumn('score'),
    ],
    page.map((one) => [
      one.place,
      one.candidate_id,
      ...(hasCards ? [cardCell(one.card)] : []),
      scoreText(one.ranked_score),
      scoreText(one.score),
    ]),
    width,
  );
}

function candidateText(
  { candidate_id: id, card, changes, drawn, contributions = [], values }: ExplainedCandidate,
  width: number,
): string {
  const lines = [...changes.map(changeText), ...(drawn === undefined ? [] : [drawnText(drawn)])];
  const accounts = contributions.map((account) => accountText(account, width)).join('');
  const who = card === undefined || card.title === id ? id : `${id}: ${cardCell(card)}`;
  return `${shorten(who, width)}\n${lines.map((line) => wrap(line, 2, width)).join('')}${accounts}${valueTable(values, width)}`;
}

function pairText(pair: Explanation['compared'], width: number): string[] {
  if (pair === undefined) return [];
  const [one, other] = pair.candidates.map(({ candidate_id: id, place, score }) =>
    [shorten(id, 40), place === null ? 'removed' : `place ${place}`, scoreText(score)].join(', '),
  );
  const { split, reason, difference, changed = [], contributions = [] } = pair;
  const lines = [
    ...(split === undefined
      ? []
      : [`step ${split.step}, ${split.as}, put ${shorten(split.below, 40)} below; by the scores before it:`]),
    ...(reason === undefined ? [] : [`not compared: ${reason}`]),
    ...(difference === undefined ? [] : [`the scores differ by ${numberText(difference)}`]),
    ...changed.map(({ step, as, amount }) => `step ${step}, ${as}, changed that by ${numberText(amount)}`),
  ];
  return [
    `\n${wrap(`${one ?? ''}, against ${other ?? ''}`, 0, width)}`,
    ...lines.map((line) => wrap(line, 2, width)),
    ...contributions.map((account) => accountText(account, width)),
  ];
}

const METHODS: Readonly<Record<ExplainedAccount['method'], string>> = {
  sum: '',
  tree_shap: ' (TreeSHAP)',
  tree_shap_pair: ' (TreeSHAP of the pair)',
  opaque: '',
};

/** An account as a sum, largest parts first. */
function accountText(account: ExplainedAccount, width: number): string {
  const { of, step, value, sum, method, reason, base = 0, terms = [], remainder } = account;
  const who = step === undefined ? of : `${of}, step ${step},`;
  const whole = sum === undefined ? '' : `, from the sum ${numberText(sum)}`;
  const why = reason === undefined ? ' =' : `: ${reason}`;
  // Some models compute in float32.
  const { isRounding } = missOf({ base, terms, precision: 'float32' }, sum ?? value);
  const rows = [
    ...(base === 0 ? [] : [[numberText(base), method === 'sum' ? 'constant' : 'mean of the training rows']]),
    ...terms
      .toSorted((a, b) => Math.abs(b.amount) - Math.abs(a.amount))
      .map((term) => [numberText(term.amount), termText(term)]),
    ...(remainder === undefined
      ? []
      : [[numberText(remainder), isRounding ? 'rounding' : 'not in the terms']]),
  ];
  const used = Math.max(0, ...rows.map(([amount = '']) => amount.length));
  const lines = rows.map(
    ([amount = '', what = '']) => `    ${amount.padStart(used)}  ${shorten(what, width - used - 6)}\n`,
  );
  return wrap(`${who} is ${numberText(value)}${whole}${METHODS[method]}${why}`, 2, width) + lines.join('');
}

function liftText(found: Explanation['lifts'], width: number): string[] {
  if (found === undefined) return [];
  const { candidate_id: id, to, place, tried, left_out: leftOut = 0, reason, lifts } = found;
  const at = place === null ? 'removed' : `at place ${place}`;
  const more = leftOut === 0 ? '' : `, ${counted(leftOut, 'number')} not tried`;
  const head = `${shorten(id, 40)}, ${at}: what lifts it to place ${to}`;
  if (lifts.length === 0) {
    const why = reason ?? `none of ${counted(tried, 'change')}${more}`;
    return ['\n', wrap(`${head}: ${why}`, 0, width)];
  }
  const lines = lifts.map(
    (one) =>
      `${shorten(one.name, 40)}: ${numberText(one.value)} → ${numberText(one.new_value)} (percentile ${one.percentile.toFixed(0)} → ${one.new_percentile.toFixed(0)}): place ${one.place}`,
  );
  return [
    '\n',
    wrap(`${head} (${counted(tried, 'change')} tried${more}; each of these alone)`, 0, width),
    ...lines.map((line) => wrap(line, 2, width)),
  ];
}

function termText({ text, weight, against, ...value }: ExplainedTerm): string {
  const known = [value, ...(against === undefined ? [] : [against])]
    .map((one) => (one.value === null ? one.status : valueText(one)))
    .join(' against ');
  return weight === undefined || weight === 1
    ? `${text}: ${known}`
    : `${numberText(weight)} · ${text}: ${known}`;
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
    { view: 40, status: 'left', values: 'right' },
    features.map(({ view, status, cause, values }) => [
      view,
      cause === undefined ? status : `${status} (${cause})`,
      values,
    ]),
  );
}

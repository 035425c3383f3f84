import {
  libraryName,
  meanText,
  metricLines,
  number,
  proofText,
  selectionLines,
  type ModelCard,
  type Training,
} from './training-text.js';

/** The card as Markdown. */
export function cardMarkdown(training: Training): string {
  const { pipeline, step, card, proof, out } = training;
  return [
    `# ${out}

A ${libraryName(card.library)} ranker for the step \`${step}\` of the pipeline \`${pipeline}\`. Version \`${proof.version}\`.

${overview(training)}`,
    holdout(card),
    ...segments(card),
    ...section(
      'Worst queries',
      ['query', 'requests', card.measure],
      card.worst.map(({ query, requests, mean }) => [query, String(requests), number(mean)]),
    ),
    ...section(
      'Learning curve',
      ['requests', 'rows', `${card.measure} of the hold-out`],
      card.learning_curve.map((one) => [String(one.requests), String(one.rows), meanText(one)]),
    ),
    ...columns(training),
    ...section(
      'Parameters',
      ['parameter', 'value'],
      Object.entries(card.parameters).map(([name, value]) => [`\`${name}\``, JSON.stringify(value)]),
    ),
  ].join('\n');
}

function overview({ card, proof }: Training): string {
  const { data } = card;
  const by = {
    holdout: '; the hold-out chose the number',
    folds: '; the folds chose the number',
    option: '',
  };
  const span = (part: 'train' | 'holdout'): string => data.span[part]?.join(' to ') ?? 'none';
  return table(
    ['', ''],
    [
      ['data set', `manifest \`${data.manifest}\``],
      ['labels', `${data.labels}${data.label === null ? '' : `: ${JSON.stringify(data.label)}`}`],
      ['requests', `${data.requests.train} to train, ${data.requests.holdout} held out`],
      ['rows', `${data.rows.train} to train, ${data.rows.holdout} held out`],
      ...(data.labels === 'judgments'
        ? []
        : [['times', `${span('train')} to train, ${span('holdout')} held out`]]),
      ['bias of positions', `${card.positions.method}: ${card.positions.reason}`],
      ['weights of rows', card.weights],
      ['rounds', `${card.rounds}${by[card.rounds_chosen_by]}`],
      ...selectionLines(card).map((line) => ['selection', line]),
      ['seed', String(card.seed)],
      [
        'versions',
        Object.entries(card.versions)
          .map(([name, version]) => `${name} ${version}`)
          .join(', '),
      ],
      ['proof', proofText(proof, libraryName(card.library)).replace('proof: ', '')],
    ],
  );
}

function holdout(card: ModelCard): string {
  const isChosen = card.rounds_chosen_by === 'holdout';
  return `## Hold-out

${metricLines(card)
  .map((text) => `- ${text}\n`)
  .join('')}
${isChosen ? 'The number of rounds was chosen on the same rows, so these figures are slightly too good.\n' : ''}${
    card.data.labels === 'judgments'
      ? ''
      : `Agreement with feedback is not the quality of a ranking: users can only click on what was shown. Measure the model with
\`millrace evaluate\` or an experiment before it serves.
`
  }`;
}

function segments({ segments: all, measure }: ModelCard): string[] {
  const rows = Object.entries(all).flatMap(([feature, of]) =>
    Object.entries(of).map(([value, one]) => [`\`${feature}\``, value, String(one.queries), meanText(one)]),
  );
  return section('Segments of the hold-out', ['value of the request', '', 'requests', measure], rows);
}

function columns({ card, texts }: Training): string[] {
  const isMeasured = Object.values(card.importance).some(({ contribution }) => contribution !== undefined);
  const measured = [`loss of ${card.measure}`, 'contribution', 'trend'];
  return section(
    'Columns',
    ['column', 'value', 'type', 'gain', 'splits', ...(isMeasured ? measured : [])],
    Object.entries(card.importance).map(([name, { gain, splits, permutation, contribution, trend }]) => [
      name,
      `\`${texts[name] ?? name}\``,
      card.columns.find((one) => one.name === name)?.type ?? '',
      gain.toFixed(1),
      String(splits),
      ...(isMeasured ? [number(permutation), number(contribution), trend?.toFixed(2) ?? ''] : []),
    ]),
  );
}

/** Nothing without rows. */
function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : [`## ${title}\n\n${table(head, rows)}`];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map(
      (cells) =>
        `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')).join(' | ')} |\n`,
    )
    .join('');
}

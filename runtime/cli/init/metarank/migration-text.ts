import type { Note } from './draft.js';

const HEADS: Readonly<Record<Note['state'], string>> = {
  'to do': 'To do',
  changed: 'Carried over, with a difference',
  'left out': 'Not carried over',
  carried: 'Carried over',
};

/** The text of MIGRATION.md: what to run, what became of each part, and what is left to do. */
export function migrationText(notes: readonly Note[], pipelines: readonly string[]): string {
  const [first] = pipelines;
  const train = pipelines.map((name) => `millrace train ${name}:ltr --data data --out models/${name}.txt`);
  const commands =
    first === undefined
      ? ['millrace validate']
      : [
          'millrace validate',
          `millrace ledger import events.jsonl --map metarank --pipeline ${first}`,
          'millrace dataset build --out data',
          ...train,
          'millrace serve',
        ];
  return [
    '# From Metarank',
    '',
    'This project was made of a configuration of Metarank. Run these commands, with the file of your events:',
    '',
    '```sh',
    ...commands,
    '```',
    '',
    'A client sends its candidates to the route of the pipeline, and events to `POST /api/v1/feedback`; the bodies differ from',
    'those of Metarank (docs/from-metarank.md of Millrace).',
    '',
    ...(['to do', 'changed', 'left out', 'carried'] as const).flatMap((state) => section(notes, state)),
  ].join('\n');
}

function section(notes: readonly Note[], state: Note['state']): string[] {
  const own = notes.filter((note) => note.state === state);
  if (own.length === 0) return [];
  return [`## ${HEADS[state]}`, '', ...own.map(({ what, detail }) => `- **${what}**: ${detail}`), ''];
}

/** The summary for the terminal. */
export function notesText(notes: readonly Note[]): string {
  const count = (state: Note['state']): number => notes.filter((note) => note.state === state).length;
  const lines = [
    `${count('carried')} carried over, ${count('changed')} with a difference, ${count('to do')} to do, ${count('left out')} not carried over`,
  ];
  for (const state of ['to do', 'left out'] as const)
    for (const { what, detail } of notes.filter((note) => note.state === state))
      lines.push(`${state}: ${what}`, `    ${detail}`);
  return `${lines.join('\n')}\n`;
}

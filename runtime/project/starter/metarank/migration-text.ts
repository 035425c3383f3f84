import { printable } from '../../../ground/core/display-width.js';
import { wrap } from '../../../ground/core/wrap.js';
import { NOTE_STATES, type Note } from './draft.js';

const HEADS: Readonly<Record<Note['state'], string>> = {
  'to do': 'To do',
  changed: 'Carried over, with a difference',
  'left out': 'Not carried over',
  carried: 'Carried over',
};

/** A pipeline, and the weights of interactions that its model was trained for: `click=1,order=5`. */
export interface MigratedPipeline {
  readonly name: string;
  readonly labels: string | undefined;
}

/** The text of MIGRATION.md: what to run, what became of each part, and what is left to do. */
export function migrationText(notes: readonly Note[], pipelines: readonly MigratedPipeline[]): string {
  const [first] = pipelines;
  const commands = [
    'millrace validate',
    ...(first === undefined
      ? []
      : [
          `millrace ledger import events.jsonl --map metarank --pipeline ${first.name}`,
          'millrace feedback load events.jsonl --map metarank',
        ]),
    ...pipelines.flatMap(({ name, labels }) => [
      `millrace dataset build ${name}${labels === undefined ? '' : ` --label ${labels}`} --out data/${name}`,
      `millrace train ${name}:ltr --data data/${name} --out models/${name}.txt`,
    ]),
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
    ...(pipelines.length > 1
      ? ['Rankings are imported for one pipeline. Import the events once for each model that you train.', '']
      : []),
    'A client sends its candidates to the route of the pipeline, and events to `POST /api/v1/feedback`. The bodies differ from',
    'those of Metarank (docs/from-metarank.md of Millrace).',
    '',
    ...NOTE_STATES.flatMap((state) => section(notes, state)),
  ].join('\n');
}

function section(notes: readonly Note[], state: Note['state']): string[] {
  const own = notes.filter((note) => note.state === state);
  if (own.length === 0) return [];
  return [`## ${HEADS[state]}`, '', ...own.map(({ what, detail }) => `- **${what}**: ${detail}`), ''];
}

/** The summary for the terminal. @param width of the terminal */
export function notesText(notes: readonly Note[], width: number): string {
  const count = (state: Note['state']): number => notes.filter((note) => note.state === state).length;
  const counts = [
    `${count('carried')} carried over`,
    `${count('changed')} with a difference`,
    `${count('to do')} to do`,
    `${count('left out')} not carried over`,
  ];
  const told = (['to do', 'left out'] as const).flatMap((state) =>
    notes
      .filter((note) => note.state === state)
      .map(({ what, detail }) => `${state}: ${printable(what)}\n${wrap(detail, 4, width)}`),
  );
  return `${counts.join(', ')}; MIGRATION.md lists all\n${told.join('')}`;
}

import { EVENT_TYPES } from '../../runtime/ground/core/event-types.js';
import { STAGES } from '../../runtime/request/pipeline/stages.js';
import { SPANS } from '../../runtime/project/tracing/spans.js';
import { markdownTable } from './markdown-table.js';

export function stageTable(): string {
  return markdownTable(
    ['stage', 'what it does'],
    STAGES.map(({ name, does }) => [`\`${name}\``, does]),
  );
}

export function spanTable(): string {
  return markdownTable(
    ['span', 'kind', 'below', 'what it covers', 'attributes'],
    Object.values(SPANS).map(({ name, kind, parent, does, attributes }) => [
      name,
      kind.toUpperCase(),
      parent,
      does,
      attributes.map((one) => `\`${one}\``).join(', '),
    ]),
  );
}

export function eventTable(): string {
  return markdownTable(
    ['event_type', 'one for each', 'event_data'],
    Object.entries(EVENT_TYPES).map(([type, { each, data, optional }]) => {
      const isOptional = (member: string): boolean => (optional as readonly string[]).includes(member);
      const members = data.map((member) => `\`${member}\`${isOptional(member) ? ' (of a default)' : ''}`);
      return [`\`${type}\``, each, members.join(', ')];
    }),
  );
}

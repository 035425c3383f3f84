import { printable } from '../../ground/core/display-width.js';
import { wrap } from '../../ground/core/wrap.js';
import { renderTable } from './table.js';

const MOST_SERVER = 42;

/** What a probe of a server found. */
interface Connection extends Readonly<Record<'of' | 'server' | 'state' | 'detail', string>> {
  readonly help?: string;
}

/** A row for each server, and below the rows what was found, at most `width` columns wide. */
export function connectionsText(connections: readonly Connection[], width: number): string {
  if (connections.length === 0) return 'the project needs no server\n';
  const table = renderTable(
    { 'needed by': 24, server: MOST_SERVER, state: 'left' },
    connections.map(({ of, server, state }) => [printable(of), printable(server), state]),
  );
  const notes = connections.map(({ of, detail, help }) => {
    const note = wrap(`${printable(of)}: ${printable(detail)}`, 0, width);
    return help === undefined ? note : note + wrap(`help: ${help}`, 4, width);
  });
  return `${table}\n${notes.join('')}`;
}

import type { Readable } from 'node:stream';
import type { EventOutput } from '../../foreign/foreign-event.js';
import { addToProfiles, type ColumnProfile } from '../../foreign/profile.js';
import { metarankReader } from '../../foreign/metarank.js';
import { openInput } from '../../rows/open-input.js';
import { attributesOf, type Attribute } from '../log-project.js';

/** What the events of Metarank show: which fields there are, and of which types. */
export interface MetarankEvents {
  readonly items: readonly Attribute[];
  readonly users: readonly Attribute[];
  /** Fields of rankings. */
  readonly sent: readonly Attribute[];
  /** Fields of the items of rankings. */
  readonly carried: readonly Attribute[];
  /** Kinds of interactions, as the import calls them. */
  readonly kinds: readonly string[];
  readonly longest: number;
  readonly read: number;
  readonly rejected: number;
}

type Profiles = Map<string, ColumnProfile>;

/** Reads the events of a file: JSON lines, perhaps with .gz, or standard input for `-`. @throws InputError */
export async function readMetarankEvents(file: string, stdin: Readable): Promise<MetarankEvents> {
  const input = await openInput(file, {
    stdin,
    columnTypes: () => Promise.resolve(new Map<string, never>()),
  });
  const items: Profiles = new Map();
  const users: Profiles = new Map();
  const sent: Profiles = new Map();
  const carried: Profiles = new Map();
  const kinds = new Set<string>();
  let longest = 0;
  let read = 0;
  let rejected = 0;
  const reader = metarankReader('product');
  const output: EventOutput = {
    reject() {
      rejected++;
    },
    event(event) {
      read++;
      if (event.is === 'entity') addToProfiles(event.type === 'user' ? users : items, event.values);
      else if (event.is === 'ranking') {
        longest = Math.max(longest, event.candidates.length);
        addToProfiles(sent, event.sent);
        for (const one of event.candidates) addToProfiles(carried, one.carried);
      } else if (event.is === 'feedback') kinds.add(event.event);
    },
  };
  try {
    for await (const chunk of input.chunks()) {
      rejected += chunk.bad.length;
      for (const { value } of chunk.rows) reader.read(value, output);
    }
  } finally {
    await input.close();
  }
  return {
    items: attributesOf(items),
    users: attributesOf(users),
    sent: attributesOf(sent),
    carried: attributesOf(carried),
    kinds: [...kinds].sort(),
    longest,
    read,
    rejected,
  };
}

import type { Surface } from '../mistake.js';

const FILE = 'millrace.yaml';
const after = (line: string): readonly [string, string, string] => [
  FILE,
  'port: 5001\n',
  `port: 5001\n${line}\n`,
];

export const PROJECT_FILE: Surface = {
  title: 'millrace.yaml',
  mistakes: [
    { what: 'A time in words', edit: ['millrace.yaml', 'queue_ms: 250ms', 'queue_ms: 1 second'] },
    { what: 'A misspelt setting', edit: [FILE, 'store: embedded', 'stroe: embedded'] },
    { what: 'A store that does not exist', edit: [FILE, 'store: embedded', 'store: mongo'] },
    { what: 'A word for a number', edit: [FILE, 'port: 5001', 'port: eighty'] },
    { what: 'A port that is too large', edit: [FILE, 'port: 5001', 'port: 70000'] },
    { what: 'A time without a number', edit: [FILE, 'queue_ms: 250ms', 'queue_ms: soon'] },
    { what: 'A size with an unknown unit', edit: after('resident_bytes: 512XB') },
    { what: 'A password in the file', edit: after('redis_password: hunter22') },
    { what: 'A variable that is not set', edit: after('redis_url: ${SHOP_REDIS}') },
    { what: 'A name with a capital letter', edit: [FILE, 'project: shop', 'project: Shop'] },
    { what: 'No name', edit: [FILE, 'project: shop\n', ''] },
    { what: 'The same key twice', edit: after('port: 5002') },
    { what: 'A tab', edit: after('events:\n\tclick: {}') },
    {
      what: 'A value of an event with an unknown type',
      edit: after('events: { order: { revenue: money } }'),
    },
  ],
};

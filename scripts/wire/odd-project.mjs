// A project of unusual shapes. Generators of clients have to cope with each type of attribute at each place, and with names
// that are words of their languages.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TYPE_KINDS } from '../../dist/runtime/project/config/project/parse-type.js';
import { BUILD } from './run.mjs';

/** Words of Java, C#, Go, Python and TypeScript, and names that every object has there. Facts of the languages. */
const WORDS =
  `abstract any as assert async await base body boolean break byte case catch chan char class client const continue
  copy debugger declare def default defer del delete do double elif else enum except export extends fallthrough final finally
  for foreach from func function get get_class global go goto hash_code if implements import instanceof int interface internal
  is keys lambda let lock long map match model module namespace native new nonlocal object operator out package params pass
  private protected public raise range readonly record select self set static strictfp string struct super switch synchronized
  this throw to_string transient try typeof undefined using value var virtual void volatile while with yield`.split(
    /\s+/,
  );

/** How each kind of type is written, to the entity type that a reference names. */
const WRITTEN = {
  int: () => ['int'],
  float: () => ['float'],
  bool: () => ['bool'],
  string: () => ['string'],
  timestamp: () => ['timestamp'],
  vector: () => ['vector(3)'],
  ref: (entity) => [`ref(${entity})`],
  list: (entity) => [
    ...['string', 'float', `ref(${entity})`].map((of) => `list(${of})`),
    `{ list: { class: string, value: ref(${entity}) } }`,
  ],
  record: (entity) => [`{ record: { default: float, self: ref(${entity}), at: timestamp } }`],
  // Only fields of a request are optional: REQUESTED writes it round each other type.
  optional: () => [],
};

/** The kinds that an attribute, a feature and a field of a request can have. A new kind has to be put into each list. */
const TYPES = (entity) =>
  TYPE_KINDS.flatMap((kind) => {
    if (WRITTEN[kind] === undefined) throw new Error(`scripts/wire/odd-project.mjs: write the type ${kind}`);
    return WRITTEN[kind](entity);
  });
const FEATURES = (entity) => TYPES(entity).filter((type) => !/\{|ref\(/.test(type));
const REQUESTED = (entity) => TYPES(entity).filter((type) => !/\{|list\(ref/.test(type));

const mapping = (names, types) =>
  `{ ${names.map((name, i) => `${name}: ${types[i % types.length]}`).join(', ')} }`;

/** Cuts the words into portions: each entity type, view, pipeline and kind of event has names of its own. */
function portions(count) {
  const size = Math.ceil(WORDS.length / count);
  return Array.from({ length: count }, (_, i) => WORDS.slice(i * size, (i + 1) * size));
}

const ENTITIES = ['class', 'object', 'map'];
const PIPELINES = ['import', 'try', 'new', 'default', 'return'];

function files() {
  const [first, second] = ENTITIES;
  const entities = portions(ENTITIES.length).map((names, i) => {
    const next = ENTITIES[(i + 1) % ENTITIES.length];
    return [
      `schemas/entities/${ENTITIES[i]}.yaml`,
      `entity: ${ENTITIES[i]}\nattributes: ${mapping(names, TYPES(next))}\n`,
    ];
  });
  const fields = portions(PIPELINES.length);
  const pipelines = PIPELINES.map((name, i) => {
    const isRank = i % 2 === 0;
    const types = REQUESTED(second);
    // Each word that no entity type has, and more, so that each type is there both optional and required.
    const names = [...fields[i], ...types.map((_, n) => `more_${n}`)].filter(
      (word) => !ENTITIES.includes(word),
    );
    const request = mapping(names, [...types.map((type) => `optional(${type})`), ...types]);
    return [
      `pipelines/${name}.yaml`,
      [
        `pipeline: ${name}`,
        `${isRank ? 'rank' : 'score'}: ${first}`,
        `request: { ${i % 3 === 0 ? 'unknown: refuse, ' : ''}${isRank ? 'candidates: { upstream: float }, ' : ''}${second}: optional(${second}), ${request.slice(2)}`,
        'features: [while]',
        `components: [{ use: score, with: { value: "coalesce(while:range, 1)" } }]`,
        ...(isRank ? [] : [`answer: { class: score > 1, import: score }`]),
        '',
      ].join('\n'),
    ];
  });
  return Object.fromEntries([
    [
      'millrace.yaml',
      'project: odd\nevents: { click: {}, new: { int: float, double: bool, package: string, long: int }, import: {} }\n',
    ],
    ...entities,
    [
      `schemas/features/while.yaml`,
      `view: while\nof: [${first}]\nfeatures: ${mapping(['range', ...WORDS.slice(0, 20)], ['float', ...FEATURES(second)])}\n`,
    ],
    [`schemas/features/nothing.yaml`, 'view: nothing\nof: []\nfeatures: { try: float }\n'],
    [`schemas/features/both.yaml`, `view: both\nof: [${first}, ${second}]\nfeatures: { try: float }\n`],
    ...pipelines,
  ]);
}

/** Writes the project, and returns its folder. */
export function writeOddProject() {
  const folder = join(BUILD, 'odd');
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files())) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

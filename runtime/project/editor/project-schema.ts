import { NAME_PATTERN } from '../../ground/api/types.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { MOST_EVENT_KINDS, VALUE_KINDS } from '../config/project/load-events.js';
import { DEFAULT_TIME_ZONE } from '../config/project/load-time-zone.js';
import { PACKAGE_NAME } from '../config/project/load-packages.js';
import { EVENT_FIELDS } from '../config/project/reserved-names.js';
import { PROJECT_FILE } from '../settings/setting-origin.js';
import { SECTIONS, unitOf, type SettingRow } from '../settings/setting-row.js';
import { FILE_SETTINGS } from '../settings/settings.js';

/** A value with an environment variable. Its content is known only when the file is read. */
const VARIABLE = { type: 'string', pattern: '\\$\\{[^}]*\\}' };

/** The kinds of feedback. The reader of the project checks them (load-events.ts). */
const EVENTS: JsonObject = {
  title: 'kinds of feedback',
  description:
    'The kinds of feedback, each with the values that its events may carry. Without this key they are impression, click, cart and order. A reload applies a change.',
  type: 'object',
  minProperties: 1,
  maxProperties: MOST_EVENT_KINDS,
  propertyNames: { pattern: NAME_PATTERN.source },
  additionalProperties: {
    type: ['object', 'null'],
    propertyNames: { pattern: NAME_PATTERN.source, not: { enum: [...EVENT_FIELDS] } },
    additionalProperties: { enum: [...VALUE_KINDS] },
  },
  examples: [{ impression: {}, click: {}, cart: {}, order: { revenue: 'float' } }],
};

/** The packages with plugins. The reader of the project checks them (load-packages.ts). */
const PLUGINS: JsonObject = {
  title: 'packages with plugins',
  description:
    'The npm packages whose plugins the project uses. They are found in node_modules. A reload applies a change.',
  type: 'array',
  items: { type: 'string', pattern: PACKAGE_NAME.source },
  uniqueItems: true,
  examples: [['@acme/millrace-geo']],
};

/** Creates the JSON Schema of millrace.yaml, for editors. Millrace itself checks the file with the settings table. */
export function projectSchema(): JsonObject {
  const settings = [...FILE_SETTINGS].map(([key, row]) => [key, settingSchema(row)] as const);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Project',
    description: `${PROJECT_FILE} names the project and sets its settings. A flag or an environment variable overrides a setting of the file.`,
    type: 'object',
    properties: {
      project: {
        description: 'The name of the project.',
        type: 'string',
        pattern: NAME_PATTERN.source,
        examples: ['shop'],
      },
      events: EVENTS,
      plugins: PLUGINS,
      services: {
        title: 'services of packages',
        description:
          'The options of the services that packages share, by the name of the service. A reload applies a change.',
        type: 'object',
        propertyNames: { pattern: NAME_PATTERN.source },
        additionalProperties: { type: ['object', 'null'] },
        examples: [{ pool: { url: '${SHOP_DATABASE}' } }],
      },
      time_zone: {
        title: 'a time zone of the IANA',
        description: `The time zone in which a day of a campaign without a time is whole. A reload applies a change.`,
        type: 'string',
        default: DEFAULT_TIME_ZONE,
        examples: ['Europe/Berlin'],
      },
      ...Object.fromEntries(settings.filter(([key]) => !key.includes('.'))),
      ...Object.fromEntries(Object.keys(SECTIONS).map((name) => [name, sectionSchema(name, settings)])),
    },
    required: ['project'],
    additionalProperties: false,
  };
}

function sectionSchema(
  name: string,
  settings: readonly (readonly [key: string, schema: JsonObject])[],
): JsonObject {
  const own = settings.filter(([key]) => key.startsWith(`${name}.`));
  const alone = settings.find(([key]) => key === name)?.[1];
  const itself = SECTIONS[name]?.itself;
  if (alone !== undefined && itself !== undefined) {
    const { title, description, default: otherwise, ...accepted } = alone;
    const properties = {
      [itself]: { title: title ?? '', ...accepted },
      ...Object.fromEntries(own.map(([key, schema]) => [key.slice(name.length + 1), schema])),
    };
    const mapping = { type: 'object', properties, additionalProperties: false };
    return {
      ...{ title: title ?? '', description: description ?? '', default: otherwise ?? '' },
      anyOf: [accepted, mapping],
    };
  }
  return {
    title: `settings of the ${name}`,
    description: `docs/${name}.md describes them.`,
    type: 'object',
    properties: Object.fromEntries(own.map(([key, schema]) => [key.slice(name.length + 1), schema])),
    additionalProperties: false,
  };
}

function settingSchema(row: SettingRow<unknown>): JsonObject {
  const { description, expected, default: otherwise, env } = row;
  const types = typesOf(row);
  return {
    title: expected,
    description: `${description} Environment variable: ${env}.`,
    ...(types.length === 1 ? types[0] : { anyOf: types }),
    ...(otherwise === '' ? {} : { default: defaultOf(row) }),
  };
}

function typesOf(row: SettingRow<unknown>): JsonObject[] {
  const { accepts } = row.parse;
  if (row.secret === true && row.passwordIn === undefined) return [VARIABLE];
  if (row.list === true)
    return [
      { type: ['string', 'number'] },
      { type: 'array', items: { type: ['string', 'number'], pattern: '^[^,]+$' } },
    ];
  switch (accepts?.kind) {
    case 'one_of':
      return [
        { enum: [...accepts.values] },
        ...(accepts.names === true ? [{ type: 'string', pattern: NAME_PATTERN.source }] : []),
        VARIABLE,
      ];
    case 'bool':
      return [{ type: 'boolean' }, VARIABLE];
    case 'whole_number': {
      const unit = unitOf(row);
      return [
        { type: 'integer', minimum: accepts.least, maximum: accepts.most },
        ...(unit === undefined ? [] : [{ type: 'string', pattern: unit.pattern }]),
        VARIABLE,
      ];
    }
    case undefined:
      return [{ type: ['string', 'number'], ...(row.default === '' ? {} : { minLength: 1 }) }];
  }
}

function defaultOf({ default: otherwise, parse: { accepts } }: SettingRow<unknown>): JsonValue {
  if (accepts?.kind === 'whole_number') return Number(otherwise);
  return accepts?.kind === 'bool' ? otherwise === 'true' : otherwise;
}

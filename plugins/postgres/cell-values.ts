import type { ValueType } from 'millrace/api';

/** Reads a cell as a JSON value. @throws SyntaxError */
type ReadCell = (text: string) => unknown;

/** Types of PostgreSQL by `pg_type.oid`: integers, other numbers, texts, times, JSON. */
const INTEGERS = [20, 21, 23];
const NUMBERS = [...INTEGERS, 700, 701, 1700];
const TEXTS = [18, 19, 25, 1042, 1043, 2950];
const BOOLEAN = 16;
const TIMES = [1082, 1114, 1184];
const JSONS = [114, 3802];
/** Lists of integers, other numbers, and texts. */
const NUMBER_LISTS = [1005, 1007, 1016, 1021, 1022, 1231];
const TEXT_LISTS = [1002, 1003, 1009, 1014, 1015, 2951];
/** Types of extensions, such as `vector`, and enums have numbers from here on. */
const FIRST_OF_EXTENSIONS = 16_384;

/**
 * How a column becomes values of a feature.
 * @param oid of the type of the column
 * @returns undefined if the column cannot have values of the type
 */
export function cellReader(oid: number, type: ValueType): ReadCell | undefined {
  if (JSONS.includes(oid)) return (text) => JSON.parse(text) as unknown;
  switch (type.kind) {
    case 'int':
    case 'float':
      return NUMBERS.includes(oid) ? numberOf : undefined;
    case 'bool':
      return oid === BOOLEAN ? (text) => text === 't' : undefined;
    case 'string':
      return TEXTS.includes(oid) || oid >= FIRST_OF_EXTENSIONS ? String : undefined;
    case 'ref':
      return TEXTS.includes(oid) || INTEGERS.includes(oid) ? String : undefined;
    case 'timestamp':
      return timeReader(oid);
    case 'vector':
      if (oid >= FIRST_OF_EXTENSIONS) return (text) => JSON.parse(text) as unknown;
      return NUMBER_LISTS.includes(oid) ? (text) => listOf(text).map(numberOf) : undefined;
    case 'list': {
      const lists = type.of.kind === 'float' ? NUMBER_LISTS : TEXT_LISTS;
      if (!lists.includes(oid)) return undefined;
      return type.of.kind === 'float' ? (text) => listOf(text).map(numberOf) : listOf;
    }
    case 'record':
      return undefined;
  }
}

/** Reads times as epoch milliseconds; undefined if the column has no times. */
export function timeReader(oid: number): ((text: string) => number) | undefined {
  if (INTEGERS.includes(oid)) return Number;
  if (!TIMES.includes(oid)) return undefined;
  return (text) => {
    const [, day = '', time = '00:00:00', zone = 'Z'] = TIME.exec(text) ?? [];
    return Date.parse(`${day}T${time.slice(0, 12)}${zone.length === 3 ? `${zone}:00` : zone}`);
  };
}

/** As the server writes times. One without a zone is of UTC. */
const TIME = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d(?::\d\d)?)?)?$/;

/** NaN is null. */
function numberOf(text: string | null): number | null {
  const number = Number(text ?? NaN);
  return Number.isNaN(number) ? null : number;
}

/** The elements of a one-dimensional array, as the server writes it: `{a,"b c",NULL}`. */
function listOf(text: string): (string | null)[] {
  if (!text.startsWith('{') || text.startsWith('{{')) throw new SyntaxError('it is no list of one dimension');
  return Array.from(
    text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g),
    ([, quoted, plain = '']): string | null => {
      if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1');
      return plain === 'NULL' ? null : plain;
    },
  );
}

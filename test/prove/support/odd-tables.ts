import { Random } from '../../../runtime/ground/core/random.js';

/** A table of products as a spreadsheet or a shop writes it, and a search in it. */
export interface OddTable {
  readonly name: string;
  readonly file: string;
  readonly content: string | Buffer;
  /** What `init` tells the user to do with the file first, and the file that this makes. */
  readonly convert?: { readonly command: string; readonly file: string };
  readonly query: string;
  /** The first card of the search. */
  readonly finds: RegExp;
}

const THINGS =
  'Regenjacke Laufschuh Wanderhose Kinderjacke Trinkflasche Schlafsack Winterstiefel Stirnlampe'.split(' ');
const COLOURS = ['blau', 'rot', 'grün', 'weiß'];
const KINDS = ['trail', 'city', 'wool', 'winter'];
const NOUNS = ['shoe', 'jacket', 'tent', 'lamp', 'kettle'];
const ROWS = 200;

const rowsOf = (row: (at: number, random: Random) => string): string => {
  const random = new Random(7);
  return Array.from({ length: ROWS }, (_, at) => `${row(at, random)}\r\n`).join('');
};
const german = (at: number): string => `${THINGS[at % 8] ?? ''} ${COLOURS[at % 4] ?? ''} ${at}`;
const english = (at: number): string => `${KINDS[at % 4] ?? ''} ${NOUNS[at % 5] ?? ''}`;

/** Semicolons, decimal commas with points between thousands, leading zeros, quotes, names in German. */
const ARTICLES = `Artikelnummer;Bezeichnung;Beschreibung;Hersteller;Preis (€);Lagerbestand\r\n${rowsOf(
  (at, random) =>
    `${String(7 * at + 12).padStart(6, '0')};${german(at)};"Für Damen und Herren; wasserdicht, Größe ${36 + (at % 10)}";` +
    `Löwe & Söhne;${at % 3 === 0 ? '1.' : ''}${random.between(100, 999)},90;${random.between(0, 40)}`,
)}`;

export const ODD_TABLES: readonly OddTable[] = [
  {
    name: 'German, semicolons and decimal commas, byte order mark',
    file: 'artikel.csv',
    content: `\uFEFF${ARTICLES}`,
    query: 'Jacke',
    finds: /jacke/,
  },
  {
    name: 'the same in Windows-1252',
    file: 'artikel.csv',
    content: Buffer.from(ARTICLES.replaceAll('€', 'EUR'), 'latin1'),
    convert: { command: 'iconv -f WINDOWS-1252 -t UTF-8 artikel.csv > utf8.csv', file: 'utf8.csv' },
    query: 'Schuhe',
    finds: /Laufschuh/,
  },
  {
    name: 'German, one column of titles',
    file: 'titel.csv',
    content: `Titel\r\n${rowsOf((at) => german(at))}`,
    query: 'Jacke',
    finds: /jacke/,
  },
  {
    name: 'English, no column of ids',
    file: 'products.csv',
    content: `Name,Colour,Price\r\n${rowsOf((at, random) => `${english(at)},${random.pick(['red', 'blue'])},${random.between(5, 90)}.50`)}`,
    query: 'wool jackets',
    finds: /wool jacket/,
  },
  {
    name: 'English, quotes and line breaks in titles',
    file: 'products.csv',
    content: `sku,title,desc\r\n${rowsOf((at) => `A-${at},"<b>${english(at)}</b>\n27"" ""Ultra"" ${at}","Long, with\r\n\r\n""breaks"""`)}`,
    query: 'trail lamp ultra',
    finds: /trail lamp/,
  },
  {
    name: 'English, ids that repeat, separated by tabs',
    file: 'export.tsv',
    content: `id\ttitle\tprice\r\n${rowsOf((at) => `${at % 180}\t${english(at)} ${at}\t${at}`)}`,
    query: 'winter tent',
    finds: /winter tent/,
  },
];

import { momentText } from './campaign-language.js';
import type { COMPARISON_STATES } from '../../runtime/serve/compare/comparison.js';
import { language } from './language.js';

/** The texts of the screen of comparisons. Another language that lacks one does not compile. */
const ENGLISH = {
  loading: 'Loading …',
  start: 'What is compared',
  on: 'On',
  pipeline: 'Pipeline',
  against: 'Compared with',
  none: 'nothing',
  judgments: (name: string) => `judgments ${name}`,
  logged: 'logged requests and their clicks',
  ownQueries: 'your own queries, without grades',
  experiment: (name: string) => `Experiment ${name}`,
  last: 'Number of requests, newest first',
  queries: 'Queries, one per line',
  slice: 'Slice',
  sliceHint: 'A column of the judgments or an attribute of the query, such as language',
  gate: 'Gate',
  gateHint: 'Conditions, separated by commas; leave it empty for no gate',
  compare: 'Compare',
  read: 'Read the report',
  recent: 'Comparisons',
  noneYet: 'None yet.',
  empty: 'Choose what is compared. Its report appears here.',
  gone: 'This comparison is gone: the process was restarted, or ten later comparisons have ended.',
  versus: (one: string, other: string) => `${one} against ${other}`,
  queryCount: (count: number) => (count === 1 ? '1 query' : `${count} queries`),
  loggedCount: (count: number) => `${count} logged requests`,
  states: {
    waiting: 'waits',
    running: 'runs',
    done: 'done',
    failed: 'failed',
    stopped: 'stopped',
  } satisfies Record<(typeof COMPARISON_STATES)[number], string>,
  progress: 'Progress',
  percent: (share: number) => `${Math.round(100 * share)} %`,
  stop: 'Stop',
  notes: (count: number) => (count === 1 ? '1 note' : `${count} notes`),
  pass: 'PASS',
  fail: 'FAIL',
  found: (value: string) => `found ${value}`,
  unknown: 'unknown',
  grade: (grade: string) => `grade ${grade}`,
  nothingRanked: 'nothing was ranked',
  line: (number: string) => `line ${number}`,
};

const GERMAN: typeof ENGLISH = {
  loading: 'Wird gelesen …',
  start: 'Was verglichen wird',
  on: 'Anhand von',
  pipeline: 'Pipeline',
  against: 'Verglichen mit',
  none: 'nichts',
  judgments: (name) => `Bewertungen ${name}`,
  logged: 'protokollierte Anfragen und ihre Klicks',
  ownQueries: 'eigene Suchen, ohne Noten',
  experiment: (name) => `Experiment ${name}`,
  last: 'Wie viele, die neuesten',
  queries: 'Suchen, eine je Zeile',
  slice: 'Aufteilen nach',
  sliceHint: 'Eine Spalte der Bewertungen oder ein Attribut der Suche, etwa language',
  gate: 'Freigabe',
  gateHint: 'Bedingungen, durch Kommas getrennt; leer: keine',
  compare: 'Vergleichen',
  read: 'Bericht lesen',
  recent: 'Vergleiche',
  noneYet: 'Noch keine.',
  empty: 'Wählen Sie, was verglichen wird. Der Bericht erscheint hier.',
  gone: 'Diesen Vergleich gibt es nicht mehr: Der Prozess wurde neu gestartet, oder zehn andere folgten.',
  versus: (one, other) => `${one} gegen ${other}`,
  queryCount: (count) => (count === 1 ? '1 Suche' : `${count} Suchen`),
  loggedCount: (count) => `${count} protokollierte Anfragen`,
  states: {
    waiting: 'wartet',
    running: 'läuft',
    done: 'fertig',
    failed: 'fehlgeschlagen',
    stopped: 'angehalten',
  },
  progress: 'Fortschritt',
  percent: (share) => `${Math.round(100 * share)} %`,
  stop: 'Anhalten',
  notes: (count) => (count === 1 ? '1 Hinweis' : `${count} Hinweise`),
  pass: 'ERFÜLLT',
  fail: 'NICHT ERFÜLLT',
  found: (value) => `gefunden ${value}`,
  unknown: 'unbekannt',
  grade: (grade) => `Note ${grade}`,
  nothingRanked: 'nichts im Ranking',
  line: (number) => `Zeile ${number}`,
};

const isGerman = language === 'de';
export const say = isGerman ? GERMAN : ENGLISH;

/** A number of a report: `1,234.5` in English. */
const NUMBER = /\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+/g;

/** The numbers of a text of the service, as people of the language write them. */
export function localNumbers(text: string): string {
  if (!isGerman) return text;
  return text
    .replaceAll(NUMBER, (one) => one.replaceAll(/[.,]/g, (sign) => (sign === ',' ? '.' : ',')))
    .replaceAll(/\[([^\][]*?), ([^\][]*?)\]/g, '[$1; $2]')
    .replaceAll(/(%) to ([-+\d])/g, '$1 bis $2')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\dZ/g, (time) => momentText(time))
    .replaceAll('unknown', 'unbekannt');
}

/** What the titles of tables and parts, and whole words, are in German. */
const WORDS: Readonly<Record<string, string>> = {
  metric: 'Metrik',
  mean: 'Mittel',
  '95 % interval': '95-%-Intervall',
  queries: 'Suchen',
  query: 'Suche',
  baseline: 'Vergleich',
  delta: 'Unterschied',
  p: 'p',
  before: 'vorher',
  after: 'nachher',
  'first place': 'Platz 1',
  measure: 'Maß',
  lowest: 'kleinster Wert',
  line: 'Zeile',
  candidate: 'Kandidat',
  candidates: 'Kandidaten',
  title: 'Titel',
  place: 'Platz',
  filter: 'Filter',
  step: 'Schritt',
  A: 'A',
  B: 'B',
  'moved by': 'bewegt durch',
  'ms a request': 'ms je Anfrage',
  'only in A': 'nur in A',
  'only in B': 'nur in B',
  arm: 'Arm',
  weight: 'Gewicht',
  units: 'Einheiten',
  mature: 'reif',
  adjusted: 'bereinigt',
  number: 'Zahl',
  neither: 'weder noch',
  guard: 'Schutz',
  'power:': 'Aussagekraft:',
  failed: 'fehlgeschlagen',
  ledger: 'Protokoll',
  'left out': 'ausgelassen',
  decision: 'Entscheidung',
  Warnings: 'Warnungen',
  'Units by arm': 'Einheiten je Arm',
  '(candidates around it)': '(Kandidaten um ihn)',
  'not known': 'nicht bekannt',
  '95 % interval, one look at the end': '95-%-Intervall, ein Blick am Ende',
  '95 % interval, valid at any time': '95-%-Intervall, jederzeit gültig',
  'Steps that moved candidates': 'Schritte, die Kandidaten bewegten',
  'Requests with the largest differences': 'Anfragen mit den größten Unterschieden',
  'Pages with the largest differences': 'Seiten mit den größten Unterschieden',
  'Pages of the worst queries': 'Seiten der schlechtesten Suchen',
  'Pages of the worst-lost queries': 'Seiten der Suchen, die am meisten verlieren',
  'Pages of the best-won queries': 'Seiten der Suchen, die am meisten gewinnen',
  'Where candidates moved': 'Wohin Kandidaten rückten',
  'How alike the rankings are': 'Wie ähnlich die Rankings sind',
  'Latency, without HTTP': 'Latenz, ohne HTTP',
  'How two pipelines rank the same requests': 'Wie zwei Pipelines dieselben Anfragen ranken',
  'Secondary metrics, which do not decide; p corrected by Holm':
    'Nebenmetriken, die nicht entscheiden; p nach Holm korrigiert',
};

/** Sentences with values. `$1` and so on stand for what was found. */
const SENTENCES: readonly (readonly [pattern: RegExp, german: string])[] = [
  [
    /^(\S+) reranks the judged candidates of (.+) quer(?:y|ies) \(median (.+)\)$/,
    '$1 ordnet die bewerteten Kandidaten von $2 Suchen neu (Median $3)',
  ],
  [
    /^(\S+) reranks the candidates of (.+) logged requests? \(median (.+)\): agreement with clicks$/,
    '$1 ordnet die Kandidaten von $2 protokollierten Anfragen neu (Median $3): Übereinstimmung mit Klicks',
  ],
  [
    /^(judged@\d+ \S+;|\S+:) (.+) candidates?, (\S+) unjudged, (\S+) removed, (\S+) not in the store$/,
    '$1 $2 Kandidaten, $3 unbewertet, $4 entfernt, $5 nicht im Speicher',
  ],
  [
    /^(.+) quer(?:y has|ies have) no relevant candidate and (?:is|are) left out$/,
    '$1 Suchen ohne relevanten Kandidaten ausgelassen',
  ],
  [/^(.+) requests? without feedback left out$/, '$1 Anfragen ohne Rückmeldung ausgelassen'],
  [/^warning: (.+) rankings? (?:is|are) degraded: (.+)$/, 'Achtung: $1 Rankings eingeschränkt: $2'],
  [/^Difference to (.+)$/, 'Unterschied zu $1'],
  [/^(\S+) by (\S+); p corrected by Holm$/, '$1 nach $2; p nach Holm korrigiert'],
  [/^(\S+) by (\S+)$/, '$1 nach $2'],
  [/^Lowest (\S+)$/, 'Niedrigste Werte: $1'],
  [/^Largest losses of (\S+)$/, 'Größte Verluste: $1'],
  [/^(\d+) quer(?:y|ies), needs at least (\d+)$/, '$1 Suchen, nötig sind mindestens $2'],
  [
    /^(.+) requests? compared, (\d+) with the same order$/,
    '$1 Anfragen verglichen, $2 mit gleicher Reihenfolge',
  ],
  [/^([AB]) (\S+)$/, '$1 $2'],
  [/^Largest moves, of (.+)$/, 'Größte Bewegungen, von $1'],
  [/^Only in ([AB]), removed by ([AB]): (.+); filters: (.+)$/, 'Nur in $1, entfernt von $2: $3; Filter: $4'],
  [/^Failed: (.+)$/, 'Fehlgeschlagen: $1'],
  [/^degraded: A (.+); B (.+)$/, 'eingeschränkt: A $1; B $2'],
  [/^Experiment (\S+)$/, 'Experiment $1'],
  [
    /^(\S+) \((\S+) by (\S+)\), at (.+); it has ended, and all units are mature$/,
    '$1 ($2 nach $3), Stand $4; es ist beendet, und alle Einheiten sind reif',
  ],
  [/^(\S+) \((\S+) by (\S+)\), at (.+); it has no end$/, '$1 ($2 nach $3), Stand $4; es hat kein Ende'],
  [/^(\S+) \((\S+) by (\S+)\), at (.+); it ends (.+)$/, '$1 ($2 nach $3), Stand $4; es endet $5'],
  [
    /^number of (\S+) within (.+) of the first request, for each (\S+)$/,
    'Zahl der $1 innerhalb von $2 nach der ersten Anfrage, je $3',
  ],
  [
    /^any (\S+) within (.+) of the first request, for each (\S+)$/,
    'mindestens ein $1 innerhalb von $2 nach der ersten Anfrage, je $3',
  ],
  [
    /^sum\((\S+)\) of (\S+) within (.+) of the first request, for each (\S+)$/,
    'Summe $1 von $2 innerhalb von $3 nach der ersten Anfrage, je $4',
  ],
  [/^(\S+) − (\S+), by day$/, '$1 − $2, nach Tagen'],
  [/^(\S+ − \S+: .+)$/, '$1'],
  [/^(\[.+\]|unknown) \(decides\)$/, '$1 (entscheidet)'],
  [/^(\[.+\]|unknown)$/, '$1'],
  [
    /^by the past: (.+); (.+) less variance, correlation (.+)$/,
    'um die Vergangenheit: $1, $2 weniger Varianz, Korrelation $3',
  ],
  [
    /^by the past: (.+); the past is unknown or does not vary with the metric, so nothing changes$/,
    'um die Vergangenheit: $1; sie ist unbekannt oder hängt nicht mit der Metrik zusammen, daher ändert sich nichts',
  ],
  [/^(.+), margin (.+): holds$/, '$1, Spielraum $2: hält'],
  [/^(.+), margin (.+): broken$/, '$1, Spielraum $2: verletzt'],
  [/^(.+), margin (.+): unclear$/, '$1, Spielraum $2: unklar'],
  [
    /^an effect of (\S+ %) would be found by now\. There are enough units to find an effect of (.+), once they are mature\.$/,
    'ein Effekt von $1 wäre schon gefunden. Für einen Effekt von $2 genügen die Einheiten, sobald sie reif sind.',
  ],
  [
    /^an effect of (\S+ %) would be found by now\. It takes (.+?)(?: more)? days? to find an effect of (.+) with a probability of 80 %\.$/,
    'ein Effekt von $1 wäre schon gefunden. Für einen Effekt von $3 braucht es mit 80 % Wahrscheinlichkeit $2 Tage.',
  ],
  [/^an effect of (\S+ %) would be found by now$/, 'ein Effekt von $1 wäre schon gefunden'],
  [
    /^it is not known which effect would be found by now$/,
    'es ist nicht bekannt, welcher Effekt schon gefunden wäre',
  ],
  [/^sample-ratio test p (.+)$/, 'Test des Verhältnisses p $1'],
  [/^the last record is of (.+)$/, 'der letzte Eintrag ist von $1'],
  [/^Take (\S+): it is better than (\S+)\.$/, '$1 übernehmen: besser als $2.'],
  [/^Keep (\S+): (\S+) is worse\.$/, '$1 behalten: $2 ist schlechter.'],
  [
    /^Keep (\S+): the experiment has ended, and no effect of (\S+) was found\.$/,
    '$1 behalten: Das Experiment ist beendet, ein Effekt von $2 fand sich nicht.',
  ],
  [
    /^Keep (\S+): (\S+) is better in the metric, but it breaks (.+)\.$/,
    '$1 behalten: $2 ist in der Metrik besser, verletzt aber $3.',
  ],
  [
    /^Keep (\S+): (\S+) is better in the metric, but it is not shown that it keeps (.+)\.$/,
    '$1 behalten: $2 ist in der Metrik besser, aber es ist nicht gezeigt, dass $3 hält.',
  ],
  [
    /^Not decided: (\S+) is better in the metric, but it is not shown yet that it keeps (.+)\.$/,
    'Nicht entschieden: $1 ist in der Metrik besser, aber es ist noch nicht gezeigt, dass $2 hält.',
  ],
  [/^Not decided: (\S+) had no (\S+) yet\.$/, 'Nicht entschieden: $1 hatte noch kein $2.'],
  [
    /^Not decided: the metric of (\S+) is not known, since it had no (.+)\.$/,
    'Nicht entschieden: Die Metrik von $1 ist nicht bekannt, denn es gab kein $2.',
  ],
  [
    /^Not decided: (\S+)s prefer neither arm clearly enough\.(.*)$/,
    'Nicht entschieden: Kein Arm wird von den Einheiten ($1) deutlich genug vorgezogen.',
  ],
  [/^More (\S+)s prefer (\S+)\.(.*)$/, 'Mehr Einheiten ($1) ziehen $2 vor.'],
  [
    /^Interleaving tells the direction, not the size of the effect\.$/,
    'Das Verschränken zeigt die Richtung des Effekts, nicht seine Größe.',
  ],
  [/^Keep (\S+): (\S+) breaks (.+)\.$/, '$1 behalten: $2 verletzt $3.'],
  [
    /^Not decided: no effect of (\S+) was found yet\.(.*)$/,
    'Nicht entschieden: Ein Effekt von $1 fand sich noch nicht.',
  ],
  [
    /^Not decided: no (\S+) of (\S+) is mature yet, since (.+) have not passed\.$/,
    'Nicht entschieden: Noch kein $1 von $2 ist reif, da $3 nicht vergangen sind.',
  ],
  [
    /^The effects are hidden: the numbers of (\S+)s do not fit the weights of the arms \(p (.+); the limit is (.+)\)\.$/,
    'Die Effekte sind verborgen: Die Zahlen der $1 passen nicht zu den Gewichten der Arme (p $2; Grenze $3).',
  ],
];

/** Parts of a list of what was left out. */
const LEFT_OUT: readonly (readonly [pattern: RegExp, german: string])[] = [
  [/^(\S+) requests without an? (\S+)$/, '$1 Anfragen ohne $2'],
  [/^(\S+) requests whose arm a header chose$/, '$1 Anfragen, deren Arm ein Header wählte'],
  [/^(\S+) requests excluded for other reasons$/, '$1 aus anderen Gründen ausgeschlossene Anfragen'],
  [/^(\S+) (\S+)s that were in several arms$/, '$1 $2 in mehreren Armen'],
  [/^(\S+) events outside the window$/, '$1 Ereignisse außerhalb des Zeitraums'],
  [/^(\S+) events of other requests and (\S+)s$/, '$1 Ereignisse anderer Anfragen und $2'],
  [/^(\S+) events without a request and an? (\S+)$/, '$1 Ereignisse ohne Anfrage und $2'],
  [/^(\S+) repeated events$/, '$1 wiederholte Ereignisse'],
];

/** A text of a report in the language of the page; undefined if the page has no translation of it. */
export function said(text: string): string | undefined {
  if (!isGerman) return text;
  const word = WORDS[text.trim()];
  if (word !== undefined) return word;
  // Values of the project stay as they are.
  if (/^[\w@.:-]*$/.test(text)) return text;
  const parts = text.split(', ').map((part) => filled(part, LEFT_OUT));
  return (
    filled(text, SENTENCES) ?? (parts.every((part) => part !== undefined) ? parts.join(', ') : undefined)
  );
}

function filled(
  text: string,
  phrases: readonly (readonly [pattern: RegExp, german: string])[],
): string | undefined {
  for (const [pattern, german] of phrases) {
    const found = pattern.exec(text);
    if (found !== null)
      return german.replaceAll(/\$(\d)/g, (_, at: string) => localNumbers(found[Number(at)] ?? ''));
  }
  return undefined;
}

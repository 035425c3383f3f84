/** What the service says of wrong cells, and the same in German. `$1` is what it quotes. */
const GERMAN: readonly (readonly [RegExp, string])[] = [
  [/expected a day or a time, found `(.*)`/, 'Erwartet wird ein Tag oder eine Zeit, gefunden: „$1“.'],
  [/expected a place, found `(.*)`/, 'Erwartet wird ein Platz, gefunden: „$1“.'],
  [/expected places, found `(.*)`/, 'Erwartet werden Plätze, gefunden: „$1“.'],
  [/expected a factor or a sum, found `(.*)`/, 'Erwartet wird ein Faktor oder eine Summe, gefunden: „$1“.'],
  [/`(\w+)`: expected .*, found `(.*)`/, 'In $1 steht „$2“, das es dort nicht gibt.'],
  [/`(\w+)` is empty/, 'Die Spalte $1 ist leer.'],
  [/there is no column `(.*)`/, 'Die Spalte „$1“ gibt es nicht.'],
  [/the column `(.*)` is missing/, 'Die Spalte $1 fehlt.'],
  [/`(.*)` is not the name of a campaign/, '„$1“ ist kein Name einer Aktion.'],
  [/does not read `(.*)` for its rules/, 'Regeln dieser Pipeline kennen „$1“ nicht.'],
  [/`(.*)` is private, and/, '„$1“ ist privat und für Regeln nicht freigegeben.'],
  [
    /need (\d+) columns .* at most (\d+) can/,
    'Die Regeln brauchen $1 zusätzliche Eigenschaften; möglich sind $2.',
  ],
  [/`(.*)`: the plan takes longer/, 'Die Regeln mit „$1“ konnten nicht rechtzeitig vorbereitet werden.'],
  [/has no attribute `(.*)`/, 'Die Eigenschaft „$1“ gibt es nicht.'],
  [/^`(\w+)` takes no `(\w+)`/, 'Die Aktion $1 hat kein $2.'],
  [/has a product already in another row/, 'Diesen Platz vergibt schon eine andere Zeile der Aktion.'],
  [/another row of the campaign has the action `(\w+)`/, 'Eine andere Zeile der Aktion hat schon $1.'],
  [
    /^`(\w+)` is `(.*)`, and `(.*)` in another row/,
    'In $1 steht „$2“, in einer anderen Zeile der Aktion „$3“.',
  ],
  [/^the file has no rows/, 'Die Datei hat keine Zeilen.'],
  [/^write a day such as/, 'Schreiben Sie einen Tag wie 27.11.2026 oder eine Zeit wie 27.11.2026 20:00.'],
  [/^write a whole number from 1/, 'Schreiben Sie eine ganze Zahl ab 1.'],
  [/^write whole numbers from 1/, 'Schreiben Sie ganze Zahlen ab 1, zum Beispiel 3 oder 3, 5.'],
  [/^write 1,5 or/, 'Schreiben Sie 1,5 oder *1,5 für einen Faktor, +2 oder -2 für eine Summe.'],
  [/^write one of (.*)/, 'Möglich sind: $1.'],
  [/^the columns are (.*)/, 'Die Spalten sind: $1.'],
  [/^did you mean `(.*)`\?/, 'Meinten Sie $1?'],
  [/^write the id/, 'Tragen Sie die Id ein.'],
  [/^write a condition/, 'Schreiben Sie eine Bedingung wie product.brand == "lumen".'],
  [/^write small letters/, 'Schreiben Sie kleine Buchstaben, Ziffern und _, zum Beispiel black_friday.'],
  [/^leave the cell empty/, 'Lassen Sie die Zelle leer.'],
  [
    /^leave it empty, or give/,
    'Lassen Sie sie leer, oder geben Sie der Zeile den Namen einer anderen Aktion.',
  ],
  [/^give the row the name/, 'Geben Sie der Zeile den Namen einer anderen Aktion.'],
  [/^write another place/, 'Schreiben Sie einen anderen Platz.'],
  [/^write a label/, 'Schreiben Sie eine Kennzeichnung, zum Beispiel Anzeige.'],
];

/** The German text of what the service says of a cell; undefined for anything else. */
export function germanCell(text: string): string | undefined {
  for (const [pattern, german] of GERMAN) {
    const found = pattern.exec(text);
    if (found !== null) return german.replaceAll(/\$(\d)/g, (_, group: string) => found[Number(group)] ?? '');
  }
  return undefined;
}

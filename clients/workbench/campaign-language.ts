import { listOf, targetsOf, type Campaign } from './campaign.js';
import type { Operator } from './condition.js';
import { language } from './language.js';
import type { Refusal } from './service.js';
import { germanCell } from './sheet-language.js';

/** The texts of the screen of campaigns. Another language that lacks one does not compile. */
const ENGLISH = {
  loading: 'The list is being read …',
  noLists:
    'This project has no list of rules. `millrace new curation campaigns` writes one, and a step `use: curation` applies it.',
  list: 'List',
  pipeline: 'Pipeline',
  draft: 'Draft',
  newDraft: 'New draft …',
  draftName: 'Name of the draft',
  newDraftName: 'draft',
  campaign: 'Campaign',
  edit: 'What the campaign does',
  newCampaign: 'New campaign',
  newCampaignName: 'campaign',
  name: 'Name',
  nameHint: 'Small letters, digits and _. It is the name in explanations and reports.',
  from: 'First day',
  until: 'Last day',
  wholeDays: (zone: string) => `Whole days, the last one included, in the time zone ${zone}.`,
  targets: { query: 'For the queries', category: 'For the categories' },
  commas: 'several with commas',
  isFor: (values: readonly string[]) =>
    values.length === 0 ? 'It is for every page.' : `It is for: ${values.join(', ')}.`,
  onlyWhen: (when: string) => `Only when ${when}.`,
  note: 'Note',
  removeCampaign: 'Remove this campaign',
  willBeRemoved: (name: string) => `The draft removes ${name}.`,
  saved: (name: string, draft: string) => `${name} is saved in the draft ${draft}.`,
  doesNothing: 'Not saved yet: the campaign does nothing. Pin or hide a product, or add something else.',
  pins: 'Pinned products',
  noPins: 'None. Pin a card of the page, or drag it to its place.',
  place: (place: number) => `Place ${place}`,
  hidden: 'Hidden products',
  pinTo: 'Pin to place',
  /** A part of `pinTo`, for a card. */
  pin: 'Pin to',
  pinAt: (place: number) => `Pin to place ${place}`,
  actOf: (act: string, title: string) => `${act}: ${title}`,
  placeOf: (title: string) => `Place of ${title}`,
  unpin: 'Unpin',
  hide: 'Hide',
  unhide: 'Show again',
  pinned: (title: string, place: number) => `${title} is pinned to place ${place}.`,
  unpinned: (title: string) => `${title} is no longer pinned.`,
  lostPin: (title: string) => `${title} had this place, and is no longer pinned.`,
  isHidden: (title: string) => `${title} is hidden.`,
  isShown: (title: string) => `${title} is shown again.`,
  notAsked: 'The page is not known yet.',
  unknownId: 'Not in the index: check the id.',
  shownAt: (place: number) => `Shown at place ${place}.`,
  isAt: (place: number) => `At place ${place}.`,
  hasPlace: (title: string, place: number, by: string) =>
    `Place ${place} has ${title}${by === '' ? '' : ` (${by})`}.`,
  notOnPage: 'Not shown: the campaign is not for this page, or not for this time.',
  unmet: (condition: string) => `it keeps what meets “${condition}”`,
  removedBy: (step: string, by: string, reason: string | undefined) =>
    `Not shown: the step ${step} removes it${by === '' ? '' : ` (${by})`}${reason === undefined ? '' : `: ${reason}`}.`,
  thisCampaign: 'this campaign',
  otherCampaign: (name: string) => `campaign ${name}`,
  lockedRule: (name: string, file: string, line: number) => `locked: ${name}, ${file}, line ${line}`,
  locked: (count: number, file: string) => `Locked: ${count} ${count === 1 ? 'rule' : 'rules'} of ${file}`,
  line: (line: number) => `line ${line}`,
  boost: 'Boost',
  bury: 'Bury',
  attribute: 'Attribute',
  comparison: 'Comparison',
  value: 'Value',
  factor: 'Factor of the score',
  and: 'and',
  andAnother: 'and another condition',
  oneLess: 'one condition less',
  add: 'Add',
  replace: 'Replace',
  remove: 'Remove',
  needsValue: 'Fill in this field.',
  noNumber: 'Expected a number, such as 19.90.',
  noFactor: 'Expected a number above 0, such as 1.5.',
  noAttributes: 'The candidates have no attribute that can be compared.',
  sponsor: 'Sponsored place',
  places: 'Places',
  noPlaces: 'Expected places from 1, such as 3 or 3, 5.',
  product: 'Product',
  label: 'Label',
  sponsoredLabel: 'Sponsored',
  banner: 'Banner',
  bannerAt: (place: string) => `Banner: ${place}`,
  bannerFields: { place: 'Where', image: 'Image', link: 'Link', text: 'Text' },
  emptyBanner: 'A banner has a place, and an image or a text.',
  page: 'The page',
  shownPage: 'The page that is shown',
  emptyPage: 'Nothing is on this page.',
  noPage: 'Type a query or a category to see its page.',
  previewAt: 'Preview at',
  now: 'As of now.',
  asOf: (time: string, zone: string) => `As of ${time} (${zone}). Stock and prices are those of today.`,
  addProduct: 'Add a product',
  idOrWords: 'Id, or words of the title',
  find: 'Find',
  found: (count: number) => (count === 0 ? 'Nothing found.' : `${count} found`),
  atPlace: 'At place',
  changes: 'Changes of the draft',
  noChanges: 'The draft has no changes.',
  whatChanges: 'What changes?',
  nothingMoves: 'Nothing moves on this page.',
  moves: (rows: number, places: number) => `${rows} products change their place; the page has ${places}.`,
  moreRows: (count: number) => `${count} more`,
  before: 'Now',
  after: 'With the draft',
  publish: 'Publish',
  published: (count: number) =>
    count === 0
      ? 'All of it was in service already.'
      : `Published: ${count} ${count === 1 ? 'campaign' : 'campaigns'}.`,
  discard: 'discard',
  discarded: 'The change is discarded.',
  changedSince: 'A colleague published another change since.',
  conflict: (name: string, author: string, time: string) =>
    `${author} changed ${name}${time === '' ? '' : ` on ${time}`}, after you began.`,
  conflictTitle: 'Not published: colleagues changed the same campaigns since. Both sides are below.',
  undoConflict: 'Not undone: a later publish changed the same campaigns.',
  draftChanged: 'A colleague saved this draft at the same time. It was read again: repeat your change.',
  yours: 'Yours',
  theirs: 'Theirs',
  keepMine: 'Keep mine',
  keepTheirs: 'Keep theirs',
  kept: (name: string) => `Your change of ${name} now replaces theirs. Publish it again.`,
  removed: 'removed',
  isNew: (name: string) => `${name}: new`,
  isRemoved: (name: string) => `${name}: removed`,
  isChanged: (name: string, keys: string) => `${name}: ${keys}`,
  keys: {
    from: 'first day',
    until: 'last day',
    on: 'pages',
    pin: 'pins',
    hide: 'hidden products',
    boost: 'boost',
    bury: 'bury',
    sponsor: 'sponsored place',
    banner: 'banner',
    note: 'note',
  } as Readonly<Record<string, string>>,
  history: 'History',
  showHistory: 'Show what was published',
  noHistory: 'Nothing was published yet.',
  publishedDraft: (draft: string) => `published ${draft}`,
  undid: (publish: string) => `undid ${publish}`,
  undo: 'Undo',
  undone: 'Undone. What others published stays.',
  somebody: 'somebody',
  operators: {
    is: 'is',
    is_not: 'is not',
    contains: 'contains',
    at_least: 'is at least',
    at_most: 'is at most',
    above: 'is above',
    below: 'is below',
    is_true: 'is true',
    is_false: 'is false',
    has: 'contains',
    has_not: 'does not contain',
  } satisfies Record<Operator, string>,
  wrong: (detail: string): string => detail,
  loggedElsewhere:
    'How many logged requests change is known in `millrace workbench` or `millrace dev`, not in a service that ranks.',
  loggedFailed: (problem: string) => `Logged requests cannot be compared: ${problem}`,
  loggedRuns: (percent: number) =>
    `The last logged requests are ranked with and without the draft: ${percent} % …`,
  loggedChange: (share: string, requests: number) =>
    `${share} of the last ${requests} logged requests change on their first page.`,
  loggedQuery: 'Query or category',
  loggedRequests: 'Logged requests',
  loggedChanged: 'Change',
  loggedPlaces: 'Places at most',
  loggedPlace: 'Place',
  loggedShown: 'Shown there',
  loggedOtherwise: 'Otherwise',
  loggedNever: 'no logged request',
  loggedOf: (share: string, requests: number) => `${share} of ${requests}`,
  loggedRemoved: (step: string, share: string) => `The step ${step} removes it in ${share}.`,
  loggedElsewhereAt: (share: string) => `At another place in ${share}.`,
  loggedWinner: (product: string, rule: string) =>
    `The place has ${product}${rule === '' ? '' : ` (${rule})`}.`,
  share: 'Send this preview',
  link: 'Link of the preview',
  copy: 'Copy',
  copied: 'Copied.',
  linkMade: (until: string) =>
    `Send this link to a colleague. It opens this page without a key until ${until}.`,
  linkRevoked: 'The link opens nothing any more.',
  linkOf: (author: string, time: string, until: string) =>
    `Link of ${author}${time === '' ? '' : `, for ${time}`}, until ${until}`,
  revoke: 'Revoke',
  previewTitle: 'Preview',
  previewOf: (draft: string, author: string) =>
    `This is how customers will see the page once the draft ${draft} is published. ${author} sent it.`,
  rulesOf: (time: string) => `Rules as of ${time}.`,
  valuesOf: (time: string) => `Stock, prices and other values are those of today, ${time}.`,
  linkUntil: (time: string) => `The link opens until ${time}.`,
  noLink: 'The address lacks the part after #. Open the whole link.',
  linkUnknown: 'No link has this text. It may be over, or not whole.',
  linkExpired: 'The link is over. Ask for a new one.',
  linkWasRevoked: 'The link was revoked. Ask for a new one.',
  draftGone: 'The draft was published or discarded, so there is nothing to preview.',
  sheet: 'Spreadsheet',
  sheetHint:
    'A CSV file has one action a row. Download the campaigns to see its columns. A file is saved in the draft as a whole, or not at all.',
  sheetFile: 'Upload a CSV file',
  download: 'Download as CSV',
  uploaded: (count: number, draft: string) => `The draft ${draft} now changes ${count} campaigns.`,
  downloaded: (count: number) => `${count} campaigns downloaded.`,
  sheetRefused: (count: number) =>
    `Nothing was saved: the file has ${count} wrong ${count === 1 ? 'cell' : 'cells'}.`,
  row: 'Row',
  column: 'Column',
  whatIsWrong: 'What is wrong',
  remedy: 'Remedy',
};

const GERMAN: typeof ENGLISH = {
  loading: 'Die Liste wird gelesen …',
  noLists:
    'Dieses Projekt hat keine Liste von Regeln. `millrace new curation campaigns` schreibt eine, ein Schritt `use: curation` wendet sie an.',
  list: 'Liste',
  pipeline: 'Pipeline',
  draft: 'Entwurf',
  newDraft: 'Neuer Entwurf …',
  draftName: 'Name des Entwurfs',
  newDraftName: 'entwurf',
  campaign: 'Aktion',
  edit: 'Was die Aktion bewirkt',
  newCampaign: 'Neue Aktion',
  newCampaignName: 'aktion',
  name: 'Name',
  nameHint: 'Kleine Buchstaben, Ziffern und _. So heißt sie in Erklärungen und Berichten.',
  from: 'Erster Tag',
  until: 'Letzter Tag',
  wholeDays: (zone) => `Ganze Tage, auch der letzte, in der Zeitzone ${zone}.`,
  targets: { query: 'Für die Suchanfragen', category: 'Für die Kategorien' },
  commas: 'mehrere mit Komma',
  isFor: (values) =>
    values.length === 0 ? 'Sie gilt auf jeder Seite.' : `Sie gilt für: ${values.join(', ')}.`,
  onlyWhen: (when) => `Nur wenn ${when}.`,
  note: 'Notiz',
  removeCampaign: 'Diese Aktion entfernen',
  willBeRemoved: (name) => `Der Entwurf entfernt ${name}.`,
  saved: (name, draft) => `${name} ist im Entwurf ${draft} gespeichert.`,
  doesNothing:
    'Noch nicht gespeichert: Die Aktion bewirkt nichts. Setzen oder verbergen Sie ein Produkt, oder fügen Sie etwas anderes hinzu.',
  pins: 'Gesetzte Produkte',
  noPins: 'Keine. Setzen Sie eine Karte der Seite, oder ziehen Sie sie auf ihren Platz.',
  place: (place) => `Platz ${place}`,
  hidden: 'Verborgene Produkte',
  pinTo: 'Setzen auf Platz',
  pin: 'Auf Platz',
  pinAt: (place) => `Auf Platz ${place} setzen`,
  actOf: (act, title) => `${act}: ${title}`,
  placeOf: (title) => `Platz von ${title}`,
  unpin: 'Lösen',
  hide: 'Verbergen',
  unhide: 'Wieder zeigen',
  pinned: (title, place) => `${title} ist auf Platz ${place} gesetzt.`,
  unpinned: (title) => `${title} ist nicht mehr gesetzt.`,
  lostPin: (title) => `${title} hatte diesen Platz und ist nicht mehr gesetzt.`,
  isHidden: (title) => `${title} ist verborgen.`,
  isShown: (title) => `${title} wird wieder gezeigt.`,
  notAsked: 'Die Seite ist noch nicht bekannt.',
  unknownId: 'Nicht im Index: Stimmt die Id?',
  shownAt: (place) => `Erscheint auf Platz ${place}.`,
  isAt: (place) => `Steht auf Platz ${place}.`,
  hasPlace: (title, place, by) => `Platz ${place} hat ${title}${by === '' ? '' : ` (${by})`}.`,
  notOnPage: 'Erscheint nicht: Die Aktion gilt nicht für diese Seite oder nicht zu dieser Zeit.',
  unmet: (condition) => `Es bleibt, wofür gilt „${condition}“`,
  removedBy: (step, by, reason) =>
    `Erscheint nicht: Der Schritt ${step} entfernt es${by === '' ? '' : ` (${by})`}${reason === undefined ? '' : `: ${reason}`}.`,
  thisCampaign: 'diese Aktion',
  otherCampaign: (name) => `Aktion ${name}`,
  lockedRule: (name, file, line) => `gesperrt: ${name}, ${file}, Zeile ${line}`,
  locked: (count, file) => `Gesperrt: ${count} ${count === 1 ? 'Regel' : 'Regeln'} aus ${file}`,
  line: (line) => `Zeile ${line}`,
  boost: 'Bevorzugen',
  bury: 'Nach hinten stellen',
  attribute: 'Eigenschaft',
  comparison: 'Vergleich',
  value: 'Wert',
  factor: 'Faktor des Scores',
  and: 'und',
  andAnother: 'und eine weitere Bedingung',
  oneLess: 'eine Bedingung weniger',
  add: 'Hinzufügen',
  replace: 'Ersetzen',
  remove: 'Entfernen',
  needsValue: 'Bitte ausfüllen.',
  noNumber: 'Erwartet wird eine Zahl, zum Beispiel 19,90.',
  noFactor: 'Erwartet wird eine Zahl über 0, zum Beispiel 1,5.',
  noAttributes: 'Die Kandidaten haben keine Eigenschaft, die sich vergleichen lässt.',
  sponsor: 'Bezahlter Platz',
  places: 'Plätze',
  noPlaces: 'Erwartet werden Plätze ab 1, zum Beispiel 3 oder 3, 5.',
  product: 'Produkt',
  label: 'Kennzeichnung',
  sponsoredLabel: 'Anzeige',
  banner: 'Banner',
  bannerAt: (place) => `Banner: ${place}`,
  bannerFields: { place: 'Wo', image: 'Bild', link: 'Link', text: 'Text' },
  emptyBanner: 'Ein Banner hat einen Ort und ein Bild oder einen Text.',
  page: 'Die Seite',
  shownPage: 'Die gezeigte Seite',
  emptyPage: 'Diese Seite ist leer.',
  noPage: 'Geben Sie eine Suchanfrage oder Kategorie ein, um ihre Seite zu sehen.',
  previewAt: 'Vorschau für',
  now: 'Stand: jetzt.',
  asOf: (time, zone) => `Stand: ${time} (${zone}). Bestand und Preise sind die von heute.`,
  addProduct: 'Produkt hinzufügen',
  idOrWords: 'Id oder Wörter des Titels',
  find: 'Finden',
  found: (count) => (count === 0 ? 'Nichts gefunden.' : `${count} gefunden`),
  atPlace: 'Auf Platz',
  changes: 'Änderungen des Entwurfs',
  noChanges: 'Der Entwurf hat keine Änderungen.',
  whatChanges: 'Was ändert sich?',
  nothingMoves: 'Auf dieser Seite bewegt sich nichts.',
  moves: (rows, places) => `${rows} Produkte ändern ihren Platz; die Seite hat ${places}.`,
  moreRows: (count) => `${count} weitere`,
  before: 'Jetzt',
  after: 'Mit dem Entwurf',
  publish: 'Veröffentlichen',
  published: (count) =>
    count === 0 ? 'Alles galt schon.' : `Veröffentlicht: ${count} ${count === 1 ? 'Aktion' : 'Aktionen'}.`,
  discard: 'verwerfen',
  discarded: 'Die Änderung ist verworfen.',
  changedSince: 'Jemand hat seitdem eine andere Änderung veröffentlicht.',
  conflict: (name, author, time) =>
    `${author} hat ${name}${time === '' ? '' : ` am ${time}`} geändert, nachdem Sie begonnen haben.`,
  conflictTitle:
    'Nicht veröffentlicht: Andere haben dieselben Aktionen seitdem geändert. Beide Fassungen stehen unten.',
  undoConflict: 'Nicht rückgängig gemacht: Eine spätere Veröffentlichung hat dieselben Aktionen geändert.',
  draftChanged:
    'Jemand hat diesen Entwurf zur gleichen Zeit gespeichert. Er wurde neu gelesen: Wiederholen Sie Ihre Änderung.',
  yours: 'Ihre Fassung',
  theirs: 'Die andere Fassung',
  keepMine: 'Meine behalten',
  keepTheirs: 'Die andere behalten',
  kept: (name) => `Ihre Änderung von ${name} ersetzt jetzt die andere. Veröffentlichen Sie sie erneut.`,
  removed: 'entfernt',
  isNew: (name) => `${name}: neu`,
  isRemoved: (name) => `${name}: entfernt`,
  isChanged: (name, keys) => `${name}: ${keys}`,
  keys: {
    from: 'erster Tag',
    until: 'letzter Tag',
    on: 'Seiten',
    pin: 'gesetzte Produkte',
    hide: 'verborgene Produkte',
    boost: 'Bevorzugung',
    bury: 'nach hinten gestellt',
    sponsor: 'bezahlter Platz',
    banner: 'Banner',
    note: 'Notiz',
  },
  history: 'Verlauf',
  showHistory: 'Zeigen, was veröffentlicht wurde',
  noHistory: 'Noch wurde nichts veröffentlicht.',
  publishedDraft: (draft) => `${draft} veröffentlicht`,
  undid: (publish) => `${publish} rückgängig gemacht`,
  undo: 'Rückgängig machen',
  undone: 'Rückgängig gemacht. Was andere veröffentlicht haben, bleibt.',
  somebody: 'jemand',
  operators: {
    is: 'ist',
    is_not: 'ist nicht',
    contains: 'enthält',
    at_least: 'ist mindestens',
    at_most: 'ist höchstens',
    above: 'ist über',
    below: 'ist unter',
    is_true: 'trifft zu',
    is_false: 'trifft nicht zu',
    has: 'enthält',
    has_not: 'enthält nicht',
  },
  wrong: germanProblem,
  loggedElsewhere:
    'Wie viele protokollierte Anfragen sich ändern, weiß `millrace workbench` oder `millrace dev`, nicht ein Dienst, der rankt.',
  loggedFailed: (problem) => `Protokollierte Anfragen lassen sich nicht vergleichen: ${problem}`,
  loggedRuns: (percent) =>
    `Die letzten protokollierten Anfragen werden mit und ohne Entwurf gerankt: ${percent} % …`,
  loggedChange: (share, requests) =>
    `${share} der letzten ${requests} protokollierten Anfragen ändern sich auf der ersten Seite.`,
  loggedQuery: 'Suchanfrage oder Kategorie',
  loggedRequests: 'Protokollierte Anfragen',
  loggedChanged: 'Geändert',
  loggedPlaces: 'Plätze höchstens',
  loggedPlace: 'Platz',
  loggedShown: 'Erscheint dort',
  loggedOtherwise: 'Sonst',
  loggedNever: 'keine protokollierte Anfrage',
  loggedOf: (share, requests) => `${share} von ${requests}`,
  loggedRemoved: (step, share) => `Der Schritt ${step} entfernt es in ${share}.`,
  loggedElsewhereAt: (share) => `Auf einem anderen Platz in ${share}.`,
  loggedWinner: (product, rule) => `Den Platz hat ${product}${rule === '' ? '' : ` (${rule})`}.`,
  share: 'Diese Vorschau senden',
  link: 'Link der Vorschau',
  copy: 'Kopieren',
  copied: 'Kopiert.',
  linkMade: (until) =>
    `Senden Sie diesen Link an Kollegen. Er öffnet diese Seite ohne Schlüssel bis ${until}.`,
  linkRevoked: 'Der Link öffnet nichts mehr.',
  linkOf: (author, time, until) => `Link von ${author}${time === '' ? '' : `, für ${time}`}, bis ${until}`,
  revoke: 'Widerrufen',
  previewTitle: 'Vorschau',
  previewOf: (draft, author) =>
    `So sieht die Seite aus, wenn der Entwurf ${draft} veröffentlicht ist. Gesendet von ${author}.`,
  rulesOf: (time) => `Regeln: Stand ${time}.`,
  valuesOf: (time) => `Bestand, Preise und andere Werte sind die von heute, ${time}.`,
  linkUntil: (time) => `Der Link gilt bis ${time}.`,
  noLink: 'Der Adresse fehlt der Teil nach #. Öffnen Sie den ganzen Link.',
  linkUnknown: 'Kein Link hat diesen Text. Er ist vielleicht abgelaufen oder nicht vollständig.',
  linkExpired: 'Der Link ist abgelaufen. Bitten Sie um einen neuen.',
  linkWasRevoked: 'Der Link wurde widerrufen. Bitten Sie um einen neuen.',
  draftGone: 'Der Entwurf wurde veröffentlicht oder verworfen; es gibt nichts mehr vorab zu sehen.',
  sheet: 'Tabelle',
  sheetHint:
    'Eine CSV-Datei hat eine Wirkung je Zeile. Laden Sie die Aktionen herunter, um ihre Spalten zu sehen. Eine Datei wird ganz im Entwurf gespeichert oder gar nicht.',
  sheetFile: 'CSV-Datei hochladen',
  download: 'Als CSV herunterladen',
  uploaded: (count, draft) => `Der Entwurf ${draft} ändert jetzt ${count} Aktionen.`,
  downloaded: (count) => `${count} Aktionen heruntergeladen.`,
  sheetRefused: (count) =>
    `Nichts wurde gespeichert: Die Datei hat ${count} falsche ${count === 1 ? 'Zelle' : 'Zellen'}.`,
  row: 'Zeile',
  column: 'Spalte',
  whatIsWrong: 'Was ist falsch?',
  remedy: 'Abhilfe',
};

export const say = language === 'de' ? GERMAN : ENGLISH;

/** The service answers in English. The mistakes that merchandisers make most are said in German. */
function germanProblem(detail: string): string {
  const host = /the host (\S+) is not one of `image_hosts`/.exec(detail)?.[1];
  if (host !== undefined)
    return `Bilder von ${host} sind nicht erlaubt. Erlaubt sind die Adressen unter image_hosts in millrace.yaml, und Pfade des Shops ab /.`;
  const end = /it ends at (\S+), and starts at (\S+)/.exec(detail);
  if (end !== null)
    return `Die Aktion gilt nie: Sie endet am ${dayText(end[1] ?? '')}, beginnt aber am ${dayText((end[2] ?? '').replace(/;$/, ''))}.`;
  const taken = /position (\d+) is taken at that time: (.+) pins `([^`]+)` there/.exec(detail);
  if (taken !== null)
    return `Platz ${taken[1] ?? ''} ist zu dieser Zeit vergeben: ${taken[2] ?? ''} setzt ${taken[3] ?? ''} dorthin. Wählen Sie einen anderen Platz oder andere Tage.`;
  const unread = /the pipeline does not read `([^`]+)` for its rules/.exec(detail)?.[1];
  if (unread !== undefined)
    return `Eine Pipeline mit dieser Liste liest ${unread} nicht. Lassen Sie es dort unter reads des Schritts curation eintragen.`;
  if (detail.includes('the address is malformed')) return 'Die Adresse des Bildes ist nicht vollständig.';
  return germanCell(detail) ?? detail;
}

/** Why a list or a draft could not be changed. */
export function problemText({ message, problem }: Refusal): string {
  if (problem.code === 'curation_conflict') return say.conflictTitle;
  if (problem.code === 'curation_changed') return say.draftChanged;
  if (problem.rows !== undefined) return say.sheetRefused(problem.rows.length);
  return (problem.errors ?? []).length === 0
    ? message
    : (problem.errors ?? []).map(({ detail }) => say.wrong(detail)).join('\n');
}

/** @param time ISO 8601 or epoch milliseconds @param zone by default that of the browser */
export function momentText(time: string | number, zone?: string): string {
  return new Date(time).toLocaleString(language, {
    dateStyle: 'medium',
    timeStyle: 'short',
    ...(zone === undefined ? {} : { timeZone: zone }),
  });
}

/** A day as people write it; a time stays as it is. */
function dayText(day: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(day)
    ? new Date(day).toLocaleDateString(language, { dateStyle: 'medium', timeZone: 'UTC' })
    : day;
}

/** The days of a campaign; empty if it has none. */
export function daysText({ from = '', until = '' }: Campaign): string {
  return from === '' && until === '' ? '' : `${dayText(from)} – ${dayText(until)}`.trim();
}

/** A campaign in a list of choices: its name, its days, and what it is for. */
export function campaignTitle(name: string, campaign: Campaign): string {
  const targets = targetsOf(campaign).map(([, value]) => value);
  return [name, daysText(campaign), listOf(targets).slice(0, 3).join(', ')].filter(Boolean).join(' · ');
}

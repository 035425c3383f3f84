import { language } from './language.js';

/** The texts of what a scientist does with a ranking. Another language that lacks one does not compile. */
const ENGLISH = {
  tryParams: 'Try params',
  ofFile: 'As in the file',
  copyDiff: 'Copy as YAML diff',
  copied: 'Copied. `git apply` in the folder of the project applies it.',
  notCopied: 'The browser copies nothing here: select the text below.',
  noDiff: 'All params are as in the file.',
  ofArm: (values: string) => `The page was ranked with other values, of an arm of an experiment: ${values}.`,
  diff: 'The change of the file',
  logged: 'Open a logged request by its id',
  open: 'Open',
  elsewhere: {
    service:
      'This process ranks. For logged requests, tests and comparisons, start `millrace workbench --url` with its address beside it, in the folder of the project; on Redis, `millrace workbench`.',
    project:
      'The project cannot be read here. For logged requests, tests and comparisons, start `millrace workbench --url` in the folder of the project.',
  },
  noLedger:
    'There is no ledger here, so neither logged requests nor experiments can be read. Either no pipeline has `log:` yet, or the ledger is elsewhere: start the workbench there, or name its folder by MILLRACE_LEDGER_DIR.',
  loggedAt: (id: string, at: string) =>
    `Logged request ${id}, ${at}. ▲ and ▼ compare with the logged places.`,
  asLogged: 'As logged',
  now: 'Now',
  only: 'Only cards with',
  onlyHint: 'such as a brand',
  matches: (text: string, now: number, place: string) => `${text}: ${now} on this page, mean place ${place}`,
  before: (count: number, place: string) => `before ${count}, mean place ${place}`,
  keep: 'Keep this ranking',
  testName: 'Name of the test',
  saveTest: 'Save as a test',
  testSaved: (file: string) => `It passes. Put it into the project as ${file}; \`millrace test\` runs it.`,
  triedParams: 'A test has the params of the file: set them back first.',
  judgment: 'Save as a judgment',
  round: 'Round',
  noRound: 'There is no round of judging. Start one on the screen Judge.',
  noQuery: 'The request has no query.',
  grade: 'Grade',
  save: 'Save',
  judged: (round: string) => `Saved in the round ${round}.`,
};

const GERMAN: typeof ENGLISH = {
  tryParams: 'Parameter ausprobieren',
  ofFile: 'Wie in der Datei',
  copyDiff: 'Als YAML-Diff kopieren',
  copied: 'Kopiert. `git apply` im Ordner des Projekts wendet ihn an.',
  notCopied: 'Der Browser kopiert hier nicht: Markieren Sie den Text darunter.',
  noDiff: 'Alle Parameter sind wie in der Datei.',
  ofArm: (values) => `Die Seite hat andere Werte, vom Arm eines Experiments: ${values}.`,
  diff: 'Die Änderung der Datei',
  logged: 'Eine protokollierte Anfrage öffnen, über ihre Id',
  open: 'Öffnen',
  elsewhere: {
    service:
      'Dieser Prozess rankt. Für protokollierte Anfragen, Tests und Vergleiche `millrace workbench --url` mit seiner Adresse daneben starten, im Ordner des Projekts; mit Redis `millrace workbench`.',
    project:
      'Das Projekt ist hier nicht lesbar. Für protokollierte Anfragen, Tests und Vergleiche `millrace workbench --url` im Ordner des Projekts starten.',
  },
  noLedger:
    'Hier liegt kein Ledger, deshalb sind weder protokollierte Anfragen noch Experimente lesbar. Entweder hat noch keine Pipeline `log:`, oder das Ledger liegt woanders: die Workbench dort starten, oder seinen Ordner mit MILLRACE_LEDGER_DIR nennen.',
  loggedAt: (id, at) =>
    `Protokollierte Anfrage ${id}, ${at}. ▲ und ▼ vergleichen mit den protokollierten Plätzen.`,
  asLogged: 'Damals',
  now: 'Heute',
  only: 'Nur Karten mit',
  onlyHint: 'etwa einer Marke',
  matches: (text, now, place) => `${text}: ${now} auf dieser Seite, mittlerer Platz ${place}`,
  before: (count, place) => `vorher ${count}, mittlerer Platz ${place}`,
  keep: 'Dieses Ranking behalten',
  testName: 'Name des Tests',
  saveTest: 'Als Test speichern',
  testSaved: (file) =>
    `Er besteht. Legen Sie ihn als ${file} in das Projekt; \`millrace test\` führt ihn aus.`,
  triedParams: 'Ein Test hat die Parameter der Datei: Setzen Sie sie erst zurück.',
  judgment: 'Als Bewertung speichern',
  round: 'Runde',
  noRound: 'Es gibt keine Runde. Starten Sie eine auf der Ansicht Bewerten.',
  noQuery: 'Die Anfrage hat keine Suche.',
  grade: 'Note',
  save: 'Speichern',
  judged: (round) => `In der Runde ${round} gespeichert.`,
};

export const say = language === 'de' ? GERMAN : ENGLISH;

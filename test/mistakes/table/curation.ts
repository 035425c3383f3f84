import type { Mistake, Surface } from '../mistake.js';

const YAML = 'curation/campaigns.yaml';
const CSV = 'curation/campaigns.csv';
const yaml = (rule: string): Readonly<Record<string, string>> => ({
  [YAML]: `curation: campaigns\nrules:\n${rule}`,
});
const campaign = (lines: string): Readonly<Record<string, string>> => ({
  [YAML]: `curation: campaigns\ncampaigns:\n  black_friday:\n${lines}`,
});
const csv = (...lines: readonly string[]): Readonly<Record<string, string>> => ({
  [CSV]: ['query,match,action,target,value,from,until,note', ...lines, ''].join('\n'),
});
/** A step of the pipeline that applies the list. */
const applied = (options: string): Pick<Mistake, 'edit'> => ({
  edit: [
    'pipelines/search.yaml',
    'page: { size: 24',
    `  - { use: curation, with: ${options} }\npage: { size: 24`,
  ],
});

export const CURATION: Surface = {
  title: 'Curation',
  mistakes: [
    {
      what: 'A list that does not exist',
      ...applied('{ list: campagns }'),
      files: yaml('  - { hide: [p1] }\n'),
    },
    { what: 'A rule that does nothing', files: yaml('  - query: tv\n    note: soon\n') },
    {
      what: 'A rule that ends before it starts',
      files: yaml('  - { query: tv, hide: [p1], from: 2026-12-01T00:00Z, until: 2026-12-01T00:00+01:00 }\n'),
    },
    { what: 'A time that is none', files: yaml('  - { query: tv, hide: [p1], from: Black Friday }\n') },
    {
      what: 'Two pins of one position at the same time',
      files: csv('tv,,pin,p1,1,2026-11-27,2026-12-01,', 'TV,,pin,p2,1,2026-11-30,2026-12-24,Christmas'),
    },
    {
      what: 'A candidate that is pinned and hidden',
      files: csv(',,hide,p9,,,,recalled', 'tv,,pin,p9,1,,,'),
    },
    {
      what: 'A candidate that is pinned, and hidden by a later rule',
      files: yaml('  - { query: tv, pin: { 1: p9 } }\n  - { hide: [p9] }\n'),
    },
    {
      what: 'A pin of a query, and another one of a wider query',
      files: yaml(
        '  - { query: tv, match: contains, pin: { 1: p1 } }\n  - { query: lumen tv, pin: { 1: p2 } }\n',
      ),
    },
    {
      what: 'A pin that a later rule for every request takes',
      files: yaml('  - { query: tv, pin: { 1: p1 } }\n  - { pin: { 1: p2 } }\n'),
    },
    {
      what: 'A pin of a query that a wider query hides',
      files: yaml('  - { query: tv, match: prefix, hide: [p9] }\n  - { query: tv stand, pin: { 2: p9 } }\n'),
    },
    {
      what: 'A pin of the pipeline, where a rule for every request pins and hides',
      edit: [
        'pipelines/search.yaml',
        'page: { size: 24',
        '  - { use: pin, with: { positions: { 1: p1, 2: p9 } } }\n  - { use: curation, with: { list: campaigns } }\npage: { size: 24',
      ],
      files: yaml('  - { pin: { 1: p2 } }\n  - { hide: [p9] }\n'),
    },
    { what: 'A boost without an amount', files: yaml('  - boost: { where: product.price > 1 }\n') },
    {
      what: 'A condition on an unknown attribute',
      ...applied('{ list: campaigns }'),
      files: yaml('  - { query: tv, boost: { where: product.colour == "red", multiply: 2 } }\n'),
    },
    {
      what: 'A condition on a candidate under when',
      ...applied('{ list: campaigns }'),
      files: yaml('  - { when: product.price > 10, hide: [p1] }\n'),
    },
    { what: 'A misspelt action in CSV', files: csv('tv,,pinn,p1,1,,,') },
    { what: 'A position in CSV that is none', files: csv('tv,,pin,p1,first,,,') },
    { what: 'A misspelt column in CSV', files: { [CSV]: 'query,action,taget,value\ntv,pin,p1,1\n' } },
    { what: 'An id that reads as a number', files: yaml('  - { query: tv, pin: { 1: 00417 } }\n') },
    { what: 'A comma in CSV without quotes', files: csv('tv,,hide,p1,,,,sold out, until May') },
    { what: 'A quote in CSV that is not closed', files: csv('tv,,hide,p1,,,,"sold out') },
    {
      what: 'Two campaigns whose dates overlap by an hour',
      files: yaml(
        '  - { query: tv, from: 2026-11-20, until: 2026-11-27T01:00Z, pin: { 1: p1 } }\n  - { query: TV, from: 2026-11-27, pin: { 1: p2 } }\n',
      ),
    },
    {
      what: 'A date in another order',
      files: yaml('  - { query: tv, hide: [p1], until: 27.11.2026 }\n'),
    },
    { what: 'A position 0', files: yaml('  - { query: tv, pin: { 0: p1 } }\n') },
    { what: 'A misspelt match', files: yaml('  - { query: tv, match: begins, hide: [p1] }\n') },
    { what: 'A misspelt action', files: yaml('  - { query: tv, hides: [p1] }\n') },
    {
      what: 'A boost that adds and multiplies',
      files: yaml('  - boost: { where: product.price > 1, multiply: 2, add: 1 }\n'),
    },
    {
      what: 'A misspelt list in a step',
      ...applied('{ list: campaign }'),
      files: yaml('  - { query: tv, hide: [p9] }\n'),
    },
    {
      what: 'A date alone in a rule',
      ...applied('{ list: campaigns }'),
      files: yaml('  - { query: tv, hide: [p1], until: 2026-11-30 }\n'),
    },
    {
      what: 'A campaign for categories that requests do not name',
      ...applied('{ list: campaigns }'),
      files: campaign('    on: { category: [tv] }\n    hide: [p1]\n'),
    },
    {
      what: 'An image of a host that the project does not name',
      ...applied('{ list: campaigns }'),
      files: campaign('    banner: { place: top, image: "https://cdn.example/a.webp" }\n'),
    },
    {
      what: 'A campaign that does nothing',
      files: campaign('    from: 2026-11-27\n    on: { query: [tv] }\n'),
    },
    {
      what: 'A campaign that ends before its first day',
      files: campaign('    from: 2026-11-27\n    until: 2026-11-26\n    hide: [p1]\n'),
    },
    { what: 'A sponsor without a label', files: campaign('    sponsor: { places: [3], product: p7 }\n') },
    {
      what: 'A misspelt condition of a campaign',
      files: campaign('    on: { querry: [tv] }\n    hide: [p1]\n'),
    },
    {
      what: 'A time zone that does not exist',
      files: { 'millrace.yaml': 'project: shop\ntime_zone: Europe/Berlim\n' },
    },
    {
      what: 'A rule over the API that pins and hides one candidate',
      files: yaml('  - { query: radio, hide: [p9] }\n'),
      request: {
        path: '/api/v1/curation/put',
        body: '{"list":"campaigns","rules":[{"query":"tv","pin":{"1":"p1"},"hide":["p1"]}]}',
      },
    },
    {
      what: 'Rules for an unknown list over the API',
      request: { path: '/api/v1/curation/put', body: '{"list":"campaigns","rules":[]}' },
    },
  ],
};

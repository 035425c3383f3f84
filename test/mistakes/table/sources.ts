import type { Mistake, Surface } from '../mistake.js';

const FILE = 'sources/web.yaml';
const REDIS = 'use: redis_stream\n';
const WITH = 'with: { url: "redis://streams:6379", stream: web }\n';

const source = (what: string, text: string, more: Omit<Mistake, 'what' | 'files'> = {}): Mistake => ({
  what,
  files: { [FILE]: `source: web\n${text}` },
  ...more,
});
const mapped = (what: string, lines: string): Mistake =>
  source(what, `${REDIS}into: feedback\n${lines}${WITH}`);

export const SOURCES: Surface = {
  title: 'Sources',
  mistakes: [
    mapped('A format that does not exist', 'map: mixpanel\n'),
    mapped('A misspelt format', 'map: segmnt\n'),
    mapped('A format of an unknown entity type', 'map: segment\nabout: prodct\n'),
    mapped('A map to an unknown entity', 'map: { type: name, user: uid, prodct: id }\n'),
    mapped('A map without the item', 'map: { type: name, user: uid }\n'),
    mapped('A map that names nobody', 'map: { type: name, product: id }\n'),
    mapped('A map without the kind of feedback', 'map: { user: uid, product: id }\n'),
    mapped('An unknown kind of feedback', 'map: { user: uid, product: id }\nevent: clicked\n'),
    mapped('A column of types that is not named', 'map: { user: uid, product: id }\nevent: { tap: click }\n'),
    mapped(
      'A condition that excludes a type',
      'map: { type: name, user: uid, product: id }\nevent: { tap: click, buy: order }\nwhere: { name: [tap] }\n',
    ),
    mapped(
      'A condition that is no list',
      'map: { type: name, user: uid, product: id }\nwhere: { site: de }\n',
    ),
    mapped('Kinds of feedback beside a format', 'map: segment\nevent: { tap: click }\n'),
    source('An unknown target', `${REDIS}into: { entity: product }\n${WITH}`),
    source('A format of entities that has none', `${REDIS}into: { entities: product }\nmap: ga4\n${WITH}`),
    source('A merge of feedback', `${REDIS}into: feedback\nwrite: merge\n${WITH}`),
    source('A creation without a merge', `${REDIS}into: { entities: product }\ncreate: true\n${WITH}`),
    source(
      'A way to write that does not exist',
      `${REDIS}into: { entities: product }\nwrite: update\n${WITH}`,
    ),
    source('A map of feature rows', `${REDIS}into: { features: product_stats }\nmap: segment\n${WITH}`),
    source(
      'A stream of Kafka that is called a stream',
      'use: kafka\ninto: feedback\nwith: { brokers: ["k:9092"], stream: web }\n',
    ),
    source('A broker without a port', 'use: kafka\ninto: feedback\nwith: { brokers: [kafka], topic: web }\n'),
    source(
      'A topic with a space',
      'use: kafka\ninto: feedback\nwith: { brokers: ["k:9092"], topic: "web clicks" }\n',
    ),
    source(
      'A start that is no time',
      `${REDIS}into: feedback\nwith: { url: "redis://streams:6379", stream: web, start: newest }\n`,
    ),
    source('An unknown plugin', `use: kinesis\ninto: feedback\nwith: { stream: web }\n`),
    source('A source that does not exist', `${REDIS}into: feedback\n${WITH}`, { run: 'consume wep' }),
    {
      what: 'A click of nobody without an id',
      request: {
        path: '/api/v1/feedback',
        body: '{"user":null,"events":[{"type":"click","product":{"product_id":"p1"},"time":"2026-01-31T12:00:00Z"}]}',
      },
    },
    {
      what: 'A click in the future',
      request: {
        path: '/api/v1/feedback',
        body: '{"user":{"user_id":"u1"},"events":[{"type":"click","product":{"product_id":"p1"},"time":"2999-01-01T00:00:00Z"}]}',
      },
    },
  ],
};

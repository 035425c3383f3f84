import type { Surface } from '../mistake.js';

const ENTITY = 'schemas/entities/product.yaml';
const VIEW = 'schemas/features/product_stats.yaml';
const SINK = 'sinks/archive.yaml';
const PIPELINE = 'pipelines/search.yaml';

export const ENTITIES: Surface = {
  title: 'Entity types',
  mistakes: [
    { what: 'A type that does not exist', edit: [ENTITY, 'title: string', 'title: str'] },
    { what: 'A reference to an entity that does not exist', edit: [ENTITY, 'ref(brand)', 'ref(brnd)'] },
    { what: 'A misspelt key', edit: [ENTITY, 'attributes:', 'atributes:'] },
    { what: 'A name that differs from the file', edit: [ENTITY, 'entity: product', 'entity: products'] },
    { what: 'A base type that does not exist', edit: [ENTITY, 'ProductEntity', 'ProductEntty'] },
    { what: 'A name with a hyphen', edit: [ENTITY, 'number_in_stock: int', 'number-in-stock: int'] },
    {
      what: 'A list instead of a mapping',
      edit: ['schemas/entities/brand.yaml', 'attributes:\n  name: string', 'attributes: [name]'],
    },
    { what: 'A file that ends in .yml', files: { 'schemas/entities/shop.yml': 'entity: shop\n' } },
  ],
};

export const VIEWS: Surface = {
  title: 'Feature views',
  mistakes: [
    { what: 'An entity type that does not exist', edit: [VIEW, 'of: [product]', 'of: [prodct]'] },
    { what: 'A time to live without a unit', edit: [VIEW, 'ttl: 30d', 'ttl: 30'] },
    { what: 'A default of the wrong type', edit: [VIEW, 'default: 0', 'default: none'] },
    { what: 'A misspelt key', edit: [VIEW, 'features:', 'feature:'] },
    { what: 'A type that does not exist', edit: [VIEW, 'ctr_30d: float', 'ctr_30d: double'] },
    {
      what: 'No features',
      edit: [
        VIEW,
        'features:\n  ctr_30d: float\n  orders_30d: { type: int, default: 0 }\n',
        'features: {}\n',
      ],
    },
  ],
};

export const SINKS: Surface = {
  title: 'Sinks',
  mistakes: [
    { what: 'A sink that does not exist', edit: [SINK, 'use: file', 'use: files'] },
    { what: 'A component as a sink', edit: [SINK, 'use: file', 'use: boost'] },
    {
      what: 'A kind of records that does not exist',
      edit: [SINK, 'take: [ranking, feedback]', 'take: [rankings]'],
    },
    { what: 'An option of another sink', edit: [SINK, 'with: { keep: 30d }', 'with: { topic: rankings }'] },
    { what: 'A time without a unit', edit: [SINK, 'keep: 30d', 'keep: 30'] },
    {
      what: 'A password in the file',
      edit: [
        SINK,
        'use: file\ntake: [ranking, feedback]\nwith: { keep: 30d }',
        'use: redis_stream\ntake: [ranking]\nwith: { url: "redis://streams:6379", stream: r, username: shop, password: hunter22 }',
      ],
    },
    {
      what: 'A host that the operator does not allow',
      edit: [
        SINK,
        'use: file\ntake: [ranking, feedback]\nwith: { keep: 30d }',
        'use: http\ntake: [ranking]\nwith: { url: "https://collector:8443/records" }',
      ],
    },
  ],
};

export const LOG_AND_PARAMS: Surface = {
  title: 'log and params',
  mistakes: [
    { what: 'A share as a fraction', edit: [PIPELINE, 'share: 20%', 'share: 0.2'] },
    { what: 'A share above 100%', edit: [PIPELINE, 'share: 20%', 'share: 120%'] },
    { what: 'A misspelt unit', edit: [PIPELINE, 'unit: user', 'unit: usr'] },
    { what: 'A value that does not exist', edit: [PIPELINE, 'features: models', 'features: [product.pice]'] },
    { what: 'A word for a list', edit: [PIPELINE, 'features: models', 'features: everything'] },
    {
      what: 'A value outside its range',
      edit: [PIPELINE, '{ value: 0.2, min: 0, max: 1 }', '{ value: 2, min: 0, max: 1 }'],
    },
    { what: 'A param that is not a number', edit: [PIPELINE, '{ value: 0.2, min: 0, max: 1 }', 'much'] },
    { what: 'A param that nothing uses', edit: [PIPELINE, 'popularity: w_orders,', 'popularity: 0.2,'] },
    { what: 'A misspelt param', edit: [PIPELINE, 'popularity: w_orders,', 'popularity: w_order,'] },
  ],
};

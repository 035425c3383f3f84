import { modeline } from '../init/new-project.js';
import { rankedType, type NewContext, type NewKind } from './new-kind.js';
import { TITLES } from '../init/column-words.js';

export const newPipeline: NewKind = {
  summary: 'a pipeline, in pipelines/',
  files: ({ name, config }) =>
    new Map([[`pipelines/${name}.yaml`, `${modeline('pipeline', 1)}${pipelineText(name, config)}`]]),
};

function pipelineText(name: string, config: NewContext['config']): string {
  const type = rankedType(config);
  const attributes = [...(config.entities.get(type)?.attributes.values() ?? [])];
  const texts = attributes.filter((one) => one.type.kind === 'string').map((one) => one.name);
  const title = TITLES.find((one) => texts.includes(one)) ?? texts[0];
  const number = attributes.find((one) => one.type.kind === 'int' || one.type.kind === 'float')?.name;
  const steps =
    title === undefined
      ? [
          '  - use: score',
          `    with: { value: ${number === undefined ? 0 : `coalesce(${type}.${number}, 0)`} } # the highest comes first`,
        ]
      : [
          '  - use: text_match',
          '    as: title # title:bm25, title:overlap, title:phrase',
          `    with: { query: query.query, field: ${type}.${title} }`,
          '  - use: score',
          '    with: { value: "coalesce(title:bm25, 0)" }',
        ];
  return [
    `pipeline: ${name}`,
    `rank: ${type}`,
    'request:',
    '  candidates: {}',
    '  query: optional(query)',
    'components:',
    ...steps,
    '',
  ].join('\n');
}

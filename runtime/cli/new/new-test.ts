import { modeline } from '../init/new-project.js';
import { CommandFailure } from '../failure.js';
import { rankedType, type NewKind } from './new-kind.js';

export const newTest: NewKind = {
  summary: 'a test of a pipeline, in tests/',
  files: ({ name, config, pipelines }) => {
    const pipeline = pipelines.includes('search') ? 'search' : pipelines[0];
    if (pipeline === undefined)
      throw new CommandFailure(
        'the project has no pipeline to test',
        'make one: millrace new pipeline search',
      );
    const type = rankedType(config);
    const key = config.entities.get(type)?.key ?? `${type}_id`;
    return new Map([
      [
        `tests/${name}.yaml`,
        `${modeline('test', 1)}test: ${name}
pipeline: ${pipeline}
given:
  entities:
    ${type}:
      - { ${key}: first }
      - { ${key}: second }
request:
  candidates: [{ ${key}: first }, { ${key}: second }]
expect:
  order: [first, second] # equal scores keep the order sent
`,
      ],
    ]);
  },
};
